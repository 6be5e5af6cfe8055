// TensorFlow Lite: the reader on well-formed and hostile files, operators as nodes, lists of words.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"
#include "onnx/onnx_import.h"
#include "onnx/tflite/archive.h"
#include "onnx/tflite/file.h"
#include "onnx/tflite/tflite.h"
#include "tests/converter/tflite_bytes.h"
#include "tests/converter/tflite_said.h"

namespace bantam::convert {
namespace {

namespace b = tflite_bytes;
using b::fl::BuiltinOperator;
using b::fl::TensorType;

/// Returns the graph that the whole importer makes of a model.
Graph imported(b::Model& model) { return import_alone(model.write(), "m.tflite"); }

/// Returns the message that reading a changed model fails with; "" if it can be read.
std::string refused(const std::function<void(b::Model&)>& change, ExitCode code = ExitCode::kInvalid) {
  return b::said(b::mean_of_words(), change, code);
}

void expect_refused(const std::function<void(b::Model&)>& change, const char* says,
                    ExitCode code = ExitCode::kInvalid) {
  EXPECT_NE(refused(change, code).find(says), std::string::npos) << says << ": " << refused(change, code);
}

TEST(TfliteImport, MakesNodesWithIntegersKept) {
  b::Model model = b::mean_of_words();
  const std::string bytes = model.write();
  const onnx::Model read = read_tflite(bytes, "m.tflite");
  EXPECT_EQ(read.tokens, 4);
  EXPECT_TRUE(read.filled);
  std::vector<std::string> ops;
  for (const onnx::Node& node : read.graph.nodes) ops.push_back(node.op);
  const auto has = [&](const char* op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); };
  EXPECT_TRUE(has("Gather") && has("ReduceMean") && has("MatMul") && has("Add") && has("DequantizeLinear"));
  b::Model again = b::mean_of_words();
  const Graph graph = imported(again);
  EXPECT_EQ(graph.model.max_sequence, 4u);
  const bool kept = std::any_of(graph.constants.begin(), graph.constants.end(), [](const auto& constant) {
    return constant != nullptr && constant->rounded != nullptr &&
           constant->rounded->integers == std::vector<int8_t>{1, 2, 3, 4, 5, 6};
  });
  EXPECT_TRUE(kept);
}

TEST(TfliteImport, UnpacksIntegersOfFourBits) {
  b::Model model = b::mean_of_words();
  model.tensors[5].type = TensorType::INT4;
  model.tensors[5].data = {'\x21', '\xF8', '\x67'};
  const std::string bytes = model.write();
  const Graph graph = imported(model);
  const bool kept = std::any_of(graph.constants.begin(), graph.constants.end(), [](const auto& constant) {
    return constant != nullptr && constant->rounded != nullptr &&
           constant->rounded->integers == std::vector<int8_t>{1, 2, -8, -1, 7, 6};
  });
  EXPECT_TRUE(kept);
  expect_refused(
      [](b::Model& m) {
        m.tensors[5].type = TensorType::INT4;
        m.tensors[5].data = {1, 2};
      },
      "6 elements of int4 do not make its 2 bytes");
}

/// Ids and rows of one text whose batch axis is dropped and added again, as litert-torch writes them.
TEST(TfliteImport, KeepsTheAxisOfTexts) {
  b::Model model = b::mean_of_words();
  model.tensors.insert(model.tensors.end(), {{{1}, TensorType::INT32, b::bytes<int32_t>({4})},
                                             {{4}, TensorType::INT32},
                                             {{4, 2}},
                                             {{3}, TensorType::INT32, b::bytes<int32_t>({1, 4, 2})}});
  model.operators[0] = {BuiltinOperator::RESHAPE, {0, 8}, {9}};
  model.operators.insert(model.operators.begin() + 1, {{BuiltinOperator::EMBEDDING_LOOKUP, {9, 1}, {10}},
                                                       {BuiltinOperator::RESHAPE, {10, 11}, {2}}});
  const std::string bytes = model.write();
  const onnx::Model read = read_tflite(bytes, "m.tflite");
  for (const onnx::Node& node : read.graph.nodes) EXPECT_NE(node.op, "Reshape");
  EXPECT_EQ(imported(model).model.max_sequence, 4u);
}

TEST(TfliteImport, PicksAllElementsOnly) {
  for (const bool all : {true, false}) {
    b::Model model = b::mean_of_words();
    const std::vector<int32_t> places = {0, 0, 0, 1, 0, 2, 0, all ? 3 : 2};
    model.tensors.push_back({{1, 1, 1, 4, 2}, TensorType::INT32, b::bytes(places)});
    model.tensors.push_back({{1, 1, 1, 4}, TensorType::INT32});
    model.operators.push_back({BuiltinOperator::GATHER_ND, {0, 8}, {9}});
    const std::string bytes = model.write();
    const onnx::Model read = read_tflite(bytes, "m.tflite");
    const bool picks = std::any_of(read.graph.nodes.begin(), read.graph.nodes.end(),
                                   [](const onnx::Node& node) { return node.unread == "picks single elements"; });
    EXPECT_EQ(picks, !all);
  }
}

TEST(TfliteReader, RefusesEveryPrefix) {
  b::Model model = b::mean_of_words();
  const std::string whole = model.write();
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      read_tflite(whole.substr(0, size), "m.tflite");
      // Trailing padding may be missing.
      EXPECT_GT(size + 8, whole.size());
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::kInternal);
    }
  }
}

TEST(TfliteReader, SurvivesEveryByteChanged) {
  b::Model model = b::mean_of_words();
  const std::string whole = model.write();
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      try {
        ModelSource source;
        source.config = Json::object();
        source.onnx = std::make_shared<const onnx::Model>(read_tflite(changed, "m.tflite"));
        ImportOptions options;
        options.ids_only = true;
        import_onnx(source, options);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ExitCode::kInternal) << i;
      }
    }
  }
}

TEST(TfliteReader, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refused([](b::Model&) {}), "");
  expect_refused([](b::Model& m) { m.version = 2; }, "schema version 2", ExitCode::kUnsupported);
  expect_refused([](b::Model& m) { m.buffers_less = 1; }, "does not exist");
  expect_refused([](b::Model& m) { m.tensors[1].shape = {5, 3}; }, "do not make its 40 bytes");
  expect_refused([](b::Model& m) { m.tensors[1].shape = {-5, 2}; }, "overflows");
  expect_refused([](b::Model& m) { m.tensors[1].shape = std::vector<int32_t>(5, std::numeric_limits<int32_t>::max()); },
                 "overflows");
  expect_refused([](b::Model& m) { m.tensors[1].shape = std::vector<int32_t>(9, 1); }, "more than 8 extents",
                 ExitCode::kUnsupported);
  expect_refused([](b::Model& m) { m.operators[0].inputs = {1, 8}; }, "tensor 8 does not exist");
  expect_refused([](b::Model& m) { m.operators[0].outputs = {-2}; }, "tensor -2 does not exist");
  expect_refused([](b::Model& m) { m.inputs = {99}; }, "tensor 99 does not exist");
  expect_refused([](b::Model& m) { m.outputs = {-1}; }, "tensor -1 does not exist");
  expect_refused([](b::Model& m) { m.operators[1].outputs = {1}; }, "writes the constant");
}

TEST(TfliteReader, RefusesScalesThatDoNotFit) {
  expect_refused([](b::Model& m) { m.tensors[5].scales = {1, 1}; }, "2 scales");
  expect_refused([](b::Model& m) { m.tensors[5].axis = 2; }, "its extent of dimension 2");
  expect_refused([](b::Model& m) { m.tensors[5].axis = -1; }, "its extent of dimension -1");
  expect_refused([](b::Model& m) { m.tensors[5].zeros = {0, 0}; }, "2 zero points");
  expect_refused([](b::Model& m) { m.tensors[5].scales = {1, -1, 1}; }, "not a positive number");
  expect_refused([](b::Model& m) { m.tensors[5].scales[1] = std::numeric_limits<float>::infinity(); },
                 "not a positive number");
  expect_refused([](b::Model& m) { m.tensors[5].zeros = {0, 1 << 20, 0}; }, "out of range");
}

TEST(TfliteReader, RefusesCyclesAndValuesThatNothingWrites) {
  expect_refused([](b::Model& m) { m.operators[1].inputs = {7, 3}; }, "its own output");
  // The reader also searches the operators before an output.
  expect_refused([](b::Model& m) { m.operators[2] = {BuiltinOperator::DEQUANTIZE, {7}, {7}}; }, "its own output");
  expect_refused([](b::Model& m) { m.operators[0].outputs = {4}; }, "twice");
  expect_refused(
      [](b::Model& m) {
        m.operators[2].inputs = {2, 5, 6}, m.operators.erase(m.operators.begin());
      },
      "which nothing writes");
}

TEST(TfliteReader, TellsAllThatIsNotRead) {
  b::Model model = b::mean_of_words();
  model.operators[1].code = BuiltinOperator::SVDF;
  model.operators.push_back({BuiltinOperator::HARD_SWISH, {2}, {8}});
  model.tensors.push_back({{1, 4, 2}});
  model.outputs.push_back(8);
  std::string message;
  try {
    imported(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnsupported);
    message = error.what();
  }
  for (const char* part : {"SVDF \"t4\"", "HARD_SWISH \"t8\"", "docs/tflite.md"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  }
}

TEST(TfliteReader, RefusesTypesAndInputsThatAreNotRead) {
  expect_refused([](b::Model& m) { m.tensors[1].type = static_cast<TensorType>(14); }, "its type (14) is not read",
                 ExitCode::kUnsupported);
  expect_refused(
      [](b::Model& m) {
        m.tensors.push_back({{1, 4}});
        m.inputs.push_back(8);
      },
      "t8", ExitCode::kUnsupported);
  expect_refused([](b::Model& m) { m.metadata = {1, 2, 3, 4, 5, 6, 7, 8, 9}; }, "its metadata are damaged");
}

TEST(TfliteWords, AreListsWithOrWithoutNumbers) {
  const Json json = tflite::word_tokenizer("<PAD> 0\n<START> 1\n<UNKNOWN> 2\nfilm 4\r\nthe 3\n", "", "vocab.txt");
  EXPECT_EQ(json["model"]["vocab"]["film"], 4);
  EXPECT_EQ(json["model"]["unk_token"], "<UNKNOWN>");
  EXPECT_EQ(json["normalizer"]["type"], "Lowercase");
  EXPECT_EQ(json["post_processor"]["single"].size(), 2u);
  // Word pieces have no numbers; if there is a pattern, lines are words.
  EXPECT_TRUE(tflite::word_tokenizer("[PAD]\n[UNK]\nfilm\n", "", "vocab.txt").is_null());
  EXPECT_EQ(tflite::word_tokenizer("[PAD]\nFilm\n", " ", "vocab.txt")["model"]["vocab"]["Film"], 1);
  EXPECT_TRUE(tflite::word_tokenizer("[PAD]\nFilm\n", " ", "vocab.txt")["normalizer"].is_null());
  // Numbers that do not match the rows.
  EXPECT_TRUE(tflite::word_tokenizer("a 0\nb 0\n", "", "vocab.txt").is_null());
  EXPECT_TRUE(tflite::word_tokenizer("a 0\nb 7\n", "", "vocab.txt").is_null());
  EXPECT_TRUE(tflite::word_tokenizer("", " ", "vocab.txt").is_null());
  EXPECT_THROW(tflite::word_tokenizer("\xff 0\n", "", "vocab.txt"), Error);
}

}  // namespace
}  // namespace bantam::convert
