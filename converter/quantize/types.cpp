#include "quantize/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "base/pattern.h"
#include "graph/access.h"
#include "graph/rows.h"
#include "graph/tensor_classes.h"
#include "quantize/ternary.h"

namespace bantam::convert {
namespace {

/// Maximum K of an int8 layer (ops/ops.h).
constexpr uint64_t kMostColumns = 131071;

Pattern compile(const std::string& pattern) {
  try {
    return Pattern(pattern);
  } catch (const PatternError& error) {
    throw Error(ExitCode::kUsage, fmt::format("--keep {}: the regular expression {}", pattern, error.what()));
  }
}

bool matches(const fb::TensorT& tensor, const Pattern& pattern) {
  if (pattern.search(tensor.name)) return true;
  for (const std::string& source : tensor.source) {
    if (pattern.search(source)) return true;
  }
  return false;
}

void check_finite(const Graph& graph) {
  Problems problems;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (!graph.constants[i]) continue;
    if (all_values(*graph.constants[i], [](float value) { return std::isfinite(value); })) continue;
    problems.add(ExitCode::kInvalid,
                 fmt::format("tensor {} holds a NaN or an infinity; repair the model before converting it",
                             graph.model.tensors[i]->name));
  }
  problems.raise();
}

bool exceeds_half(const Constant& constant) {
  return !all_values(constant, [](float value) { return std::fabs(value) <= kHalfMax; });
}

}  // namespace

const char* type_name(fb::DType type) { return fb::EnumNameDType(type); }

std::optional<fb::DType> find_type(const std::string& name) {
  std::string word = name;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (word == "f32" || word == "fp32" || word == "float32") return fb::DType::f32;
  if (word == "f16" || word == "fp16" || word == "float16") return fb::DType::f16;
  if (word == "i8" || word == "int8") return fb::DType::i8;
  if (word == "i4" || word == "int4") return fb::DType::i4;
  if (word == "ternary") return fb::DType::ternary;
  return std::nullopt;
}

Keep parse_keep(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto type = find_type(equals == std::string::npos ? "" : text.substr(equals + 1));
  if (!type) {
    throw Error(ExitCode::kUsage,
                fmt::format("--keep {}: expected REGEX=f32, REGEX=f16, REGEX=int8, REGEX=int4 or REGEX=ternary", text));
  }
  Keep keep{text.substr(0, equals), *type};
  compile(keep.pattern);
  return keep;
}

std::vector<bool> small_matrices(const Graph& graph, uint32_t limit) {
  std::vector<bool> feeds(graph.model.tensors.size(), false);
  for (const auto& output : graph.model.outputs) feeds[static_cast<size_t>(output->tensor)] = true;
  const auto& ops = main_subgraph(graph).ops;
  for (const auto& op : ops) {
    if (shapes_output(*op) && feeds[static_cast<size_t>(op->outputs[0])]) {
      feeds[static_cast<size_t>(op->inputs[0])] = true;
    }
  }
  std::vector<bool> small(graph.model.tensors.size(), false);
  const auto mark = [&](int32_t matrix) {
    if (rows(tensor(graph, matrix)) < limit) small[static_cast<size_t>(matrix)] = true;
  };
  for (const auto& op : ops) {
    const bool head = op->attributes.type == fb::OpAttributes::Linear && feeds[static_cast<size_t>(op->outputs[0])];
    if (head) mark(op->inputs[1]);
    if (op->attributes.type == fb::OpAttributes::Embed) {
      for (const int32_t table : tables_of(*op)) mark(table);
    }
  }
  return small;
}

namespace {

/// Returns the matrices that score experts: a small error can change the order of similar scores and route a token to
/// another expert, so that these matrices keep their type ("selective precision", arXiv 2101.03961, section 2.4).
std::vector<bool> routers(const Graph& graph) {
  std::vector<bool> found(graph.model.tensors.size(), false);
  const std::vector<int32_t> producer = producers(graph);
  const auto& ops = main_subgraph(graph).ops;
  for (const auto& op : ops) {
    if (op->attributes.type != fb::OpAttributes::Experts) continue;
    const int32_t from = producer[static_cast<size_t>(op->inputs[1])];
    for (const int32_t matrix : from < 0 ? std::vector<int32_t>{} : multiplied_by(*ops[static_cast<size_t>(from)])) {
      found[static_cast<size_t>(matrix)] = true;
    }
  }
  return found;
}

}  // namespace

/// Chooses between ternary and i8 for a matrix that is to be `type`, where no pattern asks for ternary.
fb::DType ternary_or_int8(const Constant& constant, const fb::TensorT& tensor, bool head, fb::DType type) {
  if (type == fb::DType::ternary) return head || constant.embedding ? fb::DType::i8 : type;
  const bool suits = type == fb::DType::i8 && tensor.source_type == fb::DType::ternary && !constant.embedding;
  return suits && ternary_rows(constant, width(tensor)) ? fb::DType::ternary : type;
}

/// Reports a matrix that cannot be ternary.
void refuse_values(const fb::TensorT& tensor, Problems* problems) {
  problems->add(ExitCode::kInvalid,
                {"", "tensor", tensor.name, " has rows that are not -1, 0 and 1 times one number",
                 "; only models trained so have ternary weights: add --keep 'NAME=int8', or leave out ternary"});
}

void choose_types(Graph& graph, const TypeOptions& options) {
  check_finite(graph);
  Problems problems;
  const std::vector<bool> heads = small_matrices(graph, UINT32_MAX);
  const std::vector<bool> scores_experts = routers(graph);
  const std::vector<bool> small = small_matrices(graph, options.small_matrix);
  std::vector<Pattern> patterns;
  for (const Keep& keep : options.keep) patterns.push_back(compile(keep.pattern));
  std::vector<bool> matched(patterns.size(), false);
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (!graph.constants[i] || !graph.constants[i]->numbers.empty()) continue;
    fb::TensorT& constant = *graph.model.tensors[i];
    constant.type = fb::DType::f32;
    if (!is_weight_matrix(graph, i)) continue;
    const bool keep_small = (small[i] && is_integer(options.weights)) || scores_experts[i];
    constant.type =
        keep_small ? fb::DType::f32 : ternary_or_int8(*graph.constants[i], constant, heads[i], options.weights);
    bool kept = false;
    for (size_t k = 0; k < patterns.size(); ++k) {
      if (!matches(constant, patterns[k])) continue;
      matched[k] = kept = true;
      constant.type = options.keep[k].type;
    }
    if (constant.type == fb::DType::f16 && exceeds_half(*graph.constants[i])) {
      constant.type = fb::DType::f32;
      graph.notes.push_back(fmt::format("{} stays f32: some values exceed what f16 holds", constant.name));
    }
    const bool narrow = constant.type == fb::DType::i4 || constant.type == fb::DType::ternary;
    if (narrow && graph.constants[i]->embedding) {
      if (kept) {
        graph.notes.push_back(fmt::format("{} is int8: {} is for linear layers, not for tables", constant.name,
                                          constant.type == fb::DType::i4 ? "int4" : "ternary"));
      }
      constant.type = fb::DType::i8;
    }
    if (is_integer(constant.type) && width(constant) > kMostColumns) {
      constant.type = fb::DType::f32;
      graph.notes.push_back(
          fmt::format("{} stays f32: int8 rows take at most {} columns", constant.name, kMostColumns));
    }
    if (constant.type == fb::DType::ternary && !ternary_rows(*graph.constants[i], width(constant))) {
      refuse_values(constant, &problems);
    }
    constant.group = constant.type == fb::DType::i4 ? options.group : 0;
    // Integers from the source are for int8 only.
    if (constant.type != fb::DType::i8 && graph.constants[i]->rounded != nullptr) {
      auto plain = std::make_shared<Constant>(*graph.constants[i]);
      plain->rounded = nullptr;
      graph.constants[i] = std::move(plain);
    }
  }
  for (size_t k = 0; k < patterns.size(); ++k) {
    if (matched[k]) continue;
    problems.add(
        ExitCode::kUsage,
        fmt::format("--keep {}={}: no weight matrix has such a name; `bantam inspect FILE --tensors` lists them",
                    options.keep[k].pattern, type_name(options.keep[k].type)));
  }
  problems.raise();
}

}  // namespace bantam::convert
