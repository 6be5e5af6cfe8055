// The public headers: what a program can do without the command line, and the errors that it gets.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "bantam/convert.h"
#include "bantam/evaluate.h"
#include "bantam/predict.h"
#include "converter/import_fixture.h"

namespace bantam {
namespace {

using convert::fixture::Directory;

std::string model(const std::string& name) { return std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/" + name; }

/// A golden model, converted and open.
struct Opened {
  Directory directory;
  std::string file = (directory.path() / "model.bantam").string();
  Predictor predictor;

  explicit Opened(const std::string& name, const PredictorOptions& options = {}) {
    ConversionOptions conversion;
    conversion.parity = "none";
    const Outcome converted = convert_directory(model(name), file, conversion);
    EXPECT_TRUE(converted) << converted.text();
    const Outcome opened = predictor.open(file, options);
    EXPECT_TRUE(opened) << opened.text();
  }
};

void expect_failure(const Outcome& outcome, int code, const std::string& part) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_NE(outcome.text().find(part), std::string::npos) << outcome.text();
}

TEST(LibraryTest, ConvertsAndSaysWhatItDid) {
  Directory directory;
  const std::string file = (directory.path() / "model.bantam").string();
  ConversionOptions options;
  options.weights = "f32";
  options.parity = "none";
  std::set<std::string> steps;
  options.progress = [&steps](const char* what, double) { steps.insert(what); };
  Conversion result;
  const Outcome outcome = convert_directory(model("bert-classify"), file, options, &result);
  ASSERT_TRUE(outcome) << outcome.text();
  EXPECT_EQ(result.file_bytes, std::filesystem::file_size(file));
  EXPECT_NE(result.report.find("bantam.convert/1"), std::string::npos);
  EXPECT_EQ(steps.count("reading"), 1u);
}

TEST(LibraryTest, OptionsAreTheCommandsWords) {
  Directory directory;
  const std::string file = (directory.path() / "model.bantam").string();
  const auto refused = [&](auto set, const std::string& part) {
    ConversionOptions options;
    set(&options);
    expect_failure(convert_directory(model("bert-classify"), file, options), 2, part);
    EXPECT_FALSE(std::filesystem::exists(file));
  };
  refused([](ConversionOptions* o) { o->weights = "int9"; }, "weights: \"int9\"");
  refused([](ConversionOptions* o) { o->rounding = "up"; }, "rounding: \"up\"");
  refused([](ConversionOptions* o) { o->pattern = "3x3"; }, "2:4");
  refused([](ConversionOptions* o) { o->activations = "static"; }, "calibrate");
  refused([](ConversionOptions* o) { o->residual = "f16"; }, "residual: \"f16\" is not one of f32, i8");
  refused([](ConversionOptions* o) { o->prune_scope = "all"; }, "prune_scope: \"all\"");
  refused([](ConversionOptions* o) { o->sparse = "no"; }, "sparse: \"no\"");
  refused([](ConversionOptions* o) { o->budget = "size=1MB"; }, "sensitivity");
}

TEST(LibraryTest, TakesWhatTheCommandTakes) {
  Directory directory;
  const std::string file = (directory.path() / "model.bantam").string();
  const std::string data = (directory.path() / "data.csv").string();
  const std::string recipe = (directory.path() / "recipe.json").string();
  std::ofstream table(data);
  table << "text,label\n";
  for (int i = 0; i < 30; ++i) table << "ba di,LABEL_0\n";
  table.close();
  std::ofstream(recipe) << R"({"layers": 1})";
  ConversionOptions options;
  options.gate_data = data;
  options.calibrate_scores = data;
  options.student = recipe;
  options.max_label_flips = 1;
  Conversion result;
  const Outcome outcome = convert_directory(model("bert-classify"), file, options, &result);
  ASSERT_TRUE(outcome) << outcome.text();
  for (const char* part :
       {"data.csv (--gate-data)", "\"temperature\":", "\"layers: 1 of 3 stay: 0\"", "\"labelled\":true"}) {
    EXPECT_NE(result.report.find(part), std::string::npos) << part << result.report;
  }
  options = {};
  options.ids_only = true;
  options.parity = "none";
  ASSERT_TRUE(convert_directory(model("bert-classify"), file, options));
  Predictor predictor;
  expect_failure(predictor.open(file), 4, "tokenizer");
}

TEST(LibraryTest, SaysWhatIsMissing) {
  Directory directory;
  const std::string none = (directory.path() / "none").string();
  expect_failure(convert_directory(none, none + ".bantam"), 3, none);
  Predictor predictor;
  Prediction prediction;
  expect_failure(predictor.predict("text", &prediction), 2, "open");
  expect_failure(predictor.open(none), 3, none);
  EXPECT_EQ(predictor.task(), "");
  Evaluation evaluation;
  expect_failure(evaluate(none, none, {}, &evaluation), 3, none);
}

TEST(LibraryTest, AnswersInBatchesAsOneByOne) {
  PredictorOptions options;
  options.batch = 2;
  Opened opened("bert-joint", options);
  EXPECT_EQ(opened.predictor.task(), "joint");
  const std::vector<std::string> texts = {"one two", "a longer text than that", "three"};
  std::vector<Prediction> all;
  ASSERT_TRUE(opened.predictor.predict(texts, &all));
  ASSERT_EQ(all.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    Prediction one;
    ASSERT_TRUE(opened.predictor.predict(texts[i], &one));
    ASSERT_FALSE(one.labels.empty());
    ASSERT_EQ(all[i].labels.size(), one.labels.size());
    EXPECT_EQ(all[i].labels[0].name, one.labels[0].name);
    EXPECT_EQ(all[i].labels[0].score, one.labels[0].score);
    for (const Prediction::Span& slot : one.entities) {
      EXPECT_EQ(slot.text, texts[i].substr(slot.begin, slot.end - slot.begin));
      EXPECT_FALSE(slot.name.empty());
    }
  }
}

TEST(LibraryTest, AnswersQuestionsFromTheSecondText) {
  Opened opened("bert-answer");
  const std::string context = "the answer is here somewhere";
  Prediction prediction;
  ASSERT_TRUE(opened.predictor.predict("where?", context, &prediction));
  for (const Prediction::Span& answer : prediction.answers) {
    EXPECT_EQ(answer.text, context.substr(answer.begin, answer.end - answer.begin));
  }
  EXPECT_LE(prediction.answers.size(), 1u);
}

TEST(LibraryTest, ChoosesAmongAtMostABatch) {
  PredictorOptions options;
  options.batch = 2;
  Opened opened("bert-choose", options);
  Prediction prediction;
  ASSERT_TRUE(opened.predictor.choose("he", {"walked in", "ate it"}, &prediction));
  ASSERT_EQ(prediction.labels.size(), 2u);
  EXPECT_GE(prediction.labels[0].score, prediction.labels[1].score);
  expect_failure(opened.predictor.choose("he", {"a", "b", "c"}, &prediction), 2, "3 choices");
  expect_failure(opened.predictor.predict("he", &prediction), 5, "choose");
}

TEST(LibraryTest, EmbedsAndEvaluates) {
  Opened opened("sentence-mean");
  Prediction prediction;
  ASSERT_TRUE(opened.predictor.predict("a sentence", &prediction));
  EXPECT_FALSE(prediction.embedding.empty());
  const std::string data = (opened.directory.path() / "data.jsonl").string();
  std::ofstream(data) << R"({"text_a": "a b", "text_b": "a b", "score": 5})"
                      << "\n"
                      << R"({"text_a": "a b", "text_b": "c", "score": 1})"
                      << "\n"
                      << R"({"text_a": "d", "text_b": "e f g", "score": 2})"
                      << "\n";
  Evaluation evaluation;
  const Outcome outcome = evaluate(opened.file, data, {}, &evaluation);
  ASSERT_TRUE(outcome) << outcome.text();
  EXPECT_EQ(evaluation.examples, 3u);
  ASSERT_FALSE(evaluation.metrics.empty());
  EXPECT_EQ(evaluation.metrics[0].first, "pearson");
  std::ofstream(data) << "{\n";
  expect_failure(evaluate(opened.file, data, {}, &evaluation), 4, "data.jsonl:1");
}

}  // namespace
}  // namespace bantam
