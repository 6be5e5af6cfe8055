// Lists of the pages that hold keys which some query of a call sees, for attention that leaves out most of a long text (Longformer, arXiv
// 2004.05150; Big Bird, arXiv 2007.14062). Kernels number keys by their places in the list; biases hide keys of its pages that are not
// seen. A key keeps its lane, and keys their order, whatever the list is: so neither tiles nor batches change the bits.
#ifndef BANTAM_OPS_MORE_KEY_LISTS_H_
#define BANTAM_OPS_MORE_KEY_LISTS_H_

#include "ops/more/globals.h"

namespace bantam::ops {

/// Most blocks that Attention.random_blocks lists for one.
constexpr uint32_t kMaxRandomBlocks = 15;

inline bool sees_globals(const fb::Attention& a) { return linked::kGlobals && a.mask() == fb::MaskKind::globals; }
inline bool sees_blocks(const fb::Attention& a) { return linked::kBlocks && a.mask() == fb::MaskKind::blocks; }
inline bool has_key_lists(const fb::Attention& a) { return sees_globals(a) || sees_blocks(a); }

/// Checks that the fields of Attention for global tokens and blocks fit together, and to the constant.
Verdict check_key_lists(const Site& site);

/// Bytes of a list of so many pages.
inline uint64_t key_list_bytes(const fb::Attention& a, uint32_t pages) {
  return has_key_lists(a) ? (uint64_t{pages} * sizeof(uint32_t) + 63) / 64 * 64 : 0;
}

/// The keys that a query sees: none (its row is 0), all keys of its sequence, or those of a list.
enum class Seeing : uint8_t { kNothing, kAll, kListed };
/// Returns the keys that row `begin` of `sequence` sees, and the rows behind it up to *end. Lowers *end where later
/// rows see other keys. Queries that share a list by blocks are of one block.
Seeing seeing_of(const TileRun& run, const fb::Attention& a, uint32_t sequence, uint32_t begin, uint32_t* end);

/// The list of queries [begin, end) of the run, in head `head`.
class KeyList {
 public:
  /// `pages`: key_list_bytes of the pages of the sequence.
  KeyList(const TileRun& run, const fb::Op& op, uint32_t sequence, uint32_t begin, uint32_t end, uint32_t head,
          uint32_t* pages);

  /// Heads see other keys.
  static bool differs_by_head(const TileRun& run, const fb::Op& op);

  /// Pages and keys of the call, numbered by places in the list.
  template <class Call>
  void bind(Call& call) const {
    call.page_list = pages_;
    call.query_begin = 0;
    call.kv_begin = begin_ % 16;
    call.kv_end = kv_end();
  }
  /// The call's biases: 0, or by how often keys are seen, where a query sees them.
  void fill_bias(const kernels::Attention& call) const;

 private:
  /// Keys beside each other in the list, and what is added to their scores.
  struct Span {
    uint32_t element, count;
    float bias;
  };
  static constexpr uint32_t kMaxSpans = kMaxRandomBlocks + 5;

  /// Rows [begin, end) of the run, not in front of those added before; the element of the first of them.
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
  uint32_t window_begin_ = 0, window_element_ = 0;  // the first row that some query's window has, and its element
  Span spans_[kMaxSpans];                           // that all queries see
  uint32_t span_count_ = 0;
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_KEY_LISTS_H_
