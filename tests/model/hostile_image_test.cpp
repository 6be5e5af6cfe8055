// hostile_test.cpp for features, and for images that are converted to features.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_image_test {
namespace {

/// Images of 8 by 4 pixels with three channels in patches of two, without normalization.
ModelBuilder image_model() {
  constexpr uint32_t kColumns = 12, kTokens = 1 + 8 + 1;
  ModelBuilder b;
  for (const fb::InputKind kind : {fb::InputKind::ids, fb::InputKind::features}) {
    b.model.inputs.push_back(std::make_unique<fb::InputT>());
    b.model.inputs.back()->name = "input";
    b.model.inputs.back()->kind = kind;
    b.model.inputs.back()->limit = kind == fb::InputKind::ids ? 1 : kColumns;
  }
  b.step(0);
  const int32_t rows = b.output("rows", 0, kColumns);
  b.op("features", attributes(fb::FeaturesT()), {}, {rows});
  b.model.max_sequence = kTokens;
  auto image = std::make_unique<fb::ImageT>();
  image->width = 8;
  image->height = 4;
  image->patch = 2;
  image->in_front = image->behind = 1;
  image->factor = {1, 1, 1};
  image->shift = {0, 0, 0};
  b.model.image = std::move(image);
  return b;
}

fb::OpT& op_of(fb::ModelT& m) { return *m.subgraphs[0]->ops[0]; }

const OpEdit kEdits[] = {
    {"features without their input",
     [](auto& m) {
       m.inputs.pop_back();
       m.image = nullptr;
     }},
    {"features of another width",
     [](auto& m) {
       m.inputs[1]->limit = 13;
       m.image = nullptr;
     }},
    {"features of no width", [](auto& m) { m.inputs[1]->limit = 0; }},
    {"features wider than any row",
     [](auto& m) {
       m.inputs[1]->limit = 1U << 23;
       m.image = nullptr;
     },
     Status::kUnsupported},
    {"features of sequences", [](auto& m) { m.subgraphs[0]->steps[0]->rows = 1; }},
    {"features with an input", [](auto& m) { op_of(m).inputs = {op_of(m).outputs[0]}; }},
    {"features of no output", [](auto& m) { op_of(m).outputs[0] = -1; }},
    {"two inputs of features",
     [](auto& m) {
       m.inputs[0]->kind = fb::InputKind::features;
       m.image = nullptr;
     },
     Status::kUnsupported},
    {"features beside a source",
     [](auto& m) {
       m.inputs.push_back(std::make_unique<fb::InputT>(*m.inputs[0]));
       m.inputs.back()->kind = fb::InputKind::source_ids;
     }},
    {"features beside a tokenizer", [](auto& m) { m.tokenizers.push_back(std::make_unique<fb::TokenizerT>()); }},
    {"an image of no width", [](auto& m) { m.image->width = 0; }},
    {"an image of no height", [](auto& m) { m.image->height = 0; }},
    {"an image whose sides wrap", [](auto& m) { m.image->width = m.image->height = 1U << 31; }},
    {"patches of no size", [](auto& m) { m.image->patch = 0; }},
    {"patches that do not share the image out", [](auto& m) { m.image->width = 9; }},
    {"patches of another width than features", [](auto& m) { m.image->patch = 4; }},
    {"a patch whose pixels wrap",
     [](auto& m) {
       m.image->patch = 1U << 16;
       m.image->width = m.image->height = 1U << 16;
     }},
    {"no channels", [](auto& m) { m.image->channels = 0; }},
    {"more channels than there may be",
     [](auto& m) {
       m.image->channels = 129;
       m.image->factor.resize(129, 1);
       m.image->shift.resize(129);
     }},
    {"a channel without a factor", [](auto& m) { m.image->factor.pop_back(); }},
    {"a channel without a shift", [](auto& m) { m.image->shift.clear(); }},
    {"more patches than tokens", [](auto& m) { m.image->width = 10; }},
    {"more rows around than tokens", [](auto& m) { m.image->behind = 2; }},
    {"rows around whose count wraps", [](auto& m) { m.image->in_front = UINT32_MAX; }},
    {"an unknown filter", [](auto& m) { m.image->filter = static_cast<fb::Filter>(6); }},
    {"images resized to too much", [](auto& m) { m.image->shortest = UINT32_MAX; }},
    {"images of a model without features",
     [](auto& m) {
       m.inputs.pop_back();
       m.subgraphs[0]->ops[0]->attributes.Set(fb::RowT());
     }},
};

TEST(HostileFeatures, AreThoseOfTokens) {
  expect_sentences({{"features are those of tokens",
                     [](auto& b) {
                       b.model.image = nullptr;
                       b.model.subgraphs[0]->steps[0]->rows = 1;
                       b.model.tensors[0]->shape[0] = fb::Dim(1, 1, 0, 1);
                     }}},
                   image_model);
}

TEST(HostileImage, IsRefusedWithAReason) { expect_refused(kEdits, image_model); }

TEST(HostileImage, TakesWhatIsSound) {
  ModelBuilder builder = image_model();
  builder.model.image->shortest = 9;
  builder.model.max_sequence = 0;
  EXPECT_EQ(open(builder, nullptr), Status::kOk);
  builder.model.image = nullptr;
  EXPECT_EQ(open(builder, nullptr), Status::kOk);
}

}  // namespace
}  // namespace bantam::testing::hostile_image_test
