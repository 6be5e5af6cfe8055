// Types within a budget: the choice alone, with invented costs.
#include "quantize/budget.h"

#include <gtest/gtest.h>

#include "calibrate/sensitivity.h"
#include "converter/import_fixture.h"
#include "import/hugging_face.h"

namespace bantam::convert {
namespace {

using fixture::problems_of;
constexpr fb::DType kF32 = fb::DType::f32, kI8 = fb::DType::i8, kI4 = fb::DType::i4;

MatrixCosts matrix(const char* name, uint64_t elements, double int8, double int4) {
  MatrixCosts costs;
  costs.name = name;
  costs.elements = elements;
  costs.multiplies = true;
  costs.types = {{kI8, elements * 3, int8, 0, 0}, {kI4, elements * 7 / 2, int4, 0, 0}};
  return costs;
}

/// A robust layer, a sensitive one and a large one, and 5,000 bytes of other data.
Sensitivity example() {
  Sensitivity measured;
  measured.matrices = {matrix("robust", 1000, 0.0005, 0.002), matrix("delicate", 1000, 0.1, 5),
                       matrix("large", 4000, 0.004, 0.5)};
  measured.file_bytes = 5000 + 4 * 6000;
  return measured;
}

std::vector<fb::DType> types_within(const std::string& budget) {
  return choose_within(example(), parse_budget(budget)).types;
}

TEST(Budget, TakesTheCheapestBytesFirst) {
  EXPECT_EQ(types_within("size=1MB"), (std::vector<fb::DType>{kF32, kF32, kF32}));
  EXPECT_EQ(types_within("size=28000"), (std::vector<fb::DType>{kI8, kF32, kF32}));
  EXPECT_EQ(types_within("size=13500"), (std::vector<fb::DType>{kI4, kF32, kI8}));
  EXPECT_EQ(types_within("size=11000"), (std::vector<fb::DType>{kI4, kI8, kI8}));
  EXPECT_EQ(types_within("size=8000"), (std::vector<fb::DType>{kI4, kI4, kI4}));
}

TEST(Budget, PredictsWhatItChose) {
  const Choice choice = choose_within(example(), parse_budget("size=11000"));
  EXPECT_EQ(choice.file_bytes, 29000U - 3500 - 3000 - 12000);
  EXPECT_DOUBLE_EQ(choice.divergence, 0.002 + 0.1 + 0.004);
  EXPECT_LT(choice.latency, 1);
}

TEST(Budget, SpendsALossWhereItSavesMost) {
  EXPECT_EQ(types_within("loss=0.0004"), (std::vector<fb::DType>{kF32, kF32, kF32}));
  EXPECT_EQ(types_within("loss=0.01"), (std::vector<fb::DType>{kI4, kF32, kI8}));
  EXPECT_LE(choose_within(example(), parse_budget("loss=0.2")).divergence, 0.2);
}

TEST(Budget, CountsProductsForLatency) {
  const Choice choice = choose_within(example(), parse_budget("latency=0.45"));
  EXPECT_LE(choice.latency, 0.45);
  EXPECT_EQ(choice.types[1], kF32);
}

TEST(Budget, ALatencyLeavesNoTableInF32) {
  Sensitivity measured = example();
  MatrixCosts table = matrix("table", 2000, 0.02, 0);
  table.multiplies = false;
  table.types.pop_back();  // int4 is only for linear layers
  measured.matrices.push_back(table);
  EXPECT_EQ(choose_within(measured, parse_budget("latency=0.9")).types[3], kI8);
  EXPECT_EQ(choose_within(measured, parse_budget("loss=0.0004")).types[3], kF32);
}

TEST(Budget, SizesHaveUnits) {
  EXPECT_EQ(parse_budget("size=16MB").limit, 16e6);
  EXPECT_EQ(parse_budget("size=16MiB").limit, 16.0 * 1024 * 1024);
  EXPECT_EQ(parse_budget("size=2GiB").limit, 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_budget("size=24095393").limit, 24095393);
}

TEST(Budget, SaysWhatCannotBe) {
  EXPECT_NE(problems_of(ExitCode::kInvalid, [] { types_within("size=7000"); }).find("8000 bytes"), std::string::npos);
  EXPECT_NE(problems_of(ExitCode::kInvalid, [] { types_within("latency=0.01"); }).find("no faster"), std::string::npos);
  for (const char* text : {"", "size", "size=", "size=0", "size=-3", "size=8XB", "loss=1MB", "mass=3", "latency=nan"}) {
    EXPECT_NE(problems_of(ExitCode::kUsage, [&] { parse_budget(text); }).find("expected size=8MB"), std::string::npos)
        << text;
  }
}

TEST(Sensitivity, MeasuresWhatBudgetsNeed) {
  const Graph graph = import_hugging_face(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/models/bert-classify");
  const std::string label = graph.model.task->label_sets.front()->labels.front();
  const std::vector<LabelledText> texts = {
      {"a good film", "", label, ""}, {"not good", "", "1", ""}, {"so so", "", "", ""}};
  Sensitivity measured = measure_sensitivity(graph, texts, {kI8, kI4}, [](double) {});
  EXPECT_TRUE(measured.has_loss);
  EXPECT_GT(measured.loss, 0);
  const Choice all = choose_within(measured, parse_budget("loss=1000"));
  double worst = 0;
  for (const MatrixCosts& costs : measured.matrices) {
    ASSERT_FALSE(costs.types.empty()) << costs.name;
    for (const TypeCost& cost : costs.types) worst = std::max(worst, cost.divergence);
  }
  EXPECT_GT(worst, 0);
  EXPECT_LT(all.file_bytes, measured.file_bytes);
  EXPECT_EQ(choice_as_keeps(graph, measured, all).size(), measured.matrices.size());
  // The same holds for the stored file.
  fixture::Directory directory;
  directory.write("costs.json", sensitivity_json(measured));
  EXPECT_EQ(choose_within(read_sensitivity(directory.path() / "costs.json"), parse_budget("loss=1000")).types,
            all.types);
  measured.matrices.pop_back();
  EXPECT_NE(problems_of(ExitCode::kInvalid, [&] { choice_as_keeps(graph, measured, all); }).find("was not measured"),
            std::string::npos);
  EXPECT_NE(problems_of(ExitCode::kInvalid,
                        [&] {
                          measure_sensitivity(graph, {{"a", "", "no such label", ""}}, {kI8}, [](double) {});
                        })
                .find("no such label"),
            std::string::npos);
}

/// Neither 1.8e19 nor -1 fits uint64_t: security trial, finding 15.
TEST(Budget, RefusesCostsThatAreNoNumbersOfBytes) {
  const fixture::Directory directory;
  const auto refusal = [&](const std::string& field, const std::string& value) {
    std::map<std::string, std::string> fields = {
        {"file_bytes", "1000"}, {"elements", "10"}, {"bytes_saved", "30"}, {"divergence", "0.5"}};
    fields[field] = value;
    directory.write("costs.json",
                    "{\"schema\":\"bantam.sensitivity/1\",\"texts\":4,\"file_bytes\":" + fields["file_bytes"] +
                        ",\"matrices\":[{\"name\":\"a\",\"elements\":" + fields["elements"] +
                        ",\"multiplies\":true,\"types\":[{\"type\":\"int8\",\"bytes_saved\":" + fields["bytes_saved"] +
                        ",\"divergence\":" + fields["divergence"] + ",\"loss\":null,\"label_flips\":0}]}]}");
    return problems_of(ExitCode::kInvalid, [&] { read_sensitivity(directory.path() / "costs.json"); });
  };
  for (const char* field : {"file_bytes", "elements", "bytes_saved"}) {
    for (const char* value : {"1.8e19", "-1", "1.5", "18446744073709551616", "\"7\"", "null"}) {
      EXPECT_NE(refusal(field, value).find(field), std::string::npos) << field << " " << value;
    }
  }
  EXPECT_NE(refusal("bytes_saved", "1001").find("costs that cannot be"), std::string::npos);
}

}  // namespace
}  // namespace bantam::convert
