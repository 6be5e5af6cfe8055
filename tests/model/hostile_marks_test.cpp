// hostile_test.cpp for marks that are entities: which tokens have one, attention that uses them, and their names.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_marks_test {
namespace {

/// A BERT whose attention uses marks, with an embedding of whether tokens have one.
ModelBuilder marked_model() {
  BertShape shape;
  shape.layers = 1;
  shape.mask = fb::MaskKind::marked;
  ModelBuilder b = build(random_bert(shape, 5), WeightType::kI8);
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs.back()->name = "entity_ids";
  b.model.inputs.back()->kind = fb::InputKind::marks;
  b.model.inputs.back()->limit = 4;
  b.model.inputs.back()->names = {"Q1", "Q2", "Q3"};
  return b;
}

fb::InputT& marks(fb::ModelT& m) { return *m.inputs.back(); }
fb::EmbedTableT& table(fb::ModelT& m) { return *m.subgraphs[0]->ops[0]->attributes.AsEmbed()->tables[1]; }

const OpEdit kEdits[] = {
    {"attention by marks that are none", [](auto& m) { m.inputs.pop_back(); }},
    {"attention by marks of one kind",
     [](auto& m) {
       marks(m).limit = 1;
       marks(m).names.clear();
     }},
    {"a name too few", [](auto& m) { marks(m).names.pop_back(); }},
    {"a name too many", [](auto& m) { marks(m).names.emplace_back("Q4"); }},
    {"names of token ids", [](auto& m) { m.inputs[0]->names = {"a"}; }},
    {"a row for tokens with a mark beyond its table",
     [](auto& m) {
       table(m).source = fb::IndexSource::marked;
       table(m).offset = 1;
     }},
    {"whether tokens have marks where there are none",
     [](auto& m) {
       for (auto& op : m.subgraphs[0]->ops) {
         if (op->attributes.type == fb::OpAttributes::Attention)
           op->attributes.AsAttention()->mask = fb::MaskKind::none;
       }
       table(m).source = fb::IndexSource::marked;
       m.inputs.pop_back();
     }},
};

TEST(HostileMarks, AreRefusedWithAReason) { expect_refused(kEdits, marked_model); }

TEST(HostileMarks, HaveNames) {
  const FileBytes file(marked_model().finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  EXPECT_EQ(model.mark_types(), 4U);
  const auto name = [&](uint32_t mark) {
    const Text text = model.mark_name(mark);
    return std::string(text.data == nullptr ? "" : text.data, text.size);
  };
  EXPECT_EQ(name(1), "Q1");
  EXPECT_EQ(name(3), "Q3");
  EXPECT_EQ(name(0), "");
  EXPECT_EQ(name(4), "");
}

}  // namespace
}  // namespace bantam::testing::hostile_marks_test
