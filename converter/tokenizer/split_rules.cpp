// Converts each splitter to one pattern whose words cover the text, and builds the tables of several splitters in
// sequence.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "text/split_table.h"
#include "tokenizer/split_pattern.h"

namespace bantam::convert {
namespace {

using Branch = std::unique_ptr<PatternNode>;
using Syntax = PatternNode::Kind;

constexpr uint32_t kStop = 0;  // the class of the end of the text

Branch copy(const PatternNode& node) {
  auto out = std::make_unique<PatternNode>();
  out->kind = node.kind;
  out->set = node.set;
  out->least = node.least;
  out->most = node.most;
  out->possessive = node.possessive;
  for (const Branch& part : node.parts) out->parts.push_back(copy(*part));
  return out;
}

template <typename... Parts>
Branch join(Syntax kind, Parts... parts) {
  auto out = std::make_unique<PatternNode>();
  out->kind = kind;
  (out->parts.push_back(std::move(parts)), ...);
  return out;
}

Branch repeat(Branch part, uint32_t least, uint32_t most) {
  Branch out = join(Syntax::kRepeat, std::move(part));
  out->least = least;
  out->most = most;
  return out;
}

Branch any_of(const CodeSet& set) {
  auto out = std::make_unique<PatternNode>();
  out->kind = Syntax::kSet;
  out->set = set;
  return out;
}

Branch run_of(const CodeSet& set) { return repeat(any_of(set), 1, PatternNode::kEndless); }

Branch matches_of(const SplitRule& rule) {
  if (!rule.pattern.empty()) return parse_pattern(rule.pattern);
  Branch any = join(Syntax::kAny);
  for (const SplitSet& part : rule.sets) any->parts.push_back(repeat(any_of(part.set), 1, part.most));
  return any;
}

/// Returns the code points that begin matches, if each of them is a match by itself, unless a longer match begins
/// there: then the end of the text between matches is known immediately.
std::optional<CodeSet> beginnings(const SplitStates& states) {
  std::vector<bool> begins(states.stride, false);
  for (uint32_t c = 0; c < states.stride; ++c) {
    const uint16_t entry = states.next[states.stride + c];
    if ((entry & text::kSplitMatch) != 0) throw std::invalid_argument("the pattern matches nothing");
    if (c == kStop || entry == 0) continue;
    begins[c] = true;
    for (uint32_t d = 0; d < states.stride; ++d) {
      if ((states.next[entry + d] & text::kSplitMatch) == 0) return std::nullopt;
    }
  }
  CodeSet set;
  for (uint32_t code = 0; code < kCodePoints;) {
    const uint32_t first = code;
    while (code < kCodePoints && begins[states.class_of[code]] == begins[states.class_of[first]]) ++code;
    if (begins[states.class_of[first]]) set.add(first, code);
  }
  return set;
}

CodeSet known(const std::optional<CodeSet>& set) {
  if (!set) throw std::invalid_argument("it takes more than one character to know that the pattern does not match");
  return *set;
}

/// Runs of each set, together with the characters that join them.
SplitStates joined_runs(const SplitRule& rule) {
  Branch any = join(Syntax::kAny, run_of(rule.joins));
  for (const SplitSet& part : rule.sets) {
    CodeSet with = part.set;
    with.add(rule.joins);
    any->parts.push_back(join(Syntax::kAll, any_of(part.set), repeat(any_of(with), 0, PatternNode::kEndless)));
  }
  return compile_states(*any, rule.joins);
}

/// Returns the set of "x+$" for a set x; null for any other pattern.
const CodeSet* run_at_end(const PatternNode& node) {
  if (node.kind == Syntax::kAny && node.parts.size() == 1) return run_at_end(*node.parts[0]);
  if (node.kind != Syntax::kAll || node.parts.size() != 2) return nullptr;
  const PatternNode& run = *node.parts[0];
  const bool repeats = run.kind == Syntax::kRepeat && run.least == 1 && run.most == PatternNode::kEndless;
  const bool ends = node.parts[1]->kind == Syntax::kNotNext && node.parts[1]->set.ranges().size() == 2 &&
                    node.parts[1]->set.has('\n' - 1) && !node.parts[1]->set.has('\n');
  return repeats && ends && run.parts[0]->kind == Syntax::kSet ? &run.parts[0]->set : nullptr;
}

/// Returns true if the rule separates line feeds from other text.
bool splits_lines(const SplitRule& rule) {
  if (rule.pattern.empty() || rule.invert ||
      (rule.behaviour != SplitBehaviour::kIsolated && rule.behaviour != SplitBehaviour::kRemoved)) {
    return false;
  }
  const Branch match = parse_pattern(rule.pattern);
  const PatternNode* node = match.get();
  while (node->kind != Syntax::kSet && node->parts.size() == 1 && node->kind != Syntax::kRepeat)
    node = node->parts[0].get();
  return node->kind == Syntax::kSet && node->set.has('\n');
}

/// A word extends to the last character that is not in `set`; the remaining characters of `set` are another word.
SplitStates words_and_run_at_end(const CodeSet& set) {
  CodeSet any, others = set;
  any.add(0, kCodePoints);
  others.complement();
  Branch word = join(Syntax::kAll, repeat(any_of(any), 0, PatternNode::kEndless), any_of(others));
  return compile_states(*join(Syntax::kAny, std::move(word), run_of(set)), {});
}

/// The words of a rule, and the beginnings of words to drop. `lines`: line feeds are separated from other characters.
SplitStates words_of(const SplitRule& rule, bool lines) {
  if (!rule.joins.ranges().empty()) return joined_runs(rule);
  const Branch match = matches_of(rule);
  const CodeSet* at_end = lines && rule.behaviour == SplitBehaviour::kIsolated ? run_at_end(*match) : nullptr;
  if (at_end != nullptr) return words_and_run_at_end(*at_end);
  const std::vector<CodeSet> characters = characters_of(*match);
  if (!characters.empty()) return compile_text(characters, rule.behaviour, rule.invert);
  const bool removes = rule.behaviour == SplitBehaviour::kRemoved;
  const std::optional<CodeSet> begin = beginnings(compile_states(*match, {}));
  if (!begin && (removes || rule.behaviour == SplitBehaviour::kIsolated)) {
    return compile_found(*match, removes && !rule.invert, removes && rule.invert);
  }
  const CodeSet first = known(begin);
  CodeSet others = first;
  others.complement();
  const CodeSet dropped = !removes ? CodeSet() : rule.invert ? others : first;
  if (others.ranges().empty() && rule.behaviour != SplitBehaviour::kContiguous) return compile_states(*match, dropped);
  Branch gap = run_of(others);
  Branch word;
  switch (rule.behaviour) {
    case SplitBehaviour::kIsolated:
    case SplitBehaviour::kRemoved:
      word = copy(*match);
      break;
    case SplitBehaviour::kContiguous:
      word = repeat(copy(*match), 1, PatternNode::kEndless);
      break;
    case SplitBehaviour::kMergedWithPrevious:
    case SplitBehaviour::kMergedWithNext:
      word = copy(*match);
      if ((rule.behaviour == SplitBehaviour::kMergedWithPrevious) != rule.invert) {
        gap = join(Syntax::kAll, std::move(gap), repeat(copy(*match), 0, 1));
      } else {
        word = join(Syntax::kAll, std::move(word), repeat(copy(*gap), 0, 1));
      }
      break;
  }
  if (others.ranges().empty()) return compile_states(*word, dropped);
  return compile_states(*join(Syntax::kAny, std::move(word), std::move(gap)), dropped);
}

/// Returns true if `second` does not split any word of `first`.
bool splits_nothing(const SplitStates& first, const SplitStates& second) {
  if (second.first_of_last < second.stride || !first.ends.empty() || !second.ends.empty()) return false;
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t code = 0; code < kCodePoints; ++code) pairs.emplace(first.class_of[code], second.class_of[code]);
  using Place = std::pair<uint32_t, uint32_t>;
  std::set<Place> seen;
  std::vector<Place> open;
  const auto ends_there = [&](const Place& at) { return (second.next[at.second] & text::kSplitMatch) != 0; };
  const auto follow = [&](const Place& at, uint32_t a, uint32_t b) {
    const uint16_t next = first.next[at.first + a];
    if ((next & text::kSplitMatch) != 0 && !ends_there(at)) return false;
    const Place place = {next & (text::kSplitMatch - 1u), second.next[at.second + b] & (text::kSplitMatch - 1u)};
    if (place.first != 0 && place.second == 0) return false;
    if (place.first != 0 && seen.insert(place).second) open.push_back(place);
    return true;
  };
  const Place start = {first.stride, second.stride};
  for (const auto& [a, b] : pairs) {
    if (a < first.first_of_last && !follow(start, a, b)) return false;
  }
  while (!open.empty()) {
    const Place at = open.back();
    open.pop_back();
    if (!follow(at, kStop, kStop)) return false;
    for (const auto& [a, b] : pairs) {
      if (!follow(at, a, b)) return false;
    }
  }
  return true;
}

void append(std::vector<uint8_t>& bytes, const void* from, size_t size) {
  const auto* first = static_cast<const uint8_t*>(from);
  bytes.insert(bytes.end(), first, first + size);
}

/// Appends the bytes of one table. `pass`, appended after the entries: selects version 2, or 3 if words may end before
/// matches. `prefixes`: version 4.
void append_table(const SplitStates& states, const text::SplitPass* pass, bool prefixes, std::vector<uint8_t>& bytes) {
  std::map<std::array<uint8_t, 256>, uint8_t> blocks;
  std::vector<uint8_t> top;
  std::vector<uint8_t> leaves;
  for (uint32_t code = 0; code < kCodePoints; code += 256) {
    std::array<uint8_t, 256> block{};
    std::copy_n(&states.class_of[code], block.size(), block.begin());
    if (blocks.size() == 256 && blocks.find(block) == blocks.end()) {
      throw std::invalid_argument("the pattern tells too many characters apart");
    }
    const auto [found, is_new] = blocks.emplace(block, static_cast<uint8_t>(blocks.size()));
    if (is_new) leaves.insert(leaves.end(), block.begin(), block.end());
    top.push_back(found->second);
  }
  const uint32_t version = pass == nullptr       ? text::kSplitVersion
                           : prefixes            ? text::kSplitPrefixVersion
                           : states.ends.empty() ? text::kSplitPassVersion
                                                 : text::kSplitEndsVersion;
  const text::SplitHeader header = {version, states.stride, states.count, static_cast<uint32_t>(blocks.size())};
  append(bytes, &header, sizeof(header));
  append(bytes, states.class_of.data(), text::kSplitAscii);
  append(bytes, top.data(), top.size());
  append(bytes, leaves.data(), leaves.size());
  append(bytes, states.next.data(), states.next.size() * sizeof(uint16_t));
  if (pass == nullptr) return;
  bytes.resize((bytes.size() + 3) / 4 * 4);
  append(bytes, pass, sizeof(*pass));
  append(bytes, states.ends.data(), states.ends.size());
  if (prefixes) bytes.resize(bytes.size() + states.count - states.ends.size());
  bytes.resize((bytes.size() + 3) / 4 * 4);
}

}  // namespace

std::vector<uint8_t> compile_split(const std::vector<SplitRule>& rules, bool prefix_words, bool in_passes) {
  std::vector<SplitStates> tables;
  bool lines = false;
  for (const SplitRule& rule : rules) {
    SplitStates states = words_of(rule, lines);
    lines = lines || splits_lines(rule);
    const bool keeps = tables.empty() || (prefix_words && &rule == &rules.back());
    if (keeps || !splits_nothing(tables.back(), states)) tables.push_back(std::move(states));
  }
  if (tables.size() > text::kMaxSplitPasses) throw std::invalid_argument("the splitters in a row are more than 8");
  std::vector<uint8_t> bytes;
  const SplitStates& only = tables.front();
  const bool passes = in_passes || tables.size() > 1 || only.first_of_last < only.stride || !only.ends.empty();
  for (const SplitStates& states : tables) {
    const text::SplitPass pass = {states.first_of_last, &states == &tables.back() ? 0u : 1u};
    const bool prefixes = prefix_words && tables.size() > 1 && &states == &tables[tables.size() - 2];
    append_table(states, passes ? &pass : nullptr, prefixes, bytes);
  }
  return bytes;
}

std::vector<uint8_t> compile_words(const std::string& pattern, const std::string& dropped) {
  const SplitStates states =
      compile_states(*parse_pattern(pattern), known(beginnings(compile_states(*parse_pattern(dropped), {}))));
  const text::SplitPass pass = {states.first_of_last, 0};
  std::vector<uint8_t> bytes;
  append_table(states, &pass, false, bytes);
  return bytes;
}

std::vector<uint8_t> compile_pattern(const std::string& pattern) {
  const Branch match = parse_pattern(pattern);
  CodeSet others = known(beginnings(compile_states(*match, {})));
  others.complement();
  if (!others.ranges().empty()) throw std::invalid_argument("the pattern leaves characters out");
  return compile_split({{pattern, {}, SplitBehaviour::kIsolated, false}});
}

}  // namespace bantam::convert
