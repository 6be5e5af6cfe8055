// Chooses the type in which each constant is stored.
#ifndef BANTAM_CONVERTER_QUANTIZE_TYPES_H_
#define BANTAM_CONVERTER_QUANTIZE_TYPES_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// `--keep PATTERN=TYPE`: applies to matrices with a match in their name or in one of their source names.
struct Keep {
  std::string pattern;  // of base/pattern.h
  fb::DType type;
};

/// The goal of scheduling steps: few barriers between threads, or little memory (pack/schedule.cpp). kByResidual: small
/// if the residual is i8.
enum class Plan : uint8_t { kByResidual = 0, kFast, kSmall };

/// The default number of inputs that share a factor in int4 weights.
constexpr uint32_t kInt4Group = 32;

/// When int8 weights are stored without their zeros: if that is faster (prune/costs.h), never, always in blocks that
/// kernels skip, or in the layout with the fewest bytes.
enum class Sparse : uint8_t { kAuto = 0, kNever, kAlways, kSmallest };

struct TypeOptions {
  fb::DType weights = fb::DType::i8;
  std::vector<Keep> keep;
  /// The number of inputs that share a factor in int4 weights, a multiple of 8.
  uint32_t group = kInt4Group;
  Sparse sparse = Sparse::kAuto;
  uint32_t typical_tokens = 16;  // number of tokens for which sparse weights must be faster
  std::string target_cpu;        // the CPU on which they must be faster; empty: all
  /// The type of the residual stream in int8 files: f32, or i8 with one scale per token.
  fb::DType residual = fb::DType::f32;
  Plan plan = Plan::kByResidual;

  bool small_plan() const { return plan == Plan::kByResidual ? residual == fb::DType::i8 : plan == Plan::kSmall; }
  /// Output heads with fewer outputs than this, and tables with fewer rows (segment types), stay f32 in int8 files:
  /// they take little space, and every token or label depends on them. In an SST-2 classifier the two rows of segment
  /// types alone caused a third of the squared error of the logits.
  uint32_t small_matrix = 64;
};

/// Returns the type with this name, in upper or lower case: f32, fp32, float32, f16, fp16, float16, i8, int8, i4, int4,
/// ternary; nullopt for any other name.
std::optional<fb::DType> find_type(const std::string& name);

/// Parses "RE=TYPE" (the last '=' splits). Throws Error (usage) for a bad type or regular expression.
Keep parse_keep(const std::string& text);

/// Sets tensor.type of all constants. Vectors and the layers that score experts get f32. Matrices get `weights`, with
/// these exceptions: small matrices; those that `keep` matches (the last match wins); and those that the type cannot
/// hold (values beyond f16's range; more columns than an int32 accumulator allows), which stay f32 with a note. i4 and
/// ternary are only for linear layers: tables that are looked up become i8, and with ternary output heads, too. If
/// `weights` is i8, matrices that are ternary in the source become ternary. Sets the group of i4 tensors. Throws Error:
/// usage if a pattern matches no matrix; invalid that names every constant with a NaN or an infinity, or every matrix
/// that should become ternary but is not.
void choose_types(Graph& graph, const TypeOptions& options);

/// Marks matrices with fewer than `limit` rows that are looked up, or that feed an output directly or through ops that
/// only shape outputs.
std::vector<bool> small_matrices(const Graph& graph, uint32_t limit);

/// Returns true for i8 and i4, the types of integers that weights are rounded to.
inline bool is_rounded(fb::DType type) { return type == fb::DType::i8 || type == fb::DType::i4; }

/// Returns true for i8, i4 and ternary, the types that are multiplied with i8 activations.
inline bool is_integer(fb::DType type) { return is_rounded(type) || type == fb::DType::ternary; }

const char* type_name(fb::DType type);  // "f32", "f16", "i8", ...

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_TYPES_H_
