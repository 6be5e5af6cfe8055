#include "tokenizer/tokenizer_tables.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace bantam::convert {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kMaxUnits = 1u << (32 - text::kUnitBaseShift);
/// Number of last blocks that are searched for a position before the array grows; older blocks are nearly full.
constexpr uint32_t kOpenBlocks = 32;

/// Finds positions for nodes: a base at which all children's units are free and which no other node has.
class Places {
 public:
  explicit Places(std::vector<uint32_t>& units) : units_(units) {}

  /// `labels` are in ascending order and may be empty.
  uint32_t take(const std::vector<uint32_t>& labels) {
    const uint32_t blocks = static_cast<uint32_t>(units_.size()) / kBlock;
    for (uint32_t block = blocks > kOpenBlocks ? blocks - kOpenBlocks : 0; block < blocks; ++block) {
      if (free_[block] < labels.size() || free_[block] == 0) continue;
      for (uint32_t base = block * kBlock; base < (block + 1) * kBlock; ++base) {
        if (fits(base, labels)) return claim(base, labels);
      }
    }
    units_.resize(units_.size() + kBlock, text::kUnitFree);
    used_base_.resize(units_.size(), false);
    taken_.resize(units_.size(), false);
    free_.push_back(kBlock);
    return claim(blocks * kBlock, labels);
  }

 private:
  bool fits(uint32_t base, const std::vector<uint32_t>& labels) const {
    return !used_base_[base] &&
           std::none_of(labels.begin(), labels.end(), [this, base](uint32_t label) { return taken_[base ^ label]; });
  }

  uint32_t claim(uint32_t base, const std::vector<uint32_t>& labels) {
    used_base_[base] = true;
    for (const uint32_t label : labels) taken_[base ^ label] = true;
    free_[base / kBlock] -= static_cast<uint32_t>(labels.size());
    return base;
  }

  std::vector<uint32_t>& units_;
  std::vector<bool> taken_;
  std::vector<bool> used_base_;
  std::vector<uint32_t> free_;
};

/// Keys [begin, end) share their first `depth` bytes; `unit` holds the node for that prefix (none for a root).
struct Node {
  size_t begin;
  size_t end;
  size_t depth;
  std::optional<uint32_t> unit;
};

class TrieBuilder {
 public:
  Trie trie;

  /// Adds a trie and returns its root's base. With `compress`, a node with only one key below it becomes a leaf, except
  /// along `prefix`, whose node's base is stored in *prefix_base.
  uint32_t add(TrieKeys& keys, bool compress, std::string_view prefix, std::optional<uint32_t>* prefix_base) {
    std::sort(keys.begin(), keys.end());
    std::deque<Node> queue = {{0, keys.size(), 0, std::nullopt}};
    uint32_t root = 0;
    while (!queue.empty()) {
      const Node node = queue.front();
      queue.pop_front();
      std::vector<uint32_t> labels;
      std::vector<Node> children;
      size_t at = node.begin;
      const bool accepts = at < node.end && keys[at].first.size() == node.depth;
      if (accepts) {
        labels.push_back(0);
        ++at;
      }
      while (at < node.end) {
        const char byte = keys[at].first[node.depth];
        const size_t first = at;
        while (at < node.end && keys[at].first[node.depth] == byte) ++at;
        labels.push_back(static_cast<uint8_t>(byte));
        children.push_back({first, at, node.depth + 1, std::nullopt});
      }
      std::vector<uint32_t> sorted = labels;
      std::sort(sorted.begin(), sorted.end());
      const uint32_t base = places_.take(sorted);
      if (node.unit) {
        trie.units[*node.unit] |= base << text::kUnitBaseShift | (accepts ? text::kUnitAccept : 0);
      } else {
        root = base;
      }
      if (accepts) trie.units[base] = keys[node.begin].second << text::kUnitValueShift | text::kUnitValueLabel;
      if (prefix_base != nullptr && node.depth == prefix.size() && is_on_prefix(keys, node, prefix)) {
        *prefix_base = base;
      }
      for (size_t i = 0; i < children.size(); ++i) {
        Node& child = children[i];
        const uint32_t label = labels[i + (accepts ? 1 : 0)];
        const uint32_t unit = base ^ label;
        trie.units[unit] = label;
        if (compress && child.end - child.begin == 1 && !is_on_prefix(keys, child, prefix)) {
          trie.units[unit] |= text::kUnitLeaf | keys[child.begin].second << text::kUnitBaseShift;
        } else {
          child.unit = unit;
          queue.push_back(child);
        }
      }
    }
    return root;
  }

 private:
  static bool is_on_prefix(const TrieKeys& keys, const Node& node, std::string_view prefix) {
    if (node.depth > prefix.size() || node.begin == node.end) return node.depth == 0;
    return keys[node.begin].first.compare(0, node.depth, prefix.substr(0, node.depth)) == 0;
  }

  Places places_{trie.units};
};

void mark_first_bytes(const TrieKeys& keys, text::LexiconRoots& roots, size_t kind) {
  roots.only_first[kind] = 256;
  bool several = false;
  for (const auto& [key, value] : keys) {
    const uint32_t byte = static_cast<uint8_t>(key.front());
    roots.first[kind][byte / 32] |= 1u << (byte % 32);
    roots.longest[kind] = std::max(roots.longest[kind], static_cast<uint32_t>(key.size()));
    several = several || (roots.only_first[kind] != 256 && roots.only_first[kind] != byte);
    roots.only_first[kind] = byte;
  }
  if (several) roots.only_first[kind] = 256;
}

}  // namespace

Trie build_trie(TrieKeys vocabulary, TrieKeys raw, TrieKeys normalized, std::string_view prefix, bool* ok) {
  TrieBuilder builder;
  text::LexiconRoots& roots = builder.trie.roots;
  roots.version = text::kLexiconVersion;
  roots.prefix_size = static_cast<uint32_t>(prefix.size());
  std::optional<uint32_t> continuation;
  TrieKeys none;
  roots.vocabulary = builder.add(vocabulary, true, prefix, &continuation);
  roots.continuation = continuation ? *continuation : builder.add(none, false, "", nullptr);
  roots.added[0] = builder.add(raw, false, "", nullptr);
  roots.added[1] = builder.add(normalized, false, "", nullptr);
  mark_first_bytes(raw, roots, 0);
  mark_first_bytes(normalized, roots, 1);
  *ok = builder.trie.units.size() <= kMaxUnits;
  return builder.trie;
}

}  // namespace bantam::convert
