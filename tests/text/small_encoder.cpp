#include "tests/text/small_encoder.h"

#include "text/tables.h"
#include "text/verify.h"

static_assert(bantam::text::kSmall, "this library is built as firmware is");

namespace {

const bantam::fb::Tokenizer& tokenizer(const void* table) { return *static_cast<const bantam::fb::Tokenizer*>(table); }

}  // namespace

bantam::Status small_verify(const void* table, const uint8_t* data, uint64_t data_size) {
  return bantam::text::verify_tokenizer(tokenizer(table), data, data_size, nullptr);
}

bantam::Status small_encode(const void* table, const uint8_t* data, bantam::Text first, bantam::Text second,
                            const bantam::EncodeOptions& options, const bantam::TokenBuffer& out,
                            bantam::EncodeResult* result) {
  return bantam::text::open_tables(tokenizer(table), data).encode(first, second, options, out, result);
}
