// hostile_test.cpp for marks of tokens, scores of spans, and the task that finds spans.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_spans_test {
namespace {

constexpr uint32_t kIds = 9, kColumns = 6, kWidth = 2, kLabels = 3;

/// Scores of spans over embeddings, and a recurrent layer over words.
ModelBuilder spans_model(uint32_t width = kWidth, uint32_t labels = kLabels) {
  ModelBuilder b;
  for (const char* name : {"input_ids", "marks"}) {
    b.model.inputs.push_back(std::make_unique<fb::InputT>());
    b.model.inputs.back()->name = name;
  }
  b.model.inputs[0]->limit = kIds;
  b.model.inputs[1]->kind = fb::InputKind::marks;
  b.model.inputs[1]->limit = 3;
  const int32_t words = b.table("words", kIds, kColumns, std::vector<float>(kIds * kColumns), WeightType::kF32);
  const int32_t marked = b.table("marked", 3, kColumns, std::vector<float>(3 * kColumns), WeightType::kF32);
  b.step(0);
  const int32_t x = b.activation("x", 0, kColumns);
  fb::EmbedT embed;
  for (int i = 0; i < 2; ++i) embed.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op("embed", attributes(embed), {}, {x});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  op.attributes.AsEmbed()->tables[1]->tensor = name_input(op, marked);
  op.attributes.AsEmbed()->tables[1]->source = fb::IndexSource::marks;
  b.step(0);
  const int32_t y = b.output("scores", 0, width * labels);
  fb::SpansT spans;
  spans.width = width;
  spans.labels = labels;
  b.op("spans", attributes(spans), {x, x, x}, {y});
  b.model.outputs[0]->role = fb::OutputRole::spans;
  b.model.task = std::make_unique<fb::TaskT>();
  b.model.task->kind = fb::TaskKind::find;
  b.model.task->finding = std::make_unique<fb::FindingT>();
  b.model.task->finding->label_id = 3;
  b.model.task->finding->text_id = 4;
  b.model.task->finding->max_labels = labels;
  return b;
}

fb::OpT& embed(fb::ModelT& m) { return *m.subgraphs[0]->ops[0]; }
fb::OpT& spans(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::SpansT& fields(fb::ModelT& m) { return *spans(m).attributes.AsSpans(); }
fb::FindingT& finding(fb::ModelT& m) { return *m.task->finding; }
fb::TensorT& tensor(fb::ModelT& m, int32_t i) { return *m.tensors[static_cast<size_t>(i)]; }

const OpEdit kEdits[] = {
    {"marks twice", [](auto& m) { m.inputs.push_back(std::make_unique<fb::InputT>(*m.inputs[1])); },
     Status::kUnsupported},
    {"marks without a limit", [](auto& m) { m.inputs[1]->limit = 0; }},
    {"no marks", [](auto& m) { m.inputs.pop_back(); }},
    {"marks beyond their table", [](auto& m) { m.inputs[1]->limit = 4; }},
    {"marks of labels alone", [](auto& m) { m.inputs[1]->limit = 2; }},
    {"an embedding of marks beyond its table", [](auto& m) { embed(m).attributes.AsEmbed()->tables[1]->offset = 1; }},
    {"a step of sequences", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 1; }},
    {"an epilogue", [](auto& m) { spans(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
    {"spans of no word", [](auto& m) { fields(m).width = 0; }},
    {"spans of no label", [](auto& m) { fields(m).labels = 0; }},
    {"spans of too many words", [](auto& m) { fields(m).width = 1u << 17; }},
    {"spans of too many labels", [](auto& m) { fields(m).labels = UINT32_MAX; }},
    {"spans of another width", [](auto& m) { fields(m).width = 3; }},
    {"starts absent", [](auto& m) { spans(m).inputs[0] = -1; }},
    {"ends absent", [](auto& m) { spans(m).inputs[1] = -1; }},
    {"labels absent", [](auto& m) { spans(m).inputs[2] = -1; }},
    {"starts that are a constant", [](auto& m) { spans(m).inputs[0] = embed(m).inputs[0]; }},
    {"ends that are a constant", [](auto& m) { spans(m).inputs[1] = embed(m).inputs[0]; }},
    {"labels of the op's own output", [](auto& m) { spans(m).inputs[2] = spans(m).outputs[0]; }},
    {"starts in a tile", [](auto& m) { tensor(m, spans(m).inputs[0]).region = fb::Region::tile; }},
    {"an input too many", [](auto& m) { spans(m).inputs.push_back(spans(m).inputs[0]); }},
    {"no output", [](auto& m) { spans(m).outputs[0] = -1; }},
    {"two outputs", [](auto& m) { spans(m).outputs.push_back(spans(m).outputs[0]); }},
    {"one step",
     [](auto& m) {
       m.subgraphs[0]->steps.pop_back();
       m.subgraphs[0]->steps[0]->op_count = 2;
     }},
    {"a task that does not say how", [](auto& m) { m.task->finding = nullptr; }},
    {"a label's token that is none", [](auto& m) { finding(m).label_id = kIds; }},
    {"a text's token that is none", [](auto& m) { finding(m).text_id = -1; }},
    {"a threshold that is not a number", [](auto& m) { finding(m).threshold = NAN; }},
    {"a threshold beyond 1", [](auto& m) { finding(m).threshold = 1.5f; }},
    {"a threshold below 0", [](auto& m) { finding(m).threshold = -0.5f; }},
    {"no labels", [](auto& m) { finding(m).max_labels = 0; }},
    {"another number of labels", [](auto& m) { finding(m).max_labels = 4; }},
    {"no scores", [](auto& m) { m.outputs[0]->role = fb::OutputRole::tags; }},
};

TEST(HostileSpans, AreRefusedWithAReason) {
  expect_refused(kEdits, [] { return spans_model(); });
}

TEST(HostileSpans, AreRefusedByTheirSentences) {
  expect_rules(
      {
          {"scores of spans need marks of labels and of words", Status::kCorrupt,
           [](auto& m) {
             m.task = nullptr;
             m.inputs[1]->limit = 2;
           }},
          {"scores of spans have no column for each width and label, or tokens no marks", Status::kCorrupt,
           [](auto& m) {
             spans(m).attributes.Set(fb::RowT());
             spans(m).inputs.resize(1);
             m.inputs[1]->limit = 2;
           }},
          {"spans of no word or label, or of too many", Status::kCorrupt,
           [](auto& m) { fields(m).width = fields(m).labels = 1u << 12; }},
      },
      [] { return spans_model(); });
  Fault fault;
  EXPECT_EQ(open(spans_model(1u << 16, 1), &fault), Status::kOk) << fault.what;
  EXPECT_EQ(open(spans_model(1u << 17, 1), &fault), Status::kCorrupt);
  EXPECT_STREQ(fault.what, "spans of no word or label, or of too many");
}

TEST(HostileSpans, ModelsSayWhatMarksTheyTake) {
  const FileBytes file(spans_model().finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  EXPECT_EQ(model.mark_types(), 3U);
  EXPECT_EQ(model.task(), TaskKind::kFind);
}

}  // namespace
}  // namespace bantam::testing::hostile_spans_test
