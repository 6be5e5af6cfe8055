#include "run/prompts.h"

#include <algorithm>

#include "base/error.h"
#include "base/status_error.h"
#include "format/view.h"
#include "run/engine.h"

namespace bantam::convert {
namespace {

bool is_language(const Model& model, int32_t id) {
  for (uint32_t i = 0; i < language_count(model); ++i) {
    Language found;
    check(language(model, i, &found), "the file");
    if (found.token == id) return true;
  }
  return false;
}

/// Replaces the language token among a source's special tokens.
void put_language(const Model& model, int32_t from, std::vector<int32_t>* ids) {
  Tokenizer tokenizer;
  check(Tokenizer::open(model, root(model).source_tokenizer(), &tokenizer), "the file");
  for (int32_t& id : *ids) {
    if (tokenizer.is_special(static_cast<uint32_t>(id)) && is_language(model, id)) id = from;
  }
}

}  // namespace

SourceIds text_ids(const Model& model, uint32_t tokenizer_index, const std::string& text, uint32_t most,
                   bool with_special) {
  Tokenizer tokenizer;
  check(Tokenizer::open(model, tokenizer_index, &tokenizer), "the file");
  const size_t special = with_special ? tokenizer.special_count(false) : 0;
  SourceIds out;
  out.ids.resize(text.size() + special);
  EncodeResult result;
  for (;;) {
    TokenBuffer buffer;
    buffer.ids = out.ids.data();
    buffer.capacity = static_cast<uint32_t>(out.ids.size());
    EncodeOptions options;
    options.add_special = with_special;
    options.max_tokens = most == 0 ? buffer.capacity : std::min(most, buffer.capacity);
    check(tokenizer.encode({text.data(), text.size()}, {}, options, buffer, &result), "the text");
    const bool small = result.content[0] + special > out.ids.size();
    if (!small || (most != 0 && most <= out.ids.size())) break;
    out.ids.resize(result.content[0] + special);  // one character may become several tokens
  }
  out.ids.resize(result.count);
  out.cut = result.content[0] - result.kept[0];
  return out;
}

SourceIds source_ids(const Model& model, const Decoding& decoding, const std::string& text, uint32_t most) {
  const std::string whole = to_string(decoding.said.prefix) + text;
  const uint32_t in_front = decoding.source_id >= 0 ? 1 : 0;
  SourceIds out = text_ids(model, root(model).source_tokenizer(), whole, most - in_front);
  if (out.cut != 0 && !decoding.cut) {
    fail(ExitCode::kInvalid, "the text has {} tokens, the model takes {}; make it shorter, or give --cut",
         out.ids.size() + in_front + out.cut, most);
  }
  if (decoding.from_id >= 0) put_language(model, decoding.from_id, &out.ids);
  if (in_front == 0) return out;
  Tokenizer tokenizer;
  check(Tokenizer::open(model, root(model).source_tokenizer(), &tokenizer), "the file");
  const auto special = [&](int32_t id) { return tokenizer.is_special(static_cast<uint32_t>(id)); };
  const auto end = out.ids.empty() ? out.ids.end() : out.ids.end() - (special(out.ids.back()) ? 1 : 0);
  out.ids.insert(std::find_if_not(out.ids.begin(), end, special), decoding.source_id);
  return out;
}

}  // namespace bantam::convert
