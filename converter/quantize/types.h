// Chooses the type in which each constant is stored.
#ifndef BANTAM_CONVERTER_QUANTIZE_TYPES_H_
#define BANTAM_CONVERTER_QUANTIZE_TYPES_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// `--keep PATTERN=TYPE`: matrices whose name, or one of whose source names, contains a match.
struct Keep {
  std::string pattern;  // of base/pattern.h
  fb::DType type;
};

/// The goal of the schedule of a run's steps: few barriers between threads, or little memory (pack/schedule.cpp).
/// kByResidual: small if the residual is i8.
enum class Plan : uint8_t { kByResidual = 0, kFast, kSmall };

/// The default number of inputs of int4 weights that share a factor.
constexpr uint32_t kInt4Group = 32;

/// Says when int8 weights are stored without their zeros: if that is faster (prune/costs.h), never, always as blocks
/// that kernels skip, or in whichever layout takes the fewest bytes.
enum class Sparse : uint8_t { kAuto = 0, kNever, kAlways, kSmallest };

struct TypeOptions {
  fb::DType weights = fb::DType::i8;
  std::vector<Keep> keep;
  /// The number of inputs of int4 weights that share a factor, a multiple of 8.
  uint32_t group = kInt4Group;
  Sparse sparse = Sparse::kAuto;
  uint32_t typical_tokens = 16;  // for which sparse weights shall be faster
  std::string target_cpu;        // on which; empty: everywhere
  /// The type of the residual sums that flow from layer to layer, in int8 files: f32, or i8 with a scale per token.
  fb::DType residual = fb::DType::f32;
  Plan plan = Plan::kByResidual;

  bool small_plan() const { return plan == Plan::kByResidual ? residual == fb::DType::i8 : plan == Plan::kSmall; }
  /// Output heads with fewer outputs than this, and tables with fewer rows (segment types), stay f32 in int8
  /// files: they cost nothing, and every token or label depends on them. On an SST-2 classifier the two rows of
  /// segment types alone gave a third of the whole squared error of the logits.
  uint32_t small_matrix = 64;
};

/// Finds a type by its name, in upper or lower case: f32, fp32, float32, f16, fp16, float16, i8, int8, i4, int4; none
/// for another word.
std::optional<fb::DType> find_type(const std::string& name);

/// Parses "RE=TYPE" (the last '=' splits). Throws Error (usage) for a bad type or regular expression.
Keep parse_keep(const std::string& text);

/// Sets tensor.type of every constant. Vectors and the layers that score experts get f32. Matrices get `weights`,
/// except small ones, those that `keep` names (the last match wins), and those that the type cannot hold (values beyond
/// f16; more columns than an int32 accumulator takes), which stay f32 with a note. i4 is for linear layers: tables that
/// are looked up become i8. Sets the group of i4 tensors. Throws Error (usage) when a pattern matches no
/// matrix, (invalid) naming every constant with a NaN or an infinity.
void choose_types(Graph& graph, const TypeOptions& options);

/// Marks matrices of fewer than `limit` rows that are looked up, or that feed an output directly or through ops that
/// shape outputs.
std::vector<bool> small_matrices(const Graph& graph, uint32_t limit);

/// Returns true for i8 and i4, the types that meet i8 activations.
inline bool is_integer(fb::DType type) { return type == fb::DType::i8 || type == fb::DType::i4; }

const char* type_name(fb::DType type);  // "f32", "f16", "i8", ...

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_TYPES_H_
