#include "pipeline/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "calibrate/sensitivity.h"
#include "quantize/budget.h"

namespace bantam::convert {
namespace {

/// The number of texts on which each matrix is measured: enough to find the few sensitive ones.
constexpr size_t kMeasuredTexts = 24;
constexpr std::chrono::seconds kLongestSearch{180};

bool is_static(const ConvertOptions& options) { return options.activations == Activations::kStatic; }

/// Returns the next wider type, for a matrix whose type is too coarse.
fb::DType wider(fb::DType type) { return type == fb::DType::i4 ? fb::DType::i8 : fb::DType::f16; }

const char* option_name(fb::DType type) {
  return type == fb::DType::i8 ? "int8" : type == fb::DType::i4 ? "int4" : type == fb::DType::f16 ? "f16" : "f32";
}

/// Returns true if changing types can help: there is no budget, and nothing was pruned.
bool types_alone(const ConvertOptions& options) {
  return !is_static(options) && options.budget.empty() && options.prune.share <= 0 && is_rounded(options.types.weights);
}

Remedy remedy(const ConvertOptions& refused, std::string words) { return {std::move(words), refused}; }

Remedy with_weights(const ConvertOptions& refused, fb::DType type) {
  Remedy result = remedy(refused, fmt::format("--weights {}", option_name(type)));
  result.options.types.weights = type;
  if (!is_integer(type)) {
    result.options.rounding = Rounding::kNearest;
    result.options.calibrate.clear();
    result.options.types.residual = fb::DType::f32;
  }
  return result;
}

std::vector<Remedy> looser_budgets(const ConvertOptions& refused) {
  const Budget budget = parse_budget(refused.budget);
  std::vector<Remedy> remedies;
  for (const double factor : {1.05, 1.1, 1.25, 1.5}) {
    // A smaller divergence requires a larger file.
    const double limit = budget.kind == BudgetKind::kLoss ? budget.limit / (factor * factor) : budget.limit * factor;
    std::string text = fmt::format("loss={:.3g}", limit);
    if (budget.kind == BudgetKind::kSize) text = fmt::format("size={:.0f}", limit);
    if (budget.kind == BudgetKind::kLatency) text = fmt::format("latency={:.3g}", std::min(1.0, limit));
    remedies.push_back(remedy(refused, "--budget " + text));
    remedies.back().options.budget = text;
  }
  return remedies;
}

std::vector<Remedy> smaller_shares(const ConvertOptions& refused) {
  std::vector<Remedy> remedies;
  for (const double factor : {0.75, 0.5}) {
    const auto share = static_cast<float>(std::floor(refused.prune.share * factor * 100) / 100);
    if (share <= 0) continue;
    remedies.push_back(remedy(refused, fmt::format("--prune {:.2g}", share)));
    remedies.back().options.prune.share = share;
  }
  return remedies;
}

/// Thrown to stop a measurement that takes too long.
struct OutOfTime {};

/// Tries one remedy after the other and records the attempts.
class Search {
 public:
  Search(const ConvertOptions& options, Gate& gate, Report& report) : options_(options), gate_(gate), report_(report) {}

  std::optional<Produced> first_that_passes(const std::vector<Remedy>& remedies) {
    for (const Remedy& remedy : remedies) {
      report_.gate.out_of_time = out_of_time();
      if (report_.gate.out_of_time) return std::nullopt;
      if (auto produced = attempt(remedy)) return produced;
    }
    return std::nullopt;
  }

  bool out_of_time() const { return !options_.automatic && std::chrono::steady_clock::now() - begin_ > kLongestSearch; }

 private:
  std::optional<Produced> attempt(const Remedy& remedy) {
    const std::string what = "trying " + shown(remedy.words);
    ConvertOptions options = remedy.options;
    options.progress = [this, &what](const char*, double done) { options_.progress(what.c_str(), done); };
    Attempt attempt;
    attempt.options = remedy.words;
    std::optional<Produced> passing;
    try {
      options.progress("", 0);
      ConvertSource source = read_source(options);
      Produced produced = produce(options, source);
      gate_.judge(produced.built.bytes, what.c_str(), produced.report);
      attempt.file_bytes = produced.built.bytes.size();
      attempt.passed = produced.report.gate_failures.empty();
      if (!attempt.passed) attempt.problem = produced.report.gate_failures.front();
      if (attempt.passed) passing = std::move(produced);
    } catch (const Error& error) {
      attempt.problem = error.what();
    }
    report_.gate.attempts.push_back(std::move(attempt));
    return passing;
  }

  static std::string shown(const std::string& words) {
    constexpr size_t kMost = 40;
    return words.size() <= kMost ? words : words.substr(0, kMost) + "...";
  }

  const ConvertOptions& options_;
  Gate& gate_;
  Report& report_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Remedy> free_remedies(const ConvertOptions& refused) {
  std::vector<Remedy> remedies;
  if (is_static(refused)) {
    for (const RangeBy by : {RangeBy::kMse, RangeBy::kPercentile, RangeBy::kMinMax}) {
      if (refused.ranges.by == by) continue;
      remedies.push_back(remedy(refused, std::string("--calibrate-by ") + range_name(by)));
      remedies.back().options.ranges = RangeOptions();
      remedies.back().options.ranges.by = by;
    }
    return remedies;
  }
  if (refused.types.residual == fb::DType::i8) {
    remedies.push_back(remedy(refused, "--residual f32"));
    remedies.back().options.types.residual = fb::DType::f32;
  }
  if (refused.prune.zeros() && !refused.prune.measured()) {
    remedies.push_back(remedy(refused, "--prune-by activations"));
    remedies.back().options.prune.by_activation = true;
  }
  if (is_rounded(refused.types.weights) && refused.rounding == Rounding::kNearest && refused.budget.empty()) {
    remedies.push_back(remedy(refused, "--rounding gptq"));
    remedies.back().options.rounding = Rounding::kGptq;
  }
  return remedies;
}

std::vector<Remedy> costly_remedies(const ConvertOptions& refused) {
  if (!refused.budget.empty()) return looser_budgets(refused);
  if (refused.prune.share > 0) return smaller_shares(refused);
  std::vector<Remedy> remedies;
  if (is_static(refused)) {
    remedies.push_back(remedy(refused, "--activations dynamic --gate-data " + refused.calibrate));
    ConvertOptions& options = remedies.back().options;
    options.activations = Activations::kDynamic;
    options.ranges = RangeOptions();
    options.gate_data = std::exchange(options.calibrate, "");
    return remedies;
  }
  if (refused.types.weights == fb::DType::i4) remedies.push_back(with_weights(refused, fb::DType::i8));
  if (is_integer(refused.types.weights)) remedies.push_back(with_weights(refused, fb::DType::f16));
  if (refused.types.weights == fb::DType::f16) remedies.push_back(with_weights(refused, fb::DType::f32));
  return remedies;
}

std::vector<Remedy> keep_lists(const ConvertOptions& refused, const Graph& graph,
                               const std::vector<LabelledText>& texts, const std::function<void(double)>& progress) {
  std::vector<Remedy> remedies;
  if (!types_alone(refused) || texts.empty()) return remedies;
  const fb::DType narrow = refused.types.weights;
  std::vector<LabelledText> some = spread(texts, kMeasuredTexts);
  for (LabelledText& text : some) text.label.clear();
  const Sensitivity measured = measure_sensitivity(graph, some, {narrow}, progress);
  struct Gain {
    std::string name;
    double for_a_byte;
  };
  std::vector<Gain> gains;
  for (const MatrixCosts& matrix : measured.matrices) {
    for (const TypeCost& cost : matrix.types) {
      if (cost.divergence > 0 && cost.saved > 0)
        gains.push_back({matrix.name, cost.divergence / static_cast<double>(cost.saved)});
    }
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& a, const Gain& b) { return a.for_a_byte > b.for_a_byte; });
  const fb::DType wide = wider(narrow);
  for (size_t count = 1; count <= 16 && count < gains.size(); count *= 2) {
    Remedy list = remedy(refused, "");
    for (size_t i = 0; i < count; ++i) {
      const std::string pattern = exactly(gains[i].name);
      list.words += fmt::format("{}--keep '{}={}'", i == 0 ? "" : " ", pattern, type_name(wide));
      list.options.types.keep.push_back({pattern, wide});
    }
    remedies.push_back(std::move(list));
  }
  return remedies;
}

std::optional<Produced> find_remedy(const ConvertOptions& options, const Graph& graph, Gate& gate, Report& report) {
  report.gate.refused_file_bytes = report.file_bytes;
  Search search(options, gate, report);
  if (auto found = search.first_that_passes(free_remedies(options))) return found;
  const auto measuring = [&](double done) {
    options.progress("measuring each matrix", done);
    if (search.out_of_time()) throw OutOfTime();
  };
  try {
    if (auto found = search.first_that_passes(keep_lists(options, graph, gate.texts(), measuring))) return found;
  } catch (const OutOfTime&) {
    report.gate.out_of_time = true;
    return std::nullopt;
  }
  return search.first_that_passes(costly_remedies(options));
}

}  // namespace bantam::convert
