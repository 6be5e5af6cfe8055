#include "bantam/tokenizer.h"

#include <string.h>

#include "text/added_ids.h"
#include "text/encoder.h"
#include "text/models.h"

namespace bantam {
namespace {

const fb::Tokenizer& table_of(const void* table) { return *static_cast<const fb::Tokenizer*>(table); }

}  // namespace

Status Tokenizer::open(const Model& model, uint32_t index, Tokenizer* out) {
  if (!model.is_open() || out == nullptr) return Status::kInvalidArgument;
  const auto* tokenizers = static_cast<const fb::Model*>(model.root())->tokenizers();
  if (tokenizers == nullptr || index >= tokenizers->size()) return Status::kNoTokenizer;
  const fb::Tokenizer& tokenizer = *tokenizers->Get(index);
  *out = text::open_tables(tokenizer, model.data());
  return Status::kOk;
}

Status Tokenizer::encode(Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
                         EncodeResult* result) const {
  if (table_ == nullptr) return Status::kInvalidArgument;
  return text::encode(text::Tables(table_of(table_), data_), first, second, options, out, result);
}

uint32_t Tokenizer::vocab_size() const { return table_ == nullptr ? 0 : table_of(table_).vocab_size(); }

Text Tokenizer::token(uint32_t id) const {
  if (id >= vocab_size()) return {};
  const text::Lexicon lexicon = text::lexicon_of(table_of(table_), data_);
  return {reinterpret_cast<const char*>(lexicon.text) + lexicon.begin[id], lexicon.begin[id + 1] - lexicon.begin[id]};
}

Text Tokenizer::piece(uint32_t id, bool* continues) const {
  text::TokenText piece;
  if (id < vocab_size()) {
    piece = text::with_model(table_of(table_).model()->kind(),
                             [&](auto model) { return model.decode(table_of(table_), token(id)); });
  }
  if (continues != nullptr) *continues = piece.continues;
  return piece.text;
}

Text Tokenizer::continuing_prefix() const {
  const flatbuffers::String* prefix = table_ == nullptr ? nullptr : table_of(table_).model()->continuing_prefix();
  return prefix == nullptr ? Text{} : Text{prefix->c_str(), prefix->size()};
}

int32_t Tokenizer::id(Text token) const {
  if (table_ == nullptr || token.size > 0xFFFFFFFE) return -1;
  const int32_t found = text::lexicon_of(table_of(table_), data_)
                            .find(reinterpret_cast<const uint8_t*>(token.data), static_cast<uint32_t>(token.size));
  const auto* all = table_of(table_).added_tokens();
  if (found >= 0 || all == nullptr) return found;
  for (uint32_t i = 0; i < all->size(); ++i) {
    const fb::AddedToken& added = *all->Get(i);
    if (added.text()->size() == token.size && memcmp(added.text()->c_str(), token.data, token.size) == 0) {
      return static_cast<int32_t>(added.id());
    }
  }
  return -1;
}

bool Tokenizer::is_special(uint32_t id) const {
  const fb::AddedToken* added = table_ == nullptr ? nullptr : text::find_added(table_of(table_), id);
  return added != nullptr && added->special();
}

int32_t Tokenizer::unknown_id() const { return table_ == nullptr ? -1 : table_of(table_).model()->unknown_id(); }
int32_t Tokenizer::mask_id() const { return table_ == nullptr ? -1 : table_of(table_).mask_id(); }
int32_t Tokenizer::cls_id() const { return table_ == nullptr ? -1 : table_of(table_).cls_id(); }
int32_t Tokenizer::sep_id() const { return table_ == nullptr ? -1 : table_of(table_).sep_id(); }
int32_t Tokenizer::pad_id() const { return table_ == nullptr ? -1 : table_of(table_).pad_id(); }

uint32_t Tokenizer::max_tokens() const { return table_ == nullptr ? 0 : table_of(table_).max_length(); }

uint32_t Tokenizer::special_count(bool pair) const {
  return table_ == nullptr ? 0 : text::template_specials(table_of(table_), pair);
}

}  // namespace bantam
