#include "pipeline/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "calibrate/calibration.h"
#include "calibrate/moments.h"
#include "calibrate/ranges.h"
#include "calibrate/sensitivity.h"
#include "calibrate/static_ranges.h"
#include "graph/access.h"
#include "pipeline/provenance.h"
#include "pipeline/source.h"
#include "quantize/budget.h"
#include "quantize/static.h"
#include "run/expect.h"
#include "run/texts.h"

namespace bantam::convert {
namespace {

/// Longest texts that parity runs: more costs time and arena, and shows nothing new.
constexpr uint32_t kParityTokens = 512;

uint32_t session_tokens(const fb::ModelT& model) {
  return model.max_sequence == 0 ? kParityTokens : std::min(model.max_sequence, kParityTokens);
}

/// Types for every matrix within the budget, into `types`; what was chosen.
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

/// One sample a text; without a tokenizer the same pseudo-random ids always.
std::vector<Sample> make_samples(Runner& runner, uint32_t max_tokens, const std::vector<std::string>& texts) {
  if (!runner.model().has_tokenizer()) return random_samples(runner.model().vocabulary(), max_tokens);
  std::vector<Sample> samples;
  samples.reserve(texts.size());
  for (const std::string& text : texts) samples.push_back(runner.encode(text));
  return samples;
}

std::vector<Sample> parity_samples(Runner& runner, uint32_t max_tokens, const ConvertOptions& options) {
  if (options.parity.empty()) return make_samples(runner, max_tokens, built_in_texts());
  if (!runner.model().has_tokenizer()) {
    throw Error(ExitCode::kUsage, fmt::format("--parity {}: the model has no tokenizer, so it takes no texts; leave "
                                              "the option out to compare on random ids",
                                              options.parity));
  }
  return make_samples(runner, max_tokens, read_texts("--parity", options.parity));
}

/// Of the built-in texts, whatever the parity texts are: the same source gives the same bytes.
ColumnMaxima calibrate_columns(const Graph& graph, const ConvertOptions& options) {
  const uint32_t max_tokens = session_tokens(graph.model);
  const auto choose = [max_tokens](Runner& runner) { return make_samples(runner, max_tokens, built_in_texts()); };
  const auto progress = [&](double done) { options.progress("calibrating", done); };
  return column_maxima(measure_ranges(graph, migratable(graph), max_tokens, choose, progress));
}

/// At most so many texts, evenly spread over the file, are run: more change no scale worth naming.
constexpr size_t kCalibrationTexts = 1024;

std::function<std::vector<Sample>(Runner&)> calibration_samples(const Graph& graph, const ConvertOptions& options) {
  const uint32_t max_tokens = session_tokens(graph.model);
  return [max_tokens, &options](Runner& runner) {
    if (options.calibrate.empty()) return make_samples(runner, max_tokens, built_in_texts());
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

bool wants_moments(const ConvertOptions& options) {
  return options.rounding == Rounding::kGptq || (options.prune.zeros() && options.prune.measured());
}

InputMoments calibrate_moments(const Graph& graph, const ConvertOptions& options) {
  const auto progress = [&](double done) { options.progress("calibrating", done); };
  return measure_moments(graph, rounded_inputs(graph, options.types), session_tokens(graph.model),
                         calibration_samples(graph, options), progress);
}

/// `moments`: of the graph as it came.
Graph pruned(const Graph& graph, const ConvertOptions& options, const InputMoments& moments) {
  Graph result = clone(graph);
  if (!options.prune.zeros()) return result;
  options.progress("pruning", 0);
  prune(result, options.prune, options.types, moments);
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
    return build_static(split, ranges, small);
  }
  const bool quantized = is_integer(options.types.weights);
  Measured measured;
  if (quantized) measured.maxima = calibrate_columns(graph, options);
  if (options.rounding == Rounding::kGptq) measured.moments = std::move(moments);
  measured.rounding = [&](double done) { options.progress("rounding weights", done); };
  options.progress("packing", 0);
  return build_model(graph, options.types, measured);
}

/// Static activations go with int8 weights throughout, and with texts to calibrate on.
void check_options(const ConvertOptions& options) {
  const bool fixed = options.activations == Activations::kStatic;
  Problems problems;
  if (fixed && options.calibrate.empty()) {
    problems.add(
        ExitCode::kUsage,
        "--activations static: add --calibrate FILE, some hundred texts like those the model will see, one a line "
        "(or lines of JSON with \"text\")");
  }
  if (!fixed && options.ranges.by != RangeBy::kMinMax) {
    problems.add(ExitCode::kUsage,
                 "--calibrate-by is for --activations static; dynamic activations take their scales while running");
  }
  if (const std::string problem = range_problem(options.ranges); !problem.empty())
    problems.add(ExitCode::kUsage, problem);
  if (options.ranges.by != RangeBy::kPercentile && options.ranges.percentile != RangeOptions().percentile) {
    problems.add(ExitCode::kUsage, "--percentile is for --calibrate-by percentile: add it, or leave --percentile out");
  }
  const bool rounds = options.rounding == Rounding::kGptq;
  const bool measures = wants_moments(options) || (options.prune.structures() && options.prune.measured());
  if (!fixed && !measures && !options.calibrate.empty()) {
    problems.add(
        ExitCode::kUsage,
        "--calibrate is for --activations static, --rounding gptq and --prune-by activations; leave it out, or "
        "add one of them");
  }
  if (const std::string problem = prune_problem(options.prune); !problem.empty())
    problems.add(ExitCode::kUsage, problem);
  if (options.prune.zeros() && !is_integer(options.types.weights)) {
    problems.add(ExitCode::kUsage,
                 "--prune is for int8 and int4 files but with --pattern heads or ffn; leave out --weights, or --prune");
  }
  if (rounds && (fixed || !is_integer(options.types.weights))) {
    problems.add(ExitCode::kUsage,
                 "--rounding gptq is for int8 and int4 weights with dynamic activations; leave it out");
  }
  const auto int4 = [](const Keep& keep) { return keep.type == fb::DType::i4; };
  const bool any_int4 =
      options.types.weights == fb::DType::i4 || std::any_of(options.types.keep.begin(), options.types.keep.end(), int4);
  if (options.types.group != kInt4Group && !any_int4) {
    problems.add(ExitCode::kUsage,
                 "--group is for int4 weights: add --weights int4 or --keep 'RE=i4', or leave it out");
  }
  if (options.types.group % 8 != 0 || options.types.group == 0) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--group {}: a group is a multiple of 8 inputs, such as 32 or 64", options.types.group));
  }
  if (fixed && (options.types.weights != fb::DType::i8 || !options.types.keep.empty())) {
    problems.add(ExitCode::kUsage, "--activations static stores every weight in int8: leave out --weights and --keep");
  }
  if (options.budget.empty() != options.sensitivity.empty()) {
    problems.add(ExitCode::kUsage, "--budget and --sensitivity go together: the costs come from bantam sensitivity");
  }
  if (!options.budget.empty() && (fixed || options.types.weights != fb::DType::i8 || !options.types.keep.empty())) {
    problems.add(ExitCode::kUsage, "--budget chooses every type: leave out --weights, --keep and --activations static");
  }
  problems.raise();
}

/// What would bring the file nearer to its source.
std::string finer(const ConvertOptions& options) {
  if (options.prune.share > 0) return "a smaller --prune, training afterwards (bantam distill), --prune-by activations";
  if (options.activations == Activations::kStatic)
    return "--activations dynamic, more texts like the model's for --calibrate";
  if (options.types.weights != fb::DType::i4) return "--keep 'embeddings|attention=f32', --weights f16";
  if (options.rounding == Rounding::kNearest)
    return "--rounding gptq with --calibrate FILE, a smaller --group, --weights int8";
  return "more texts like the model's for --calibrate, a smaller --group, --keep 'attention=i8', --weights int8";
}

Comparison check_parity(const Graph& graph, const Built& built, const ConvertOptions& options) {
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const FileBytes reference_bytes = build(graph, exact);
  // An f32 file is compared with itself, bit by bit.
  const bool same = options.types.weights == fb::DType::f32;
  Runner reference(reference_bytes, session_tokens(graph.model), same ? Linears::kNative : Linears::kFastest);
  Runner runner(built.bytes, session_tokens(graph.model));
  Comparer comparer(graph.model, "the f32 build");
  const std::vector<Sample> samples = parity_samples(runner, session_tokens(graph.model), options);
  for (size_t i = 0; i < samples.size(); ++i) {
    comparer.add(samples[i], reference.run(samples[i]), runner.run(samples[i]));
    options.progress("comparing with f32", static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return comparer.result();
}

Comparison check_expected(const Graph& graph, const Built& built, const ConvertOptions& options) {
  std::vector<std::string> names;
  for (const auto& output : graph.model.outputs) names.push_back(output->name);
  const std::vector<Expected> expected = read_expected(options.expect, names);
  size_t longest = 1;
  for (const Expected& line : expected) longest = std::max(longest, line.sample.ids.size());
  Runner runner(built.bytes, static_cast<uint32_t>(longest));
  Comparer comparer(graph.model, options.expect.filename().string());
  compare_expected(runner, expected, comparer, [&](size_t done, size_t all) {
    options.progress("comparing with stored outputs", static_cast<double>(done) / static_cast<double>(all));
  });
  return comparer.result();
}

Report convert_checked(ConvertOptions options) {
  const std::filesystem::path texts = options.parity == "none" ? "" : options.parity;
  check_options(options);
  refuse_input_as_output(options.output, {options.source, texts, options.expect, options.calibrate, options.sensitivity,
                                          options.calibrate_scores});
  OutputFile output(options.output);

  if (options.types.residual == fb::DType::i8 && !is_integer(options.types.weights)) {
    throw Error(ExitCode::kUsage, "--residual i8 is for int8 and int4 files; leave out --weights, or --residual");
  }
  if (options.prune.scattered() && options.types.sparse == Sparse::kAuto) options.types.sparse = Sparse::kSmallest;
  options.progress("reading", 0);
  ConvertSource source = read_source(options);
  Graph& kept = source.kept();
  kept.model.tool = options.tool;
  record(kept, "recipe", recipe_of(options));
  std::optional<BudgetReport> budget;
  if (!options.budget.empty()) {
    budget = choose_types_within(kept, options.budget, options.sensitivity, options.types);
    record(kept, "budget",
           fmt::format("{} sensitivity=sha256:{}", options.budget, sha256_of_file(options.sensitivity)));
  }

  Built built = build_file(kept, options);
  std::optional<ScoreCalibration> scores;
  if (!options.calibrate_scores.empty()) {
    scores = calibrate_scores(kept.model, built.bytes, read_labelled("--calibrate-scores", options.calibrate_scores),
                              options.max_rejected, [&](double done) { options.progress("calibrating scores", done); });
    built.bytes = with_calibration(built.bytes, *scores);
  }
  Report report = describe(built, options.types);
  report.source = options.source.string();
  report.student = std::move(source.student);
  report.structures = std::move(source.structures);
  report.budget = std::move(budget);
  report.scores = scores;
  report.output = options.output.string();
  report.max_label_flips = options.max_label_flips;

  if (options.parity != "none") report.parity = check_parity(source.graph, built, options);
  if (!options.expect.empty()) report.expected = check_expected(source.graph, built, options);
  for (const Comparison* comparison : {&report.parity, &report.expected}) {
    for (std::string& failure : gate_failures(*comparison, options.max_label_flips, finer(options))) {
      report.gate_failures.push_back(std::move(failure));
    }
  }
  if (!report.gate_failures.empty()) return report;
  options.progress("writing", 0);
  output.commit(built.bytes.data(), built.bytes.size());
  return report;
}

}  // namespace

Report convert(const ConvertOptions& options) {
  ConvertOptions checked = options;
  if (!checked.progress) checked.progress = [](const char*, double) {};
  try {
    return convert_checked(checked);
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::kOutOfSpace, fmt::format("{}: not enough memory to convert it; close other programs, or "
                                                   "convert it on a larger machine",
                                                   options.source.string()));
  }
}

}  // namespace bantam::convert
