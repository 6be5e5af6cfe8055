// eval: scores a file on labeled data and compares it with another file.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/output_file.h"
#include "cli/answer/decoder.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "score/eval_data.h"
#include "score/eval_details.h"
#include "score/eval_json.h"
#include "score/eval_run.h"

namespace bantam::cli {

using convert::Dataset;
using convert::Metrics;
using convert::Outcome;
using convert::read_dataset;
using convert::refuse_misfit;
using convert::refuse_unknown;

namespace {

struct EvalOptions {
  std::string model;
  std::string data;
  std::string against;
  EngineOptions engine;
  convert::GenerateOptions generate;
  Aggregation aggregation = Aggregation::kFile;
  size_t limit = 0;
  bool skip_bad = false;
  bool per_label = false;
  std::string predictions;
  bool json = false;
};

/// The part of the report about one file.
struct Scored {
  std::string path;
  uint64_t bytes = 0;
  Outcome outcome;
  Metrics metrics;
};

Scored score_file(const std::string& path, const EvalOptions& options, const Dataset& data) {
  const ModelFile file(path);
  Scored scored;
  scored.path = path;
  scored.bytes = file.size();
  Progress progress;
  scored.outcome = evaluate(
      file, options.engine, data, [&progress](size_t done, size_t total) { progress.count("examples", done, total); },
      options.generate, options.aggregation);
  progress.clear();
  scored.metrics = score(data, scored.outcome);
  return scored;
}

Json file_record(const EvalOptions& options, const Dataset& data, const Scored& scored) {
  const double seconds = scored.outcome.seconds;
  Json record = {{"file", scored.path},
                 {"metrics", convert::metrics_json(scored.metrics)},
                 {"bytes", scored.bytes},
                 {"seconds", seconds},
                 {"queries_per_second", seconds > 0 ? static_cast<double>(data.examples.size()) / seconds : 0},
                 {"truncated", scored.outcome.truncated}};
  if (options.per_label) convert::put_details(details(data, scored.outcome), &record);
  return record;
}

Json record_of(const EvalOptions& options, const Dataset& data, const Scored& first,
               const std::optional<Scored>& second) {
  Json record = json_object("eval");
  record["data"] = data.path;
  record["layout"] = layout_name(data.layout);
  record["examples"] = data.examples.size();
  record["skipped_lines"] = data.skipped;
  record["unknown_labels"] = data.unknown;
  record.update(file_record(options, data, first));
  if (second) {
    record["against"] = file_record(options, data, *second);
    record["difference"] = convert::metrics_json(compare(data, first.outcome, second->outcome));
  }
  return record;
}

/// Scores in percent, as the README and report pages state them.
const Form kPercent = fixed(2, 100);

void print_scores(const Json& record) {
  const Json* other = record.contains("against") ? &record["against"] : nullptr;
  std::vector<std::vector<std::string>> rows = {{"", record["file"].get<std::string>()}};
  if (other != nullptr) rows[0].insert(rows[0].end(), {(*other)["file"].get<std::string>(), "difference"});
  const auto add = [&](const std::string& name, const std::string& a, const std::string& b, const std::string& more) {
    rows.push_back({name, a});
    if (other != nullptr) rows.back().insert(rows.back().end(), {b, more});
  };
  for (const auto& [name, value] : record["metrics"].items()) {
    if (other == nullptr || !(*other)["metrics"].contains(name)) {
      add(name, kPercent(value) + " %", "", "");
      continue;
    }
    const Json& theirs = (*other)["metrics"][name];
    add(name, kPercent(value) + " %", kPercent(theirs) + " %",
        fmt::format("{:+.2f}", 100 * (value.get<double>() - theirs.get<double>())));
  }
  const auto add_form = [&](const char* key, const char* name, const Form& form) {
    add(name, form(record[key]), other == nullptr ? "" : form((*other)[key]), "");
  };
  add_form("bytes", "size", bytes_form);
  add_form("seconds", "seconds", fixed(2));
  add_form("queries_per_second", "queries/s", fixed(0));
  print_table(rows);
}

void print_plain(const Dataset& data, const Json& record) {
  out().print("{} examples of {} ({})\n", data.examples.size(), printable(data.path), layout_name(data.layout));
  print_scores(record);
  const Json difference = record.value("difference", Json::object());
  for (const auto& [name, value] : difference.items()) {
    out().print("{}: {}\n", name, fixed(value.is_number_float() ? 5 : 0)(value));
  }
  const auto truncated = record["truncated"].get<uint64_t>();
  if (truncated > 0) out().print("{} examples were truncated\n", truncated);
  if (data.skipped > 0) out().print("{} malformed lines were left out\n", data.skipped);
  if (data.unknown > 0) {
    const bool labels = data.labels.unknown > 0;
    out().print("{} examples have a {} that the model does not know (counted as wrong), such as {}\n", data.unknown,
                labels ? "label" : "tag", labels ? data.labels.first_unknown : data.tags.first_unknown);
  }
}

void print_rows(const Json& record, const char* list, const char* what) {
  if (!record.contains(list)) return;
  out().print("\n");
  print_table(record[list], {{"label", what},
                             {"precision", "precision", kPercent},
                             {"recall", "recall", kPercent},
                             {"f1", "F1", kPercent},
                             {"support", "in the data"},
                             "predicted"});
}

/// Prints a confusion matrix if it fits the terminal.
void print_confusion(const Json& labels, const Json& counts) {
  std::vector<std::vector<std::string>> rows = {{"label of the data \\ predicted"}};
  for (const Json& label : labels) rows[0].push_back(plain_form(label));
  for (size_t i = 0; i < labels.size(); ++i) {
    rows.push_back({plain_form(labels[i])});
    for (const Json& count : counts[i]) rows.back().push_back(plain_form(count));
  }
  out().print("\n");
  print_table(rows);
}

/// Prints the most frequent mistakes.
void print_mistakes(const Json& labels, const Json& counts) {
  constexpr size_t kMost = 20;
  std::vector<Json> mistakes;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < labels.size(); ++j) {
      if (i != j && counts[i][j] > 0) {
        mistakes.push_back({{"times", counts[i][j]}, {"label of the data", labels[i]}, {"predicted", labels[j]}});
      }
    }
  }
  std::stable_sort(mistakes.begin(), mistakes.end(),
                   [](const Json& a, const Json& b) { return a["times"] > b["times"]; });
  if (mistakes.empty()) return;
  out().print("\n");
  const size_t shown = std::min(kMost, mistakes.size());
  print_table(std::vector<Json>(mistakes.begin(), mistakes.begin() + static_cast<std::ptrdiff_t>(shown)),
              {"times", "label of the data", "predicted"});
  if (mistakes.size() > kMost) out().print("({} more: --json has all)\n", mistakes.size() - kMost);
}

void print_details(const Json& record) {
  constexpr size_t kMostColumns = 8;
  print_rows(record, "labels", "label");
  if (record.contains("confusion")) {
    const Json &labels = record["confusion"]["labels"], &counts = record["confusion"]["counts"];
    labels.size() <= kMostColumns ? print_confusion(labels, counts) : print_mistakes(labels, counts);
  }
  print_rows(record, "entities", "entity");
}

void run_eval(const EvalOptions& options) {
  Dataset data;
  std::optional<convert::OutputFile> predictions;
  if (!options.predictions.empty()) {
    convert::refuse_input_as_output(options.predictions, {options.model, options.data, options.against});
    predictions.emplace(options.predictions);
  }
  {
    const ModelFile file(options.model);
    data = read_dataset(options.data, file.model(), options.limit, options.skip_bad);
    refuse_misfit(file, data);
    refuse_unknown(data, file.model(), options.model);
  }
  const Scored first = score_file(options.model, options, data);
  std::optional<Scored> second;
  if (!options.against.empty()) second = score_file(options.against, options, data);
  if (predictions) {
    const std::string lines = convert::prediction_lines(data, first.outcome);
    predictions->commit(lines.data(), lines.size());
  }
  const Json record = record_of(options, data, first, second);
  if (options.json) return out().line(record);
  print_plain(data, record);
  print_details(record);
}

}  // namespace

void add_eval(Program& program) {
  Command& command = program.add_command("eval", "Score a file on labelled data, or compare two files", kExamineGroup);
  auto options = std::make_shared<EvalOptions>();
  command.add_option("FILE", options->model, "FILE.bantam", "A .bantam file").required();
  command
      .add_option("DATA", options->data, "DATA",
                  "Labelled examples: FILE.csv, FILE.tsv, or one JSON object per line (-: standard input)")
      .required();
  command.add_option("--against", options->against, "FILE.bantam",
                     "Another .bantam file: print its scores too, and how often the two files differ");
  command.add_flag(
      "--per-label", options->per_label,
      "Also print precision, recall, F1 and count for each label or entity, and which labels are confused");
  command.add_option("--predictions", options->predictions, "FILE.jsonl",
                     "Write the model's answer to each example to this file, one JSON object per line");
  command.add_option("--limit", options->limit, "N", "Use only the first N examples");
  command.add_flag("--skip-bad", options->skip_bad, "Skip malformed lines and report their number");
  add_aggregation_option(command, &options->aggregation);
  options->engine.batch = convert::kPacked;
  command.add_option("--batch", options->engine.batch, "N",
                     "Texts per forward pass (default: as many as fill the threads' tiles)", between(1, 4096));
  add_engine_options(command, &options->engine);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.heading("Generating texts");
  add_language_options(command, &options->generate);
  add_decoding_options(command, &options->generate);
  std::string help = "The fields of DATA decide what is measured:\n";
  for (const convert::LayoutText& layout : convert::layouts()) {
    help += fmt::format("  {:<38}  {}\n", layout.fields, layout.measured);
  }
  help += "\nPairs have text_a and text_b. Other accepted field names:\n";
  for (const auto& [name, others] : convert::other_names()) help += fmt::format("  {:<12}  {}\n", name, others);
  help += "\n";
  command.usual({"--against", "--per-label", "--predictions", "--limit", "--threads", "--json", "--from", "--to",
                 "--max-new", "--beams"});
  command.footer(help +
                 "Examples:\n"
                 "  bantam eval voice.bantam test.jsonl\n"
                 "  bantam eval voice.bantam test.jsonl --per-label --predictions said.jsonl\n"
                 "  bantam eval int8.bantam test.jsonl --against f32.bantam --json\n"
                 "  bantam eval en-de.bantam pairs.jsonl --beams 4");
  command.action([options] { run_eval(*options); });
}

}  // namespace bantam::cli
