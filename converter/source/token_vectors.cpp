#include "source/token_vectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "source/fields.h"
#include "source/sentence_modules.h"

namespace bantam::convert {
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

TokenVectorSettings read_colbert(const ModelSource& source, Problems& problems) {
  const Fields fields = fields_around(source, kColbertSettings, problems);
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

/// Reads query expansion in sentence-transformers' own form.
void read_expansion(const Fields& fields, TokenVectorSettings* out) {
  const std::string strategy = fields.text("strategy", "fixed");
  if (strategy != "fixed") {
    fields.problem(ExitCode::kUnsupported, "strategy", fmt::format("\"{}\" is not supported; \"fixed\" is", strategy));
  }
  out->filled = fields.count("length", kMostTokens);
  out->attends = fields.flag("attend", false);
  out->filler = fields.text("token", "");
}

/// Reads PyLate's settings, which are all in this file.
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

void read_token_settings(const ModelSource& source, Problems& problems, TokenVectorSettings* out) {
  for (const SentenceModule& module : source.modules.list) {
    if (module.type != "Transformer") continue;
    const Fields fields = fields_around(source, name_in(module.folder, kTransformerFile), problems);
    out->query.max_tokens = count_or(fields, "query_length", out->query.max_tokens);
    out->document.max_tokens = count_or(fields, "document_length", out->document.max_tokens);
    if (fields.has("query_expansion") && fields.raw("query_expansion").is_object()) {
      read_expansion(fields.inside("query_expansion"), out);
    }
  }
  for (const SentenceModule& module : source.modules.list) {
    if (module.type != "MultiVectorMask") continue;
    const std::string file = source.name_around(name_in(module.folder, "config.json"));
    const Fields fields(source.files->object(file), source.files->path(file).string(), problems);
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

TokenVectorSettings read_token_vector_settings(const ModelSource& source, Problems& problems) {
  if (source.modules.empty()) {
    return is_colbert(source.config) ? read_colbert(source, problems) : TokenVectorSettings();
  }
  TokenVectorSettings out;
  const Fields fields = fields_around(source, kPromptsFile, problems);
  if (fields.has("query_prefix") || fields.text("model_type", "") == "ColBERT") {
    read_pylate(fields, &out);
  } else {
    out.query.prefix = prompt_of(fields, "query");
    out.document.prefix = prompt_of(fields, "document");
  }
  read_token_settings(source, problems, &out);
  return out;
}

}  // namespace bantam::convert
