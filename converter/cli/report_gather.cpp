// report: gathers everything about the files before anything is written.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "cli/frame/progress.h"
#include "cli/report.h"
#include "measure/pass_times.h"
#include "score/eval_run.h"

namespace bantam::cli {

using convert::Dataset;
using convert::Outcome;
using convert::read_dataset;

namespace {

using convert::FileReport;
using convert::OperatorTime;
using convert::Problems;
using convert::ReportData;

constexpr uint32_t kDefaultTokens = 32;

/// Calls functions and collects the problems that they throw, each only once.
class Gatherer {
 public:
  template <typename Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      for (const std::string& problem : error.problems()) {
        if (seen_.insert(problem).second) problems_.add(error.code(), problem);
      }
    }
  }
  void raise() const { problems_.raise(); }

 private:
  Problems problems_;
  std::set<std::string> seen_;
};

/// A file that will be part of the report, and its data.
struct Subject {
  std::unique_ptr<ModelFile> file;
  std::optional<Dataset> data;
};

/// Opens the files and reads the data once per file, because labels may be numbers, which each file names differently.
std::vector<Subject> open_inputs(const ReportOptions& options, std::unique_ptr<convert::ModelSource>* source) {
  std::vector<Subject> inputs;
  Gatherer gatherer;
  for (const std::string& path : options.files) {
    gatherer.attempt([&] { inputs.push_back({std::make_unique<ModelFile>(path), std::nullopt}); });
  }
  if (!options.source.empty()) {
    gatherer.attempt(
        [&] { *source = std::make_unique<convert::ModelSource>(convert::open_model_source(options.source)); });
  }
  for (Subject& input : inputs) {
    if (options.data.empty()) break;
    gatherer.attempt([&] {
      input.data = read_dataset(options.data, input.file->model(), options.limit, options.skip_bad);
      refuse_misfit(*input.file, *input.data);
      refuse_unknown(*input.data, input.file->model(), input.file->path());
    });
  }
  for (const Subject& input : inputs) {
    const uint32_t longest = input.file->model().max_sequence();
    gatherer.attempt([&] {
      if (longest != 0 && options.tokens > longest) {
        fail(ExitCode::kInvalid, "--tokens {}: {} takes at most {}; name a number that all files take", options.tokens,
             input.file->path(), longest);
      }
    });
  }
  gatherer.raise();
  return inputs;
}

/// Returns the number of tokens of the timed pass, which is the same for all files.
uint32_t timed_tokens(const ReportOptions& options, const std::vector<Subject>& inputs) {
  if (options.tokens != 0) return options.tokens;
  uint32_t tokens = kDefaultTokens;
  for (const Subject& input : inputs) {
    const uint32_t longest = input.file->model().max_sequence();
    if (longest != 0) tokens = std::min(tokens, longest);
  }
  return tokens;
}

OperatorTime operator_time(const probe::OpTime& op, uint32_t count, const convert::BatchTiming& timing) {
  const double total = probe::total_least(timing.ops);
  return {
      op.name, op.kind, op.type(), count, op.least, total > 0 ? op.least / total : 0, probe::of_peak(op, timing.peaks)};
}

convert::Timing time_file(const ModelFile& file, const ReportOptions& options, uint32_t tokens) {
  const convert::BatchTiming timing =
      convert::time_batch(file, {options.engine, options.repetitions, 3, true, true}, {tokens});
  convert::Timing result;
  result.tokens = tokens;
  result.repetitions = timing.repetitions;
  result.median_ms = timing.ms.p50;
  result.p99_ms = timing.ms.p99;
  result.least_ms = timing.ms.least;
  result.arena = timing.arena;
  result.per_core_hour = timing.cost->per_core_hour();
  result.joules = timing.cost->joules;
  for (const probe::KindTime& kind : probe::sum_kinds(timing.ops))
    result.kinds.push_back(operator_time(kind.sum, kind.count, timing));
  for (const probe::OpTime& op : timing.ops) result.operators.push_back(operator_time(op, 1, timing));
  return result;
}

void score_file(const ReportOptions& options, const Subject& input, FileReport* report) {
  const Outcome outcome = evaluate(*input.file, options.engine, *input.data);
  report->metrics = score(*input.data, outcome);
  report->truncated = outcome.truncated;
  report->unknown_labels = input.data->unknown;
}

/// Returns --metric, or the first of these metrics that every file has. Throws if --metric was not measured.
std::string choose_metric(const ReportOptions& options, const std::vector<FileReport>& files) {
  const auto everywhere = [&](const std::string& name) {
    return std::all_of(files.begin(), files.end(), [&](const FileReport& file) {
      return std::any_of(file.metrics.begin(), file.metrics.end(), [&](const auto& m) { return m.first == name; });
    });
  };
  if (!options.metric.empty()) {
    if (everywhere(options.metric)) return options.metric;
    std::string names;
    for (const auto& [name, value] : files[0].metrics) {
      if (everywhere(name)) names += (names.empty() ? "" : ", ") + name;
    }
    fail(ExitCode::kUsage, "--metric {}: not measured on this data for every file; there are {}", options.metric,
         names);
  }
  for (const char* name :
       {"entity_f1", "sentence_accuracy", "intent_accuracy", "accuracy", "micro_f1", "spearman", "f1"}) {
    if (everywhere(name)) return name;
  }
  return "";
}

void note_missing(const ReportOptions& options, const std::vector<Subject>& inputs, ReportData* report) {
  std::string files;
  for (const std::string& path : options.files) files += " " + path;
  const std::string again = "bantam report" + files;
  if (options.data.empty()) {
    report->missing.push_back(
        {"Scores, which want labelled data, one JSON object a line (bantam eval --help has the fields):",
         again + " --data test.jsonl"});
  }
  if (options.source.empty()) {
    report->missing.push_back({"Errors of the weights, which want the directory that the files were converted from:",
                               again + " --source MODEL_DIRECTORY"});
  }
  if (options.no_times) report->missing.push_back({"Times, which --no-times left out:", again});
  for (size_t i = 0; i < inputs.size() && !options.no_times; ++i) {
    if (report->files[i].timing) continue;
    report->missing.push_back({fmt::format("Times of {}, which takes no token ids:", inputs[i].file->path()),
                               "bantam inspect " + inputs[i].file->path()});
  }
}

}  // namespace

ReportData gather_report(const ReportOptions& options) {
  std::unique_ptr<convert::ModelSource> source;
  const std::vector<Subject> inputs = open_inputs(options, &source);
  ReportData report;
  report.tool = std::string("bantam ") + kVersion;
  report.data = options.data;
  report.source = options.source;
  EngineOptions smallest = options.engine;
  smallest.max_tokens = smallest.batch = 1;
  const uint32_t tokens = timed_tokens(options, inputs);
  Progress progress;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelFile& file = *inputs[i].file;
    const auto all = static_cast<double>(inputs.size());
    progress.show("reading weights", static_cast<double>(i) / all);
    FileReport& described = report.files.emplace_back(convert::describe_file(file, source.get()));
    if (inputs[i].data) {
      progress.show("scoring", (static_cast<double>(i) + 0.2) / all);
      score_file(options, inputs[i], &described);
      report.layout = layout_name(inputs[i].data->layout);
      report.examples = inputs[i].data->examples.size();
    }
    if (options.no_times || file.model().vocabulary() == 0) continue;
    progress.show("measuring times", (static_cast<double>(i) + 0.6) / all);
    described.timing = time_file(file, options, tokens);
    if (report.machine.empty()) {
      report.machine = fmt::format("{}, {} build, {}", isa_name(Engine(file, smallest).session().isa()), kBuildType,
                                   counted(options.engine.threads, "thread"));
    }
  }
  progress.clear();
  if (!options.data.empty()) report.metric = choose_metric(options, report.files);
  note_missing(options, inputs, &report);
  return report;
}

}  // namespace bantam::cli
