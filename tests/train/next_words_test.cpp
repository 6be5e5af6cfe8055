#include "train/next_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "import/hugging_face.h"
#include "source/model_source.h"

namespace bantam::train {
namespace {

namespace fs = std::filesystem;

Example example(std::vector<int32_t> source, std::vector<int32_t> ids, std::vector<int32_t> next) {
  Example out;
  out.student.source = std::move(source);
  out.student.ids = std::move(ids);
  out.next = std::move(next);
  return out;
}

/// Two texts, of which the second is shorter.
std::vector<Example> two(bool pair) {
  return {example(pair ? std::vector<int32_t>{4, 9, 2} : std::vector<int32_t>(), {3, 5, 7, 6}, {5, 7, 6, 0}),
          example(pair ? std::vector<int32_t>{8} : std::vector<int32_t>(), {3, 2}, {-1, 0})};
}

std::vector<const Example*> all_of(const std::vector<Example>& examples) {
  std::vector<const Example*> out;
  for (const Example& one : examples) out.push_back(&one);
  return out;
}

TEST(NextWords, AreTheRowsBehindWhichATokenIsKnown) {
  const std::vector<Example> examples = two(false);
  const NextWords words = next_words(all_of(examples));
  EXPECT_TRUE(torch::equal(words.rows, torch::tensor({0, 1, 2, 3, 5}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(words.wanted, torch::tensor({5, 7, 6, 0, 0}, torch::kInt64)));
}

TEST(NextWords, SmoothingSpreadsProbability) {
  NextWords words;
  words.wanted = torch::tensor({1}, torch::kInt64);
  const at::Tensor logits = torch::tensor({{0.0F, 2.0F, -1.0F, 0.0F}});
  const at::Tensor log = logits.log_softmax(-1)[0];
  const double plain = -log[1].item<double>(), mean = -log.mean().item<double>();
  EXPECT_NEAR(next_word_loss(logits, words, 0).item<double>(), plain, 1e-6);
  EXPECT_NEAR(next_word_loss(logits, words, 0.1).item<double>(), 0.9 * plain + 0.1 * mean, 1e-6);
  words.wanted = torch::empty({0}, torch::kInt64);
  EXPECT_EQ(next_word_loss(torch::empty({0, 4}), words, 0).item<double>(), 0);
}

/// A tiny golden model.
struct Tiny {
  explicit Tiny(const std::string& name)
      : directory(fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models" / name),
        graph(convert::import_hugging_face(directory)),
        parameters(graph, convert::ways_back(graph, convert::open_checkpoint(directory))),
        network(graph, parameters),
        examples(two(graph.model.max_source != 0)) {
    heads.next_output = 0;
  }
  at::Tensor loss() const {
    std::vector<const Encoded*> sides;
    for (const Example& one : examples) sides.push_back(&one.student);
    const NextWords words = next_words(all_of(examples));
    return next_word_loss(logits_at(network.run(pad(sides), {}).outputs[0], words), words, 0);
  }
  fs::path directory;
  convert::Graph graph;
  Parameters parameters;
  Network network;
  std::vector<Example> examples;
  Heads heads;
};

TEST(NextWords, AreForetoldTogetherAsOneByOne) {
  for (const char* name : {"gpt2-text", "marian-text"}) {
    const Tiny tiny(name);
    const Scores both = foretold(tiny.network, tiny.examples, tiny.heads, {}, 2);
    double sum = 0;
    for (const Example& one : tiny.examples) {
      const Scores alone = foretold(tiny.network, {one}, tiny.heads, {}, 1);
      sum += alone.all[0].second * (one.student.ids.size() == 4 ? 4 : 1);
    }
    EXPECT_NEAR(both.all[0].second, sum / 5, 1e-5) << name;
    EXPECT_NEAR(both.all[1].second, std::exp(sum / 5), 1e-2) << name;
    EXPECT_EQ(both.primary, -both.all[0].second);
  }
}

/// The slope of the loss along the gradient is the length of the gradient, for each parameter separately.
TEST(NextWords, GradientsAreSlopes) {
  for (const char* name : {"gpt2-generate", "llama-generate", "marian-text", "bart-text", "t5-generate"}) {
    Tiny tiny(name);
    tiny.parameters.trainable(Freeze::kNothing);
    tiny.loss().backward();
    size_t measured = 0;
    for (Parameter& parameter : tiny.parameters.all()) {
      if (!parameter.value.requires_grad()) continue;
      const at::NoGradGuard guard;
      const at::Tensor gradient = parameter.value.grad().clone();
      const double length = gradient.norm().item<double>();
      if (length < 1e-3) continue;
      const double step = 1e-2 / std::max(1.0, length);
      const at::Tensor before = parameter.value.clone(), direction = gradient / length;
      parameter.value.copy_(before + direction * step);
      const double above = tiny.loss().item<double>();
      parameter.value.copy_(before - direction * step);
      const double below = tiny.loss().item<double>();
      parameter.value.copy_(before);
      EXPECT_NEAR((above - below) / (2 * step), length, 0.02 * length + 1e-3) << name << " " << parameter.name;
      ++measured;
    }
    EXPECT_GT(measured, 10U) << name;
  }
}

}  // namespace
}  // namespace bantam::train
