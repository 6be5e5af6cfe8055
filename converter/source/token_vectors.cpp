#include "source/token_vectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/is_there.h"
#include "source/fields.h"
#include "source/sentence_transformers.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr uint32_t kMostTokens = 1U << 20;
constexpr uint32_t kUsualQuery = 32, kUsualDocument = 220;
constexpr const char* kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::vector<std::string> punctuation() {
  std::vector<std::string> all;
  for (const char* c = kPunctuation; *c != 0; ++c) all.emplace_back(1, *c);
  return all;
}

uint32_t count_or(const Fields& fields, const char* key, uint32_t otherwise) {
  return fields.has(key) ? fields.count(key, kMostTokens) : otherwise;
}

std::vector<std::string> words(const Fields& fields, const char* key, std::vector<std::string> otherwise) {
  if (!fields.has(key)) return otherwise;
  const Json& list = fields.raw(key);
  const bool texts =
      list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& w) { return w.is_string(); });
  if (texts) return list.get<std::vector<std::string>>();
  fields.problem(ExitCode::kInvalid, key, "wanted a list of tokens");
  return {};
}

TokenVectorSettings read_colbert(const fs::path& directory, Problems& problems) {
  const fs::path file = directory / kColbertSettings;
  const Json json = is_there(file) ? read_json_object(file) : Json::object();
  const Fields fields(json, file.string(), problems);
  TokenVectorSettings out;
  out.inserts = true;
  out.query = {fields.text("query_token_id", "[unused0]"), 0};
  out.document = {fields.text("doc_token_id", "[unused1]"), count_or(fields, "doc_maxlen", kUsualDocument)};
  out.filled = count_or(fields, "query_maxlen", kUsualQuery);
  out.attends = fields.flag("attend_to_mask_tokens", false);
  if (fields.flag("mask_punctuation", true)) out.skipped = punctuation();
  const std::string similarity = fields.text("similarity", "cosine");
  if (similarity != "cosine") {
    fields.problem(ExitCode::kUnsupported, "similarity",
                   fmt::format("\"{}\" is not supported; \"cosine\" is", similarity));
  }
  return out;
}

/// sentence-transformers' own expansion of queries.
void read_expansion(const Fields& fields, TokenVectorSettings* out) {
  const std::string strategy = fields.text("strategy", "fixed");
  if (strategy != "fixed") {
    fields.problem(ExitCode::kUnsupported, "strategy", fmt::format("\"{}\" is not supported; \"fixed\" is", strategy));
  }
  out->filled = fields.count("length", kMostTokens);
  out->attends = fields.flag("attend", false);
  out->filler = fields.text("token", "");
}

/// PyLate has everything beside the modules.
void read_pylate(const Fields& fields, TokenVectorSettings* out) {
  out->inserts = true;
  out->query = {fields.text("query_prefix", ""), 0};
  out->document = {fields.text("document_prefix", ""), count_or(fields, "document_length", 0)};
  const uint32_t query = count_or(fields, "query_length", kUsualQuery);
  const bool expands = fields.flag("do_query_expansion", true);
  (expands ? out->filled : out->query.max_tokens) = query;
  out->attends = fields.flag("attend_to_expansion_tokens", false);
  out->skipped = words(fields, "skiplist_words", punctuation());
}

std::string prompt_of(const Fields& fields, const char* name) {
  const bool object = fields.has("prompts") && fields.raw("prompts").is_object();
  return object ? fields.inside("prompts").text(name, "") : "";
}

void read_modules(const fs::path& directory, Problems& problems, TokenVectorSettings* out) {
  for (const fs::path& module : module_directories(directory, "Transformer")) {
    const fs::path file = module / "sentence_bert_config.json";
    if (!is_there(file)) continue;
    const Json json = read_json_object(file);
    const Fields fields(json, file.string(), problems);
    out->query.max_tokens = count_or(fields, "query_length", out->query.max_tokens);
    out->document.max_tokens = count_or(fields, "document_length", out->document.max_tokens);
    if (fields.has("query_expansion") && fields.raw("query_expansion").is_object()) {
      read_expansion(fields.inside("query_expansion"), out);
    }
  }
  for (const fs::path& module : module_directories(directory, "MultiVectorMask")) {
    const fs::path file = module / "config.json";
    const Json json = read_json_object(file);
    const Fields fields(json, file.string(), problems);
    out->skipped = words(fields, "skiplist_words", {});
    if (words(fields, "skiplist_tasks", {"document"}) != std::vector<std::string>{"document"}) {
      fields.problem(ExitCode::kUnsupported, "skiplist_tasks", "only [\"document\"] is supported");
    }
    if (fields.has("keep_only_token_ids")) {
      fields.problem(ExitCode::kUnsupported, "keep_only_token_ids", "is not supported; only null is");
    }
  }
}

}  // namespace

bool is_colbert(const Json& config) {
  const auto names = config.find("architectures");
  return names != config.end() && names->is_array() && !names->empty() && names->front() == "HF_ColBERT";
}

TokenVectorSettings read_token_vector_settings(const fs::path& directory, const Json& config, Problems& problems) {
  if (!is_sentence_transformers(directory)) {
    return is_colbert(config) ? read_colbert(directory, problems) : TokenVectorSettings();
  }
  TokenVectorSettings out;
  const fs::path file = directory / "config_sentence_transformers.json";
  const Json json = is_there(file) ? read_json_object(file) : Json::object();
  const Fields fields(json, file.string(), problems);
  if (fields.has("query_prefix") || fields.text("model_type", "") == "ColBERT") {
    read_pylate(fields, &out);
  } else {
    out.query.prefix = prompt_of(fields, "query");
    out.document.prefix = prompt_of(fields, "document");
  }
  read_modules(directory, problems, &out);
  return out;
}

}  // namespace bantam::convert
