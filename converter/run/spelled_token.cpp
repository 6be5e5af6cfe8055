#include "run/spelled_token.h"

#include <algorithm>
#include <cstring>

#include "run/engine.h"
#include "text/decode_rules.h"
#include "text/tables.h"

namespace bantam::convert {
namespace {

/// Returns the suffix that the file's decoder names, or "</w>", which GPT, CLIP and the other published models use.
std::string suffix_of(const fb::Tokenizer& table, const uint8_t* data) {
  const fb::Blob* blob = text::find_blob(table, fb::BlobName::decoder);
  text::DecodeRules rules{};
  if (blob != nullptr) std::memcpy(&rules, data + blob->offset(), sizeof(rules));
  if ((rules.flags & text::kDecodeEndMarks) == 0) return "</w>";
  return {reinterpret_cast<const char*>(data + blob->offset() + sizeof(rules)), rules.size};
}

bool is_added(const fb::Tokenizer& table, uint32_t id) {
  const auto* added = table.added_tokens();
  return added != nullptr &&
         std::any_of(added->begin(), added->end(), [id](const fb::AddedToken* token) { return token->id() == id; });
}

}  // namespace

std::string spelled_token(const Tokenizer& tokenizer, uint32_t id) {
  std::string token = to_string(tokenizer.token(id));
  const fb::Tokenizer* table = text::table_of(tokenizer);
  if (token.empty() || table == nullptr || table->model()->kind() != fb::TokenModelKind::bpe) return token;
  const uint32_t traits = table->model()->traits();
  if ((traits & text::kEndMarks) != 0 && static_cast<uint8_t>(token.back()) == text::kEndMark) {
    token.pop_back();
    token += suffix_of(*table, text::data_of(tokenizer));
  }
  if ((traits & text::kBeginMarks) == 0) return token;
  const bool begins = static_cast<uint8_t>(token.front()) == text::kBeginMark;
  if (begins) return token.substr(1);
  return is_added(*table, id) || tokenizer.is_special(id) ? token : "##" + token;
}

}  // namespace bantam::convert
