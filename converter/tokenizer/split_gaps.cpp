// Splits at matches of any pattern. The text between matches ends where the next match begins, which is known only some
// characters later: when that match is certain and no earlier match is possible any more.
#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "text/split_table.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/split_places.h"
#include "tokenizer/split_steps.h"
#include "tokenizer/unicode/code_classes.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostBack = text::kSplitLeftOut - 1;

/// The states of a search for one word.
class GapStates {
 public:
  GapStates(const SplitSteps& steps, bool drops_matches, bool drops_gaps)
      : steps_(steps), classes_(steps.sets), drops_matches_(drops_matches), drops_gaps_(drops_gaps) {}

  SplitStates compile() const {
    Place begin;
    begin.phase = Phase::kBegin;
    begin.own = {steps_.start};
    int ends = -1;  // properties of words that the place has stated
    return number_places(classes_, begin, [&](const Place& place, bool is_begin, uint32_t c, uint8_t* end) {
      if (c == 0) ends = -1;
      const Entry entry = follow(place, c, is_begin);
      if (entry.end >= 0 && entry.end != ends && !(is_begin && c == 0)) {
        if (ends >= 0) throw std::invalid_argument("the pattern's matches end where other words end, too");
        ends = entry.end;
      }
      *end = static_cast<uint8_t>(std::max(ends, 0));
      return SplitEntry<Place>{entry.end >= 0, entry.goes_on, entry.next};
    });
  }

 private:
  using List = SplitSteps::List;
  enum class Phase {
    kSearchEnd,  // end of the search
    kBegin,      // the word may be a match, or text between matches
    kMatch,      // the word is a match
    kGap,        // the word is text between matches
    kBehind,     // the word ended before a match, `back` characters ago
  };
  /// A match that may have begun within the word.
  struct Start {
    uint32_t age = 0;  // number of its characters so far
    bool sure = false;
    List list;  // empty if the match is certain

    bool operator<(const Start& o) const { return std::tie(age, sure, list) < std::tie(o.age, o.sure, o.list); }
  };
  struct Place {
    Phase phase = Phase::kSearchEnd;
    uint32_t back = 0;
    List own;                   // kBegin, kMatch: steps of the match that begins with the word
    std::vector<Start> starts;  // kBegin, kGap: oldest first

    bool operator<(const Place& o) const {
      return std::tie(phase, back, own, starts) < std::tie(o.phase, o.back, o.own, o.starts);
    }
  };
  struct Entry {
    int end = -1;  // properties of a word that ends here; -1: no word ends here
    bool goes_on = false;
    Place next = {};
  };

  int match_end() const { return drops_matches_ ? text::kSplitLeftOut : 0; }
  int gap_end(uint32_t back) const {
    if (back > kMostBack) throw std::invalid_argument("the pattern looks more than 127 characters ahead");
    return static_cast<int>(back) | (drops_gaps_ ? text::kSplitLeftOut : 0);
  }

  Entry follow(const Place& place, uint32_t c, bool at_begin) const {
    Entry entry;
    bool match = false;
    switch (place.phase) {
      case Phase::kSearchEnd:
        break;
      case Phase::kBehind:
        entry.end = gap_end(place.back);
        break;
      case Phase::kMatch:
        entry.next.own = steps_.follow(classes_, place.own, c, &match);
        if (match) entry.end = match_end();
        entry.goes_on = !entry.next.own.empty();
        entry.next.phase = Phase::kMatch;
        break;
      case Phase::kBegin:
        entry.next.own = steps_.follow(classes_, place.own, c, &match);
        if (match && at_begin) throw std::invalid_argument("the pattern matches nothing");
        if (match) {
          entry.end = match_end();
          entry.goes_on = !entry.next.own.empty();
          entry.next.phase = Phase::kMatch;
          break;
        }
        follow_gap(place, c, at_begin, &entry);
        break;
      case Phase::kGap:
        follow_gap(place, c, false, &entry);
        break;
    }
    return entry;
  }

  /// Extends the text between matches as far as it is known. entry->next.own holds the steps that may still match from
  /// the word's beginning.
  void follow_gap(const Place& place, uint32_t c, bool at_begin, Entry* entry) const {
    std::vector<Start> starts;
    const List& own = entry->next.own;
    for (const Start& before : place.starts) {
      Start start = before;
      bool match = false;
      if (!start.sure) start.list = steps_.follow(classes_, before.list, c, &match);
      start.sure = start.sure || match;
      if (c != 0) ++start.age;
      add(std::move(start), own, &starts);
    }
    if (c == 0) {
      entry->end = gap_end(starts.empty() ? 0 : starts.front().age);  // the others can no longer match
      return;
    }
    if (!at_begin) {
      Start start;
      start.age = 1;
      bool match = false;
      start.list = steps_.follow(classes_, {steps_.start}, c, &match);
      if (match) throw std::invalid_argument("the pattern matches nothing");
      add(std::move(start), own, &starts);
    }
    entry->goes_on = true;
    Place& next = entry->next;
    if (!next.own.empty()) {
      const bool sure = steps_.matches_surely(next.own);
      next.phase = sure ? Phase::kMatch : Phase::kBegin;
      if (!sure) next.starts = std::move(starts);
    } else if (!starts.empty() && starts.front().sure) {
      next.phase = Phase::kBehind;
      next.back = starts.front().age;
    } else {
      next.phase = Phase::kGap;
      next.starts = std::move(starts);
    }
  }

  /// Adds a start after older ones, unless one of those is certain or can match everything that this one can. `own`:
  /// steps from the word's beginning.
  void add(Start start, const List& own, std::vector<Start>* starts) const {
    if (!starts->empty() && starts->back().sure) return;
    if (!start.sure && steps_.matches_surely(start.list)) start.sure = true;
    if (start.sure) start.list.clear();
    if (!start.sure && start.list.empty()) return;
    if (start.age > kMostBack) throw std::invalid_argument("the pattern looks more than 127 characters ahead");
    const auto covers = [&start](const List& older) {
      return !start.sure && std::all_of(start.list.begin(), start.list.end(), [&older](uint32_t step) {
        return std::find(older.begin(), older.end(), step) != older.end();
      });
    };
    const auto is_covered = [&covers](const Start& older) { return covers(older.list); };
    if (covers(own) || std::any_of(starts->begin(), starts->end(), is_covered)) return;
    starts->push_back(std::move(start));
  }

  const SplitSteps& steps_;
  const CodeClasses classes_;
  const bool drops_matches_;
  const bool drops_gaps_;
};

}  // namespace

SplitStates compile_found(const PatternNode& pattern, bool drops_matches, bool drops_gaps) {
  const SplitSteps steps(pattern);
  return GapStates(steps, drops_matches, drops_gaps).compile();
}

}  // namespace bantam::convert
