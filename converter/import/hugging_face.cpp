#include "import/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bantam/sound.h"
#include "base/error.h"
#include "graph/builder.h"
#include "graph/task_parts.h"
#include "import/with_files.h"
#include "model/task_traits.h"
#include "network/blocks/chunk_attention.h"
#include "network/blocks/patches.h"
#include "network/blocks/recurrent.h"
#include "network/blocks/span_head.h"
#include "network/blocks/vectors.h"
#include "network/families/own/own_layers.h"
#include "network/heads.h"
#include "network/languages.h"
#include "network/record_source.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "network/task_outputs.h"
#include "network/text_limits.h"
#include "onnx/onnx_import.h"
#include "source/character_cnn.h"
#include "source/checkpoint.h"
#include "source/explain.h"
#include "source/generation.h"
#include "source/gliner.h"
#include "source/knowledge_ernie.h"
#include "source/sentence_transformers.h"
#include "source/seq2seq.h"
#include "source/setfit.h"
#include "source/source_path.h"
#include "source/token_vectors.h"
#include "source/towers.h"
#include "source/weights.h"
#include "text/encoder.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {
namespace {

/// Records the constants that turn dot products of two towers' vectors into scores of labels: a factor, stored as its
/// logarithm (CLIP), and a bias (SigLIP).
void record_tower_scores(Graph& graph, const ModelSource& source, Weights& weights) {
  const auto record = [&](const char* tensor, const char* key, const auto& value_of) {
    if (source.checkpoint->tensors().count(tensor) == 0) return;
    const std::vector<float> stored = source.checkpoint->read(tensor);
    weights.use_head(tensor);
    if (stored.size() == 1) record_property(graph, key, fmt::format("{}", value_of(stored.front())));
  };
  record("logit_scale", kScoreFactor, [](float logarithm) { return std::exp(logarithm); });
  record("logit_bias", kScoreShift, [](float added) { return added; });
}

/// Compares the configuration's number of layers with the weights before the layers are read: a wrong number would give
/// one problem per tensor.
void check_layers(const Weights& weights, const EncoderConfig& config, Problems& problems) {
  const std::string pattern = config.family->layer;
  const std::string stack = pattern.substr(0, pattern.find("{}"));
  const uint32_t present = weights.layers(stack);
  const uint32_t asked = config.groups != 0 ? config.groups : config.layers;
  if (config.layers == 0) return;
  if (present == 0) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("the weights hold no {} encoder: no tensor's name contains \"{}0.\"; is model_type right?",
                             config.model_type, stack));
  } else if (present != asked) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("config.json says {} {}, but the weights hold {}; the two do not belong together", asked,
                             config.groups != 0 ? "groups of layers" : "layers", present));
  }
}

/// The encoder of an encoder-decoder, in a pass of its own.
Encoder import_source_stack(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions,
                            const ImportOptions& options) {
  Beside beside;
  beside.phase = fb::Phase::source;
  beside.long_texts.globals = globals_of_source(*config.family, options.globals);
  return import_encoder(builder, weights, config, positions, beside);
}

/// The main stack: the decoder of an encoder-decoder, which reads the encoder `source`, or the only stack of another
/// model.
Encoder import_main_stack(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions,
                          const Encoder* source, const ChosenHead& head, const ImportOptions& options) {
  Beside beside;
  beside.source = source;
  // A classifier of vectors embeds its texts like a model of vectors.
  const uint32_t parts = head.head == nullptr ? 0 : traits(head.head->task).parts;
  const std::string globals = source == nullptr ? options.globals : "";
  beside.long_texts = long_texts_of(*config.family, parts, globals, options.random_blocks);
  const bool words = (traits(head.task).parts & kNextWordsPart) != 0;
  if (words && config.divides_last) {
    beside.last_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(config.hidden)));
  }
  return import_encoder(builder, weights, config, positions, beside);
}

/// The number of positions to keep. `usual`: the number of tokens for models of texts of any length if --max-tokens is
/// not given; 0: as many as the settings say.
uint32_t kept_positions(const EncoderConfig& config, const ImportOptions& options, uint32_t usual, Graph& graph) {
  // A student may have fewer positions than its relative distances were made for.
  const bool endless = config.family->settings.any_length && !config.position_table &&
                       config.first_position + config.positions >= config.relative.most;
  if (endless && options.max_tokens == 0 && usual != 0) return std::min(usual, kMostPlaces);
  const bool any = endless && options.max_tokens != 0;
  const uint32_t most = any ? kMostPlaces : config.positions;
  if (options.max_tokens == 0) {
    for (const LayerPlaces& places : config.places) {
      if (places.rotary.short_divisors.empty() || places.rotary.original >= most) continue;
      const auto short_texts = static_cast<uint32_t>(places.rotary.original);
      graph.notes.push_back(fmt::format(
          "rotary positions are those of texts of up to {} tokens; --max-tokens {} gives those of longer ones",
          short_texts, most));
      return short_texts;
    }
  }
  const uint32_t places = usual_positions(config);
  if (options.max_tokens == 0 && places < most) {
    graph.notes.push_back(
        fmt::format("places by axes are multiplied out for texts of up to {} tokens; --max-tokens N has them "
                    "for longer ones, {} at most",
                    places, most));
    return places;
  }
  if (options.max_tokens > most) {
    graph.notes.push_back(fmt::format("the model has {} positions: --max-tokens {} has no effect{}", most,
                                      options.max_tokens, any ? " beyond them" : ""));
  }
  return options.max_tokens == 0 ? most : std::min(options.max_tokens, most);
}

/// Returns the tokens of the longest source. Lengths at which attention would be by blocks are excluded, because passes
/// over sources do not support them.
uint32_t kept_source(const EncoderConfig& config, const ImportOptions& options, Graph& graph) {
  const uint32_t kept = kept_positions(config, options, 0, graph);
  if (config.blocks.size == 0 || kept <= config.blocks.full_until()) return kept;
  graph.notes.push_back(fmt::format("sources of more than {} tokens, which see each other by blocks, are not supported",
                                    config.blocks.full_until()));
  return config.blocks.full_until();
}

/// Imports the source's shortlist of the words that a text may get, if the vocabulary is still the one that the
/// shortlist was made for.
void import_shortlist(const ModelSource& source, const EncoderConfig& config, Graph* graph) {
  graph->notes.insert(graph->notes.end(), source.notes.begin(), source.notes.end());
  if (source.shortlist == nullptr || graph->model.task->kind != fb::TaskKind::generate) return;
  const bool same = config.vocabulary > source.shortlist->words && !source.shortlist->lists.empty();
  if (same) return add_shortlist(*source.shortlist, graph);
  graph->notes.emplace_back("the shortlist is left out: it is of a larger vocabulary");
}

/// Names the marks of an entity table after the configuration's entities.
void name_entities(Graph& graph, const Fields& config) {
  if (!config.has(kEntityNames)) return;
  for (const auto& input : graph.model.inputs) {
    if (input->kind == fb::InputKind::marks) input->names = config.raw(kEntityNames).get<std::vector<std::string>>();
  }
}

Graph import_checked(const ModelSource& source, const ImportOptions& options) {
  Graph graph;
  Problems problems;
  KeyReads asked;
  const Fields fields(source.config, source.config_name, problems, &asked);
  const EncoderConfig whole_config = read_encoder_config(fields);
  problems.raise();  // wrong settings would make every tensor's shape wrong
  const Family& family = *whole_config.family;
  ModelNames names = model_names(family);
  const bool finds = has_gliner(source.config);
  name_gliner_encoder(source.config, &names);
  const bool gives_tokens = source.modules.give_token_vectors() || is_colbert(source.config);
  const bool judges = is_cross_encoder(source);
  const bool embeds = (!source.modules.empty() && !judges) || source.config.contains(kTextPooling) ||
                      (family.block.averaged && family.head(fb::TaskKind::classify) == nullptr);
  const bool classifies = embeds && is_setfit(source) && (options.task.empty() || options.task == "classify");
  Weights weights(*source.checkpoint, names, problems);
  const ChosenHead head = classifies              ? ChosenHead{fb::TaskKind::classify, family.head(fb::TaskKind::embed)}
                          : !options.task.empty() ? head_of_task(family, parse_head(options.task), weights, problems)
                          : finds                 ? head_of_task(family, fb::TaskKind::find, weights, problems)
                          : gives_tokens          ? head_of_task(family, fb::TaskKind::token_vectors, weights, problems)
                          : source.modules.give_terms()
                              ? head_of_task(family, fb::TaskKind::sparse_embed, weights, problems)
                          : embeds ? head_of_task(family, fb::TaskKind::embed, weights, problems)
                                   : detect_head(family, fields, weights, problems);
  const bool of_source = family.source != nullptr && head.head != nullptr && head.head->of_source;
  const bool of_pair = family.source != nullptr && !of_source;
  const EncoderConfig source_config = family.source == nullptr ? whole_config : read_source_config(fields, family);
  const EncoderConfig& config = of_source ? source_config : whole_config;
  if (of_pair) check_layers(weights, source_config, problems);
  if (of_source) names.unused.push_back({"decoder.", "nothing of the decoder is in the encoder's answers"});
  check_layers(weights, config, problems);
  const bool finds_spans = (traits(head.task).parts & kFoundPart) != 0;
  if (finds_spans && !finds) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--task find: is for directories of GLiNER, which have a {}", kGlinerSettings));
  }
  problems.raise();

  Builder builder(graph);
  const uint32_t usual = finds_spans ? gliner_tokens(read_gliner(fields.inside(kGliner))) : 0;
  problems.raise();
  const uint32_t positions = kept_positions(config, options, usual, graph);
  describe_hashes(config, positions, graph.notes);
  Encoder beneath;
  if (of_pair) {
    graph.model.max_source = kept_source(source_config, options, graph);
    beneath = import_source_stack(builder, weights, source_config, graph.model.max_source, options);
    if (family.own.add != nullptr) {
      family.own.add({graph, builder, weights, fields, problems, source_config, head.task, graph.model.max_source,
                      fb::Phase::source, nullptr, &beneath});
    }
  }
  Encoder encoder = import_main_stack(builder, weights, config, positions, of_pair ? &beneath : nullptr, head, options);
  if (family.own.add != nullptr) {
    family.own.add({graph, builder, weights, fields, problems, config, head.task, positions, fb::Phase::main,
                    of_pair ? &beneath : nullptr, &encoder});
  }
  SentencePooling pooling;
  const bool terms = (traits(head.task).parts & kTermsPart) != 0;
  const bool pools = classifies || (!terms && (traits(head.task).parts & kVectorPart) != 0);
  const bool per_token = (traits(head.task).parts & kTokenVectorsPart) != 0;
  if (pools) pooling = read_vectors(source, *head.head, config, fields, weights, problems, graph.notes);
  if (terms) pooling = read_term_pooling(source, problems, graph.notes);
  if (per_token) pooling = read_token_vectors(source, *head.head, config, weights, problems);
  if (per_token && is_colbert(source.config) && options.task.empty() && !weights.has_head("linear.weight")) {
    problems.add(ExitCode::kInvalid,
                 "tensor \"linear.weight\" is missing, which makes vectors of tokens; is the directory complete?");
  }
  if (judges && (traits(head.task).parts & kLabelsPart) != 0) {
    pooling = read_cross_encoder(source, problems, graph.notes);
  }
  SetFitHead setfit;
  if (classifies) {
    pooling.include_prompt = true;  // these texts have no prompt
    setfit = read_setfit(source, pooling.width(config.hidden), problems);
    problems.raise();
    if (!pooling.prompt.empty()) {
      graph.notes.push_back(
          fmt::format("the prompt \"{}\" is not put before texts to classify: write it there", pooling.prompt));
    }
  }
  if ((traits(head.task).parts & kVectorPart) != 0) record_tower_scores(graph, source, weights);
  import_head(head, {graph, builder, weights, config, fields, encoder, pooling, setfit, options, problems});
  if (encoder.chunk_rows != kAbsent) builder.output(kChunkRows, fb::OutputRole::none, encoder.chunk_rows);
  if ((pools || terms) && !classifies) record_pooling(graph, pooling);
  if (judges) graph.model.task->prompt = pooling.prompt;
  import_shortlist(source, config, &graph);
  weights.finish(graph.notes);
  graph.model.max_sequence = positions;
  if (family.block.patches) {
    std::string sound;
    graph.model.image = read_image(source, config, problems, graph.notes, &sound);
    if (!sound.empty()) record_property(graph, kSoundKey, sound);
  } else if (!options.ids_only) {
    const EncoderConfig& reads = of_pair ? source_config : config;
    TextLimits limits;
    limits.positions = of_pair ? graph.model.max_source : positions;
    limits.model_positions = reads.positions;
    limits.vocabulary = reads.vocabulary;
    limits.model_type = reads.model_type;
    limits.averaged = reads.family->block.averaged;
    limits.filled = reads.family->block.filled;
    add_tokenizer(graph, source.tokenizer, limits, pooling, problems);
    add_languages(graph, of_pair ? std::min(config.vocabulary, source_config.vocabulary) : config.vocabulary);
  }
  finish_task(graph, source, fields, options, problems);
  if (finds_spans) resolve_finding(graph, read_gliner(fields.inside(kGliner)), problems);
  if (family.has(Slot::kEntities)) name_entities(graph, fields);
  record_provenance(graph, source, fields, problems);
  problems.raise();
  KeyUse use;
  use.reads = &asked;
  record_source_keys(graph, source, options, use, problems);
  problems.raise();
  return graph;
}

}  // namespace

bool is_hugging_face(const SourcePath& /*named*/) { return true; }

// A directory that transformers or sentence-transformers wrote. Other paths are refused with advice on what to name
// instead.
ModelSource open_hugging_face(const SourcePath& named, const SourceOptions& options) {
  const Directory& files = *named.files;
  if (!named.is_folder()) refuse_file(named.path);
  if (files.error() && !files.has("config.json") && !files.has(kModulesFile)) refuse_missing(named.path, files.error());
  ModelSource source;
  source.files = named.files;
  source.modules = read_sentence_modules(files);
  source.inside = transformer_folder(files, source.modules);
  source.config = files.object(source.name_inside("config.json"));
  add_generation_settings(files, source.inside, &source.config);
  read_checkpoint(&source);
  if (has_towers(source.config)) {
    source.config = tower_settings(source.config, options.tower);
  } else if (!options.tower.empty()) {
    throw Error(ExitCode::kUsage, fmt::format("--tower: {} holds one model; leave it out", named.path.string()));
  }
  std::vector<std::string> tensors;
  for (const auto& tensor : source.checkpoint->tensors()) tensors.push_back(tensor.first);
  if (const Family* family = find_published(source.config, tensors)) {
    source.config["model_type"] = family->model_types.front();
  }
  if (is_seq2seq(source.config)) settle_seq2seq(&source);
  if (has_characters(source.config)) fold_characters(&source);
  return source;
}

Graph import_source(const ModelSource& source, const ImportOptions& options) {
  return with_files(
      [&] { return source.onnx != nullptr ? import_onnx(source, options) : import_checked(source, options); });
}

Graph import_hugging_face(const std::filesystem::path& directory, const ImportOptions& options) {
  return import_source(open_model_source(directory), options);
}

}  // namespace bantam::convert
