#include "describe/summary.h"

#include <map>
#include <string>
#include <vector>

#include "bantam/generation.h"
#include "base/status_error.h"
#include "base/strings.h"
#include "describe/tables.h"
#include "format/view.h"
#include "graph/task_parts.h"
#include "model/shortlist.h"
#include "run/chunks.h"

namespace bantam::convert {
namespace {

/// Returns the bytes of the arena for a session of one sequence with `tokens` tokens.
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

OrderedJson labels_json(const Model& model) {
  OrderedJson sets = OrderedJson::array();
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    OrderedJson labels = OrderedJson::array();
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

/// Returns the properties in the file's order; of equal keys, the last value counts. Entries are appended directly,
/// because OrderedJson would search all keys for each one.
OrderedJson properties_json(const fb::Model& stored) {
  std::map<std::string, size_t> place;
  OrderedJson::object_t properties;
  for (uint32_t i = 0; i < count(stored.properties()); ++i) {
    const fb::Property& property = *stored.properties()->Get(i);
    const auto [known, is_new] = place.emplace(to_string(as_text(property.key())), properties.size());
    if (is_new) properties.emplace_back(known->first, nullptr);
    (properties.begin() + static_cast<std::ptrdiff_t>(known->second))->second = to_string(as_text(property.value()));
  }
  return properties;
}

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

OrderedJson way_json(const Generation& way) {
  const BeamOptions& said = way.beams;
  OrderedJson object = {{"name", to_string(way.name)},
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

/// Adds those of "source" (encoder-decoders), "chunks", "generations", "languages", "chat" and "shortlist" that the
/// file has.
void add_generation(const Model& model, OrderedJson* object) {
  if (model.source_vocabulary() != 0) {
    (*object)["source"] = {{"vocabulary", model.source_vocabulary()}, {"max_tokens", model.max_source()}};
  }
  if (model.chunk_tokens() != 0) {
    (*object)["chunks"] = {{"tokens", model.chunk_tokens()},
                           {"neighbours", most_neighbours(model)},
                           {"neighbour_tokens", most_neighbour_tokens(model)}};
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

}  // namespace

OrderedJson summary_json(const ModelFile& file) {
  const Model& model = file.model();
  const fb::Model& stored = root(model);
  OrderedJson object = json_object("inspect");
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
  object["outputs"] = OrderedJson::array();
  for (uint32_t i = 0; i < model.output_count(); ++i) object["outputs"].push_back(to_string(model.output_name(i)));
  object["label_sets"] = labels_json(model);
  add_generation(model, &object);
  object["arena"] = OrderedJson::array();
  for (const uint32_t tokens : arena_lengths(model)) {
    object["arena"].push_back({{"tokens", tokens}, {"bytes", arena_at(model, tokens)}});
  }
  object["properties"] = properties_json(stored);
  return object;
}

}  // namespace bantam::convert
