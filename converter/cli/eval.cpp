// eval: a file's scores on labelled data, beside another file's.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "run/eval_data.h"
#include "run/eval_run.h"

namespace bantam::cli {

using convert::Dataset;
using convert::Metrics;
using convert::Outcome;
using convert::read_dataset;
using convert::refuse_unknown;

namespace {

struct EvalOptions {
  std::string model;
  std::string data;
  std::string against;
  EngineOptions engine;
  size_t limit = 0;
  bool skip_bad = false;
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
  scored.outcome = evaluate(file, options.engine, data,
                            [&progress](size_t done, size_t total) { progress.count("examples", done, total); });
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

void print_json(const Dataset& data, const Scored& first, const std::optional<Scored>& second) {
  Json object = json_object("eval");
  object["data"] = data.path;
  object["layout"] = layout_name(data.layout);
  object["examples"] = data.examples.size();
  object["skipped_lines"] = data.skipped;
  object["unknown_labels"] = data.unknown;
  put_file(first, data.examples.size(), &object);
  if (second) {
    Json other = Json::object();
    put_file(*second, data.examples.size(), &other);
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
    out().print("{} examples have a label that the model does not know (counted as wrong), such as {}\n", data.unknown,
                data.first_unknown);
  }
}

void run_eval(const EvalOptions& options) {
  Dataset data;
  {
    const ModelFile file(options.model);
    data = read_dataset(options.data, file.model(), options.limit, options.skip_bad);
    refuse_unknown(data, options.model);
  }
  const Scored first = score_file(options.model, options, data);
  std::optional<Scored> second;
  if (!options.against.empty()) second = score_file(options.against, options, data);
  if (options.json) {
    print_json(data, first, second);
  } else {
    print_plain(data, first, second);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Score a file on labelled data, beside another file");
  command->group(kExamineGroup);
  auto options = std::make_shared<EvalOptions>();
  command->add_option("FILE", options->model, "A .bantam file")->required()->type_name("FILE.bantam");
  command->add_option("DATA", options->data, "Labelled examples, one JSON object a line (- reads standard input)")
      ->required()
      ->type_name("DATA");
  command->add_option("--against", options->against, "Another .bantam file: its scores, and how often the two differ")
      ->type_name("FILE.bantam");
  command->add_option("--limit", options->limit, "Use the first N examples only")->type_name("N");
  command->add_flag("--skip-bad", options->skip_bad, "Leave malformed lines out and report how many there were");
  command->add_option("--batch", options->engine.batch, "Texts of one forward pass")
      ->check(between(1, 4096))
      ->type_name("N");
  add_engine_options(*command, &options->engine);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Fields of DATA decide what is measured:\n"
      "  text, label (name or number)            accuracy, macro F1, Matthews (pairs: text_a, text_b)\n"
      "  text, labels (names)                    micro and macro F1, exact match\n"
      "  text_a, text_b, score                   Pearson and Spearman of cosine or regression value\n"
      "  text, intent [, tokens, slots]          intent accuracy, slot F1, sentence accuracy\n"
      "  tokens, tags                            entity F1\n"
      "  question, context, answers              exact match and F1\n"
      "  text, choices, label (number)           accuracy\n\n"
      "Examples:\n"
      "  bantam eval voice.bantam test.jsonl\n"
      "  bantam eval int8.bantam test.jsonl --against f32.bantam --json");
  command->callback([options] { run_eval(*options); });
}

}  // namespace bantam::cli
