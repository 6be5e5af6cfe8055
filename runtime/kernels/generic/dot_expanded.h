// dot_block for processors without vectors: first expands activations, once for all outputs of a block, to the form
// that the inner loops read. An instruction set's dot.h includes this header after it has defined
//   rows_together(is_signed, left): how many of the `left` rows form a part, which the inner loops process together;
//   quad_words(rows): words of a quad of such a part; row_words(is_signed, rows): the same for any number of rows;
//   expand_rows(x, x_stride, rows, quads, words), x int8_t or uint8_t;
//   dot_panels(block, rows, words, quads, w, sums, add): all panels, w is that of the first one;
//   kExpandedWords: words on the stack, at least for 64 quads of two rows.
#ifndef BANTAM_KERNELS_GENERIC_DOT_EXPANDED_H_
#define BANTAM_KERNELS_GENERIC_DOT_EXPANDED_H_

#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Multiplies rows that are expanded into words[count]: all at once if they fit, else a chunk of k at a time. `ready`:
/// they are already expanded. Returns true if all of them are now. One function for both types of bytes, which differ
/// only in the expansion.
BANTAM_NOINLINE inline bool dot_expanded(const int8_t* x, bool is_signed, const DotBlock& a, uint32_t* words,
                                         uint32_t count, bool ready) {
  const bool whole = linked::kStatic && row_words(is_signed, a.rows) * a.quads <= count;
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    rows = rows_together(is_signed, a.rows - row);
    Sum* sums = a.sums + row * a.sums_stride;
    const uint32_t most = whole ? a.quads : count / quad_words(rows);
    for (uint32_t quad = 0; quad < a.quads; quad += most) {
      const uint32_t quads = a.quads - quad < most ? a.quads - quad : most;
      const int8_t* from = x + row * a.x_stride + quad * 4;
      if (linked::kStatic && ready) {
        // They are already expanded.
      } else if (is_signed) {
        expand_rows(from, a.x_stride, rows, quads, words);
      } else {
        expand_rows(reinterpret_cast<const uint8_t*>(from), a.x_stride, rows, quads, words);
      }
      dot_panels(a, rows, words, quads, a.w + size_t{quad} * 64, sums, a.add || quad != 0);
    }
    if (whole) words += quad_words(rows) * a.quads;
  }
  return whole;
}

/// Uses kWords words of stack.
template <uint32_t kWords>
BANTAM_NOINLINE void dot_on_stack(const int8_t* x, bool is_signed, const DotBlock& a) {
  uint32_t words[kWords];
  dot_expanded(x, is_signed, a, words, kWords, false);
}

/// Heads of 64 columns need half the stack of a layer.
template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  constexpr bool kSigned = static_cast<Stored>(-1) < 0;
  const auto* bytes = reinterpret_cast<const int8_t*>(x);
  if (kExpandedWords > 256 && a.rows > 4) return dot_on_stack<kExpandedWords>(bytes, kSigned, a);
  constexpr uint32_t kWords = kExpandedWords < 256 ? kExpandedWords : 256;
  a.quads > 16 ? dot_on_stack<kWords>(bytes, kSigned, a) : dot_on_stack<kWords / 2>(bytes, kSigned, a);
}

/// dot_block for the same rows and successive panels: rows that fit are expanded only once.
class RepeatedRows {
 public:
  BANTAM_INLINE void dot(const int8_t* x, const DotBlock& a) {
    ready_ = dot_expanded(x, true, a, words_, sizeof words_ / sizeof words_[0], ready_);
  }

 private:
  uint32_t words_[kExpandedWords < 256 ? kExpandedWords : 256];
  bool ready_ = false;
};
#define BANTAM_KERNEL_OWN_REPEATED_ROWS

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_DOT_EXPANDED_H_
