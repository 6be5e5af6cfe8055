// hostile_test.cpp for words in clusters: tables for ranges of ids, and the adaptive softmax.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_adaptive_test {
namespace {

constexpr uint32_t kIds = 9, kFront = 4, kSecond = 5, kClusters = 1;

/// Rows of two tables for ranges of ids, and scores computed from them.
ModelBuilder adaptive_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const auto words = [&](const char* name, uint32_t rows, uint32_t columns) {
    return b.table(name, rows, columns, std::vector<float>(rows * columns, 0.5F), WeightType::kF32);
  };
  const auto embedded = [&](const char* name, uint32_t width, uint32_t rows, int32_t offset) {
    const int32_t x = b.activation(name, 0, width);
    fb::EmbedT one;
    one.tables.push_back(std::make_unique<fb::EmbedTableT>());
    fb::OpT& op = b.op(std::string(name) + ".embed", attributes(one), {}, {x});
    op.attributes.AsEmbed()->tables[0]->tensor =
        name_input(op, words((std::string(name) + ".words").c_str(), rows, width));
    op.attributes.AsEmbed()->tables[0]->source = fb::IndexSource::part;
    op.attributes.AsEmbed()->tables[0]->offset = offset;
    return x;
  };
  b.step(0);
  const int32_t front = embedded("front", kFront, 4, 0);
  b.step(0);
  const int32_t clusters = embedded("clusters", kClusters, 3, -2);
  b.step(0);
  const int32_t second = embedded("second", kSecond, 5, -4);
  b.step(0);
  const int32_t y = b.output("y", 0, kFront + kSecond);
  b.op("softmax", attributes(fb::AdaptiveSoftmaxT{}), {front, clusters, second}, {y});
  return b;
}

fb::OpT& embed(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::EmbedTableT& table(fb::ModelT& m) { return *embed(m).attributes.AsEmbed()->tables[0]; }
fb::OpT& softmax(fb::ModelT& m) { return *m.subgraphs[0]->ops[3]; }
fb::TensorT& named(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }

const char* const kNoScores = "an adaptive softmax writes f32 rows of a column a word";

const OpEdit kEdits[] = {
    {"a part from an id below 0 on", [](auto& m) { table(m).offset = 1; }},
    {"a part of the least number", [](auto& m) { table(m).offset = INT32_MIN; }},
    {"a part of no table", [](auto& m) { table(m).tensor = -1; }},
    {"no words in front", [](auto& m) { softmax(m).inputs[0] = -1; }},
    {"no scores of clusters", [](auto& m) { softmax(m).inputs[1] = -1; }},
    {"more clusters than words of them", [](auto& m) { softmax(m).inputs[1] = softmax(m).inputs[0]; }},
    {"more words than clusters", [](auto& m) { softmax(m).inputs.push_back(softmax(m).inputs[2]); }},
    {"a constant", [](auto& m) { softmax(m).inputs[2] = embed(m).inputs[0]; }},
    {"rows as i8", [](auto& m) { named(m, softmax(m).inputs[2]).type = fb::DType::i8; }},
    {"rows of sequences", [](auto& m) { named(m, softmax(m).inputs[0]).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"an output too narrow",
     [](auto& m) { named(m, softmax(m).outputs[0]).shape[1] = fb::Dim(-1, 0, kFront + kSecond - 1, 1); }},
    {"an output over an input", [](auto& m) { softmax(m).outputs[0] = softmax(m).inputs[0]; }},
    {"no output", [](auto& m) { softmax(m).outputs[0] = -1; }},
    {"two outputs", [](auto& m) { softmax(m).outputs.push_back(softmax(m).outputs[0]); }},
    {"scores as i8", [](auto& m) { as_i8(named(m, softmax(m).outputs[0])); }, Status::kCorrupt, kNoScores},
    {"scores in pages", [](auto& m) { as_pages(named(m, softmax(m).outputs[0])); }, Status::kCorrupt, kNoScores},
    {"nine clusters",
     [](auto& m) {
       softmax(m).inputs[1] = add_like(m, softmax(m).inputs[1], [](auto& t) { t.shape[1] = fb::Dim(-1, 0, 9, 1); });
     },
     Status::kCorrupt, "an adaptive softmax has no or too many clusters"},
    {"an epilogue", [](auto& m) { softmax(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
};

TEST(HostileAdaptive, IsRefusedWithAReason) { expect_refused(kEdits, adaptive_model); }

}  // namespace
}  // namespace bantam::testing::hostile_adaptive_test
