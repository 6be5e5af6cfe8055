#include "text/wordpiece.h"

#include <string.h>

namespace bantam::text {
Status WordPiece::verify(Check& check, const LexiconRoots& roots) {
  const fb::TokenModel& model = *check.tokenizer.model();
  if (model.max_word_chars() > kMaxWordChars) {
    return check.fail("max_word_chars is larger than this build takes", Status::kUnsupported);
  }
  if (!check.is_id(model.unknown_id())) return check.fail("unknown_id is not a token");
  const uint32_t prefix = model.continuing_prefix() == nullptr ? 0 : model.continuing_prefix()->size();
  return roots.prefix_size == prefix ? Status::kOk : check.fail("the trie was made for another continuing_prefix");
}

TokenText WordPiece::decode(const fb::Tokenizer& tokenizer, Text token) {
  const flatbuffers::String* prefix = tokenizer.model()->continuing_prefix();
  const uint32_t size = prefix == nullptr ? 0 : prefix->size();
  if (size == 0 || token.size <= size || memcmp(token.data, prefix->c_str(), size) != 0) return {token, false};
  return {{token.data + size, token.size - size}, true};
}

}  // namespace bantam::text
