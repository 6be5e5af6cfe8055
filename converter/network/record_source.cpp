#include "network/record_source.h"

#include <fmt/format.h>

#include <memory>

#include "base/sha256.h"
#include "graph/task_parts.h"
#include "model/task_traits.h"
#include "source/gliner.h"
#include "source/knowledge_ernie.h"
#include "source/sentence_transformers.h"
#include "source/token_vectors.h"

namespace bantam::convert {
namespace fs = std::filesystem;

void record_property(Graph& graph, const std::string& key, const std::string& value) {
  auto added = std::make_unique<fb::PropertyT>();
  added->key = key;
  added->value = value;
  graph.model.properties.push_back(std::move(added));
}

void record_pooling(Graph& graph, const SentencePooling& pooling) {
  const auto record = [&](const char* key, const std::optional<std::string>& prompt) {
    if (prompt && *prompt != pooling.prompt) record_property(graph, key, *prompt);
  };
  record(kQueryPrompt, pooling.query_prompt);
  record(kDocumentPrompt, pooling.document_prompt);
  if (!pooling.similarity.empty()) record_property(graph, kSimilarity, pooling.similarity);
}

namespace {

bool datasets_have(const ModelCard& card, const std::string& name) {
  const auto datasets = card.fields.find("datasets");
  return datasets != card.fields.end() && datasets->second.find(name) != std::string::npos;
}

/// Records the function that maps a pair's logit to a score, as sentence-transformers' CrossEncoder defines it.
void record_score_function(Graph& graph, const ModelSource& source, const Fields& config, Problems& problems) {
  if ((traits(graph.model.task->kind).parts & kLabelsPart) == 0) return;
  const std::string name = score_function(source, config, problems);
  if (name.empty()) return;
  if (name != "Identity" && name != "Sigmoid" && name != "Tanh") {
    problems.add(
        ExitCode::kUnsupported,
        fmt::format("activation_fn: scores of pairs by {} are not supported, only Identity, Sigmoid and Tanh; name "
                    "Identity for the numbers themselves",
                    name));
  }
  record_property(graph, kScoreFunction, name);
}

}  // namespace

void record_provenance(Graph& graph, const ModelSource& source, const Fields& config, Problems& problems) {
  const ModelCard& card = source.card;
  graph.model.name = card.name;
  graph.model.licence = card.licence;
  graph.model.description = card.description;
  if (config.has("architectures") && config.raw("architectures").is_array() && !config.raw("architectures").empty() &&
      config.raw("architectures").front().is_string()) {
    graph.model.architecture = config.raw("architectures").front().get<std::string>();
  }
  const std::string type = config.text("model_type", "");
  if (!type.empty()) record_property(graph, "model_type", type);
  record_score_function(graph, source, config, problems);
  if ((traits(graph.model.task->kind).parts & kSpanPart) != 0 && datasets_have(card, "squad_v2")) {
    graph.model.task->no_answer = true;
    graph.notes.emplace_back("the model card names squad_v2: questions may stay without an answer");
  }
  for (const auto& [key, value] : card.fields) record_property(graph, "card." + key, value);
  const auto record = [&](const char* name) {
    const std::string file = source.name_inside(name);
    if (source.files->has_file(file)) {
      record_property(graph, fmt::format("source.{}.sha256", name), source.files->sha256(file));
    }
  };
  record("config.json");
  record(kErnieSettings);
  record(kColbertSettings);
  record(kGlinerSettings);
  for (const char* name : kTokenizerFiles) record(name);
  for (const std::string& name : sentence_transformers_files(source)) {
    record_property(graph, fmt::format("source.{}.sha256", name), source.files->sha256(source.name_around(name)));
  }
  for (const fs::path& file : source.weight_files) {
    record_property(graph, fmt::format("source.{}.sha256", file.filename().string()), sha256_of_file(file));
  }
}

void record_source_keys(Graph& graph, const ModelSource& source, const ImportOptions& options, KeyUse use,
                        Problems& problems) {
  use.generates = (traits(graph.model.task->kind).parts & kNextWordsPart) != 0;
  use.reads_images = graph.model.image != nullptr;
  use.reads_texts = !use.reads_images && !options.ids_only;
  const std::vector<SourceKey> keys = unread_keys(source, use);
  if (keys.empty()) return;
  if (!options.strict_source) return record_property(graph, kSourceKeys, source_keys_json(keys));
  for (const SourceKey& key : keys) problems.add(ExitCode::kUnsupported, to_line(key));
  problems.add(ExitCode::kUnsupported,
               "--strict-source: nothing reads these keys; set each to the value without effect or remove it, or leave "
               "--strict-source out and compare the answers with the original's");
}

}  // namespace bantam::convert
