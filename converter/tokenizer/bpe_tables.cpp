#include "tokenizer/bpe_tables.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/bpe.h"
#include "text/utf8.h"
#include "tokenizer/byte_alphabet.h"

namespace bantam::convert {
namespace {

uint64_t key_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

/// Returns true for bytes that can occur in UTF-8.
bool is_in_text(uint32_t byte) { return byte < 0xC0 || (byte > 0xC1 && byte < 0xF5); }

/// The number of bytes of the unit at token[at] before merging.
size_t unit_size(const std::string& token, size_t at, uint32_t traits) {
  const auto is = [&token](size_t place, uint8_t mark) {
    return place < token.size() && static_cast<uint8_t>(token[place]) == mark;
  };
  size_t end = at;
  if ((traits & text::kBeginMarks) != 0 && at == 0 && is(0, text::kBeginMark) && token.size() > 1) ++end;
  end += (traits & text::kCodePoints) != 0 ? text::code_size(static_cast<uint8_t>(token[end])) : 1;
  if ((traits & text::kEndMarks) != 0 && is(end, text::kEndMark)) ++end;
  return std::min(end, token.size()) - at;
}

/// A byte in all its forms at the positions where it can occur in words.
std::vector<std::string> units_of_byte(uint32_t byte, uint32_t traits) {
  std::vector<std::string> units = {std::string(1, static_cast<char>(byte))};
  const auto add_marked = [&units](const char* before, const char* behind) {
    for (size_t i = 0, count = units.size(); i < count; ++i) {
      std::string unit = before;
      unit += units[i];
      unit += behind;
      units.push_back(std::move(unit));
    }
  };
  if ((traits & text::kBeginMarks) != 0) add_marked("\xF9", "");
  if ((traits & text::kEndMarks) != 0) add_marked("", "\xF8");
  return units;
}

/// Returns the hash slots of pairs, or an empty list if some pair found no slot.
std::vector<uint32_t> place_pairs(const std::vector<text::MergeEntry>& entries, uint32_t bits) {
  std::vector<uint32_t> words(size_t{1} + (size_t{1} << bits) + text::kMaxPairProbes, text::kNoPair);
  words[0] = bits;
  for (uint32_t id = 0; id < entries.size(); ++id) {
    const text::MergeEntry& entry = entries[id];
    if (entry.left == text::kNoToken) continue;
    const uint64_t hash = text::hash_pair(entry.left, entry.right);
    const size_t home = size_t{1} + text::MergeTable::home_of(hash, bits);
    size_t slot = home;
    while (slot < home + text::kMaxPairProbes && words[slot] != text::kNoPair) ++slot;
    if (slot == home + text::kMaxPairProbes) return {};
    words[slot] = text::MergeTable::mark_of(hash) | id;
  }
  return words;
}

}  // namespace

Merging::Merging(const std::vector<Merge>& merges) {
  for (size_t i = 0; i < merges.size(); ++i) {
    const Merge& merge = merges[i];
    if (merge.left == text::kNoToken || merge.right == text::kNoToken || merge.whole == text::kNoToken) continue;
    pairs_[key_of(merge.left, merge.right)] = {merge.whole, static_cast<uint32_t>(i + 1)};
  }
}

void Merging::merge(std::vector<uint32_t>* ids, Result* last, Merge* pair) const {
  while (true) {
    size_t best = 0;
    Result found = {text::kNoToken, text::kNeverMade};
    for (size_t i = 0; i + 1 < ids->size(); ++i) {
      const auto merged = pairs_.find(key_of((*ids)[i], (*ids)[i + 1]));
      if (merged == pairs_.end() || merged->second.rank >= found.rank) continue;
      best = i;
      found = merged->second;
    }
    if (found.whole == text::kNoToken) return;
    *last = found;
    *pair = {(*ids)[best], (*ids)[best + 1], found.whole};
    (*ids)[best] = found.whole;
    ids->erase(ids->begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

Spelling::Token Spelling::spell(const std::string& token, std::string* bytes) const {
  std::string body = token;
  const bool inner = !inner_prefix.empty() && body.compare(0, inner_prefix.size(), inner_prefix) == 0;
  if (inner) body.erase(0, inner_prefix.size());
  const bool ends = !end_suffix.empty() && body.size() >= end_suffix.size() &&
                    body.compare(body.size() - end_suffix.size(), end_suffix.size(), end_suffix) == 0;
  if (ends) body.erase(body.size() - end_suffix.size());
  if (body.empty() && (inner || ends)) return Token::kNone;
  std::string letters = body;
  if (!code_points && !bytes_of_letters(body, &letters)) return Token::kNone;
  const bool marks = !end_suffix.empty() || !inner_prefix.empty();
  const bool beyond =
      marks && std::any_of(letters.begin(), letters.end(), [](char c) { return !is_in_text(static_cast<uint8_t>(c)); });
  bytes->clear();
  if (!inner_prefix.empty() && !inner) bytes->push_back(static_cast<char>(text::kBeginMark));
  *bytes += letters;
  if (ends) bytes->push_back(static_cast<char>(text::kEndMark));
  return beyond ? Token::kUnreachable : Token::kOwn;
}

BpeTables build_bpe_tables(const std::vector<std::string>& tokens, const std::vector<Merge>& merges, uint32_t traits) {
  const bool code_points = (traits & text::kCodePoints) != 0;
  BpeTables out;
  out.entries.assign(tokens.size(), {text::kNoToken, text::kNoToken, text::kNeverMade, text::kNoToken});
  std::unordered_map<std::string_view, uint32_t> ids;
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    ids.emplace(tokens[id], id);
    if (unit_size(tokens[id], 0, traits) == tokens[id].size()) out.entries[id].rank = 0;
  }
  for (uint32_t byte = 0; !code_points && (traits & text::kWordLevel) == 0 && byte < 256; ++byte) {
    const auto lacks = [&ids](const std::string& unit) { return ids.count(unit) == 0; };
    const std::vector<std::string> units = units_of_byte(byte, traits);
    if (is_in_text(byte) && std::any_of(units.begin(), units.end(), lacks)) out.missing.push_back(byte);
  }
  const Merging merging(merges);
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    const std::string& token = tokens[id];
    for (size_t size = token.size(); size-- > 1;) {
      const auto found = ids.find(std::string_view(token).substr(0, size));
      if (found == ids.end()) continue;
      out.entries[id].shorter = found->second;
      break;
    }
    if (token.empty() || out.entries[id].rank == 0 || token.size() > text::kMaxBpeToken) continue;
    std::vector<uint32_t> parts;
    for (size_t at = 0; at < token.size();) {
      const size_t size = unit_size(token, at, traits);
      const auto part = ids.find(std::string_view(token).substr(at, size));
      parts.push_back(part == ids.end() ? text::kNoToken : part->second);
      at += size;
    }
    Merging::Result last = {text::kNoToken, 0};
    Merge pair = {text::kNoToken, text::kNoToken, text::kNoToken};
    merging.merge(&parts, &last, &pair);
    if (parts.size() != 1 || parts[0] != id) continue;
    out.entries[id].left = pair.left;
    out.entries[id].right = pair.right;
    out.entries[id].rank = last.rank;
  }
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    const text::MergeEntry& entry = out.entries[id];
    if (entry.left == text::kNoToken) continue;
    // A part is produced here as in a text of its own, from its own bytes.
    out.disorder |= out.entries[entry.left].rank >= entry.rank || out.entries[entry.right].rank >= entry.rank;
  }
  uint32_t bits = 0;
  while (size_t{1} << bits < 2 * tokens.size()) ++bits;
  while (bits <= text::kMaxPairBits && (out.pairs = place_pairs(out.entries, bits)).empty()) ++bits;
  return out;
}

TrieKeys bpe_words(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries, bool whole_words) {
  TrieKeys words;
  for (const auto& token : tokens) {
    if (token.first.size() > text::kMaxTableWord || token.first.find('\0') != std::string::npos) continue;
    if (whole_words || entries[token.second].rank != text::kNeverMade) words.push_back(token);
  }
  return words;
}

TrieKeys marked_words(const TrieKeys& tokens, uint32_t traits) {
  const size_t begins = (traits & text::kBeginMarks) != 0 ? 1 : 0;
  const size_t ends = (traits & text::kEndMarks) != 0 ? 1 : 0;
  if (begins + ends == 0) return tokens;
  TrieKeys words;
  for (const auto& [token, id] : tokens) {
    if (token.size() <= begins + ends) continue;
    if (begins > 0 && static_cast<uint8_t>(token.front()) != text::kBeginMark) continue;
    if (ends > 0 && static_cast<uint8_t>(token.back()) != text::kEndMark) continue;
    const std::string word = token.substr(begins, token.size() - begins - ends);
    // Offsets that exclude spaces examine the token itself.
    if (word.find(' ') == std::string::npos) words.emplace_back(word, id);
  }
  return words;
}

TrieKeys bpe_words_behind_blanks(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries,
                                 bool whole_words) {
  TrieKeys words;
  for (const auto& [token, id] : tokens) {
    if (token.size() < 2 || token[0] != ' ' || token.find(' ', 1) != std::string::npos) continue;
    words.emplace_back(token.substr(1), id);
  }
  return bpe_words(words, entries, whole_words);
}

TrieKeys trie_keys_of_bytes(const TrieKeys& tokens) {
  TrieKeys keys;
  for (const auto& [token, id] : tokens) {
    std::string key = token;
    const auto beyond = [](char c) { return static_cast<uint8_t>(c) >= text::kZeroLabel; };
    if (std::any_of(key.begin(), key.end(), beyond)) continue;
    std::replace(key.begin(), key.end(), '\0', static_cast<char>(text::kZeroLabel));
    keys.emplace_back(std::move(key), id);
  }
  return keys;
}

}  // namespace bantam::convert
