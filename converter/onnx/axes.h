// Axes: how a tensor of a file lies over rows of a model. Rows are [batch, tokens] or [batch] of `columns` numbers; an axis is a product
// of parts of that: the batch, tokens, or so many columns in steps. Reshape and Transpose only regroup them.
#ifndef BANTAM_CONVERTER_ONNX_AXES_H_
#define BANTAM_CONVERTER_ONNX_AXES_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace bantam::convert::onnx {

/// Extents for which shapes and masks are run.
struct Extents {
  int64_t batch = 1, tokens = 1;
};

struct Atom {
  enum class Kind : uint8_t { kBatch, kTokens, kColumns } kind = Kind::kColumns;
  int64_t extent = 1;  // of columns
  int64_t step = 1;    // columns between neighbours
  int64_t less = 0;    // tokens at the end that are not there: of convolutions without padding

  bool operator==(const Atom& other) const {
    return kind == other.kind && extent == other.extent && step == other.step && less == other.less;
  }
};

using Axis = std::vector<Atom>;  // outermost first; empty: 1
using Axes = std::vector<Axis>;

constexpr Atom kBatchAtom{Atom::Kind::kBatch, 1, 1, 0};
constexpr Atom kTokensAtom{Atom::Kind::kTokens, 1, 1, 0};
inline Atom columns_atom(int64_t extent, int64_t step = 1) { return {Atom::Kind::kColumns, extent, step, 0}; }
/// Tokens but for the last ones.
inline bool is_tokens(const Axis& axis) { return axis.size() == 1 && axis[0].kind == Atom::Kind::kTokens; }

int64_t extent(const Atom& atom, const Extents& at);
int64_t extent(const Axis& axis, const Extents& at);
std::vector<int64_t> dims(const Axes& axes, const Extents& at);
/// Texts, and heads and tokens in either order, and the columns of a head.
bool is_of_heads(const Axes& axes);
/// All atoms in order, neighbouring parts of columns put together.
Axis flat(const Axes& axes);

/// Axes whose extents are shapes[i] at extents[i]; 0 keeps an axis, -1 is what remains (of one axis). Nothing where parts would have to be
/// torn otherwise than by whole factors. A batch of 1 stands where the first axis of 1 does.
std::optional<Axes> reshape(const Axes& axes, const std::vector<Extents>& at, std::vector<std::vector<int64_t>> shapes);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_AXES_H_
