// The session against a plain double-precision forward pass of the same weights.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/effort.h"
#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

namespace bantam::testing {
namespace {

struct Case {
  const char* name;
  BertShape shape;
  std::vector<uint32_t> lengths;
};

std::vector<Case> cases() {
  BertShape odd;  // hidden 40, 5 heads of 8
  BertShape wide;
  wide.layers = 1;
  wide.hidden = 64;
  wide.heads = 2;
  wide.ffn = 160;
  wide.activation = fb::ActivationKind::relu;
  BertShape narrow;
  narrow.layers = 3;
  narrow.hidden = 12;
  narrow.heads = 4;  // heads of width 3
  narrow.ffn = 20;
  narrow.labels = 17;
  narrow.tags = 1;
  narrow.activation = fb::ActivationKind::gelu_tanh;
  BertShape distant = odd;
  distant.distances = 9;
  BertShape sloping = wide;
  sloping.slopes = true;
  BertShape turning = narrow;
  turning.angles = 1;
  BertShape normed = odd;
  normed.head_norms = true;
  BertShape normed_behind = narrow;
  normed_behind.head_norms = normed_behind.norms_behind = true;
  normed_behind.angles = 1;
  BertShape sunk = odd;
  sunk.sinks = true;
  BertShape sunk_window = wide;
  sunk_window.sinks = true;
  sunk_window.mask = fb::MaskKind::causal_window;
  sunk_window.window = 5;
  BertShape placed = odd;
  placed.placed = 17;
  BertShape placed_narrow = narrow;
  placed_narrow.placed = 20;
  BertShape shared = odd;
  shared.placed = 17;
  shared.shared_places = true;
  BertShape segmented = narrow;
  segmented.segment_keys = true;
  BertShape segmented_wide = wide;
  segmented_wide.segment_keys = true;
  BertShape unfolded = odd;
  unfolded.before = 1;
  unfolded.after = 1;
  BertShape unfolded_ahead = narrow;
  unfolded_ahead.after = 5;
  BertShape windowed = odd;
  windowed.mask = fb::MaskKind::window;
  windowed.window = 20;
  windowed.angles = 4;
  BertShape filled = odd;
  filled.mask = fb::MaskKind::fillers;
  filled.filler = 3;
  BertShape filled_window = filled;
  filled_window.mask = fb::MaskKind::window_fillers;
  filled_window.window = 60;
  filled_window.distances = 30;
  BertShape first = odd;  // with a window mask and the first token global
  first.mask = fb::MaskKind::globals;
  first.window = 9;
  first.globals = fb::GlobalTokens::first;
  BertShape question = wide;
  question.mask = fb::MaskKind::globals;
  question.window = 20;
  question.globals = fb::GlobalTokens::before;
  question.separator = 3;
  question.vocabulary = 12;
  BertShape second = question;
  second.globals = fb::GlobalTokens::behind;
  second.window = 3;
  second.dilation = 2;
  BertShape gaps = odd;
  gaps.mask = fb::MaskKind::globals;
  gaps.window = 4;
  gaps.dilation = 7;
  BertShape blocks = odd;
  blocks.mask = fb::MaskKind::blocks;
  blocks.block = 6;
  blocks.full_until = 17;
  BertShape random_blocks = narrow;
  random_blocks.mask = fb::MaskKind::blocks;
  random_blocks.block = 16;
  random_blocks.random = 2;
  BertShape heads_blocks = wide;
  heads_blocks.mask = fb::MaskKind::blocks;
  heads_blocks.block = 1;
  heads_blocks.full_until = 20;
  heads_blocks.random = 15;
  heads_blocks.blocks_by_head = true;
  BertShape all = wide;
  all.mask = fb::MaskKind::causal_window;
  all.window = 5;
  all.distances = 40;
  all.slopes = true;
  all.angles = 11;
  all.placed = 22;
  all.head_norms = true;
  all.segment_keys = true;
  all.sinks = true;
  all.before = 3;
  const std::vector<uint32_t> ragged = {5, 1, 17, 96};
  return {{"one token", odd, {1}},
          {"one sequence", odd, {23}},
          {"longest", odd, {96}},
          {"ragged", odd, ragged},
          {"sixteens", wide, {16, 32, 48}},
          {"narrow", narrow, {7, 19, 64, 3}},
          {"distances", distant, ragged},
          {"distances, one token", distant, {1}},
          {"places", placed, ragged},
          {"places, one token", placed, {1}},
          {"places, narrow", placed_narrow, ragged},
          {"slopes", sloping, ragged},
          {"rotary", turning, ragged},
          {"norms of heads", normed, ragged},
          {"norms of heads, one token", normed, {1}},
          {"norms of heads behind rotary", normed_behind, ragged},
          {"sinks", sunk, ragged},
          {"sinks, one token", sunk, {1}},
          {"sinks in a window", sunk_window, {16, 32, 48}},
          {"places of all heads", shared, ragged},
          {"segments", segmented, ragged},
          {"segments, wide", segmented_wide, {16, 32, 48}},
          {"neighbours", unfolded, ragged},
          {"neighbours, one token", unfolded, {1}},
          {"neighbours in front", unfolded_ahead, ragged},
          {"window", windowed, ragged},
          {"window beyond the text", windowed, {12}},
          {"fillers", filled, {5, 1, 17, 2, 96}},
          {"fillers, one token", filled, {1}},
          {"fillers in a window", filled_window, {96, 7, 33}},
          {"first token", first, ragged},
          {"question", question, {5, 1, 17, 96, 40}},
          {"second text", second, {96, 17, 2, 50}},
          {"windows with gaps", gaps, ragged},
          {"blocks", blocks, {5, 18, 17, 96, 30}},
          {"random blocks", random_blocks, {64, 7, 96, 33}},
          {"random blocks of heads", heads_blocks, {50, 20, 21, 96}},
          {"everything", all, ragged},
          {"everything, longest", all, {96}}};
}

/// The largest and the root mean square difference from the oracle, and the oracle's root mean square.
struct Difference {
  double largest = 0;
  double typical = 0;
  double scale = 0;
};

/// A case with weights and texts from one seed, and the oracle's answers.
struct Question {
  Bert bert;
  Ids ids;
  std::vector<double> answer;
};

Question ask(const Case& c, uint32_t seed = 7) {
  Question q{random_bert(c.shape, seed), random_ids(c.lengths, c.shape.vocabulary, c.shape.segments, 11), {}};
  // A third of the tokens, or both of two.
  for (size_t i = 0; c.shape.filler >= 0 && i + 1 < q.ids.offsets.size(); ++i) {
    const uint32_t begin = q.ids.offsets[i], end = q.ids.offsets[i + 1];
    for (uint32_t at = end - (end - begin == 2 ? 2 : (end - begin) / 3); at < end; ++at) q.ids.ids[at] = c.shape.filler;
  }
  const BertOutput expected = forward(q.bert, q.ids.ids, q.ids.segments, q.ids.offsets);
  q.answer = expected.logits;
  q.answer.insert(q.answer.end(), expected.tags.begin(), expected.tags.end());
  return q;
}

Difference compare(const Question& q, WeightType type, Isa isa, bool f32_attention = false) {
  const FileBytes file(build(q.bert, type).finish());
  SessionOptions options;
  options.isa = isa;
  options.f32_attention = f32_attention;
  const std::vector<float> got = run_once(file, q.ids, options);
  EXPECT_EQ(got.size(), q.answer.size());
  Difference difference;
  for (size_t i = 0; i < q.answer.size(); ++i) {
    const double error = double{got[i]} - q.answer[i];
    difference.largest = std::max(difference.largest, std::fabs(error));
    difference.typical += error * error / static_cast<double>(q.answer.size());
    difference.scale += q.answer[i] * q.answer[i] / static_cast<double>(q.answer.size());
  }
  difference.typical = std::sqrt(difference.typical);
  difference.scale = std::sqrt(difference.scale);
  return difference;
}

TEST(Oracle, FloatFilesAgreeToRounding) {
  for (const Case& c : cases()) {
    const Question q = ask(c);
    for (const Isa isa : {Isa::kReference, Isa::kAuto}) {
      EXPECT_LT(compare(q, WeightType::kF32, isa).largest, 2e-5) << c.name;
    }
  }
}

TEST(Oracle, HalfFilesAgreeToTheWeightsRounding) {
  for (const Case& c : cases()) {
    const Difference d = compare(ask(c), WeightType::kF16, Isa::kAuto);
    EXPECT_LT(d.largest, 0.02 * d.scale + 0.005) << c.name;
  }
}

TEST(Oracle, Int8FilesStayClose) {
  for (const Case& c : cases()) {
    const Difference d = compare(ask(c), WeightType::kI8, Isa::kAuto);
    EXPECT_LT(d.largest, 0.12 * d.scale + 0.05) << c.name;
    EXPECT_GT(d.largest, 0) << c.name;
  }
}

/// Int8 attention is one of several roundings, which may cancel in one model, but not over many.
TEST(Oracle, F32AttentionIsCloserThanInt8Attention) {
  if (kSlowed) GTEST_SKIP() << "the bits are the same everywhere: the release build says how close they are";
  double f32_over_all = 0, int8_over_all = 0;
  for (const Case& c : cases()) {
    double f32 = 0, int8 = 0;
    for (uint32_t seed = 0; seed < 12; ++seed) {
      const Question q = ask(c, seed);
      const Difference d = compare(q, WeightType::kI8, Isa::kAuto, true);
      EXPECT_LT(d.largest, 0.12 * d.scale + 0.05) << c.name;
      f32 += d.typical * d.typical;
      const double other = compare(q, WeightType::kI8, Isa::kAuto).typical;
      int8 += other * other;
    }
    EXPECT_LT(std::sqrt(f32), 1.02 * std::sqrt(int8)) << c.name;
    f32_over_all += f32;
    int8_over_all += int8;
  }
  EXPECT_LT(f32_over_all, int8_over_all);
}

}  // namespace
}  // namespace bantam::testing
