// The parts that firmware links for a file: names of runtime/links.inc, and words for people.
#include "firmware/linked.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/session/bert.h"

namespace bantam::testing {
namespace {

namespace links = linked::links;

firmware::Linked linked_of(const BertShape& shape, WeightType type = WeightType::kI8) {
  const FileBytes file(build(random_bert(shape, 3), type).finish());
  Model model;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  return firmware::linked_by(model);
}

bool says(const firmware::Linked& linked, const char* word) {
  return std::find(linked.words.begin(), linked.words.end(), word) != linked.words.end();
}

TEST(FirmwareLinked, OperatorsAndNumbers) {
  const firmware::Linked plain = linked_of({});
  for (const linked::Link link : {links::op_Embed, links::op_Linear, links::op_Attention, links::Dynamic,
                                  links::activation_gelu, links::norm_layer}) {
    EXPECT_TRUE(plain.needs(link));
  }
  EXPECT_TRUE(plain.needs_op(linked::kOpSplitHeads));
  EXPECT_FALSE(plain.needs_op(linked::kOpRecurrent) || plain.needs(links::Half) || plain.needs(links::FloatAttention) ||
               plain.needs(links::mask_none) || plain.needs(links::Tokenizer));
  EXPECT_TRUE(says(plain, "split heads") && says(plain, "gelu") && says(plain, "layer norm"));
  const firmware::Linked floats = linked_of({}, WeightType::kF32);
  EXPECT_TRUE(floats.needs(links::Float) && floats.needs(links::FloatTables) && floats.needs(links::FloatAttention));
  EXPECT_FALSE(floats.needs(links::Dynamic));
  EXPECT_TRUE(linked_of({}, WeightType::kF16).needs(links::Half));
}

TEST(FirmwareLinked, PlacesAndMasks) {
  BertShape shape;
  shape.mask = fb::MaskKind::window;
  shape.window = 3;
  shape.slopes = true;
  shape.angles = 4;
  shape.placed = 4;
  const firmware::Linked linked = linked_of(shape);
  EXPECT_TRUE(linked.needs(links::mask_window) && linked.needs(links::Slopes) && linked.needs(links::Rotary) &&
              linked.needs(links::PlaceScores) && linked.needs(links::Float));
  EXPECT_FALSE(linked.needs(links::mask_causal) || linked.needs(links::DistanceBias));
  EXPECT_TRUE(says(linked, "window mask") && says(linked, "scores of places"));
}

TEST(FirmwareLinked, Sinks) {
  BertShape shape;
  EXPECT_FALSE(linked_of(shape).needs(links::Sinks));
  shape.sinks = true;
  const firmware::Linked linked = linked_of(shape);
  EXPECT_TRUE(linked.needs(links::Sinks));
  EXPECT_TRUE(says(linked, "sinks of scores"));
}

TEST(FirmwareLinked, AggregationStrategies) {
  const auto linked = [](fb::Aggregation aggregation) {
    ModelBuilder built = build(random_bert({}, 3), WeightType::kI8);
    auto& sets = built.model.task->label_sets;
    EXPECT_FALSE(sets.empty());
    sets.back()->aggregation = aggregation;
    const FileBytes file(built.finish());
    Model model;
    EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
    return firmware::linked_by(model);
  };
  EXPECT_FALSE(linked(fb::Aggregation::words).needs(links::Strategies));
  EXPECT_TRUE(linked(fb::Aggregation::max).needs(links::Strategies));
  EXPECT_TRUE(says(linked(fb::Aggregation::max), "aggregation strategies"));
}

TEST(FirmwareLinked, MacroNamesWhatIsNeeded) {
  const firmware::Linked linked = linked_of({});
  const std::string text = firmware::linked_macro(linked);
  EXPECT_EQ(text.rfind("#define BANTAM_LINKS \\\n  op_Embed, op_Linear, ", 0), 0u) << text;
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), ',')), linked.needed.count() - 1);
  size_t lines = 0;
  for (size_t begin = 0; begin < text.size(); ++lines) {
    const size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - begin, 120u);
    EXPECT_EQ(end + 1 == text.size(), text[end - 1] != '\\') << "only the last line ends the macro";
    begin = end + 1;
  }
  EXPECT_GT(lines, 1u);
  EXPECT_EQ(firmware::linked_macro({}), "#define BANTAM_LINKS\n");
}

/// The rows with names for people and the enumeration have the same order.
TEST(FirmwareLinked, NamesAreThoseOfTheRows) {
#define BANTAM_LINK(name, ...) EXPECT_EQ(firmware::link_named(#name), links::name);
#define BANTAM_LINK_CODE(name) EXPECT_EQ(firmware::link_named(#name), links::name);
#define BANTAM_LINK_SET(set, ...) EXPECT_EQ(firmware::link_named(#set "_all"), links::set##_all);
#define BANTAM_LINK_MEMBER(set, name) EXPECT_EQ(firmware::link_named(#set "_" #name), links::set##_##name);
#include "links.inc"
  EXPECT_EQ(firmware::link_named("Rotaries"), std::nullopt);
}

}  // namespace
}  // namespace bantam::testing
