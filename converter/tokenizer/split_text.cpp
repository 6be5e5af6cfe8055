// Splits at matches of a fixed number of characters, such as literal texts. The end of the text between matches is
// known only when the next match has been read, that is, that many characters later.
#include <stdexcept>
#include <utility>

#include "text/split_table.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/split_places.h"
#include "tokenizer/unicode/code_classes.h"

namespace bantam::convert {
namespace {

constexpr size_t kMostCharacters = text::kSplitLeftOut - 1;

/// Adds the character sets of the node; returns false if its matches differ in length, or if it looks ahead.
bool add_characters(const PatternNode& node, std::vector<CodeSet>& sets) {
  switch (node.kind) {
    case PatternNode::Kind::kSet:
      if (sets.size() == kMostCharacters) throw std::invalid_argument("the pattern has more than 127 characters");
      sets.push_back(node.set);
      return true;
    case PatternNode::Kind::kAll:
      for (const auto& part : node.parts) {
        if (!add_characters(*part, sets)) return false;
      }
      return true;
    case PatternNode::Kind::kAny:
      return node.parts.size() == 1 && add_characters(*node.parts[0], sets);
    case PatternNode::Kind::kRepeat:
      if (node.least != node.most) return false;
      for (uint32_t i = 0; i < node.least; ++i) {
        if (!add_characters(*node.parts[0], sets)) return false;
      }
      return true;
    case PatternNode::Kind::kNext:
    case PatternNode::Kind::kNotNext:
      break;
  }
  return false;
}

/// The states of a search for one word. Each state knows which matches may have begun: bit k means that the last k
/// characters are the first k of a match.
class TextStates {
 public:
  TextStates(const std::vector<CodeSet>& sets, SplitBehaviour behaviour, bool invert)
      : sets_(static_cast<uint32_t>(sets.size())), behaviour_(behaviour), classes_(sets) {
    merges_previous_ = behaviour == (invert ? SplitBehaviour::kMergedWithNext : SplitBehaviour::kMergedWithPrevious);
    merges_next_ = behaviour == (invert ? SplitBehaviour::kMergedWithPrevious : SplitBehaviour::kMergedWithNext);
    if (behaviour == SplitBehaviour::kRemoved) (invert ? drops_gaps_ : drops_matches_) = true;
  }

  SplitStates compile() {
    const Place begin = {Phase::kBegin, Begun(sets_ + 1)};
    return number_places(classes_, begin, [this](const Place& place, bool /*is_begin*/, uint32_t c, uint8_t* end) {
      *end = end_of(place);
      return follow(place, c);
    });
  }

 private:
  using Begun = std::vector<bool>;
  enum class Phase {
    kSearchEnd,  // end of the search
    kBegin,      // the word may be a match: all of its characters begin one
    kGap,        // the word is text between matches
    kMatch,      // the word is a match, or several
    kMore,       // another match may follow the word
    kBehind,     // the word ended before the match that has been read
    kMerged,     // the word ends with the match that has been read
  };
  using Place = std::pair<Phase, Begun>;
  using Entry = SplitEntry<Place>;

  static Entry go_on(Phase phase, Begun begun) { return {false, true, {phase, std::move(begun)}}; }

  Entry follow(const Place& place, uint32_t c) const {
    const auto& [phase, begun] = place;
    const bool contiguous = behaviour_ == SplitBehaviour::kContiguous;
    Begun after(sets_ + 1);
    switch (phase) {
      case Phase::kSearchEnd:
        break;
      case Phase::kMatch:
        if (!contiguous || !classes_.has(c, 0)) return {true};
        after[1] = true;
        return {true, true, {Phase::kMore, after}};
      case Phase::kBehind:
      case Phase::kMerged:
        return {true};
      case Phase::kMore:
        for (uint32_t k = 1; k < sets_; ++k) after[k + 1] = begun[k] && classes_.has(c, k);
        if (after[sets_]) return go_on(Phase::kMatch, Begun(sets_ + 1));
        return after == Begun(sets_ + 1) ? Entry() : go_on(Phase::kMore, after);
      case Phase::kBegin:
      case Phase::kGap: {
        if (c == 0) return {true};
        uint32_t size = 0;  // kBegin: length of the word so far
        for (uint32_t k = 0; k < sets_; ++k) {
          if (begun[k]) size = k;
          after[k + 1] = (k == 0 || begun[k]) && classes_.has(c, k);
        }
        const bool matches = after[sets_];
        if (matches) after.assign(sets_ + 1, false);
        if (phase == Phase::kGap) {
          return go_on(!matches ? Phase::kGap : merges_previous_ ? Phase::kMerged : Phase::kBehind, after);
        }
        if (matches) return go_on(merges_next_ ? Phase::kGap : Phase::kMatch, after);
        return go_on(after[size + 1] ? Phase::kBegin : Phase::kGap, after);
      }
    }
    return {};
  }

  /// The byte of a word's end at this place: the number of code points to step back, and the flag of words to drop.
  uint8_t end_of(const Place& place) const {
    const uint32_t back = place.first == Phase::kBehind ? sets_ : 0;
    const bool drops = place.first == Phase::kMatch ? drops_matches_ : drops_gaps_;
    return static_cast<uint8_t>(back | (drops ? text::kSplitLeftOut : 0));
  }

  const uint32_t sets_;
  const SplitBehaviour behaviour_;
  const CodeClasses classes_;
  bool merges_previous_ = false;
  bool merges_next_ = false;
  bool drops_matches_ = false;
  bool drops_gaps_ = false;
};

}  // namespace

std::vector<CodeSet> characters_of(const PatternNode& pattern) {
  std::vector<CodeSet> sets;
  return add_characters(pattern, sets) && sets.size() > 1 ? sets : std::vector<CodeSet>();
}

SplitStates compile_text(const std::vector<CodeSet>& characters, SplitBehaviour behaviour, bool invert) {
  return TextStates(characters, behaviour, invert).compile();
}

}  // namespace bantam::convert
