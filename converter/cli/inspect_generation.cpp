#include "cli/inspect_generation.h"

#include <fmt/format.h>

#include "bantam/generation.h"
#include "base/status_error.h"
#include "cli/answer/engine.h"
#include "format/view.h"
#include "model/shortlist.h"
#include "run/chunks.h"

namespace bantam::cli {
namespace {

using convert::check;
using convert::to_string;

constexpr uint32_t kShownLanguages = 24;
constexpr const char* kEarlyStopping[] = {"no", "yes", "never"};

Generation way_at(const Model& model, uint32_t index) {
  Generation way;
  check(generation(model, index, &way), "the file");
  return way;
}

Language language_at(const Model& model, uint32_t index) {
  Language found;
  check(language(model, index, &found), "the file");
  return found;
}

Json way_json(const Generation& way) {
  const BeamOptions& said = way.beams;
  Json object = {{"name", to_string(way.name)},
                 {"prefix", to_string(way.prefix)},
                 {"max_new", said.max_new},
                 {"min_new", said.min_new},
                 {"beams", said.beams},
                 {"length_penalty", said.length_penalty},
                 {"early_stopping", kEarlyStopping[static_cast<size_t>(said.early_stopping)]},
                 {"repetition_penalty", said.repetition_penalty},
                 {"no_repeat_ngram", said.no_repeat_ngram},
                 {"source_no_repeat_ngram", said.source_no_repeat_ngram},
                 {"begin_banned", said.begin_banned},
                 {"banned", std::vector<int32_t>(said.banned, said.banned + said.banned_count)}};
  const auto add = [&](const char* name, int32_t id) {
    if (id >= 0) object[name] = id;
  };
  add("start_id", way.start_id);
  add("first_id", said.first_id);
  add("last_id", said.last_id);
  return object;
}

/// Lists the settings that differ from the usual ones.
std::string way_text(const Generation& way) {
  const BeamOptions& said = way.beams;
  std::string text = way.name.size == 0 ? "by default" : to_string(way.name);
  const auto add = [&](bool shown, const std::string& what) {
    if (shown) text += ", " + what;
  };
  add(way.prefix.size != 0, fmt::format("behind \"{}\"", to_string(way.prefix)));
  add(said.beams != 1, fmt::format("{} beams", said.beams));
  add(said.beams != 1 && said.length_penalty != 1, fmt::format("length penalty {}", said.length_penalty));
  add(said.max_new != 0, fmt::format("at most {} new tokens", said.max_new));
  add(said.min_new != 0, fmt::format("at least {}", said.min_new));
  add(said.no_repeat_ngram != 0, fmt::format("no row of {} twice", said.no_repeat_ngram));
  add(said.source_no_repeat_ngram != 0, fmt::format("no row of {} of the source", said.source_no_repeat_ngram));
  add(said.repetition_penalty != 1, fmt::format("repetition penalty {}", said.repetition_penalty));
  return text;
}

}  // namespace

void add_generation(const Model& model, Json* object) {
  if (model.source_vocabulary() != 0) {
    (*object)["source"] = {{"vocabulary", model.source_vocabulary()}, {"max_tokens", model.max_source()}};
  }
  if (model.chunk_tokens() != 0) {
    (*object)["chunks"] = {{"tokens", model.chunk_tokens()},
                           {"neighbours", convert::most_neighbours(model)},
                           {"neighbour_tokens", convert::most_neighbour_tokens(model)}};
  }
  for (uint32_t i = 0; i < generation_count(model); ++i) {
    (*object)["generations"].push_back(way_json(way_at(model, i)));
  }
  for (uint32_t i = 0; i < language_count(model); ++i) {
    const Language found = language_at(model, i);
    (*object)["languages"].push_back({{"code", to_string(found.code)}, {"token", found.token}});
  }
  const fb::Task* task = root(model).task();
  if (task != nullptr && task->chat() != nullptr) (*object)["chat"] = true;
  if (const fb::Shortlist* lists = shortlist_of(root(model)); lists != nullptr) {
    (*object)["shortlist"] = {{"words", lists->words()},
                              {"first", lists->first()},
                              {"multiple", lists->multiple()},
                              {"shared", lists->shared()},
                              {"source_words", lists->source_words()},
                              {"bytes", lists->lists()->size()}};
  }
}

std::vector<std::pair<std::string, std::string>> generation_lines(const Model& model) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (model.source_vocabulary() != 0) {
    lines.emplace_back("source", fmt::format("at most {} of {} ids", model.max_source(), model.source_vocabulary()));
  }
  if (model.chunk_tokens() != 0) {
    lines.emplace_back("chunks",
                       fmt::format("of {} tokens, for each up to {} texts of {}: --index", model.chunk_tokens(),
                                   convert::most_neighbours(model), convert::most_neighbour_tokens(model)));
  }
  for (uint32_t i = 0; i < generation_count(model); ++i) {
    lines.emplace_back(i == 0 ? "generates" : "", way_text(way_at(model, i)));
  }
  std::string languages;
  const uint32_t all = language_count(model);
  for (uint32_t i = 0; i < std::min(all, kShownLanguages); ++i) {
    languages += (i > 0 ? ", " : "") + to_string(language_at(model, i).code);
  }
  if (all > kShownLanguages) languages += fmt::format(", ... ({} in all, with --json)", all);
  if (all != 0) lines.emplace_back("languages", languages);
  if (const fb::Shortlist* lists = shortlist_of(root(model)); lists != nullptr) {
    lines.emplace_back("shortlist", fmt::format("{} of {} words, and those of {} lists", lists->first(), lists->words(),
                                                lists->source_words()));
  }
  const fb::Task* task = root(model).task();
  if (task != nullptr && task->chat() != nullptr) lines.emplace_back("conversations", "yes: generate --chat");
  return lines;
}

}  // namespace bantam::cli
