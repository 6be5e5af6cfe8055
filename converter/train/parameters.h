// Parameters: the constants of an imported graph as trainable tensors, and their mapping to the tensors of the
// directory that they came from.
#ifndef BANTAM_CONVERTER_TRAIN_PARAMETERS_H_
#define BANTAM_CONVERTER_TRAIN_PARAMETERS_H_

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "source/safetensors_writer.h"
#include "source/write_back.h"
#include "train/settings.h"

namespace bantam::train {

/// The role of a constant, which determines weight decay, freezing, pruning and quantization.
enum class Role { kEmbedding, kEncoderLinear, kHeadLinear, kEncoderVector, kHeadVector };

struct Parameter {
  std::string name;  // in the graph
  at::Tensor value;  // f32, in the constant's shape
  Role role = Role::kEncoderVector;
  bool of_source = false;  // belongs to an encoder-decoder's encoder, or to both its encoder and decoder
  std::vector<convert::StoredPart> stored;  // in the directory, one after the other; empty: never trained
};

class Parameters {
 public:
  /// `graph` must come from import_hugging_face. Tied constants are one parameter. `ways` says where trained values are
  /// stored; constants that cannot be stored are not trained.
  Parameters(const convert::Graph& graph, const convert::WaysBack& ways);

  /// Enables gradients for the parameters that `freeze` does not exclude. The encoder is everything except the head; in
  /// an encoder-decoder, it is the parameters of its encoder.
  void trainable(Freeze freeze);

  /// Returns the value of a constant of the graph.
  const at::Tensor& of(int32_t tensor) const { return all_[index_.at(tensor)].value; }
  Role role_of(int32_t tensor) const { return all_[index_.at(tensor)].role; }
  /// Returns the index in all() of a constant's parameter.
  size_t number_of(int32_t tensor) const { return index_.at(tensor); }

  std::vector<Parameter>& all() { return all_; }
  const std::vector<Parameter>& all() const { return all_; }

 private:
  bool pair_ = false;
  std::vector<Parameter> all_;
  std::map<int32_t, size_t> index_;
};

/// Returns the tensors of `directory` with the current values in `values` (one for each of parameters.all()); tensors
/// that the graph does not use do not change. `dtype`: F32, F16, or "" to keep each tensor's own. Throws Error.
std::map<std::string, convert::TensorBytes> source_tensors(const std::filesystem::path& directory,
                                                           const Parameters& parameters,
                                                           const std::vector<at::Tensor>& values,
                                                           const std::string& dtype);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_PARAMETERS_H_
