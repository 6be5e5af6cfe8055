// Hostile text or hostile tables; the first byte chooses. Text is tokenized by a valid tokenizer with every setting of
// the normalizer. Tables are those of a valid tokenizer with bytes changed; whatever verify_tokenizer accepts must be
// safe.
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/limits.h"
#include "tests/text/fixture.h"
#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

SmallTokenizer& good() {
  static SmallTokenizer small = [] {
    nlohmann::json json =
        tokenizer_json({"a", "b", "##a", "##b", "ab", "the", "there", "\u4e2d", "caf", "##\u00e9e", "e"});
    json["added_tokens"].push_back(
        {{"id", 16}, {"content", "<x>"}, {"lstrip", true}, {"rstrip", true}, {"normalized", false}});
    json["added_tokens"].push_back({{"id", 17}, {"content", "New"}, {"single_word", true}, {"normalized", true}});
    json["added_tokens"].push_back({{"id", 18}, {"content", "\u4e2db"}, {"lstrip", true}, {"rstrip", true}});
    return SmallTokenizer(json);
  }();
  return small;
}

/// Encodes text (its first and second half, if `pair`) and checks what callers rely on.
void encode_and_check(const Tokenizer& tokenizer, const std::string& text, uint32_t max_tokens, bool pair) {
  const std::string first = pair ? text.substr(0, text.size() / 2) : text;
  const std::string second = pair ? text.substr(text.size() / 2) : "";
  EncodeOptions options;
  options.max_tokens = max_tokens;
  options.skip = max_tokens % 5;
  const uint32_t capacity = max_tokens != 0 ? max_tokens : static_cast<uint32_t>(4 * text.size() + 64);
  const Encoded got = encode(tokenizer, first, pair ? &second : nullptr, options, capacity);
  check(got.ids.size() <= capacity);
  uint32_t last[2] = {0, 0};
  for (size_t i = 0; i < got.ids.size(); ++i) {
    check(static_cast<uint32_t>(got.ids[i]) < tokenizer.vocab_size());
    if (got.sequences[i] == 255) {
      check(got.offsets[i].begin == 0 && got.offsets[i].end == 0);
      continue;
    }
    check(got.sequences[i] <= 1);
    check(got.offsets[i].begin <= got.offsets[i].end);
    check(got.offsets[i].end <= (got.sequences[i] == 1 ? second.size() : first.size()));
    check(got.offsets[i].begin >= last[got.sequences[i]]);
    last[got.sequences[i]] = got.offsets[i].begin;
  }
}

void fuzz_text(const uint8_t* bytes, size_t size) {
  if (size < 2) return;
  fb::TokenizerT& description = good().description();
  fb::NormalizerT& rules = *description.normalizers[0];
  rules.clean_text = (bytes[0] & 1) != 0;
  rules.split_chinese = (bytes[0] & 2) != 0;
  rules.lowercase = (bytes[0] & 4) != 0;
  rules.strip_accents = (bytes[0] & 8) != 0;
  description.truncate_left = (bytes[0] & 16) != 0;
  description.truncation = static_cast<fb::Truncation>(bytes[0] >> 6);
  good().image().repack(description);
  const std::string text(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  encode_and_check(good().open(), text, bytes[1], (bytes[0] & 32) != 0);
}

void fuzz_tables(const uint8_t* bytes, size_t size) {
  std::vector<uint64_t> copy(good().image().data_size() / 8);
  std::memcpy(copy.data(), good().image().data(), copy.size() * 8);
  auto* data = reinterpret_cast<uint8_t*>(copy.data());
  for (size_t i = 0; i + 3 <= size; i += 3) {
    data[(bytes[i] | static_cast<size_t>(bytes[i + 1]) << 8) % (copy.size() * 8)] = bytes[i + 2];
  }
  if (text::verify_tokenizer(good().image().table(), data, copy.size() * 8, nullptr) != Status::kOk) return;
  const Tokenizer tokenizer = text::open_tables(good().image().table(), data);
  encode_and_check(tokenizer, "the there abba caf\u00e9e \u4e2d\u6587 [MASK] <x> new \xff a\u4e2db", 0, false);
  for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) tokenizer.id(tokenizer.token(id));
}

}  // namespace
}  // namespace bantam::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const bantam::fuzz::Limits limits(size);
  if (size == 0) return 0;
  if (bytes[0] % 2 == 0) {
    bantam::tests::fuzz_text(bytes + 1, size - 1);
  } else {
    bantam::tests::fuzz_tables(bytes + 1, size - 1);
  }
  return 0;
}
