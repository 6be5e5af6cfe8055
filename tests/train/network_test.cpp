#include "train/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "converter/import_fixture.h"
#include "data/texts.h"
#include "graph/training.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "run/images.h"
#include "source/model_source.h"
#include "source/safetensors.h"
#include "train/directory.h"

namespace bantam::train {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(BANTAM_SOURCE_DIR) / "tests/golden/models";

const fs::path kImages = fs::path(BANTAM_SOURCE_DIR) / "tests/golden/images";

convert::Graph golden(const std::string& name) { return convert::import_hugging_face(kGolden / name); }

convert::WaysBack ways(const convert::Graph& graph, const std::string& name) {
  return convert::ways_back(graph, convert::open_checkpoint(kGolden / name));
}

bool is_known(const convert::Graph& graph) {
  const auto& ops = graph.model.subgraphs.front()->ops;
  return std::all_of(ops.begin(), ops.end(), [](const auto& op) { return convert::why_untrained(*op).empty(); });
}

Encoded encoded(const convert::Sample& sample) {
  Encoded out;
  out.ids = sample.ids;
  if (!sample.decoder_ids.empty()) {
    out.ids = sample.decoder_ids;
    out.source = sample.ids;
  }
  out.features = sample.features;
  out.segments = sample.segments.empty() ? std::vector<int32_t>(out.ids.size(), 0) : sample.segments;
  return out;
}

/// Compares the runtime's outputs for single samples with the network's outputs for all of them in one padded batch.
void compare(const convert::Graph& graph, const std::string& name) {
  convert::TypeOptions exact;
  exact.weights = fb::DType::f32;
  const convert::FileBytes bytes = convert::build(graph, exact);
  const bool images = graph.model.image != nullptr;
  const uint32_t longest = images ? graph.model.max_sequence : std::min(graph.model.max_sequence, 24U);
  convert::Runner runner(bytes, longest);
  const uint32_t of_sources = runner.model().source_vocabulary();
  const uint32_t vocabulary = of_sources != 0 ? of_sources : runner.model().vocabulary();
  std::vector<convert::Sample> samples =
      images ? convert::made_images(runner.model(), 8) : convert::random_samples(vocabulary, longest);
  samples.resize(8);
  constexpr uint32_t kMade = 6;
  for (convert::Sample& sample : samples) {
    if (!images) runner.complete(&sample, kMade);
  }
  std::vector<Encoded> sides;
  for (const convert::Sample& sample : samples) sides.push_back(encoded(sample));
  std::vector<const Encoded*> members;
  for (const Encoded& side : sides) members.push_back(&side);

  const at::NoGradGuard guard;
  const Parameters parameters(graph, {});
  const Network network(graph, parameters);
  const Forward forward = network.run(pad(members), {});
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<convert::OutputRows> expected = runner.run(samples[i]);
    ASSERT_EQ(expected.size(), forward.outputs.size()) << name;
    for (size_t o = 0; o < expected.size(); ++o) {
      at::Tensor mine = forward.outputs[o][static_cast<int64_t>(i)];
      if (expected[o].per_token) mine = mine.narrow(0, 0, expected[o].rows);
      const at::Tensor flat = mine.contiguous().view({-1});
      ASSERT_EQ(static_cast<size_t>(flat.numel()), expected[o].values.size()) << name << " " << expected[o].name;
      for (size_t k = 0; k < expected[o].values.size(); ++k) {
        const float wanted = expected[o].values[k];
        ASSERT_NEAR(flat.data_ptr<float>()[k], wanted, 2e-4F * (1 + std::fabs(wanted)))
            << name << " " << expected[o].name << " sample " << i << " element " << k;
      }
    }
  }
}

TEST(Network, ComputesWhatTheRuntimeComputes) {
  std::set<std::string> compared;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename();
    const convert::Graph graph = golden(name);
    if (!is_known(graph)) continue;
    ASSERT_NO_THROW(compare(graph, name)) << name;
    compared.insert(name);
  }
  EXPECT_GE(compared.size(), 90U);
  // The runtime is tested against transformers' logits for these (golden_models_test).
  for (const char* name :
       {"bert-joint", "roberta-tag", "gpt2-generate", "llama-generate", "qwen3-generate", "gemma2-generate",
        "t5-generate", "mt5-generate", "bart-generate", "marian-text", "mbart-generate", "blenderbot-small-generate"}) {
    EXPECT_EQ(compared.count(name), 1U) << name;
  }
}

TEST(Network, ComputesWhatTheRuntimeComputesOfImages) {
  for (const char* name : {"vit-classify", "deit-classify", "dinov2-classify"}) {
    compare(convert::import_hugging_face(kImages / name), name);
  }
}

/// Positions of patches are stored without what the graph adds to them, which does not change.
TEST(Directory, PlacesFindTheirWayBack) {
  const fs::path from = kImages / "vit-classify";
  const convert::Graph graph = convert::import_hugging_face(from);
  const convert::WaysBack back = convert::ways_back(graph, convert::open_checkpoint(from));
  const Parameters parameters(graph, back);
  std::vector<at::Tensor> values;
  bool found = false;
  for (const Parameter& parameter : parameters.all()) {
    const bool places = parameter.stored.size() == 1 && !parameter.stored[0].beside.empty();
    values.push_back(places ? parameter.value.detach() + 0.25 : parameter.value.detach());
    found = found || places;
  }
  EXPECT_TRUE(found);
  const convert::Checkpoint before = convert::open_checkpoint(from);
  const auto written = source_tensors(from, parameters, values, "");
  ASSERT_EQ(written.size(), before.tensors().size());
  for (const auto& [name, entry] : before.tensors()) {
    const std::vector<float> was = before.read(name);
    const convert::TensorBytes& is = written.at(name);
    ASSERT_EQ(is.bytes.size(), was.size() * sizeof(float)) << name;
    const bool places = name.find("position_embeddings") != std::string::npos;
    for (size_t i = 0; i < was.size(); ++i) {
      float value;
      std::memcpy(&value, is.bytes.data() + i * sizeof(float), sizeof(float));
      ASSERT_NEAR(value, was[i] + (places ? 0.25F : 0.0F), places ? 1e-6F : 0.0F) << name;
    }
  }
}

TEST(Network, KeepsTheStatesOfEveryLayer) {
  const convert::Graph graph = golden("bert-joint");
  const Parameters parameters(graph, {});
  const Network network(graph, parameters);
  Encoded text;
  text.ids = {2, 5, 7, 3};
  text.segments = {0, 0, 0, 0};
  ForwardOptions options;
  options.states = true;
  const Forward forward = network.run(pad({&text}), options);
  EXPECT_EQ(forward.hidden.size(), size_t{network.layers()} + 1);
  EXPECT_EQ(forward.attention.size(), size_t{network.layers()});
  // The head of words reads the last hidden state.
  EXPECT_EQ(forward.hidden.back().size(1), 4);
  const at::Tensor sums = forward.attention[0].probabilities.sum(-1);
  EXPECT_TRUE(torch::allclose(sums, torch::ones_like(sums)));
}

TEST(Network, MeasuresInputsWithoutPadding) {
  const convert::Graph graph = golden("bert-joint");
  const Parameters parameters(graph, {});
  const Network network(graph, parameters);
  Encoded text, longer;
  text.ids = {2, 5, 7, 3};
  longer.ids = {2, 5, 7, 3, 9, 9, 11, 3};
  text.segments.resize(text.ids.size());
  longer.segments.resize(longer.ids.size());
  ForwardOptions options;
  options.input_squares = true;
  const auto squares = [&](const std::vector<const Encoded*>& members) {
    return network.run(pad(members), options).input_squares;
  };
  const auto one = squares({&text}), other = squares({&longer}), both = squares({&text, &longer});
  ASSERT_GE(one.size(), 8U);
  for (const auto& [weight, mean] : one) {
    ASSERT_EQ(mean.numel(), parameters.of(weight).size(1));
    // The head of the whole text sees one row per text, every other layer one row per token.
    const bool tokens = !torch::allclose(both.at(weight), (mean + other.at(weight)) / 2, 1e-4, 1e-6);
    const at::Tensor expected = (mean * 4 + other.at(weight) * 8) / 12;
    EXPECT_TRUE(!tokens || torch::allclose(both.at(weight), expected, 1e-4, 1e-6)) << weight;
  }
}

TEST(Network, Bf16IsNearAndTrains) {
  const convert::Graph graph = golden("bert-classify");
  Parameters parameters(graph, ways(graph, "bert-classify"));
  parameters.trainable(Freeze::kNothing);
  const Network network(graph, parameters);
  Encoded text;
  text.ids = {2, 5, 7, 3};
  text.segments = {0, 0, 0, 0};
  ForwardOptions options;
  const at::Tensor exact = network.run(pad({&text}), options).outputs[0].detach();
  options.precision = Precision::kBf16;
  const at::Tensor near = network.run(pad({&text}), options).outputs[0];
  EXPECT_EQ(near.dtype(), torch::kFloat32);
  EXPECT_FALSE(torch::equal(near, exact));
  EXPECT_LT((near - exact).abs().max().item<float>(), 0.05F * (1 + exact.abs().max().item<float>()));
  near.square().sum().backward();
  for (const Parameter& parameter : parameters.all()) {
    EXPECT_EQ(parameter.value.grad().dtype(), torch::kFloat32) << parameter.name;
  }
}

TEST(Network, GradientsReachWhatIsNotFrozen) {
  const convert::Graph graph = golden("bert-classify");
  for (const Freeze freeze : {Freeze::kNothing, Freeze::kEmbeddings, Freeze::kEncoder}) {
    Parameters parameters(graph, ways(graph, "bert-classify"));
    parameters.trainable(freeze);
    const Network network(graph, parameters);
    Encoded text;
    text.ids = {2, 5, 7, 3};
    text.segments = {0, 0, 0, 0};
    network.run(pad({&text}), {}).outputs[0].square().sum().backward();
    for (const Parameter& parameter : parameters.all()) {
      const bool head = parameter.role == Role::kHeadLinear || parameter.role == Role::kHeadVector;
      const bool frozen =
          freeze == Freeze::kEncoder ? !head : freeze == Freeze::kEmbeddings && parameter.role == Role::kEmbedding;
      EXPECT_EQ(parameter.value.grad().defined(), !frozen) << parameter.name;
    }
  }
}

TEST(Network, AFrozenEncoderOfAPairLeavesTheDecoder) {
  const convert::Graph graph = golden("marian-apart");
  Parameters parameters(graph, ways(graph, "marian-apart"));
  Encoded text;
  text.ids = {2, 5, 7, 3};
  text.source = {4, 6, 1};
  for (const Freeze freeze : {Freeze::kNothing, Freeze::kEmbeddings, Freeze::kEncoder}) {
    parameters.trainable(freeze);
    const Network network(graph, parameters);
    for (Parameter& parameter : parameters.all()) parameter.value.mutable_grad() = at::Tensor();
    network.run(pad({&text}), {}).outputs[0].square().sum().backward();
    for (const Parameter& parameter : parameters.all()) {
      const bool sinusoids = parameter.stored.empty();
      const bool encoder = parameter.name.find(".encoder.") != std::string::npos;
      const bool frozen = freeze == Freeze::kEncoder      ? encoder
                          : freeze == Freeze::kEmbeddings ? parameter.role == Role::kEmbedding
                                                          : false;
      EXPECT_EQ(parameter.value.grad().defined(), !frozen && !sinusoids) << parameter.name;
    }
  }
}

TEST(Directory, UntrainedWeightsComeBackAsTheyWere) {
  for (const char* name : {"bert-joint", "distilbert-tag", "bert-choose", "gpt2-text", "llama-generate", "marian-text",
                           "bart-text", "t5-generate", "modernbert-tag", "roberta-tag", "ernie-classify"}) {
    const convert::Graph graph = golden(name);
    const Parameters parameters(graph, ways(graph, name));
    std::vector<at::Tensor> values;
    for (const Parameter& parameter : parameters.all()) values.push_back(parameter.value);
    const convert::fixture::Directory directory;
    write_directory(kGolden / name, directory.path(), parameters, values, "");
    const convert::Graph again = convert::import_hugging_face(directory.path());
    ASSERT_EQ(again.constants.size(), graph.constants.size());
    for (size_t i = 0; i < graph.constants.size(); ++i) {
      if (graph.constants[i]) {
        EXPECT_EQ(again.constants[i]->values, graph.constants[i]->values) << graph.model.tensors[i]->name;
      }
    }
  }
}

}  // namespace
}  // namespace bantam::train
