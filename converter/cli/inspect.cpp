// inspect: prints what a file contains.
#include <algorithm>
#include <memory>
#include <utility>

#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "describe/arena.h"
#include "describe/summary.h"
#include "describe/tables.h"

namespace bantam::cli {
namespace {

constexpr size_t kShownLabels = 12, kShownLanguages = 24;

struct InspectOptions {
  std::string model;
  bool ops = false;
  bool tensors = false;
  bool plan = false;
  bool arena = false;
  bool json = false;
  SessionOptions session;  // for the size of the arena
};

uint64_t number_in(const Json& object, const char* key) { return object.at(key).get<uint64_t>(); }

/// Returns the first `most` texts of a list, separated by commas, and the number of texts.
std::string listed(const Json& texts, size_t most) {
  std::string line;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) line += (i > 0 ? ", " : "") + texts[i].get<std::string>();
  return texts.size() <= most ? line : line + fmt::format(", ... ({} in all, with --json)", texts.size());
}

/// Returns the generation settings that differ from the defaults.
std::string way_text(const Json& way) {
  const auto text_of = [&](const char* key) { return way.at(key).get<std::string>(); };
  const auto number = [&](const char* key) { return way.at(key).get<float>(); };
  std::string text = text_of("name").empty() ? "by default" : text_of("name");
  const auto add = [&](const char* key, float usual, const char* words) {
    if (number(key) != usual) text += ", " + fmt::format(fmt::runtime(words), number(key));
  };
  if (!text_of("prefix").empty()) text += fmt::format(", behind \"{}\"", text_of("prefix"));
  add("beams", 1, "{} beams");
  if (number("beams") != 1) add("length_penalty", 1, "length penalty {}");
  add("max_new", 0, "at most {} new tokens");
  add("min_new", 0, "at least {}");
  add("no_repeat_ngram", 0, "no row of {} twice");
  add("source_no_repeat_ngram", 0, "no row of {} of the source");
  add("repetition_penalty", 1, "repetition penalty {}");
  return text;
}

void print_line(const char* key, const std::string& value) {
  if (!value.empty()) print_entry(key, 15, printable(value));
}

/// Prints the model's generation settings.
void print_generation(const Json& file) {
  const auto in = [&](const char* key) { return file.contains(key) ? file.at(key) : Json::object(); };
  if (const Json source = in("source"); !source.empty()) {
    print_line("source",
               fmt::format("at most {} of {} ids", number_in(source, "max_tokens"), number_in(source, "vocabulary")));
  }
  if (const Json chunks = in("chunks"); !chunks.empty()) {
    print_line("chunks",
               fmt::format("of {} tokens, for each up to {} texts of {}: --index", number_in(chunks, "tokens"),
                           number_in(chunks, "neighbours"), number_in(chunks, "neighbour_tokens")));
  }
  const char* key = "generates";
  for (const Json& way : in("generations")) print_line(std::exchange(key, ""), way_text(way));
  Json codes = Json::array();
  for (const Json& language : in("languages")) codes.push_back(language.at("code"));
  print_line("languages", listed(codes, kShownLanguages));
  if (const Json lists = in("shortlist"); !lists.empty()) {
    print_line("shortlist", fmt::format("{} of {} words, and those of {} lists", number_in(lists, "first"),
                                        number_in(lists, "words"), number_in(lists, "source_words")));
  }
  if (file.contains("chat")) print_line("conversations", "yes: generate --chat");
}

void print_summary(const Json& file) {
  const auto text_of = [&](const char* key) { return file.at(key).get<std::string>(); };
  out().print("{}\n", bold(printable(text_of("file"))));
  for (const char* key : {"name", "architecture", "task"}) print_line(key, text_of(key));
  print_line("size", fmt::format("{} ({} parameters)", readable_bytes(number_in(file, "bytes")),
                                 number_in(file, "parameters")));
  print_line("licence", text_of("licence"));
  print_line("written by", text_of("tool"));
  const uint64_t of_texts = number_in(file, "text_tokens"), most = number_in(file, "max_tokens");
  std::string takes = file.at("tokenizer").get<bool>() ? "" : "; no tokenizer: takes ids only";
  if (of_texts != 0 && of_texts != most) takes = fmt::format("; texts are cut at {}", of_texts);
  print_line("tokens", fmt::format("at most {} of {} ids{}", most, number_in(file, "vocabulary"), takes));
  print_line("outputs", listed(file.at("outputs"), SIZE_MAX));
  for (const Json& set : file.at("label_sets")) print_line("labels", listed(set.at("labels"), kShownLabels));
  print_generation(file);
  std::string arena;
  for (const Json& one : file.at("arena")) {
    arena += fmt::format("{}{} at {} tokens", arena.empty() ? "" : ", ", readable_bytes(number_in(one, "bytes")),
                         number_in(one, "tokens"));
  }
  print_line("arena", arena);
  const char* key = "properties";
  for (const auto& [name, value] : file.at("properties").items()) {
    print_line(std::exchange(key, ""), name + " = " + value.get<std::string>());
  }
}

void print_arena(const Json& arena) {
  Json rows = arena.at("parts");
  rows.push_back({{"part", "arena"},
                  {"bytes", arena.at("bytes")},
                  {"what", fmt::format("{} tokens, tiles of {} rows, blocks of {}", number_in(arena, "tokens"),
                                       number_in(arena, "tile_rows"), number_in(arena, "block_rows"))}});
  print_table(rows, {"part", "bytes", "what"});
}

void run_inspect(const InspectOptions& options) {
  const ModelFile file(options.model);
  const Model& model = file.model();
  const bool lists = options.ops || options.tensors || options.plan || options.arena;
  Json object = options.json || !lists ? convert::summary_json(file) : Json::object();
  if (options.ops) object["ops"] = convert::ops_json(model);
  if (options.tensors) object["tensors"] = convert::tensors_json(model);
  if (options.plan) object["plan"] = convert::plan_json(model);
  if (options.arena) object["arena_parts"] = convert::arena_json(model, options.session);
  if (options.json) return out().line(object);
  if (!lists) return print_summary(object);
  if (options.ops) print_table(object["ops"], {"op", "step", "rows", "name", "kind", "inputs", "outputs", "epilogue"});
  if (options.tensors) {
    print_table(object["tensors"], {"name", "type", "layout", "shape", "bytes", "source_bytes", "error"});
  }
  if (options.plan) {
    print_table(object["plan"], {"name", "region", "role", "type", "layout", "shape", "offset", "row_bytes", "steps"});
  }
  if (options.arena) print_arena(object["arena_parts"]);
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
