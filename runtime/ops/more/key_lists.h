// Lists of the key pages that some query of a call attends to, for attention that skips most of a long text
// (Longformer, arXiv 2004.05150; Big Bird, arXiv 2007.14062). Kernels number keys by their position in the list; biases
// hide the keys of listed pages that are not visible. A key keeps its lane, and keys keep their order, in any list, so
// neither tiles nor batches change the bits.
#ifndef BANTAM_OPS_MORE_KEY_LISTS_H_
#define BANTAM_OPS_MORE_KEY_LISTS_H_

#include "ops/more/globals.h"

namespace bantam::ops {

/// The most random blocks that Attention.random_blocks lists for one block.
constexpr uint32_t kMaxRandomBlocks = 15;

inline bool sees_globals(const fb::Attention& a) { return linked::kGlobals && a.mask() == fb::MaskKind::globals; }
inline bool sees_blocks(const fb::Attention& a) { return linked::kBlocks && a.mask() == fb::MaskKind::blocks; }
inline bool has_key_lists(const fb::Attention& a) { return sees_globals(a) || sees_blocks(a); }

/// Checks that the fields of Attention for global tokens and blocks are consistent with each other and with the
/// constant.
Verdict check_key_lists(const Site& site);

/// Bytes of a list of `pages` pages.
inline uint64_t key_list_bytes(const fb::Attention& a, uint32_t pages) {
  return has_key_lists(a) ? (uint64_t{pages} * sizeof(uint32_t) + 63) / 64 * 64 : 0;
}

/// The keys that a query attends to: none (its row is 0), all keys of its sequence, or those of a list.
enum class Seeing : uint8_t { kNothing, kAll, kListed };
/// Returns the keys that row `begin` of `sequence` attends to, and with it the rows up to *end. Lowers *end if later
/// rows attend to other keys. Queries that share a list of blocks are in the same block.
Seeing seeing_of(const TileRun& run, const fb::Attention& a, uint32_t sequence, uint32_t begin, uint32_t* end);

/// The key list of queries [begin, end) of the run, in head `head`.
class KeyList {
 public:
  /// `pages`: memory of key_list_bytes for the pages of the sequence.
  KeyList(const TileRun& run, const fb::Op& op, uint32_t sequence, uint32_t begin, uint32_t end, uint32_t head,
          uint32_t* pages);

  /// Returns true if heads attend to different keys.
  static bool differs_by_head(const TileRun& run, const fb::Op& op);

  /// Sets the pages and keys of the call, numbered by positions in the list.
  template <class Call>
  void bind(Call& call) const {
    call.page_list = pages_;
    call.query_begin = 0;
    call.kv_begin = begin_ % 16;
    call.kv_end = kv_end();
  }
  /// Writes the call's biases; for a visible key 0, or the logarithm of its multiplicity.
  void fill_bias(const kernels::Attention& call) const;

 private:
  /// Adjacent keys in the list, and the bias added to their scores.
  struct Span {
    uint32_t element, count;
    float bias;
  };
  static constexpr uint32_t kMaxSpans = kMaxRandomBlocks + 5;

  /// Adds rows [begin, end) of the run, which must not precede those added before; returns the list position of the
  /// first one.
  uint32_t add_rows(uint32_t begin, uint32_t end);
  void list_globals();
  void list_blocks(uint32_t head);
  uint32_t kv_end() const;
  void show_window(uint32_t query, float* row) const;
  void show_marked(float* row) const;

  const TileRun& run_;
  const fb::Op& op_;
  const fb::Attention& a_;
  uint32_t begin_, end_;              // rows of the sequence
  uint32_t first_query_, end_query_;  // rows
  uint32_t* pages_;
  uint32_t count_ = 0;
  GlobalRows globals_ = {};
  uint32_t window_begin_ = 0, window_element_ = 0;  // first row of any query's window, and its list position
  Span spans_[kMaxSpans];                           // visible to all queries
  uint32_t span_count_ = 0;
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_KEY_LISTS_H_
