// Finds keys of a tokenizer's files that contradict each other; which file wins depends on the release of transformers.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "source/keys.h"

namespace bantam::convert {
namespace {

constexpr const char* kSettingsFile = "tokenizer_config.json";

/// The text of a token: a string, or an object with "content".
std::string content_of(const Json& token) {
  const Json& text = token.is_object() ? member(token, "content") : token;
  return text.is_string() ? text.get<std::string>() : std::string();
}

}  // namespace

std::vector<SourceKey> contradicting_keys(const ModelSource& source) {
  const TokenizerFiles& files = source.tokenizer;
  const bool stated = files.config.is_object() && source.files->has_file(source.name_inside(kSettingsFile));
  if (!stated || !files.json.is_object()) return {};
  std::vector<SourceKey> found;
  const Json& processor = member(files.json, "post_processor");
  const std::string adds = processor.is_null() ? "" : processor.dump();
  using End = std::pair<const char*, const char*>;
  for (const auto& [key, token] : {End("add_bos_token", "bos_token"), End("add_eos_token", "eos_token")}) {
    const std::string word = content_of(member(files.config, token));
    const Json& value = member(files.config, key);
    if (word.empty() || !value.is_boolean()) continue;
    if (value == (adds.find(Json(word).dump()) != std::string::npos)) continue;
    found.push_back({kSettingsFile, key, value.dump(),
                     "tokenizer.json says otherwise and is followed, as by transformers 5; transformers 4 follows this "
                     "file"});
  }
  return found;
}

}  // namespace bantam::convert
