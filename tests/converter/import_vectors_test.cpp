// Readers of word vectors and of fastText's models: what they accept, and that any damage is an Error.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "base/error.h"
#include "source/fasttext.h"
#include "source/vector_file.h"

namespace bantam::convert {
namespace {

WordVectors vectors_of(const std::string& bytes, VectorFormat format, uint32_t most = 0) {
  std::istringstream in(bytes);
  return read_vectors(in, bytes.size(), format, "x", most);
}

std::string vector_problem(const std::string& bytes, VectorFormat format) {
  try {
    vectors_of(bytes, format);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInvalid);
    return error.what();
  }
  return "";
}

std::string binary_row(const std::string& word, const std::vector<float>& row) {
  std::string bytes = word + " ";
  return bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
}

TEST(VectorFile, ReadsTheFormsThatProgramsWrite) {
  const std::vector<float> values = {1, -2.5F, 3e-3F, 4};
  for (const char* text : {"a 1 -2.5\nb 3e-3 4\n", "2 2\na 1 -2.5 \nb 3e-3 4 \n",
                           "\xEF\xBB\xBF"
                           "a 1 -2.5\r\nb\t0.003  4",
                           "a 1 -2.5\n\nb .003 4\n"}) {
    const WordVectors read = vectors_of(text, VectorFormat::kText);
    EXPECT_EQ(read.words, (std::vector<std::string>{"a", "b"})) << text;
    EXPECT_EQ(read.values, values) << text;
  }
  // A word may contain blanks, and rows beyond the counted or requested ones are not read.
  EXPECT_EQ(vectors_of("a 1 2\n. . 3 4\n", VectorFormat::kText).words.back(), ". .");
  EXPECT_EQ(vectors_of("1 2\na 1 2\nrest\n", VectorFormat::kText).words.size(), 1U);
  EXPECT_EQ(vectors_of("a 1 2\nb 3\n", VectorFormat::kText, 1).words.size(), 1U);
  for (const char* end : {"", "\n"}) {
    const std::string bytes = "2 2\n" + binary_row("a", {1, -2.5F}) + end + binary_row("b", {3e-3F, 4}) + end;
    const WordVectors read = vectors_of(bytes, VectorFormat::kBinary);
    EXPECT_EQ(read.words, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read.values, values);
  }
}

TEST(VectorFile, SaysWhatAndWhereIsWrong) {
  const std::string nan = binary_row("b", {NAN, 4}), a = binary_row("a", {1, 2});
  const std::pair<std::string, const char*> texts[] = {{"a 1 2\nb 3\n", "line 2"},
                                                       {"a 1 2\nb 3 4 5\n", "line 2"},
                                                       {"a 1 2\na 3 4\n", "line 2: has the word \"a\" of line 1"},
                                                       {"a 1 2\nb 3 inf\n", "line 2: column 2"},
                                                       {"a 1 2\nb 3 4x\n", "\"4x\""},
                                                       {"a\n", "line 1"},
                                                       {"2 0\n", "line 1"},
                                                       {"2 2\na 1 2\n", "2 rows, but 1"},
                                                       {"", "no vectors"}};
  for (const auto& [text, says] : texts) {
    const std::string problem = vector_problem(text, VectorFormat::kText);
    EXPECT_NE(problem.find(says), std::string::npos) << text << ": " << problem;
  }
  const std::pair<std::string, const char*> files[] = {{"2 2\n" + a + nan, "row 2: column 1"},
                                                       {"2 2\n" + a + a, "row 2: has the word \"a\" of row 1"},
                                                       {"2 2\n" + a + binary_row("", {1, 2}), "row 2: has no word"},
                                                       {"2 2\n" + a + "b 1234", "ends in row 2"},
                                                       {"3 2\n" + a + "b 1234", "more than its"},
                                                       {"2 2\n" + a + "bcdefghijk 1234", "row 2"},
                                                       {"4000000 65536\nx", "more than"},
                                                       {"two 2\n", "rows and columns"}};
  for (const auto& [bytes, says] : files) {
    const std::string problem = vector_problem(bytes, VectorFormat::kBinary);
    EXPECT_NE(problem.find(says), std::string::npos) << says << ": " << problem;
  }
}

TEST(VectorFile, TellsFormatsApart) {
  EXPECT_EQ(vector_format("a 1 2\n", true), VectorFormat::kText);
  EXPECT_EQ(vector_format("3 300\nthe 1 2", true), VectorFormat::kText);
  EXPECT_EQ(vector_format("3 300\nthe \x01\x02", false), VectorFormat::kBinary);
  EXPECT_EQ(vector_format("[PAD]\n[UNK]\n", true), VectorFormat::kNone);
  EXPECT_EQ(vector_format("some words of a text\n", true), VectorFormat::kNone);
  EXPECT_EQ(vector_format("PK\x03\x04", false), VectorFormat::kNone);
}

std::string golden(const std::string& name) {
  std::ifstream stream(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/word_vectors/" + name, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

FastTextModel model_of(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_fasttext(in, bytes.size(), "x");
}

TEST(FastText, ReadsWhatItWrites) {
  const FastTextModel grams = model_of(golden("fasttext-grams/model.bin"));
  EXPECT_EQ(grams.width, 6U);
  EXPECT_EQ(grams.loss, FastTextLoss::kSoftmax);
  EXPECT_EQ(grams.word_grams, 3U);
  EXPECT_EQ(grams.buckets, 120U);
  EXPECT_TRUE(grams.all_grams);
  EXPECT_EQ(grams.labels.front(), "greeting");
  EXPECT_EQ(grams.table.shape[0], grams.words.size() + 120);
  const FastTextModel pruned = model_of(golden("fasttext-pruned/model.ftz"));
  EXPECT_FALSE(pruned.all_grams);
  EXPECT_TRUE(std::is_sorted(pruned.grams.begin(), pruned.grams.end()));
  EXPECT_EQ(pruned.table.shape[0], pruned.words.size() + pruned.grams.size());
  EXPECT_EQ(model_of(golden("fasttext-tree/model.bin")).loss, FastTextLoss::kHierarchical);
}

TEST(FastText, DamagedModelsAreRefusedOrRead) {
  std::mt19937 dice(3);
  for (const char* name : {"fasttext-pruned/model.ftz", "fasttext-quantized/model.ftz", "fasttext-tree/model.bin"}) {
    const std::string whole = golden(name);
    ASSERT_FALSE(whole.empty());
    for (size_t size = 0; size < whole.size(); size += size < 600 ? 1 : 37) {
      EXPECT_THROW(model_of(whole.substr(0, size)), Error) << name << " of " << size;
    }
    for (int round = 0; round < 2000; ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 3; ++i) bytes[dice() % std::min<size_t>(bytes.size(), 1200)] = static_cast<char>(dice());
      try {
        const FastTextModel read = model_of(bytes);
        EXPECT_EQ(read.table.values.size(), read.table.shape[0] * read.width);
      } catch (const Error& error) {
        EXPECT_FALSE(error.problems().empty());
      }
    }
  }
}

TEST(FastText, TreesAreHuffmans) {
  EXPECT_EQ(fasttext_tree({7}), std::vector<int32_t>());
  EXPECT_EQ(fasttext_tree({7, 5}), (std::vector<int32_t>{1, 0}));
  // First 1 and 2, then their sum and 4, then the other two.
  EXPECT_EQ(fasttext_tree({9, 8, 4, 2, 1}), (std::vector<int32_t>{4, 3, 5, 2, 6, 1, 0, 7}));
}

}  // namespace
}  // namespace bantam::convert
