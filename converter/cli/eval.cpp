// eval: a file's scores on labelled data, beside another file's.
#include <memory>
#include <optional>

#include "base/output_file.h"
#include "cli/answer/decoder.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/eval_details.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "data/records.h"
#include "score/eval_data.h"
#include "score/eval_details.h"
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

/// One file's part of the report.
struct Scored {
  std::string path;
  uint64_t bytes = 0;
  Outcome outcome;
  Metrics metrics;

  double queries_per_second(size_t queries) const {
    return outcome.seconds > 0 ? static_cast<double>(queries) / outcome.seconds : 0;
  }
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

/// Metrics that count something, by their names.
bool is_count(const std::string& name) { return name.size() >= 5 && name.compare(name.size() - 5, 5, "flips") == 0; }

Json metrics_json(const Metrics& metrics) {
  Json object = Json::object();
  for (const auto& [name, value] : metrics) {
    if (is_count(name)) {
      object[name] = static_cast<uint64_t>(value);
    } else {
      object[name] = static_cast<float>(value);
    }
  }
  return object;
}

void put_file(const Scored& scored, size_t queries, Json* object) {
  (*object)["file"] = scored.path;
  (*object)["metrics"] = metrics_json(scored.metrics);
  (*object)["bytes"] = scored.bytes;
  (*object)["seconds"] = static_cast<float>(scored.outcome.seconds);
  (*object)["queries_per_second"] = static_cast<float>(scored.queries_per_second(queries));
  (*object)["truncated"] = scored.outcome.truncated;
}

void print_json(const EvalOptions& options, const Dataset& data, const Scored& first,
                const std::optional<Scored>& second) {
  Json object = json_object("eval");
  object["data"] = data.path;
  object["layout"] = layout_name(data.layout);
  object["examples"] = data.examples.size();
  object["skipped_lines"] = data.skipped;
  object["unknown_labels"] = data.unknown;
  put_file(first, data.examples.size(), &object);
  if (options.per_label) put_details(details(data, first.outcome), &object);
  if (second) {
    Json other = Json::object();
    put_file(*second, data.examples.size(), &other);
    if (options.per_label) put_details(details(data, second->outcome), &other);
    object["against"] = other;
    object["difference"] = metrics_json(compare(data, first.outcome, second->outcome));
  }
  out().line(object);
}

/// Scores as the README and report pages state them.
std::string percent(double value) { return fmt::format("{:.2f} %", 100 * value); }

const double* find_metric(const Metrics& metrics, const std::string& wanted) {
  for (const auto& [name, value] : metrics) {
    if (name == wanted) return &value;
  }
  return nullptr;
}

void print_plain(const Dataset& data, const Scored& first, const std::optional<Scored>& second) {
  out().print("{} examples of {} ({})\n", data.examples.size(), printable(data.path), layout_name(data.layout));
  std::vector<std::vector<std::string>> rows = {{"", first.path}};
  if (second) rows[0].insert(rows[0].end(), {second->path, "difference"});
  const auto add = [&](const std::string& name, const std::string& a, const std::string& b,
                       const std::string& difference) {
    rows.push_back({name, a});
    if (second) rows.back().insert(rows.back().end(), {b, difference});
  };
  for (const auto& [name, value] : first.metrics) {
    const double* other = second ? find_metric(second->metrics, name) : nullptr;
    add(name, percent(value), other == nullptr ? "" : percent(*other),
        other == nullptr ? "" : fmt::format("{:+.2f}", 100 * (value - *other)));
  }
  const size_t n = data.examples.size();
  const auto second_or = [&](auto get) { return second ? get(*second) : std::string(); };
  add("size", readable_bytes(first.bytes), second_or([](const Scored& s) { return readable_bytes(s.bytes); }), "");
  add("seconds", fmt::format("{:.2f}", first.outcome.seconds),
      second_or([](const Scored& s) { return fmt::format("{:.2f}", s.outcome.seconds); }), "");
  add("queries/s", fmt::format("{:.0f}", first.queries_per_second(n)),
      second_or([n](const Scored& s) { return fmt::format("{:.0f}", s.queries_per_second(n)); }), "");
  print_table(rows);
  if (second) {
    for (const auto& [name, value] : compare(data, first.outcome, second->outcome)) {
      out().print("{}: {:.{}f}\n", name, value, is_count(name) ? 0 : 5);
    }
  }
  if (first.outcome.truncated > 0) out().print("{} examples were truncated\n", first.outcome.truncated);
  if (data.skipped > 0) out().print("{} malformed lines were left out\n", data.skipped);
  if (data.unknown > 0) {
    const bool labels = data.labels.unknown > 0;
    out().print("{} examples have a {} that the model does not know (counted as wrong), such as {}\n", data.unknown,
                labels ? "label" : "tag", labels ? data.labels.first_unknown : data.tags.first_unknown);
  }
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
    const std::string lines = prediction_lines(data, first.outcome);
    predictions->commit(lines.data(), lines.size());
  }
  if (options.json) return print_json(options, data, first, second);
  print_plain(data, first, second);
  if (options.per_label) print_details(details(data, first.outcome));
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
