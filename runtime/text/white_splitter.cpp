#include "text/white_splitter.h"

#include <string.h>

#include "text/hashed.h"

namespace bantam::text {
namespace {

bool is_white_byte(uint8_t byte) { return byte == ' ' || byte == 0 || (byte >= '\t' && byte <= '\r'); }

/// Returns true if `text` is neither null nor empty, and bytes[0, size) begin with it.
bool begins_with(const flatbuffers::String* text, const uint8_t* bytes, uint32_t size) {
  return text != nullptr && text->size() != 0 && text->size() <= size &&
         memcmp(bytes, text->c_str(), text->size()) == 0;
}

}  // namespace

Status WhiteSplitter::verify(Check& check) {
  const auto* normalizers = check.tokenizer.normalizers();
  const auto* added = check.tokenizer.added_tokens();
  const bool alone = (normalizers == nullptr || normalizers->size() == 0) && (added == nullptr || added->size() == 0);
  if (check.tokenizer.model()->kind() == fb::TokenModelKind::hashed && alone) return Status::kOk;
  return check.fail("words between white space go with hashed n-grams, and without normalisers and added tokens",
                    Status::kUnsupported);
}

void WhiteSplitter::encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end,
                                 TokenSink* sink) {
  const fb::TokenModel& model = *tables.source->model();
  const flatbuffers::String* last = model.end_word();
  WordGrams grams(tables, sink);
  uint32_t at = begin;
  while (at < end && !sink->is_full()) {
    if (is_white_byte(text[at])) {
      ++at;
      continue;
    }
    const uint32_t from = at;
    while (at < end && !is_white_byte(text[at])) ++at;
    const uint8_t* word = text + from;
    const uint32_t size = at - from;
    if (last != nullptr && size == last->size() && begins_with(last, word, size)) break;
    if (begins_with(model.skip_prefix(), word, size) && tables.lexicon.longest_of_bytes(word, size).size != size)
      continue;
    Hashed::encode_word(
        tables, word, size,
        [from](uint32_t part, uint32_t length) {
          return Offset{from + part, from + part + length};
        },
        sink);
    if (grams.are_there()) grams.add(hash_bytes(word, size), {from, at});
  }
  if (grams.are_there() && last != nullptr && last->size() != 0) {
    grams.add(hash_bytes(reinterpret_cast<const uint8_t*>(last->c_str()), last->size()), {end, end});
  }
}

}  // namespace bantam::text
