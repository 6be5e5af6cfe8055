#include "pipeline/produce.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/readable.h"
#include "base/sha256.h"
#include "calibrate/calibration.h"
#include "calibrate/moments.h"
#include "calibrate/ranges.h"
#include "calibrate/sensitivity.h"
#include "calibrate/static_ranges.h"
#include "data/texts.h"
#include "graph/access.h"
#include "pipeline/provenance.h"
#include "quantize/budget.h"
#include "quantize/static.h"
#include "run/images.h"

namespace bantam::convert {
namespace {

/// Chooses a type for every matrix within the budget, stores the choices in `types`, and returns what was chosen.
BudgetReport choose_types_within(const Graph& graph, const std::string& budget,
                                 const std::filesystem::path& sensitivity, TypeOptions& types) {
  const Sensitivity measured = fitted(read_sensitivity(sensitivity), graph);
  const Choice choice = choose_within(measured, parse_budget(budget));
  types.weights = fb::DType::i8;
  types.keep = choice_as_keeps(graph, measured, choice);
  BudgetReport report;
  report.budget = budget;
  report.file_bytes = choice.file_bytes;
  report.divergence = choice.divergence;
  report.latency = choice.latency;
  for (size_t i = 0; i < choice.types.size(); ++i) {
    report.types.emplace_back(measured.matrices[i].name, type_name(choice.types[i]));
  }
  return report;
}

/// Measures columns on the built-in texts, regardless of the parity texts, so that the same source gives the same
/// bytes.
ColumnMaxima calibrate_columns(const Graph& graph, const ConvertOptions& options) {
  const uint32_t max_tokens = session_tokens(graph.model);
  const auto choose = [max_tokens](Runner& runner) { return make_samples(runner, max_tokens, calibration_texts()); };
  const auto progress = [&](double done) { options.progress("calibrating", done); };
  return column_maxima(measure_ranges(graph, migratable(graph), max_tokens, choose, progress));
}

std::function<std::vector<Sample>(Runner&)> calibration_samples(const Graph& graph, const ConvertOptions& options) {
  const uint32_t max_tokens = session_tokens(graph.model);
  return [max_tokens, &options](Runner& runner) {
    if (options.calibrate.empty()) return make_samples(runner, max_tokens, calibration_texts());
    if (!runner.model().has_tokenizer()) {
      throw Error(ExitCode::kUsage, fmt::format("--calibrate {}: the model has no tokenizer, so it takes no texts; add "
                                                "vocab.txt or tokenizer.json to the source",
                                                options.calibrate));
    }
    return make_samples(runner, max_tokens, spread(read_texts("--calibrate", options.calibrate), kCalibrationTexts));
  };
}

StaticRanges calibrate_ranges(const Graph& graph, const ConvertOptions& options) {
  const Graph unfused = unfuse(graph);
  const auto progress = [&](double done) { options.progress("calibrating", done); };
  return measure_static(unfused, options.ranges, session_tokens(graph.model), calibration_samples(graph, options),
                        progress);
}

InputMoments calibrate_moments(const Graph& graph, const ConvertOptions& options) {
  const auto progress = [&](double done) { options.progress("calibrating", done); };
  return measure_moments(graph, rounded_inputs(graph, options.types), session_tokens(graph.model),
                         calibration_samples(graph, options), progress);
}

/// `moments`: measured for the original graph.
Graph pruned(const Graph& graph, const ConvertOptions& options, const InputMoments& moments) {
  Graph result = clone(graph);
  if (!options.prune.zeros()) return result;
  options.progress("pruning", 0);
  prune(result, options.prune, options.types, moments);
  return result;
}

/// Returns other weight types that make the file smaller, by the difference between the sizes of the builds.
std::vector<std::string> smaller_types(const Graph& graph, const ConvertOptions& options, uint64_t bytes) {
  std::vector<std::string> result;
  const bool types_were_chosen = !options.budget.empty() || options.activations == Activations::kStatic;
  if (types_were_chosen || options.prune.zeros()) return result;
  TypeOptions other = options.types;
  std::string name;
  if (!is_integer(options.types.weights)) {
    other.weights = fb::DType::i8;
    name = "--weights int8";
  } else if (!options.types.keep.empty() && options.types.weights != fb::DType::ternary) {
    other.keep.clear();
    name = "without --keep";
  }
  if (name.empty()) return result;
  const uint64_t then = size_of_build(graph, other);
  if (then < bytes) result.push_back(fmt::format("{}: {} less", name, readable_bytes(bytes - then)));
  return result;
}

Built build_file(const Graph& source, const ConvertOptions& options) {
  InputMoments moments = wants_moments(options) ? calibrate_moments(source, options) : InputMoments{};
  const Graph graph = pruned(source, options, moments);
  if (options.activations == Activations::kStatic) {
    check_static(graph);
    const bool small = options.small_plan();
    const Graph split = small ? split_for_small_plan(graph) : clone(graph);
    const StaticRanges ranges = calibrate_ranges(split, options);
    options.progress("packing", 0);
    return build_static(split, ranges, small, options.types);
  }
  const bool quantized = is_integer(options.types.weights);
  Measured measured;
  if (quantized) measured.maxima = calibrate_columns(graph, options);
  if (options.rounding == Rounding::kGptq) measured.moments = std::move(moments);
  measured.rounding = [&](double done) { options.progress("rounding weights", done); };
  options.progress("packing", 0);
  return build_model(graph, options.types, measured);
}

}  // namespace

bool wants_moments(const ConvertOptions& options) {
  return options.rounding == Rounding::kGptq || (options.prune.zeros() && options.prune.measured());
}

uint32_t session_tokens(const fb::ModelT& model) {
  constexpr uint32_t kMost = 512;
  if (model.image != nullptr) return model.max_sequence;  // an image always runs as a whole
  return model.max_sequence == 0 ? kMost : std::min(model.max_sequence, kMost);
}

std::vector<Sample> make_samples(Runner& runner, uint32_t max_tokens, const std::vector<std::string>& texts) {
  const uint32_t of_sources = runner.model().source_vocabulary();
  std::vector<Sample> samples;
  constexpr uint32_t kImages = 48;
  if (takes_images(runner.model())) return made_images(runner.model(), kImages);
  std::vector<std::string> taken;
  for (const std::string& text : texts) {
    if (runner.model().has_tokenizer() && runner.takes(text)) taken.push_back(text);
  }
  samples = runner.encode_all(taken);
  if (samples.empty()) {
    samples = random_samples(of_sources != 0 ? of_sources : runner.model().vocabulary(), max_tokens,
                             runner.model().mark_types());
  }
  for (Sample& sample : samples) runner.complete(&sample, kCompletionTokens);
  return samples;
}

Produced produce(ConvertOptions options, ConvertSource& source) {
  if (options.prune.scattered() && options.types.sparse == Sparse::kAuto) options.types.sparse = Sparse::kSmallest;
  Graph& kept = source.kept();
  kept.model.tool = options.tool;
  record(kept, "recipe", recipe_of(options));
  std::optional<BudgetReport> budget;
  if (!options.budget.empty()) {
    budget = choose_types_within(kept, options.budget, options.sensitivity, options.types);
    record(kept, "budget",
           fmt::format("{} sensitivity=sha256:{}", options.budget, sha256_of_file(options.sensitivity)));
  }
  Produced result{build_file(kept, options), {}};
  std::optional<ScoreCalibration> scores;
  if (!options.calibrate_scores.empty()) {
    scores =
        calibrate_scores(kept.model, result.built.bytes, read_labelled("--calibrate-scores", options.calibrate_scores),
                         options.max_rejected, [&](double done) { options.progress("calibrating scores", done); });
    result.built.bytes = with_calibration(result.built.bytes, *scores);
  }
  result.report = describe(result.built, options.types);
  std::vector<std::string>& smaller = result.report.smaller;
  const std::vector<std::string> types = smaller_types(kept, options, result.built.bytes.size());
  smaller.insert(smaller.begin(), types.begin(), types.end());
  const bool fixed = options.activations == Activations::kStatic;
  if (options.types.weights == fb::DType::i4) {
    result.report.notes.emplace_back(
        "int4 saves bytes; it may be slower than int8 on this machine: bantam bench FILE measures that");
  }
  if (fixed && options.small_plan()) {
    result.report.notes.emplace_back(
        "--activations static plans memory for devices (--plan small); on a server add --plan fast");
  }
  if (fixed && options.types.sparse == Sparse::kSmallest) {
    result.report.notes.emplace_back(
        "--activations static has no layout for single zeros: layers are stored sparse where blocks of four of them "
        "make that smaller, else dense");
  }
  result.report.source = options.source.string();
  result.report.output = options.output.string();
  result.report.student = std::move(source.student);
  result.report.structures = std::move(source.structures);
  result.report.budget = std::move(budget);
  result.report.scores = scores;
  return result;
}

}  // namespace bantam::convert
