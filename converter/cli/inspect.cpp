// inspect: what is in a file.
#include <map>
#include <memory>

#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/inspect_arena.h"
#include "cli/inspect_generation.h"
#include "cli/inspect_tables.h"
#include "format/view.h"

namespace bantam::cli {
namespace {

struct InspectOptions {
  std::string model;
  bool ops = false;
  bool tensors = false;
  bool plan = false;
  bool arena = false;
  bool json = false;
  SessionOptions session;  // of the arena
};

/// Arena bytes of a session for one sequence of so many tokens.
size_t arena_at(const Model& model, uint32_t tokens) {
  SessionOptions options;
  options.max_tokens = tokens;
  return arena_bytes(model, options);
}

std::vector<uint32_t> arena_lengths(const Model& model) {
  std::vector<uint32_t> lengths;
  const uint32_t longest = model.max_sequence() == 0 ? 512 : model.max_sequence();
  for (const uint32_t tokens : {16u, 64u, 128u, 512u}) {
    if (tokens < longest) lengths.push_back(tokens);
  }
  lengths.push_back(longest);
  return lengths;
}

Json labels_json(const Model& model) {
  Json sets = Json::array();
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    Json labels = Json::array();
    for (uint32_t i = 0; i < model.label_count(set); ++i) labels.push_back(to_string(model.label(set, i)));
    const fb::LabelSet& stored = *root(model).task()->label_sets()->Get(set);
    sets.push_back({{"labels", labels},
                    {"scheme", fb::EnumNameTagScheme(stored.scheme())},
                    {"threshold", stored.threshold()},
                    {"temperature", stored.temperature()},
                    {"reject_below", stored.reject_below()}});
    if (root(model).outputs()->Get(stored.output())->role() == fb::OutputRole::tags) {
      sets.back()["aggregation"] = fb::EnumNameAggregation(stored.aggregation());
    }
    if (stored.name() != nullptr) sets.back()["name"] = to_string(model.label_set_name(set));
    if (!model.has_levels(set)) continue;
    for (uint32_t i = 0; i < model.label_count(set); ++i) {
      const int32_t above = model.label_above(set, i);
      if (above >= 0) sets.back()["label_parents"][to_string(model.label(set, i))] = labels[static_cast<size_t>(above)];
    }
  }
  return sets;
}

/// In the file's order, the last of equal keys. Keys are put behind each other: Json would look through all for each.
Json properties_json(const fb::Model& stored) {
  std::map<std::string, size_t> place;
  Json::object_t properties;
  for (uint32_t i = 0; i < count(stored.properties()); ++i) {
    const fb::Property& property = *stored.properties()->Get(i);
    const auto [known, is_new] = place.emplace(to_string(as_text(property.key())), properties.size());
    if (is_new) properties.emplace_back(known->first, nullptr);
    (properties.begin() + static_cast<std::ptrdiff_t>(known->second))->second = to_string(as_text(property.value()));
  }
  return properties;
}

Json summary_json(const ModelFile& file) {
  const Model& model = file.model();
  const fb::Model& stored = root(model);
  Json object = json_object("inspect");
  object["file"] = file.path();
  object["bytes"] = file.size();
  object["name"] = to_string(model.name());
  object["architecture"] = to_string(as_text(stored.architecture()));
  object["task"] = task_name(model.task());
  object["tool"] = to_string(model.tool());
  object["licence"] = to_string(model.licence());
  object["description"] = to_string(as_text(stored.description()));
  object["parameters"] = parameter_count(model);
  object["vocabulary"] = model.vocabulary();
  object["segment_types"] = model.segment_types();
  object["max_tokens"] = model.max_sequence();
  object["tokenizer"] = model.has_tokenizer();
  object["text_tokens"] = text_limit(model);
  object["outputs"] = Json::array();
  for (uint32_t i = 0; i < model.output_count(); ++i) object["outputs"].push_back(to_string(model.output_name(i)));
  object["label_sets"] = labels_json(model);
  add_generation(model, &object);
  object["arena"] = Json::array();
  for (const uint32_t tokens : arena_lengths(model)) {
    object["arena"].push_back({{"tokens", tokens}, {"bytes", arena_at(model, tokens)}});
  }
  object["properties"] = properties_json(stored);
  return object;
}

void print_line(const char* key, const std::string& value) {
  if (!value.empty()) out().print("{:<14} {}\n", key, printable(value));
}

void print_summary(const ModelFile& file) {
  const Model& model = file.model();
  const fb::Model& stored = root(model);
  out().print("{}\n", bold(printable(file.path())));
  print_line("name", to_string(model.name()));
  print_line("architecture", to_string(as_text(stored.architecture())));
  print_line("task", task_name(model.task()));
  print_line("size", fmt::format("{} ({} parameters)", readable_bytes(file.size()), parameter_count(model)));
  print_line("licence", to_string(model.licence()));
  print_line("written by", to_string(model.tool()));
  const uint32_t of_texts = text_limit(model);
  std::string takes = model.has_tokenizer() ? "" : "; no tokenizer: takes ids only";
  if (of_texts != 0 && of_texts != model.max_sequence()) takes = fmt::format("; texts are cut at {}", of_texts);
  print_line("tokens", fmt::format("at most {} of {} ids{}", model.max_sequence(), model.vocabulary(), takes));
  std::string outputs;
  for (uint32_t i = 0; i < model.output_count(); ++i) outputs += (i > 0 ? ", " : "") + to_string(model.output_name(i));
  print_line("outputs", outputs);
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    std::string labels;
    const uint32_t shown = std::min(model.label_count(set), 12u);
    for (uint32_t i = 0; i < shown; ++i) labels += (i > 0 ? ", " : "") + to_string(model.label(set, i));
    if (shown < model.label_count(set)) labels += fmt::format(", ... ({} in all, with --json)", model.label_count(set));
    print_line("labels", labels);
  }
  for (const auto& [key, line] : generation_lines(model)) print_line(key.c_str(), line);
  std::string arena;
  for (const uint32_t tokens : arena_lengths(model)) {
    arena +=
        fmt::format("{}{} at {} tokens", arena.empty() ? "" : ", ", readable_bytes(arena_at(model, tokens)), tokens);
  }
  print_line("arena", arena);
  for (uint32_t i = 0; i < count(stored.properties()); ++i) {
    const fb::Property& property = *stored.properties()->Get(i);
    print_line(i == 0 ? "properties" : "",
               to_string(as_text(property.key())) + " = " + to_string(as_text(property.value())));
  }
}

void run_inspect(const InspectOptions& options) {
  const ModelFile file(options.model);
  const Model& model = file.model();
  if (options.json) {
    Json object = summary_json(file);
    if (options.ops) object["ops"] = ops_json(model);
    if (options.tensors) object["tensors"] = tensors_json(model);
    if (options.plan) object["plan"] = plan_json(model);
    if (options.arena) object["arena_parts"] = arena_json(model, options.session);
    out().line(object);
    return;
  }
  if (!options.ops && !options.tensors && !options.plan && !options.arena) print_summary(file);
  if (options.ops) print_table(ops_table(model));
  if (options.tensors) print_table(tensors_table(model));
  if (options.plan) print_table(plan_table(model));
  if (options.arena) print_table(arena_table(arena_json(model, options.session)));
}

}  // namespace

void add_inspect(Program& program) {
  Command& command = program.add_command("inspect", "Show what a file contains", kExamineGroup);
  auto options = std::make_shared<InspectOptions>();
  command.add_option("FILE", options->model, "FILE.bantam", "A .bantam file").required();
  command.add_flag("--ops", options->ops, "Operators, in order of execution");
  command.add_flag("--tensors", options->tensors, "Constant tensors: type, shape, bytes, error");
  command.add_flag("--plan", options->plan, "Arena tensors: region, offset, bytes, lifetime");
  command.add_flag("--arena", options->arena, "Arena of one session, by part");
  command.add_option("--tokens", options->session.max_tokens, "N",
                     "With --arena: maximum tokens per run (default: all positions)");
  command.add_option("--tile-rows", options->session.tile_rows, "N", "With --arena: rows per tile (default: 64)");
  command.add_option("--block-rows", options->session.block_rows, "N", "With --arena: rows per block (default: 16)");
  command.add_flag("--json", options->json, "Print one JSON object");
  command.footer(
      "Examples:\n"
      "  bantam inspect voice.bantam\n"
      "  bantam inspect voice.bantam --ops\n"
      "  bantam inspect voice.bantam --arena --tokens 64 --tile-rows 4 --block-rows 1\n"
      "  bantam inspect voice.bantam --tensors --json");
  command.action([options] { run_inspect(*options); });
}

}  // namespace bantam::cli
