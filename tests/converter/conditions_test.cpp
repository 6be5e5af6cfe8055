// The parts of the runtime's files that `bantam firmware` keeps for a model.
#include "firmware/conditions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "firmware/resources.h"
#include "firmware/sources.h"
#include "model/task_traits.h"
#include "ops/ops.h"

namespace bantam::tests::conditions_test {
namespace {

using firmware::Conditions;
using firmware::Linked;

namespace links = linked::links;

Linked tagger() {
  Linked linked;
  for (const links::Link link : {links::op_Embed, links::op_Linear, links::Offsets, links::splitter_bert,
                                 links::task_tag, links::Tokenizer, links::token_model_bpe, links::mask_of_globals}) {
    linked.needed.set(link);
  }
  return linked;
}

TEST(Conditions, AskWhatIsLinked) {
  const Conditions conditions(tagger());
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(op_Linear)"), true);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(op_Crf)"), false);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(token_model_bpe) && !BANTAM_IF_LINKED(token_model_unigram)"), true);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(part_Words)"), true);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(part_Labels) || BANTAM_IF_LINKED(Contexts)"), false);
  EXPECT_EQ(conditions.evaluate("!(BANTAM_IF_LINKED(Static) || BANTAM_IF_LINKED(Sound))  // a comment"), true);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(kernel_linear_q8)"), true);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(kernel_align_row)"), false);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(normalizer_any)"), false);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(Globals)"), true) << "the code of a mask";
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(Blocks)"), false);
  EXPECT_EQ(conditions.evaluate("defined(BANTAM_FIRMWARE) && defined(BANTAM_KERNEL_ONE_LANE)"), true);
  EXPECT_EQ(Conditions(tagger(), false).evaluate("defined(BANTAM_KERNEL_ONE_LANE)"), std::nullopt);
  Linked integers = tagger();
  integers.needed.set(links::op_StaticRow);
  EXPECT_EQ(Conditions(integers).evaluate("BANTAM_IF_LINKED(Static)"), true);
}

TEST(Conditions, LeaveToCompilersWhatTheyKnow) {
  const Conditions conditions(tagger());
  EXPECT_EQ(conditions.evaluate("defined(__ARM_FEATURE_DSP)"), std::nullopt);
  EXPECT_EQ(conditions.evaluate("BANTAM_LINK_ROWS < 2"), std::nullopt);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(op_Linear) && __GNUC__ > 4"), std::nullopt);
  EXPECT_EQ(conditions.evaluate("BANTAM_IF_LINKED(op_Crf) && defined(__clang__)"), false);
  EXPECT_EQ(conditions.evaluate("defined(BANTAM_FIRMWARE) || defined(__clang__)"), true);
  EXPECT_EQ(conditions.evaluate(""), std::nullopt);
}

TEST(Conditions, RefuseNamesOfNothing) {
  const Conditions conditions(tagger());
  for (const char* wrong : {"BANTAM_IF_LINKED(op_Crff)", "BANTAM_IF_LINKED(Context)", "BANTAM_IF_LINKED(part_Lables)",
                            "BANTAM_IF_LINKED(kernel_none)", "BANTAM_IF_LINKED(mask_1)"}) {
    EXPECT_THROW(conditions.evaluate(wrong), convert::Error) << wrong;
  }
}

TEST(Conditions, ResolveGroups) {
  const Conditions conditions(tagger());
  EXPECT_EQ(conditions.resolve("a\n#if BANTAM_IF_LINKED(op_Linear)\nb\n#else\nc\n#endif\nd\n"), "a\nb\nd\n");
  EXPECT_EQ(conditions.resolve("#if BANTAM_IF_LINKED(op_Crf)\n#if X\nb\n#else\nc\n#endif\n#endif\nd\n"), "d\n");
  EXPECT_EQ(conditions.resolve("#if BANTAM_IF_LINKED(op_Crf) || \\\n    BANTAM_IF_LINKED(op_Linear)\na\n#endif\nb\n"),
            "a\nb\n");
  EXPECT_EQ(conditions.resolve("#define A \\\n  1\n#if BANTAM_IF_LINKED(op_Crf)  // \\\n  b\nc\n#endif\n"),
            "#define A \\\n  1\n");
  // The next condition becomes the first.
  EXPECT_EQ(conditions.resolve("#if BANTAM_IF_LINKED(op_Crf)\na\n#elif X > 1\nb\n#else\nc\n#endif\n"),
            "#if X > 1\nb\n#else\nc\n#endif\n");
  EXPECT_EQ(
      conditions.resolve("#if BANTAM_IF_LINKED(op_Crf)\na\n#elif BANTAM_IF_LINKED(op_Embed)\nb\n#else\nc\n#endif\n"),
      "b\n");
  const std::string guarded = "#ifndef A_H_\n#define A_H_\n#if __GNUC__ > 4\na\n#endif\n#endif\n";
  EXPECT_EQ(conditions.resolve(guarded), guarded);
}

/// Every name in every file is known, for a model that links nothing.
TEST(Conditions, AllFilesResolve) {
  const Conditions conditions(Linked{});
  size_t asking = 0;
  for (const firmware::Resource& resource : firmware::resources()) {
    if (resource.text.find("#if BANTAM_IF_LINKED(") == std::string_view::npos || resource.path == "runtime/linked.h")
      continue;
    ++asking;
    EXPECT_EQ(conditions.resolve(resource.text).find("#if BANTAM_IF_LINKED("), std::string::npos) << resource.path;
  }
  EXPECT_GT(asking, 40u);
}

TEST(Sources, FollowTheRowsOfOperators) {
  firmware::Target target;
  target.isa = "dsp";
  Linked linked = tagger();
  const auto has = [&](const char* path) { return firmware::project_sources(target, linked, {}).count(path) != 0; };
  for (const char* there :
       {"LICENSE", "runtime/ops/embed.cpp", "runtime/ops/indices.cpp", "runtime/ops/table.cpp", "runtime/tasks/tag.cpp",
        "runtime/text/bpe.cpp", "runtime/kernels/dsp/kernels.cpp", "generated/bantam_structure.inc"}) {
    EXPECT_TRUE(has(there)) << there;
  }
  for (const char* elsewhere :
       {"runtime/ops/pool.cpp", "runtime/ops/more/crf.cpp", "runtime/tasks/answer.cpp", "runtime/text/unigram.cpp",
        "runtime/kernels/mve/kernels.cpp", "runtime/kernels/generic/static/static_linear.h"}) {
    EXPECT_FALSE(has(elsewhere)) << elsewhere;
  }
  linked.needed.set(links::op_Crf);
  EXPECT_TRUE(has("runtime/ops/more/crf.cpp"));
}

/// Each row of ops.inc names the file that defines its rule.
TEST(Sources, RowsNameTheirFiles) {
  const struct {
    std::string name, path;
  } rows[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, macs, matrices, kernels, contexts, source) \
  {#name, "runtime/ops/" #source ".cpp"},
#include "ops/ops.inc"
#undef BANTAM_OP
  };
  for (const auto& row : rows) {
    const firmware::Resource* file = firmware::find_resource(row.path);
    ASSERT_NE(file, nullptr) << row.path;
    EXPECT_NE(file->text.find("BANTAM_RULE(" + row.name + ","), std::string_view::npos) << row.path;
  }
}

}  // namespace
}  // namespace bantam::tests::conditions_test
