// Axes: how a file's tensor maps to the rows of a model. Rows are [batch, tokens] or [batch], with `columns` numbers
// each. An axis is a product of parts: the batch, the tokens, or a number of columns with a step. Reshape and Transpose
// only regroup parts.
#ifndef BANTAM_CONVERTER_ONNX_AXES_H_
#define BANTAM_CONVERTER_ONNX_AXES_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace bantam::convert::onnx {

/// Extents at which shapes and masks are evaluated.
struct Extents {
  int64_t batch = 1, tokens = 1;
};

struct Atom {
  enum class Kind : uint8_t { kBatch, kTokens, kColumns } kind = Kind::kColumns;
  int64_t extent = 1;  // number of columns
  int64_t step = 1;    // distance between neighboring columns
  int64_t less = 0;    // tokens missing at the end, because of convolutions without padding

  bool operator==(const Atom& other) const {
    return kind == other.kind && extent == other.extent && step == other.step && less == other.less;
  }
};

using Axis = std::vector<Atom>;  // outermost part first; empty: extent 1
using Axes = std::vector<Axis>;

constexpr Atom kBatchAtom{Atom::Kind::kBatch, 1, 1, 0};
constexpr Atom kTokensAtom{Atom::Kind::kTokens, 1, 1, 0};
inline Atom columns_atom(int64_t extent, int64_t step = 1) { return {Atom::Kind::kColumns, extent, step, 0}; }
/// Returns true for an axis of tokens, even if some are missing at the end.
inline bool is_tokens(const Axis& axis) { return axis.size() == 1 && axis[0].kind == Atom::Kind::kTokens; }

int64_t extent(const Atom& atom, const Extents& at);
int64_t extent(const Axis& axis, const Extents& at);
std::vector<int64_t> dims(const Axes& axes, const Extents& at);
/// Returns true if the axes are those of heads: the batch, then heads and tokens in either order, then the columns of a
/// head.
bool is_of_heads(const Axes& axes);
/// All parts in order, with neighboring parts of columns merged.
Axis flat(const Axes& axes);

/// Returns axes whose extents are shapes[i] at extents[i]. In a shape, 0 keeps an axis, and -1 is inferred (for one
/// axis). Returns nullopt if that would split a part by anything but a whole factor. A batch of 1 becomes the first
/// axis of extent 1.
std::optional<Axes> reshape(const Axes& axes, const std::vector<Extents>& at, std::vector<std::vector<int64_t>> shapes);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_AXES_H_
