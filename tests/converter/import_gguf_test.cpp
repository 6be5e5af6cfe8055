// GGUF files: what the reader refuses, by the name of the key or the tensor; the values of blocks; the order of rows.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "converter/import_fixture.h"
#include "source/gguf/gguf_file.h"
#include "source/gguf/gguf_models.h"
#include "source/gguf/gguf_tokenizer.h"
#include "source/gguf/gguf_types.h"
#include "source/gguf/gguf_weights.h"

namespace bantam::convert::fixture {
namespace {

template <typename T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <typename T>
std::string packed(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
std::string text(const std::string& words) { return number<uint64_t>(words.size()) + words; }
std::string entry(const std::string& key, uint32_t type, const std::string& value) {
  return text(key) + number(type) + value;
}
std::string count_entry(const std::string& key, uint32_t value) { return entry(key, 4, number(value)); }
std::string text_entry(const std::string& key, const std::string& value) { return entry(key, 8, text(value)); }

/// Extents in the order of the format: the fastest-varying first.
std::string tensor_entry(const std::string& name, const std::vector<uint64_t>& extents, uint32_t type, uint64_t begin) {
  return text(name) + number(static_cast<uint32_t>(extents.size())) + packed(extents) + number(type) + number(begin);
}

struct Made {
  std::vector<std::string> entries, tensors;
  std::string data;
  uint64_t alignment = 32;
  uint32_t version = 3;

  std::string bytes() const {
    std::string out = "GGUF" + number(version) + number<uint64_t>(tensors.size()) + number<uint64_t>(entries.size());
    for (const std::string& one : entries) out += one;
    for (const std::string& one : tensors) out += one;
    out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
    return out + data;
  }
};

const std::string kTwoFloats = packed<float>({1.5F, -2});

Made two_tensors() {
  Made made;
  made.entries = {count_entry("general.answer", 42), text_entry("general.name", "it")};
  made.tensors = {tensor_entry("a", {2}, 0, 0), tensor_entry("b", {1, 2}, 0, 32)};
  made.data = kTwoFloats + std::string(24, '\0') + kTwoFloats;
  return made;
}

class Gguf : public ::testing::Test {
 protected:
  std::shared_ptr<const GgufFile> open(const std::string& bytes) const {
    directory_.write("model.gguf", bytes);
    return std::make_shared<const GgufFile>(directory_.path() / "model.gguf");
  }
  std::filesystem::path path() const { return directory_.path(); }
  void write(const std::string& name, const std::string& bytes) const { directory_.write(name, bytes); }
  std::string refusal(const std::string& bytes, ExitCode code = ExitCode::kInvalid) const {
    return problems_of(code, [&] { open(bytes); });
  }
  void refuses(const Made& made, const std::string& words, ExitCode code = ExitCode::kInvalid) const {
    const std::string said = refusal(made.bytes(), code);
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find("model.gguf"), std::string::npos) << said;
  }

 private:
  Directory directory_;
};

TEST_F(Gguf, ValuesAndTensorsAreRead) {
  Made made = two_tensors();
  made.entries.push_back(entry("list", 9, number<uint32_t>(5) + number<uint64_t>(2) + packed<int32_t>({-1, 7})));
  made.entries.push_back(entry("flag", 7, "\1"));
  made.entries.push_back(entry("half", 6, number(0.5F)));
  const auto file = open(made.bytes());
  EXPECT_EQ(file->count("general.answer", 0), 42);
  EXPECT_EQ(file->count("general.name", 7), 7);
  EXPECT_EQ(file->text("general.name"), "it");
  EXPECT_EQ(file->text("missing", "otherwise"), "otherwise");
  EXPECT_TRUE(file->flag("flag", false));
  EXPECT_EQ(file->value("half"), 0.5);
  EXPECT_EQ(file->value("list"), Json({-1, 7}));
  EXPECT_EQ(file->tensors().at("b").shape, (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(file->read(file->tensors().at("b")), kTwoFloats);
}

TEST_F(Gguf, EveryCutIsRefused) {
  const std::string whole = two_tensors().bytes();
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)).find("model.gguf"), std::string::npos) << size;
  }
  EXPECT_EQ(open(whole)->tensors().size(), 2U);
}

TEST_F(Gguf, EveryRuleOfTheReader) {
  const auto with = [](const std::string& one) {
    Made made = two_tensors();
    made.entries.push_back(one);
    return made;
  };
  const auto tensors = [](std::vector<std::string> list) {
    Made made = two_tensors();
    made.tensors = std::move(list);
    return made;
  };
  Made old = two_tensors();
  old.version = 1;
  refuses(old, "version 1", ExitCode::kUnsupported);
  old.version = 0x03000000;
  refuses(old, "other order of bytes", ExitCode::kUnsupported);
  refuses(with(entry("x", 13, "")), "type 13");
  refuses(with(entry("x", 9, number<uint32_t>(9) + number<uint64_t>(1))), "lists do not hold");
  refuses(with(entry("x", 9, number<uint32_t>(4) + number<uint64_t>(1ULL << 62))), "a list of 4611686018427387904");
  refuses(with(entry("x", 8, number<uint64_t>(1ULL << 63))), "is 9223372036854775808 bytes long");
  refuses(with(text_entry("x", "\xFF")), "not UTF-8");
  refuses(with(text_entry("general.name", "again")), "is there twice");
  refuses(with(text_entry(std::string(2000, 'k'), "")), "longer than 1024");
  refuses(with(count_entry("general.alignment", 24)), "power of two");
  refuses(with(count_entry("split.count", 3)), "one of 3 parts", ExitCode::kUnsupported);
  refuses(tensors({tensor_entry("a", {}, 0, 0)}), "has 0 extents");
  refuses(tensors({tensor_entry("a", {1, 1, 1, 1, 1}, 0, 0)}), "has 5 extents");
  refuses(tensors({tensor_entry("a", {0, 2}, 0, 0)}), "an extent is 0");
  refuses(tensors({tensor_entry("a", {1ULL << 40, 1ULL << 40}, 0, 0)}), "overflows");
  refuses(tensors({tensor_entry("a", {1ULL << 62}, 0, 0)}), "overflows");
  refuses(tensors({tensor_entry("a", {33}, 8, 0)}), "whole blocks of Q8_0");
  refuses(tensors({tensor_entry("a", {2}, 4, 0)}), "has number 4", ExitCode::kUnsupported);
  refuses(tensors({tensor_entry("a", {2}, 0, 8)}), "not a multiple of 32");
  refuses(tensors({tensor_entry("a", {2}, 0, 64)}), "beyond the file");
  refuses(tensors({tensor_entry("a", {2}, 0, ~31ULL)}), "beyond the file");
  refuses(tensors({tensor_entry("a", {2}, 0, 0), tensor_entry("a", {2}, 0, 32)}), "is there twice");
  refuses(tensors({tensor_entry("a", {9}, 0, 0), tensor_entry("b", {1}, 0, 32)}), "its bytes are those of \"a\"");
  std::string many = two_tensors().bytes();
  many.replace(8, 8, number<uint64_t>(1ULL << 60));
  EXPECT_NE(refusal(many).find("are the most"), std::string::npos);
}

TEST(GgufTypes, BlocksStandForFactorsTimesIntegers) {
  std::string eight("\x00\x38", 2), four("\x00\xC0", 2);  // 0.5; -2
  for (int i = 0; i < 32; ++i) eight += static_cast<char>(i - 16);
  for (int i = 0; i < 16; ++i) four += static_cast<char>(i | ((15 - i) << 4));
  const std::vector<float> q8 = gguf_values(*gguf_type(8), eight), q4 = gguf_values(*gguf_type(2), four);
  ASSERT_EQ(q8.size(), 32U);
  ASSERT_EQ(q4.size(), 32U);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(q8[static_cast<size_t>(i)], 0.5F * static_cast<float>(i - 16));
    EXPECT_EQ(q4[static_cast<size_t>(i)], -2.0F * static_cast<float>((i < 16 ? i : 31 - i) - 8));
  }
}

/// Compares with the values that the package `gguf` decodes from blocks (tests/golden/gguf_files.py).
TEST(GgufTypes, BlocksOfEveryTypeStandForTheirValues) {
  std::ifstream stream(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/gguf/block-values.jsonl");
  std::set<std::string> seen;
  for (std::string line; std::getline(stream, line);) {
    const Json given = Json::parse(line);
    const GgufType* type = gguf_type(given["type"].get<uint32_t>());
    ASSERT_NE(type, nullptr) << given["name"];
    EXPECT_EQ(given["name"], type->name);
    EXPECT_TRUE(is_blocks(*type)) << type->name;
    const auto digits = given["bytes"].get<std::string>();
    std::string bytes;
    for (size_t i = 0; i < digits.size(); i += 2)
      bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    std::vector<float> expected;
    for (const Json& bits : given["bits"]) expected.push_back(float_from_bits(bits.get<uint32_t>()));
    const std::vector<float> values = gguf_values(*type, bytes);
    ASSERT_EQ(values.size(), expected.size()) << type->name;
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], expected[i]) << type->name << " " << i;
    seen.insert(type->name);
  }
  EXPECT_EQ(seen.size(), 13U);
  EXPECT_FALSE(is_blocks(*gguf_type(19)));
}

/// Three parts with one tensor each.
TEST_F(Gguf, PartsAreReadAsOneFile) {
  const auto part = [](uint16_t number, uint16_t count) {
    Made made;
    made.entries = {entry("split.no", 2, packed<uint16_t>({number})),
                    entry("split.count", 2, packed<uint16_t>({count})),
                    entry("split.tensors.count", 5, packed<int32_t>({3}))};
    if (number == 0) made.entries.push_back(text_entry("general.name", "it"));
    made.tensors = {tensor_entry(std::string(1, static_cast<char>('a' + number)), {2}, 0, 0)};
    made.data = packed<float>({1.0F * number, -2});
    return made.bytes();
  };
  const auto name = [](int number) { return "m-0000" + std::to_string(number) + "-of-00003.gguf"; };
  const auto read = [&](const std::string& file) { return GgufFile(path() / file); };
  const auto refusal_of = [&](const std::string& file, ExitCode code) {
    return problems_of(code, [&] { read(file); });
  };
  for (uint16_t i = 0; i < 3; ++i) write(name(i + 1), part(i, 3));
  const GgufFile whole = read(name(1));
  EXPECT_EQ(whole.parts().size(), 3U);
  EXPECT_EQ(whole.text("general.name"), "it");
  ASSERT_EQ(whole.tensors().size(), 3U);
  EXPECT_EQ(whole.read(whole.tensors().at("c")), packed<float>({2, -2}));
  EXPECT_NE(refusal_of(name(2), ExitCode::kUnsupported).find("name the first one"), std::string::npos);
  write(name(3), part(1, 3));
  EXPECT_NE(refusal_of(name(1), ExitCode::kInvalid).find("is there twice"), std::string::npos);
  write(name(3), part(2, 4));
  EXPECT_NE(refusal_of(name(1), ExitCode::kInvalid).find("is not part 3 of 3"), std::string::npos);
  std::filesystem::remove(path() / name(3));
  EXPECT_NE(refusal_of(name(1), ExitCode::kIo).find("download it, too"), std::string::npos);
}

/// Two heads of four rows, with one column.
TEST_F(Gguf, RowsOfHeadsAreInTheirOrder) {
  Made made;
  made.entries = {text_entry("general.architecture", "llama"), count_entry("llama.attention.head_count", 2),
                  count_entry("llama.attention.head_count_kv", 1)};
  made.tensors = {tensor_entry("blk.0.attn_q.weight", {1, 8}, 0, 0), tensor_entry("blk.0.attn_k.weight", {1, 4}, 0, 32),
                  tensor_entry("blk.12.ffn_up.weight", {2}, 0, 64)};
  made.data =
      packed<float>({0, 2, 1, 3, 4, 6, 5, 7}) + packed<float>({0, 2, 1, 3}) + std::string(16, '\0') + kTwoFloats;
  const auto file = open(made.bytes());
  const GgufWeights weights(file, gguf_model(*file));
  EXPECT_EQ(weights.read("model.layers.0.self_attn.q_proj.weight"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(weights.read("model.layers.0.self_attn.k_proj.weight"), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(weights.read("model.layers.12.mlp.up_proj.weight"), (std::vector<float>{1.5F, -2}));
  made.entries[1] = count_entry("llama.attention.head_count", 3);
  const auto odd = open(made.bytes());
  EXPECT_NE(problems_of(ExitCode::kInvalid, [&] { const GgufWeights no(odd, gguf_model(*odd)); }).find("3 heads"),
            std::string::npos);
}

TEST_F(Gguf, SettingsThatChangeTheModelAreRefused) {
  const auto problems = [this](const std::string& one) {
    Made made;
    made.entries = {text_entry("general.architecture", "llama"), count_entry("llama.attention.head_count", 2),
                    count_entry("llama.embedding_length", 8), one};
    const auto file = open(made.bytes());
    Problems found;
    std::vector<std::string> notes;
    gguf_config(gguf_model(*file), *file, found, notes);
    for (const std::string& note : notes) found.add(ExitCode::kUnsupported, note);
    return problems_of(ExitCode::kUnsupported, [&] { found.raise(); });
  };
  const auto has = [](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  has(problems(count_entry("llama.expert_count", 8)), "llama.expert_count: is 8");
  has(problems(text_entry("llama.rope.scaling.type", "longrope")), "is \"longrope\"");
  has(problems(count_entry("llama.rope.dimension_count", 2)), "is 2, of heads of 4");
  has(problems(count_entry("llama.pooling_type", 9)), "pooling_type: is 9");
  has(problems(entry("llama.attention.causal", 7, std::string(1, '\0'))), "attention.causal: is false");
  has(problems(entry("llama.feed_forward_length", 9, number<uint32_t>(4) + number<uint64_t>(0))), "layer to layer");
  has(problems(count_entry("llama.new_thing", 1)), "not read: llama.new_thing");
}

TEST_F(Gguf, TokenizersNameTheirKeys) {
  const auto list = [](uint32_t type, const std::string& values, uint64_t count) {
    return number(type) + number(count) + values;
  };
  const auto refusal = [this](std::vector<std::string> entries) {
    Made made;
    made.entries = std::move(entries);
    const TokenizerFiles files = read_gguf_tokenizer(*open(made.bytes()));
    return files.unreadable.empty() ? "" : files.unreadable.front();
  };
  const std::string tokens = entry("tokenizer.ggml.tokens", 9, list(8, text("a") + text("b"), 2));
  const auto has = [](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  EXPECT_EQ(refusal({}), "");
  has(refusal({text_entry("tokenizer.ggml.model", "gpt2")}), "tokenizer.ggml.tokens: should be a list");
  has(refusal({text_entry("tokenizer.ggml.model", "rwkv"), tokens}), "\"rwkv\" is not supported");
  has(refusal({text_entry("tokenizer.ggml.model", "gpt2"), tokens}), "merges: should be a list");
  has(refusal({text_entry("tokenizer.ggml.model", "llama"), tokens}), "scores: should be a list of 2");
  has(refusal({text_entry("tokenizer.ggml.model", "bert"), tokens}), "unknown_token_id: is missing");
  has(refusal({text_entry("tokenizer.ggml.model", "bert"), tokens, count_entry("tokenizer.ggml.unknown_token_id", 2)}),
      "2 is none of the 2 tokens");
  has(refusal({tokens, entry("tokenizer.ggml.token_type", 9, list(5, packed<int32_t>({1}), 1))}),
      "token_type: should be a list of 2");
}

}  // namespace
}  // namespace bantam::convert::fixture
