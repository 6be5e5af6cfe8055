// Weights: takes tensors from a checkpoint by the names that transformers gives them, whatever prefix or legacy
// spelling the file uses, and records which tensors are left.
#ifndef BANTAM_CONVERTER_SOURCE_WEIGHTS_H_
#define BANTAM_CONVERTER_SOURCE_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "source/checkpoint.h"

namespace bantam::convert {

/// Tensors that a file may contain although the model does not use them: their names contain `part`; `why` gives the
/// reason.
struct UnusedTensors {
  std::string part, why;
};

/// Facts about a model's names that are known before any tensor is taken.
struct ModelNames {
  std::string base;    // the base model's name: "bert"
  std::string anchor;  // a base model tensor that every file has
  std::vector<UnusedTensors> unused;
  std::vector<const char*> other_bases = {};  // base names that some files use instead
  /// Old prefixes of head names, and the new ones.
  std::vector<std::pair<const char*, const char*>> renamed = {};
  /// "layers.3.ffn.up" may be named "ffn.3.up".
  bool numbers_behind = false;
};

/// One of the equal parts of a tensor's rows: "attn.Wqkv[1/3].weight" is the second third of "attn.Wqkv.weight". With
/// "^" after the module's name ("attn.c_attn^[1/3].weight"), matrices are stored transposed, with inputs as rows.
struct TensorPart {
  std::string name;
  uint32_t part = 0, parts = 1;
  bool turned = false;
};
TensorPart tensor_part(const std::string& name);

/// Returns columns [begin, begin + count) of a matrix with `columns` columns; no values if the matrix is missing.
Values some_columns(const Values& from, uint32_t columns, uint32_t begin, uint32_t count);
/// Returns the transpose of a matrix with `rows` rows.
std::vector<float> turned(const std::vector<float>& values, size_t rows);

/// There are two kinds of names. Encoder names are relative to the base model ("encoder.layer.0...."); in the file they
/// have a base prefix ("bert.", "distilbert.", or none for a bare model), which the word embeddings reveal. Head names
/// ("classifier.weight") do not have that prefix. LayerNorm's weight and bias may also be named gamma and beta.
class Weights {
 public:
  /// All three must outlive the object.
  Weights(const Checkpoint& checkpoint, const ModelNames& names, Problems& problems);

  bool has_encoder(const std::string& name) const { return find(tensor_part(base_ + name).name).has_value(); }
  bool has_head(const std::string& name) const { return find(outer_ + name).has_value(); }
  /// Extent 0 of a tensor; nullopt if it is absent or a scalar.
  std::optional<uint64_t> encoder_rows(const std::string& name) const { return rows(base_ + name); }
  std::optional<uint64_t> head_rows(const std::string& name) const { return rows(outer_ + name); }
  /// The number of dimensions of a tensor; 0 if it is absent or a scalar.
  size_t encoder_extents(const std::string& name) const;
  /// The number of layers: 1 + the largest N of "<stack>N." among encoder names.
  uint32_t layers(const std::string& stack) const;

  /// Returns the values of a tensor that must have `shape` (or its first `keep` rows, if given). A missing tensor,
  /// another shape, NaN etc. become problems and return no values.
  Values encoder(const std::string& name, const std::vector<uint32_t>& shape, uint32_t keep = 0);
  Values head(const std::string& name, const std::vector<uint32_t>& shape);
  /// encoder() and head() of a matrix whose caller does not look at its values: those of a large one stay in the file
  /// until they are stored (Values::later).
  Values encoder_matrix(const std::string& name, uint32_t rows, uint32_t columns);
  Values head_matrix(const std::string& name, uint32_t rows, uint32_t columns);
  /// Marks a head tensor as used without reading it.
  void use_head(const std::string& name);

  /// Returns true if both tensors exist with the same type and the same values, byte by byte.
  bool same(const std::string& head_name, const std::string& encoder_name) const;

  /// Classifies the tensors that nobody has taken by name and by general rules: a harmless tensor becomes a note, any
  /// other a problem.
  void finish(std::vector<std::string>& notes);

 private:
  std::optional<std::string> find(const std::string& full) const;
  std::optional<uint64_t> rows(const std::string& full) const;
  Values take(const std::string& full, const std::vector<uint32_t>& shape, uint32_t keep, bool later = false);

  const Checkpoint& checkpoint_;
  const ModelNames& names_;
  Problems& problems_;
  std::string base_;   // before encoder names
  std::string outer_;  // before head names
  std::set<std::string> used_;
};

/// Returns the prefix of the base model's names in this file: "bert.", or none for a bare model. A file may contain
/// several models (such as a teacher's copy): the one with its own base name wins, then the shortest prefix.
std::string base_prefix(const Checkpoint& checkpoint, const ModelNames& names);

/// Returns the prefix of head names, where `base` is the prefix of the base model's names.
std::string outer_prefix(const std::string& base, const ModelNames& names);

/// Loads values that are still in their file.
void hold_values(Values& values);

/// Concatenates `parts` to one matrix or vector; no values if a part has none.
Values concatenate(std::vector<Values> parts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WEIGHTS_H_
