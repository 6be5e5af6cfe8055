// SentencePiece model files: the ids of each family's special tokens, and everything that untrusted files may contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <protozero/pbf_writer.hpp>

#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

using Ids = std::vector<int32_t>;

struct Piece {
  std::string text;
  float score = 0;
  int kind = 1;
};
const std::vector<Piece> kWords = {{"\u2581", -2}, {"\u2581a", -1}, {"b", -1.5}, {"9,", -1}, {"9", -1}, {",", -1}};

/// The bytes of a model with these pieces, followed by kWords.
class ModelBytes {
 public:
  explicit ModelBytes(const std::vector<Piece>& specials, int type = 1) {
    for (const auto* list : {&specials, &kWords}) {
      for (const Piece& piece : *list) add(piece);
    }
    std::string trainer;
    protozero::pbf_writer(trainer).add_enum(3, type);
    protozero::pbf_writer(bytes).add_message(2, trainer);
  }
  void add(const Piece& piece) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_string(1, piece.text);
    writer.add_float(2, piece.score);
    writer.add_enum(3, piece.kind);
    protozero::pbf_writer(bytes).add_message(1, message);
  }
  void add_normalizer(const std::function<void(protozero::pbf_writer&)>& fill) {
    std::string message;
    protozero::pbf_writer writer(message);
    fill(writer);
    protozero::pbf_writer(bytes).add_message(3, message);
  }

  std::string bytes;
};

Imported import_model(const std::string& bytes, const std::string& tokenizer, const std::string& more = "") {
  Folder folder;
  folder.write("spiece.model", bytes);
  if (!tokenizer.empty()) {
    folder.write("tokenizer_config.json", "{\"tokenizer_class\": \"" + tokenizer + "\"" + more + "}");
  }
  return import_folder(folder);
}

Ids ids_of(Imported& imported, const std::string& text, const std::string* second = nullptr) {
  if (!imported.found) {
    ADD_FAILURE() << (imported.problems.empty() ? "nothing found" : imported.problems.front());
    return {};
  }
  TokenizerImage image(imported.graph);
  EXPECT_EQ(image.verify(), Status::kOk);
  return encode(image.open(), text, second).ids;
}

void expect_problem(const Imported& got, const std::string& what) {
  EXPECT_FALSE(got.found);
  const auto says = [&what](const std::string& line) { return line.find(what) != std::string::npos; };
  EXPECT_TRUE(std::any_of(got.problems.begin(), got.problems.end(), says))
      << what << " / " << (got.problems.empty() ? "no problem" : got.problems.front());
}

const std::vector<Piece> kFairseq = {{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}};

TEST(SentencePieceFile, FairseqsNumbersGoBeforeThePieces) {
  const std::string second = "b";
  Imported xlmr = import_model(ModelBytes(kFairseq).bytes, "XLMRobertaTokenizerFast");
  // <s> <pad> </s> <unk>, six words, <mask>
  EXPECT_EQ(ids_of(xlmr, "a <mask>b", &second), (Ids{0, 5, 10, 4, 6, 2, 2, 4, 6, 2}));
  EXPECT_EQ(ids_of(xlmr, "z"), (Ids{0, 4, 3, 2}));
  Imported camembert = import_model(ModelBytes(kFairseq).bytes, "CamembertTokenizer");
  // <s>NOTUSED <pad> </s>NOTUSED <unk> <unk>NOTUSED, <s> </s>, six words, <mask>
  EXPECT_EQ(ids_of(camembert, "a"), (Ids{5, 8, 6}));
  EXPECT_EQ(ids_of(camembert, "z<mask>"), (Ids{5, 7, 3, 13, 6}));
}

TEST(SentencePieceFile, TheOthersKeepTheirNumbers) {
  const std::string second = "b";
  const std::vector<Piece> t5 = {{"<pad>", 0, 3}, {"</s>", 0, 3}, {"<unk>", 0, 2}};
  for (const char* name : {"T5Tokenizer", ""}) {
    Imported got = import_model(ModelBytes(t5).bytes, name);
    EXPECT_EQ(ids_of(got, "a<extra_id_0>", &second), (Ids{4, 108, 1, 3, 5, 1}));
    EXPECT_EQ(ids_of(got, "<extra_id_99>"), (Ids{9, 1}));
  }
  const std::vector<Piece> albert = {{"<pad>"}, {"<unk>", 0, 2}, {"[CLS]", 0, 3}, {"[SEP]", 0, 3}, {"[MASK]", 0, 3}};
  for (const char* name : {"AlbertTokenizer", ""}) {
    Imported got = import_model(ModelBytes(albert).bytes, name);
    EXPECT_EQ(ids_of(got, "A [MASK]", &second), (Ids{2, 6, 4, 3, 5, 7, 3}));
    // A comma is split from the digits before it.
    EXPECT_EQ(ids_of(got, "9,"), (Ids{2, 5, 9, 10, 3}));
  }
  const std::vector<Piece> xlnet = {{"<unk>", 0, 2}, {"<cls>", 0, 3}, {"<sep>", 0, 3}, {"<pad>", 0, 3}};
  for (const char* name : {"XLNetTokenizer", ""}) {
    Imported got = import_model(ModelBytes(xlnet).bytes, name);
    EXPECT_EQ(ids_of(got, "a", &second), (Ids{5, 2, 4, 6, 2, 1}));
  }
  const std::vector<Piece> deberta = {{"[PAD]", 0, 3}, {"[CLS]", 0, 3}, {"[SEP]", 0, 3}, {"[UNK]", 0, 2}};
  for (const char* name : {"DebertaV2Tokenizer", ""}) {
    Imported got = import_model(ModelBytes(deberta).bytes, name);
    EXPECT_EQ(ids_of(got, " a  z [MASK]"), (Ids{1, 5, 4, 3, 10, 2}));
    EXPECT_EQ(ids_of(got, "9,"), (Ids{1, 4, 7, 2}));
  }
}

/// Merges in the order of the pieces that they make; texts have no special tokens around them.
TEST(SentencePieceFile, ReformersPiecesAreMerged) {
  const std::string second = "b";
  ModelBytes model({{"<unk>", 0, 2}, {"</s>", 0, 3}}, 2);  // then \u2581 \u2581a b 9, 9 ,
  for (const Piece& piece : {Piece{"a", -3}, Piece{"ab", -2}, Piece{"\u2581ab", -1}}) model.add(piece);
  Imported got = import_model(model.bytes, "ReformerTokenizer");
  EXPECT_EQ(ids_of(got, "a", &second), (Ids{3, 2, 4}));
  EXPECT_EQ(ids_of(got, "bab 9,z  zz</s>"), (Ids{2, 4, 9, 2, 5, 0, 2, 2, 0, 1}));
  EXPECT_EQ(ids_of(got, "ab "), (Ids{10, 2}));
  EXPECT_EQ(got.graph.model.tokenizers.front()->pad_id, -1);
  expect_problem(import_model(ModelBytes({{"<unk>", 0, 2}}, 1).bytes, "ReformerTokenizer"), "is Unigram");
}

/// Llama 2's and Mistral's pieces of blanks share one score, the lowest: SentencePiece lets them grow from the left.
TEST(SentencePieceFile, BlanksGrowFromTheLeft) {
  ModelBytes model({{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}}, 2);  // then \u2581 \u2581a b 9, 9 ,
  std::vector<int32_t> id_of(17, 3);
  int32_t id = 9;
  model.add({"a", -3, 1});
  // No 15, as in Mistral.
  for (const size_t length : {2u, 4u, 8u, 5u, 16u, 6u, 12u, 13u, 10u, 14u, 3u, 9u, 7u, 11u}) {
    std::string run;
    for (size_t i = 0; i < length; ++i) run += "\u2581";
    model.add({run, -1e9F, 1});
    id_of[length] = ++id;
  }
  Imported got = import_model(model.bytes, "LlamaTokenizer", R"(, "add_bos_token": false)");
  for (uint32_t count = 1; count < 40; ++count) {
    const uint32_t blanks = count;  // "a" takes the last blank, and one is inserted before the text
    Ids expected(blanks / 16, id_of[16]);
    const uint32_t rest = blanks % 16;
    if (rest == 15) expected.push_back(id_of[14]);
    if (rest != 0) expected.push_back(rest == 15 ? id_of[1] : id_of[rest]);
    expected.push_back(4);
    EXPECT_EQ(ids_of(got, std::string(count, ' ') + "a"), expected) << count;
  }
}

TEST(SentencePieceFile, SettingsAreThoseOfTheConfiguration) {
  const std::vector<Piece> albert = {{"<pad>"}, {"<unk>", 0, 2}, {"[CLS]", 0, 3}, {"[SEP]", 0, 3}, {"[MASK]", 0, 3}};
  Imported cased = import_model(ModelBytes(albert).bytes, "AlbertTokenizer", R"(, "do_lower_case": false)");
  EXPECT_EQ(ids_of(cased, "A"), (Ids{2, 5, 1, 3}));
  const std::vector<Piece> t5 = {{"<pad>", 0, 3}, {"</s>", 0, 3}, {"<unk>", 0, 2}};
  Imported few = import_model(ModelBytes(t5).bytes, "T5Tokenizer", R"(, "extra_ids": 2)");
  EXPECT_EQ(ids_of(few, "<extra_id_0>"), (Ids{10, 1}));
  ModelBytes bare(t5);
  bare.add_normalizer([](protozero::pbf_writer& spec) { spec.add_bool(3, false); });
  Imported without = import_model(bare.bytes, "T5Tokenizer");
  EXPECT_EQ(ids_of(without, "b b"), (Ids{5, 3, 5, 1}));
}

TEST(SentencePieceFile, UserDefinedPiecesAreFoundInTheText) {
  std::vector<Piece> specials = kFairseq;
  specials.push_back({"<x>", 0, 4});
  Imported got = import_model(ModelBytes(specials).bytes, "XLMRobertaTokenizer");
  EXPECT_EQ(ids_of(got, "a<x>b"), (Ids{0, 6, 4, 5, 7, 2}));
}

TEST(SentencePieceFile, ConfigJsonNamesTheFamily) {
  Folder folder;
  folder.write("spm.model", ModelBytes(kFairseq).bytes);
  const Imported silent = import_folder(folder);
  expect_problem(silent, "spm.model: it does not say where its special tokens go; name tokenizer_class");
  folder.write("config.json", R"({"model_type": "xlm-roberta"})");
  Imported got = import_folder(folder);
  EXPECT_EQ(ids_of(got, "a"), (Ids{0, 5, 2}));
}

TEST(SentencePieceFile, ATokenizerJsonGoesBefore) {
  Folder folder;
  folder.write("tokenizer.json", tokenizer_json({"a"}).dump());
  folder.write("spiece.model", "damaged");
  EXPECT_TRUE(import_folder(folder).found);
}

TEST(SentencePieceFile, WhatIsNotSupportedIsNamed) {
  expect_problem(import_model(ModelBytes(kFairseq, 3).bytes, "T5Tokenizer"), "trainer_spec.model_type: is Word");
  expect_problem(import_model(ModelBytes(kFairseq).bytes, "PegasusTokenizer"), "\"PegasusTokenizer\" is not supported");
  ModelBytes raw(kFairseq);
  raw.add_normalizer([](protozero::pbf_writer& spec) { spec.add_bool(5, false); });
  expect_problem(import_model(raw.bytes, "T5Tokenizer"), "normalizer_spec.escape_whitespaces: false");
  expect_problem(import_model(ModelBytes(kFairseq).bytes, "DebertaV2Tokenizer", R"(, "split_by_punct": true)"),
                 "split_by_punct");
}

TEST(SentencePieceFile, DamagedFilesAreNamedByField) {
  const std::string name = "XLMRobertaTokenizer";
  expect_problem(import_model("", name), "spiece.model: pieces: there are none");
  expect_problem(import_model("no model at all", name), "spiece.model: ");
  const std::string whole = ModelBytes(kFairseq).bytes;
  for (size_t size = 0; size < whole.size(); ++size) {
    const Imported got = import_model(whole.substr(0, size), name);
    EXPECT_TRUE(got.found || !got.problems.empty()) << size;
  }
  std::string cut = whole;
  cut.resize(20);
  expect_problem(import_model(cut, name), "spiece.model: pieces[1]: is cut short or damaged");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ModelBytes scores(kFairseq);
    scores.add({"c", bad, 1});
    expect_problem(import_model(scores.bytes, name), "pieces[9].score: is not a finite number");
  }
  ModelBytes types(kFairseq);
  protozero::pbf_writer(types.bytes).add_uint32(1, 7);
  expect_problem(import_model(types.bytes, name), "pieces[9]: a field is not of the type");
  ModelBytes twice(kFairseq);
  twice.add(kWords[2]);
  expect_problem(import_model(twice.bytes, name), "token \"b\" stands there twice");
  ModelBytes latin(kFairseq);
  latin.add({"caf\xe9", 0, 1});
  expect_problem(import_model(latin.bytes, name), "is not valid UTF-8");
  ModelBytes map(kFairseq);
  map.add_normalizer([](protozero::pbf_writer& spec) { spec.add_bytes(2, "\xff\xff\xff\xff"); });
  expect_problem(import_model(map.bytes, name), "normalizer_spec.precompiled_charsmap: is not of the size");
}

TEST(SentencePieceFile, AnyByteMayBeWrong) {
  const std::string whole = ModelBytes(kFairseq).bytes;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x07, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      Imported got = import_model(changed, "XLMRobertaTokenizer");
      if (!got.found) {
        EXPECT_FALSE(got.problems.empty());
      } else {
        TokenizerImage image(got.graph);
        EXPECT_EQ(image.verify(), Status::kOk);
      }
    }
  }
}

}  // namespace
}  // namespace bantam::tests
