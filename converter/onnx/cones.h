// Cones: subgraphs that depend on shapes, masks and ids only. They are run for a few texts and compared with closed
// forms.
#ifndef BANTAM_CONVERTER_ONNX_CONES_H_
#define BANTAM_CONVERTER_ONNX_CONES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bantam_generated.h"
#include "onnx/axes.h"
#include "onnx/host_tensor.h"
#include "onnx/model.h"

namespace bantam::convert::onnx {

/// A score is masked if the value that is added to it is at most this.
constexpr double kHidden = -1000;

struct Probe {
  Extents extents;
  std::vector<int64_t> ids, mask,
      segments;  // [batch, tokens]; masked tokens have ordinary ids
  HostTensor input(InputRole role) const;
};

/// Makes probes of two lengths, with masks that have holes and with masks that pad, and one probe of `long_text` tokens
/// if that is longer. Extents that the file fixes keep their values.
std::vector<Probe> make_probes(int64_t batch, int64_t tokens, int64_t long_text = 0);

/// The text length that shows all effects of an operation on constants: the effect of a window of 64 tokens shows only
/// in longer texts.
struct Reach {
  int64_t farthest = 0;                                // the largest number in the constants
  int64_t most = std::numeric_limits<int64_t>::max();  // tokens for which its tables have rows
  void add(const Reach& other) {
    farthest = std::max(farthest, other.farthest);
    most = std::min(most, other.most);
  }
};
/// The reach of a constant that `op` reads as input `place`.
Reach reach_of(const HostTensor& constant, const std::string& op, size_t place);

struct Mask {
  fb::MaskKind kind = fb::MaskKind::none;
  uint32_t window = 0;
  // Values that are added to visible scores, by key - query: either biases [heads, 2 farthest + 1], or one slope per
  // head, which is multiplied by -|key - query|, or neither. Distances beyond the farthest use its value.
  std::vector<float> biases, slopes;
  int64_t farthest = 0;
};
/// Recognizes the mask of scores [batch, heads, tokens, tokens] from the values that are added to them (or from a
/// factor of the softmax's inputs) for each probe. Supported masks: none, padding, causal, a window, causal with a
/// window; each with or without biases by distance. Returns nullopt for other masks.
std::optional<Mask> recognise_mask(const std::vector<Probe>& probes, const std::vector<HostTensor>& added,
                                   int64_t heads);

/// The index by which tokens look up rows of a table: index[batch, tokens] (or [1, tokens]) for each probe.
struct Index {
  fb::IndexSource source = fb::IndexSource::ids;
  int64_t first = 0;
};
std::optional<Index> recognise_index(const std::vector<Probe>& probes, const std::vector<HostTensor>& index);

/// Returns true if the tensor, broadcast to [batch, tokens], is 1 at tokens of texts and 0 at padding.
bool is_mask(const std::vector<Probe>& probes, const std::vector<HostTensor>& mask);
/// Returns true if the tensor is the number of tokens of each text.
bool is_count(const std::vector<Probe>& probes, const std::vector<HostTensor>& counts);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_CONES_H_
