// The whole conversion: file, report, quality gate.
#include "pipeline/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bantam/model.h"
#include "converter/import_fixture.h"
#include "data/texts.h"
#include "pipeline/report_json.h"
#include "score/expect.h"
#include "score/judge.h"

namespace bantam::convert {
namespace {

namespace fs = std::filesystem;
using fixture::problems_of;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// A tiny classifier without a tokenizer, and a place for the result.
struct Source {
  fixture::Directory model;
  fixture::Directory results;
  Source() { model.write_model(fixture::tiny_config(), fixture::tiny_bert()); }
  ConvertOptions options(const std::string& name = "out.bantam") const {
    ConvertOptions options;
    options.source = model.path();
    options.output = results.path() / name;
    options.max_label_flips = 1;  // tiny random models have no meaningful decisions
    return options;
  }
};

TEST(Convert, WritesAFileThatOpensAndReportsIt) {
  const Source source;
  const Report report = convert(source.options());
  const std::string bytes = content(source.results.path() / "out.bantam");
  EXPECT_EQ(bytes.size(), report.file_bytes);
  const FileBytes aligned(bytes.begin(), bytes.end());
  Model model;
  EXPECT_EQ(Model::open(aligned.data(), aligned.size(), &model), Status::kOk);
  uint64_t sum = report.graph_bytes + report.tokenizer_bytes;
  for (const TensorClass& row : report.classes) sum += row.bytes_after;
  EXPECT_EQ(sum, report.file_bytes);
  EXPECT_EQ(report.parity.texts, 128u);
  EXPECT_EQ(report.arena.back().tokens, 6u);
  EXPECT_EQ(std::distance(fs::directory_iterator(source.results.path()), fs::directory_iterator()), 1);
}

TEST(Convert, SameInputSameBytes) {
  const Source source;
  convert(source.options("a.bantam"));
  convert(source.options("b.bantam"));
  EXPECT_EQ(content(source.results.path() / "a.bantam"), content(source.results.path() / "b.bantam"));
}

TEST(Convert, F32IsItsOwnReference) {
  const Source source;
  ConvertOptions options = source.options();
  options.types.weights = fb::DType::f32;
  options.max_label_flips = 0;
  const Report report = convert(options);
  ASSERT_EQ(report.parity.outputs.size(), 1u);
  EXPECT_EQ(report.parity.outputs[0].largest_difference, 0.0f);
  EXPECT_EQ(report.parity.outputs[0].decisions, 128u);
  EXPECT_FALSE(report.smaller.empty());
}

TEST(Convert, JsonHasItsSchemaAndParses) {
  const Source source;
  const nlohmann::json object = nlohmann::json::parse(to_json(convert(source.options())));
  EXPECT_EQ(object["schema"], "bantam.convert/1");
  EXPECT_EQ(object["weights"], "i8");
  EXPECT_EQ(object["gate"]["passed"], true);
  EXPECT_EQ(object["parity"]["outputs"][0]["name"], "logits");
}

TEST(Convert, AFailedGateSaysWhereAndWritesNothing) {
  const Source source;
  // Stored outputs that no such model can produce: every label is wrong.
  ConvertOptions options = source.options();
  options.parity = "none";
  const Report honest = convert(options);
  EXPECT_TRUE(honest.gate_failures.empty());
  fs::remove(options.output);
  source.results.write("expected.jsonl",
                       "{\"text\": \"somewhere\", \"ids\": [1, 2], \"logits\": [9, 0, 0]}\n"
                       "{\"ids\": [1, 2], \"logits\": [0, 9, 0]}\n{\"ids\": [1, 2], \"logits\": [0, 0, 9]}\n");
  options.expect = source.results.path() / "expected.jsonl";
  options.max_label_flips =
      0.5;  // of three equal inputs, at least two have another label; three are too few to be certain
  EXPECT_TRUE(convert(options).gate_failures.empty());
  fs::remove(options.output);
  options.max_label_flips = 0.1;
  const Report report = convert(options);
  ASSERT_EQ(report.gate_failures.size(), 1u);
  EXPECT_NE(report.gate_failures[0].find("logits: 2 of 3"), std::string::npos) << report.gate_failures[0];
  EXPECT_NE(report.gate_failures[0].find("95 % confidence at least 13.5"), std::string::npos)
      << report.gate_failures[0];
  EXPECT_NE(report.gate_failures[0].find("became"), std::string::npos);
  EXPECT_FALSE(fs::exists(options.output));
}

TEST(Convert, ProblemsComeBeforeAnythingIsWritten) {
  const Source source;
  ConvertOptions options = source.options();
  options.output = source.model.path() / "config.json";
  problems_of(ExitCode::kUsage, [&] { convert(options); });
  options = source.options();
  options.output = source.results.path() / "no" / "such" / "place";
  problems_of(ExitCode::kIo, [&] { convert(options); });
  options = source.options();
  options.source = source.results.path() / "nothing";
  problems_of(ExitCode::kIo, [&] { convert(options); });
  options = source.options();
  options.types.keep = {parse_keep("nonesuch=f32")};
  problems_of(ExitCode::kUsage, [&] { convert(options); });
  options = source.options();
  options.parity = (source.results.path() / "texts.txt").string();
  source.results.write("texts.txt", "a text\n");
  problems_of(ExitCode::kUsage, [&] { convert(options); });  // the model has no tokenizer
  EXPECT_FALSE(fs::exists(source.options().output));
}

TEST(Expect, LinesInEveryShape) {
  const fixture::Directory directory;
  directory.write("e.jsonl",
                  "{\"ids\": [1, 2, 3], \"segments\": [0, 0, 1], \"first_piece\": [1], \"logits\": [[[1, 2]]]}\n\n"
                  "{\"ids\": [4], \"logits\": [0.5, -1], \"other\": {\"x\": 1}}\n");
  const std::vector<Expected> lines = read_expected(directory.path() / "e.jsonl", {"logits"});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].rows, std::vector<uint32_t>{1});
  EXPECT_EQ(lines[0].outputs[0].values, (std::vector<float>{1, 2}));
  EXPECT_EQ(lines[0].sample.segments, (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(lines[1].outputs[0].values, (std::vector<float>{0.5f, -1}));
}

TEST(Expect, BadLinesAreNamed) {
  const fixture::Directory directory;
  const auto refused = [&](const std::string& text, ExitCode code) {
    directory.write("e.jsonl", text);
    return problems_of(code, [&] { read_expected(directory.path() / "e.jsonl", {"logits"}); });
  };
  EXPECT_NE(refused("{\"ids\": [1], \"logits\": [1]}\n{nonsense\n", ExitCode::kInvalid).find("line 2"),
            std::string::npos);
  refused("{\"ids\": [], \"logits\": [1]}\n", ExitCode::kInvalid);
  refused("{\"ids\": [1], \"logits\": [[1], [1, 2]]}\n", ExitCode::kInvalid);
  refused("{\"ids\": [1], \"logits\": \"x\"}\n", ExitCode::kInvalid);
  refused("{\"ids\": [1], \"else\": [1]}\n", ExitCode::kInvalid);
  refused("{\"ids\": [1, 2], \"segments\": [0], \"logits\": [1]}\n", ExitCode::kInvalid);
  refused("", ExitCode::kInvalid);
  problems_of(ExitCode::kIo, [&] { read_expected(directory.path() / "none.jsonl", {"logits"}); });
}

TEST(Texts, LinesAndJsonLines) {
  const fixture::Directory directory;
  directory.write("t", "one\r\n\ntwo\n{\"text\": 3}\n");
  EXPECT_EQ(read_texts("--parity", directory.path() / "t"), (std::vector<std::string>{"one", "two", "{\"text\": 3}"}))
      << "the first line decides";
  directory.write("t", "{\"text\": \"two\", \"label\": 1}\n\n{\"text_a\": \"three\"}\n");
  EXPECT_EQ(read_texts("--parity", directory.path() / "t"), (std::vector<std::string>{"two", "three"}));
  directory.write("t", "{\"text\": \"one\"}\n{\"label\": 1}\n");
  EXPECT_NE(problems_of(ExitCode::kInvalid, [&] { read_texts("--parity", directory.path() / "t"); }).find("line 2"),
            std::string::npos);
  EXPECT_GE(calibration_texts().size(), 60u);
}

TEST(Texts, RandomSamplesStayInTheVocabulary) {
  for (const Sample& sample : random_samples(7, 3)) {
    EXPECT_LE(sample.ids.size(), 3u);
    EXPECT_FALSE(sample.ids.empty());
    for (const int32_t id : sample.ids) EXPECT_TRUE(id >= 0 && id < 7);
  }
}

fb::ModelT labelled(fb::TaskKind kind) {
  fb::ModelT model;
  model.task = std::make_unique<fb::TaskT>();
  model.task->kind = kind;
  model.outputs.push_back(std::make_unique<fb::OutputT>());
  model.outputs[0]->name = "logits";
  model.task->label_sets.push_back(std::make_unique<fb::LabelSetT>());
  model.task->label_sets[0]->labels = {"no", "yes"};
  return model;
}

OutputRows rows_of(const std::string& name, std::vector<float> values, uint32_t width, bool per_token) {
  OutputRows rows;
  rows.name = name;
  rows.width = width;
  rows.rows = static_cast<uint32_t>(values.size()) / width;
  rows.per_token = per_token;
  rows.values = std::move(values);
  return rows;
}

TEST(Compare, FlipsCountBeyondTheMarginOnly) {
  const fb::ModelT model = labelled(fb::TaskKind::classify);
  Comparer comparer(model, "reference");
  const Sample sample{"text", {1}, {}, {}};
  // Too close to count.
  comparer.add(sample, {rows_of("logits", {0.04f, 0}, 2, false)}, {rows_of("logits", {0, 1}, 2, false)});
  comparer.add(sample, {rows_of("logits", {1, 0}, 2, false)}, {rows_of("logits", {0, 1}, 2, false)});
  comparer.add(sample, {rows_of("logits", {2, 0}, 2, false)}, {rows_of("logits", {1, 0}, 2, false)});
  const OutputComparison& output = comparer.result().outputs.at(0);
  EXPECT_EQ(output.decisions, 3u);
  EXPECT_EQ(output.flips, 1u);
  EXPECT_EQ(output.largest_difference, 1.0f);
  EXPECT_EQ(output.worst_flip.expected, "no");
  EXPECT_EQ(output.worst_flip.got, "yes");
  EXPECT_TRUE(passed(judge(comparer.result(), 0.02)));  // one of three may be chance ...
  const std::vector<Verdict> none_allowed = judge(comparer.result(), 0.01);
  ASSERT_EQ(none_allowed.size(), 1u);
  EXPECT_FALSE(none_allowed[0].passed);  // ... but hardly, if one in a hundred is allowed
  EXPECT_EQ(none_allowed[0].amount, 1);
  EXPECT_NEAR(none_allowed[0].lower_bound, 0.017, 0.001);
}

TEST(Compare, OddTextsShowDifferencesAndJudgeNothing) {
  const fb::ModelT model = labelled(fb::TaskKind::classify);
  Comparer comparer(model, "reference");
  Sample odd{"!!!", {1}, {}, {}};
  odd.odd = true;
  comparer.add(odd, {rows_of("logits", {3, 0}, 2, false)}, {rows_of("logits", {0, 1}, 2, false)});
  EXPECT_EQ(comparer.result().outputs.at(0).largest_difference, 3.0f);
  EXPECT_EQ(comparer.result().outputs.at(0).decisions, 0u);
  EXPECT_EQ(comparer.result().texts, 0u);
  EXPECT_EQ(comparer.result().odd_texts, 1u);
  EXPECT_TRUE(passed(judge(comparer.result(), 0)));
  comparer.add(odd, {rows_of("logits", {3, 0}, 2, false)}, {rows_of("logits", {NAN, 1}, 2, false)});
  EXPECT_FALSE(passed(judge(comparer.result(), 1)));
}

TEST(Compare, LabelsJudgeInPlaceOfFlips) {
  const fb::ModelT model = labelled(fb::TaskKind::classify);
  const Sample sample{"text", {1}, {}, {}};
  const OutputRows no = rows_of("logits", {3, 0}, 2, false), yes = rows_of("logits", {0, 3}, 2, false);
  // Every answer flips: with labels that the reference got wrong, nothing is lost; with those that it got right,
  // everything is.
  for (const int64_t label : {1, 0}) {
    Comparer comparer(model, "reference");
    for (int i = 0; i < 20; ++i) {
      comparer.add(sample, {no}, {yes});
      comparer.add_label(label, no, yes);
    }
    const std::vector<Verdict> verdicts = judge(comparer.result(), 0.02);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].measure, "labels lost");
    EXPECT_EQ(verdicts[0].rate, label == 1 ? -1 : 1);
    EXPECT_EQ(verdicts[0].passed, label == 1);
  }
}

TEST(Compare, SpecialTokensDoNotCountButPositionsDo) {
  const fb::ModelT model = labelled(fb::TaskKind::tag);
  Comparer comparer(model, "reference");
  const Sample sample{"text", {1, 2, 3}, {}, {false, true, false}};
  comparer.add(sample, {rows_of("logits", {1, 0, 1, 0, 1, 0}, 2, true), rows_of("start_logits", {1, 0, 0}, 1, true)},
               {rows_of("logits", {0, 1, 1, 0, 0, 1}, 2, true), rows_of("start_logits", {0, 0, 1}, 1, true)});
  EXPECT_EQ(comparer.result().outputs.at(0).decisions, 1u);
  EXPECT_EQ(comparer.result().outputs.at(0).flips, 0u);
  EXPECT_EQ(comparer.result().outputs.at(1).decisions, 1u);
  EXPECT_EQ(comparer.result().outputs.at(1).flips, 1u);
}

TEST(Compare, MultiLabelDecidesBySign) {
  const fb::ModelT model = labelled(fb::TaskKind::multi_label);
  Comparer comparer(model, "reference");
  comparer.add({"text", {1}, {}, {}}, {rows_of("logits", {0.5f, -0.01f}, 2, false)},
               {rows_of("logits", {-0.5f, 0.5f}, 2, false)});
  EXPECT_EQ(comparer.result().outputs.at(0).decisions, 2u);
  EXPECT_EQ(comparer.result().outputs.at(0).flips, 1u);
}

TEST(Compare, WhatFollowsIsJudgedByThePerplexity) {
  fb::ModelT model = labelled(fb::TaskKind::generate);
  model.outputs[0]->role = fb::OutputRole::next_words;
  const Sample sample{"text", {1}, {}, {}};
  // Two tokens are almost equally likely: the likeliest one always changes, but almost nothing is lost.
  Comparer close(model, "reference");
  for (int i = 0; i < 20; ++i) {
    close.add(sample, {rows_of("logits", {0.1f, 0}, 2, false)}, {rows_of("logits", {0, 0.1f}, 2, false)});
  }
  EXPECT_EQ(close.result().outputs.at(0).flips, 20U);
  const std::vector<Verdict> verdicts = judge(close.result(), 0.01);
  EXPECT_TRUE(passed(verdicts));
  EXPECT_EQ(verdicts.at(0).measure, "perplexity");
  const double p = 1 / (1 + std::exp(-0.1));
  EXPECT_NEAR(verdicts.at(0).rate, std::exp((2 * p - 1) * 0.1) - 1, 1e-6);
  EXPECT_FALSE(passed(judge(close.result(), 0.004)));
  // Nothing flips, but likely tokens become less likely.
  Comparer far(model, "reference");
  for (int i = 0; i < 20; ++i) {
    far.add(sample, {rows_of("logits", {4, 0}, 2, false)}, {rows_of("logits", {0.5f, 0}, 2, false)});
  }
  EXPECT_EQ(far.result().outputs.at(0).flips, 0U);
  EXPECT_FALSE(passed(judge(far.result(), 0.3)));
}

TEST(Compare, EmbeddingsFailByTheirCosineAndNanAlways) {
  const fb::ModelT model = labelled(fb::TaskKind::embed);
  Comparer near(model, "reference");
  near.add({"text", {1}, {}, {}}, {rows_of("sentence_embedding", {1, 0}, 2, false)},
           {rows_of("sentence_embedding", {1, 0.1f}, 2, false)});
  EXPECT_NEAR(near.result().outputs.at(0).cosine, 0.995, 0.001);
  EXPECT_TRUE(passed(judge(near.result(), 0.02)));
  EXPECT_FALSE(passed(judge(near.result(), 0.001)));
  Comparer broken(model, "reference");
  broken.add({"text", {1}, {}, {}}, {rows_of("sentence_embedding", {1, 0}, 2, false)},
             {rows_of("sentence_embedding", {1, NAN}, 2, false)});
  EXPECT_FALSE(passed(judge(broken.result(), 1)));
}

}  // namespace
}  // namespace bantam::convert
