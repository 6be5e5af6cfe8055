// Hostile text and hostile tables of byte-level BPE. The first byte chooses, as in wordpiece_fuzz.cpp. Its next three
// bits choose the variant: with normalizers, a unigram model, or a model of code points, of marked words, of whole
// words, or of words that get blanks. The tokens are decoded again.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bantam/decode.h"
#include "tests/fuzz/limits.h"
#include "tests/text/bpe_vocabulary.h"

namespace bantam::tests {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

nlohmann::json unigram() {
  const std::vector<std::pair<const char*, double>> pieces = {{"<unk>", 0.0},     {"\u2581", -2.0}, {"a", -1.5},
                                                              {"ab", -2.5},       {"aaaa", -2.25},  {"\u2581the", -1.0},
                                                              {"\u2581ab", -3.0}, {"\u00e9", -4.0}};
  nlohmann::json vocabulary;
  for (const auto& [piece, score] : pieces) vocabulary.push_back({piece, score});
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    vocabulary.push_back({name, -9.0});
  }
  nlohmann::json json;
  json["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}, {"byte_fallback", true}};
  json["normalizer"] = {{"type", "NFKC"}};
  json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  return json;
}

/// Merges of code points, with byte fallback.
nlohmann::json pieces() {
  nlohmann::json vocabulary = {{"<unk>", 0}};
  for (const char* piece : {"\u2581", "a", "b", "\u00e9", "\u2581a", "ab", "\u2581ab", "aa", "\u2581\u2581"}) {
    const size_t id = vocabulary.size();
    vocabulary[piece] = id;
  }
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    const size_t id = vocabulary.size();
    vocabulary[name] = id;
  }
  nlohmann::json json;
  const std::vector<std::string> merges = {"\u2581 a", "a b", "\u2581 ab", "a a", "\u2581 \u2581"};
  json["model"] = {
      {"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}, {"byte_fallback", true}, {"fuse_unk", true}};
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};
  return json;
}

/// Merges whose tokens end words with "</w>", after BERT's normalizer; or whole words. Both after several splitters.
nlohmann::json words(bool whole) {
  nlohmann::json vocabulary = {{"<unk>", 0}, {"a", 1},       {"b", 2},      {"a</w>", 3},     {"b</w>", 4},
                               {"ab", 5},    {"aba</w>", 6}, {"\u00e9", 7}, {"\u00e9</w>", 8}};
  nlohmann::json json;
  json["model"] = {{"type", whole ? "WordLevel" : "BPE"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}};
  if (!whole) {
    json["model"]["merges"] = {"a b", "ab a</w>"};
    json["model"]["end_of_word_suffix"] = "</w>";
    json["normalizer"] = {{"type", "BertNormalizer"}};
    json["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  }
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "WhitespaceSplit"}},
                             {{"type", "Punctuation"}, {"behavior", "MergedWithNext"}},
                             {{"type", "Digits"}, {"individual_digits", false}},
                             {{"type", "Split"}, {"pattern", {{"String", "aab"}}}, {"behavior", "Removed"}}}}};
  return json;
}

/// Byte-level merges whose words get blanks before a second splitter: split tables of version 4.
nlohmann::json prefixed() {
  nlohmann::json json = bpe_json({{"a", "b"}, {" ", "ab"}, {"b", "a"}});
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Punctuation"}, {"behavior", "Isolated"}},
                             {{"type", "Digits"}, {"individual_digits", true}},
                             {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}}}}};
  return json;
}

SmallTokenizer& good(uint32_t kind) {
  const auto make = [](bool normalizes) {
    nlohmann::json json = bpe_json({{"a", "b"}, {" ", "ab"}, {"b", "a"}, {"ab", "ab"}, {"a", "a"}, {"\xc3", "\xa9"}});
    json["added_tokens"].push_back({{"id", 265}, {"content", "  "}, {"rstrip", true}, {"normalized", false}});
    if (normalizes) {
      json["normalizer"] = {{"type", "Sequence"},
                            {"normalizers",
                             {{{"type", "Replace"}, {"pattern", {{"String", "``"}}}, {"content", "\""}},
                              {{"type", "NFKC"}},
                              {{"type", "Strip"}},
                              {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}},
                              {{"type", "Prepend"}, {"prepend", " "}}}}};
    }
    return SmallTokenizer(json);
  };
  static SmallTokenizer plain = make(false);
  static SmallTokenizer behind_normalizers = make(true);
  static SmallTokenizer scored(unigram());
  static SmallTokenizer of_code_points(pieces());
  static SmallTokenizer marked(words(false));
  static SmallTokenizer of_words(words(true));
  static SmallTokenizer of_prefixed_words(prefixed());
  if (kind == 6) return of_prefixed_words;
  if (kind > 3) return kind % 2 == 0 ? marked : of_words;
  if (kind > 1) return kind == 2 ? scored : of_code_points;
  return kind == 0 ? plain : behind_normalizers;
}

/// The size must include bytes that do not fit, and no byte may be written beyond the capacity.
void decode_and_check(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  size_t size = 0;
  const Status status = decode(tokenizer, ids.data(), ids.size(), false, nullptr, 0, &size);
  if (status == Status::kUnsupported) return;
  check(status == (size == 0 ? Status::kOk : Status::kBufferTooSmall));
  std::vector<char> text(size + 1, 'x');
  check(decode(tokenizer, ids.data(), ids.size(), false, text.data(), size, &size) == Status::kOk);
  check(text[size] == 'x' && size + 1 == text.size());
}

void encode_and_check(const Tokenizer& tokenizer, const std::string& text, uint32_t max_tokens) {
  EncodeOptions options;
  options.max_tokens = max_tokens;
  const uint32_t capacity = max_tokens != 0 ? max_tokens : static_cast<uint32_t>(4 * text.size() + 64);
  const Encoded got = encode(tokenizer, text, nullptr, options, capacity);
  check(got.ids.size() <= capacity);
  for (size_t i = 0; i < got.ids.size(); ++i) {
    check(static_cast<uint32_t>(got.ids[i]) < tokenizer.vocab_size());
    check(got.offsets[i].begin <= got.offsets[i].end && got.offsets[i].end <= text.size());
  }
  decode_and_check(tokenizer, got.ids);
}

void fuzz_text(SmallTokenizer& small, const uint8_t* bytes, size_t size) {
  if (size < 2) return;
  fb::TokenizerT& description = small.description();
  description.splitters[0]->prefix_blank = (bytes[0] & 1) != 0;
  description.trim_blanks = (bytes[0] & 2) != 0;
  description.trim_prefix = (bytes[0] & 4) != 0;
  description.model->whole_words = (bytes[0] & 8) != 0;
  description.truncate_left = (bytes[0] & 16) != 0;
  small.image().repack(description);
  encode_and_check(small.open(), std::string(reinterpret_cast<const char*>(bytes) + 2, size - 2), bytes[1]);
}

void fuzz_tables(SmallTokenizer& small, const uint8_t* bytes, size_t size) {
  std::vector<uint64_t> copy(small.image().data_size() / 8);
  std::memcpy(copy.data(), small.image().data(), copy.size() * 8);
  auto* data = reinterpret_cast<uint8_t*>(copy.data());
  for (size_t i = 0; i + 4 <= size; i += 4) {
    const size_t at = bytes[i] | static_cast<size_t>(bytes[i + 1]) << 8 | static_cast<size_t>(bytes[i + 2]) << 16;
    data[at % (copy.size() * 8)] = bytes[i + 3];
  }
  if (text::verify_tokenizer(small.image().table(), data, copy.size() * 8, nullptr) != Status::kOk) return;
  const Tokenizer tokenizer = text::open_tables(small.image().table(), data);
  encode_and_check(tokenizer, "abab aaba  a\u00e9\u00e8 's <mask>  1 \xff \n\n ab", 0);
  std::vector<int32_t> all;
  for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    tokenizer.id(tokenizer.token(id));
    all.push_back(static_cast<int32_t>(id));
  }
  decode_and_check(tokenizer, all);
}

}  // namespace
}  // namespace bantam::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const bantam::fuzz::Limits limits(size);
  if (size == 0) return 0;
  bantam::tests::SmallTokenizer& small = bantam::tests::good(bytes[0] >> 1 & 7);
  if (bytes[0] % 2 == 0) {
    bantam::tests::fuzz_text(small, bytes + 1, size - 1);
  } else {
    bantam::tests::fuzz_tables(small, bytes + 1, size - 1);
  }
  return 0;
}
