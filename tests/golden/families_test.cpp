// Every family of the registry, with every head: random weights for its roles convert, and the file answers what an independent
// evaluation of the graph does. Students of it convert too. What the graph has to mean is the golden models' to say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/sensitivity.h"
#include "calibrate/static_ranges.h"
#include "describe/components.h"
#include "firmware/linked.h"
#include "golden/evaluate.h"
#include "graph/task_parts.h"
#include "import/families/config.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "quantize/static.h"
#include "run/runner.h"
#include "student/draft.h"
#include "student/structured.h"

namespace bantam::golden {
namespace {

using convert::Axis;
using convert::Count;
using convert::Family;
using convert::Head;
using convert::HeadLayer;
using convert::Json;
using convert::MemoryTensor;
using convert::Slot;

constexpr uint32_t kVocabulary = 37, kHidden = 18, kHeads = 3, kFfn = 20, kPositions = 20, kLabels = 5;
constexpr double kLargestDifference = 2e-4, kSmallestCosine = 0.98, kSmallestStaticCosine = 0.9;

/// A model of a family as config.json and tensors.
class Tiny {
 public:
  Tiny(const Family& family, const Head& head, uint32_t embedding, bool biases)
      : family_(family), head_(head), biases_(biases) {
    const convert::Settings& settings = family.settings;
    config_["model_type"] = family.model_types.front();
    const auto set = [&](const Count& setting, uint32_t value) {
      if (setting.key != nullptr) config_[setting.key] = value;
    };
    set(settings.vocabulary, kVocabulary);
    set(settings.hidden, kHidden);
    set(settings.heads, kHeads);
    set(settings.intermediate, kFfn);
    set(settings.positions, kPositions);
    set(settings.layers, 2);
    set(settings.groups, 2);
    set(settings.inner_layers, 2);
    set(settings.embedding, embedding);
    set(settings.window, 6);
    set(settings.full_every, 3);
    if (family.block.places) {
      config_["relative_attention"] = true;
      config_["pos_att_type"] = {"p2c", "c2p"};
      config_["position_buckets"] = 4U;
      config_["norm_rel_ebd"] = family.has(Slot::kPlacesNorm) ? "layer_norm" : "none";
    }
    if (family.has(Slot::kConvolution) && embedding != kHidden) config_["conv_kernel_size"] = 3U;
    if (family.block.bottlenecks) config_["intra_bottleneck_size"] = 12U;
    if (settings.task_types_if != nullptr) config_[settings.task_types_if] = true;
    config_["num_labels"] = kLabels;
    config_["intent_labels"] = {"on", "off"};
    config_["slot_labels"] = {"O", "B-room", "I-room"};
    if (head.architecture != nullptr) {
      config_["architectures"] = {std::string(family.architectures.front()) + head.architecture};
    }
    Problems problems;
    read_ = convert::read_encoder_config(convert::Fields(config_, "config.json", problems));
    problems.raise();
    encoder();
    heads();
  }

  /// With `texts` it has a tokenizer, of letters.
  convert::ModelSource source(bool texts = false) const {
    convert::ModelSource source;
    source.root = source.directory = testing::TempDir();
    source.config = config_;
    if (texts) source.tokenizer.vocab = vocabulary();
    source.checkpoint = std::make_shared<const convert::Checkpoint>(tensors_);
    return source;
  }

  convert::ImportOptions options(bool texts = false) const {
    convert::ImportOptions options;
    options.ids_only = !texts;
    if (head_.architecture == nullptr) options.task = convert::typed_name(static_cast<TaskKind>(head_.task));
    return options;
  }

  const convert::EncoderConfig& config() const { return read_; }
  bool has_biases() const { return biases_; }
  bool gives_words() const { return head_.task == fb::TaskKind::fill || head_.task == fb::TaskKind::pretraining; }

 private:
  using Problems = convert::Problems;

  static std::string vocabulary() {
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (uint32_t i = 5; i < kVocabulary; ++i) lines += std::string(1, static_cast<char>('A' + i)) + "\n";
    return lines;
  }

  uint64_t extent(Axis axis) const { return convert::extent_of(read_, axis); }

  void add(const std::string& name, std::vector<uint64_t> shape, float spread, float centre = 0) {
    size_t count = 1;
    for (const uint64_t size : shape) count *= static_cast<size_t>(size);
    std::normal_distribution<float> draw(centre, spread);
    MemoryTensor tensor{std::move(shape), {}};
    for (size_t i = 0; i < count; ++i) tensor.values.push_back(draw(random_));
    tensors_[name] = std::move(tensor);
  }

  /// Parts of one tensor make it longer, one after the other.
  void linear(const std::string& name, uint64_t out, uint64_t in) {
    const std::string whole = convert::tensor_part(name).name;
    const auto before = tensors_.find(whole + ".weight");
    const uint64_t rows = before != tensors_.end() ? before->second.shape[0] + out : out;
    // Nothing keeps what grows in bounds where norms have no statistics.
    const float gain = family_.block.affine_norms ? 0.6F : 1.5F;
    add(whole + ".weight", {rows, in}, gain / std::sqrt(static_cast<float>(in)));
    if (biases_) add(whole + ".bias", {rows}, 0.2F);
  }

  void norm(const std::string& name, uint64_t width) {
    add(name + ".weight", {width}, 0.2F, 1);
    if (biases_) add(name + ".bias", {width}, 0.2F);
  }

  void module(const std::string& name, Slot slot) {
    if (slot == Slot::kQueriesKeysValues) return add(name + ".weight", {3 * kHidden, kHidden}, 0.4F);
    if (slot == Slot::kConvolution) {
      add(name + ".weight", {kHidden, kHidden, read_.convolution}, 0.2F);
      return add(name + ".bias", {kHidden}, 0.2F);
    }
    if (slot == Slot::kEmbeddingProjection && family_.block.sums_projected) {
      return add(name + ".weight", {kHidden, read_.embedding}, 0.4F);
    }
    const convert::Axes axes = convert::axes_of(family_, slot);
    if (convert::is_vector(slot)) return add(name, {extent(axes.rows)}, 0.2F);
    if (axes.columns == Axis::kNone) return norm(name, extent(axes.rows));
    linear(name, extent(axes.rows), extent(axes.columns));
  }

  void encoder() {
    const std::string base = std::string(family_.base) + ".";
    for (const auto& [slot, name] : convert::stored_roles(read_)) {
      if (slot == Slot::kFactorProjection) continue;
      if (slot == Slot::kEmbeddingProjection && !read_.projects) continue;
      if (slot == Slot::kSegments && read_.segments == 0) continue;
      if (read_.convolution == 0 && (slot == Slot::kConvolution || slot == Slot::kConvolutionNorm)) continue;
      if (convert::is_table(slot)) {
        const convert::Axes axes = convert::axes_of(family_, slot);
        if (slot == Slot::kDistances) {
          add(base + name, {family_.settings.buckets, kHeads}, 1);
          continue;
        }
        if (slot == Slot::kPlaces) {
          add(base + name, {2 * read_.relative.span, kHidden}, 1);
          continue;
        }
        const uint64_t types = slot == Slot::kSegments ? read_.segments : read_.task_types;
        add(base + name, {axes.rows == Axis::kNone ? types : extent(axes.rows), extent(axes.columns)}, 1);
      } else if (convert::is_of_layer(slot)) {
        for (uint32_t i = 0; i < read_.layers; ++i) {
          const bool none = i == 0 && slot == Slot::kAttentionNorm && family_.block.norm_first;
          if (!none) module(base + convert::layer_prefix(read_, i) + name, slot);
        }
      } else {
        module(base + name, slot);
      }
    }
  }

  void heads() {
    if (head_.task == fb::TaskKind::joint) {
      linear("intent_classifier", 2, kHidden);
      linear("slot_classifier", 3, kHidden);
    }
    const bool both = head_.task == fb::TaskKind::pretraining;
    for (const fb::TaskKind part : {fb::TaskKind::fill, fb::TaskKind::next_sentence}) {
      if (both) layers(*family_.head(part));
    }
    layers(head_);
  }

  void layers(const Head& head) {
    uint64_t in = kHidden;
    for (const HeadLayer& layer : head.layers) {
      if (layer.out == HeadLayer::Out::kVocabulary) {  // tied
        add(layer.bias != nullptr ? layer.bias : std::string(layer.name) + ".bias", {kVocabulary}, 0.2F);
        const uint64_t beside = kHidden - read_.embedding;
        if (layer.beside != nullptr && beside != 0)
          add(layer.beside + std::string(".weight"), {beside, kVocabulary}, 0.3F);
        continue;
      }
      const std::map<HeadLayer::Out, uint64_t> widths = {{HeadLayer::Out::kLabels, kLabels},
                                                         {HeadLayer::Out::kHidden, kHidden},
                                                         {HeadLayer::Out::kEmbedding, read_.embedding},
                                                         {HeadLayer::Out::kOne, 1},
                                                         {HeadLayer::Out::kTwo, 2}};
      const uint64_t out = widths.at(layer.out);
      linear(layer.name, out, in);
      if (layer.norm != nullptr) norm(layer.norm, out);
      in = out;
    }
  }

  const Family& family_;
  const Head& head_;
  const bool biases_;
  Json config_ = Json::object();
  convert::EncoderConfig read_;
  std::map<std::string, MemoryTensor> tensors_;
  std::mt19937 random_{7};
};

std::vector<convert::Sample> samples(uint32_t segments, uint32_t vocabulary, uint32_t longest) {
  std::vector<convert::Sample> all;
  std::mt19937 random(3);
  for (const uint32_t length : {1U, 7U, longest}) {
    convert::Sample sample;
    for (uint32_t i = 0; i < length; ++i) {
      sample.ids.push_back(static_cast<int32_t>(random() % vocabulary));
      if (segments > 1) sample.segments.push_back(i < length / 2 ? 0 : 1);
    }
    all.push_back(std::move(sample));
  }
  return all;
}

struct Agreement {
  double largest = 0, both = 0, expected = 0, actual = 0;
  double cosine() const { return both / std::sqrt(expected * actual); }
};

void add(const Matrix& expected, const convert::OutputRows& output, Agreement* found) {
  EXPECT_EQ(expected.values.size(), output.values.size()) << output.name;
  for (size_t row = 0; row < expected.rows; ++row) {
    for (size_t i = 0; i < expected.width; ++i) {
      const double e = expected.at(row, i), a = static_cast<double>(output.row(row)[i]);
      // A NaN is never the larger one: written so that it fails.
      if (!(std::abs(e - a) <= found->largest)) found->largest = std::abs(e - a);
      found->both += e * a;
      found->expected += e * e;
      found->actual += a * a;
    }
  }
}

Agreement compare(const convert::Graph& graph, fb::DType weights, const std::vector<convert::Sample>& samples) {
  convert::TypeOptions types;
  types.weights = weights;
  const convert::FileBytes bytes = convert::build(graph, types);
  convert::Runner runner(bytes, graph.model.max_sequence);
  Agreement found;
  for (const convert::Sample& sample : samples) {
    const auto expected = evaluate(graph, sample.ids, sample.segments);
    for (const convert::OutputRows& output : runner.run(sample)) {
      add(expected.at(output.name), output, &found);
    }
  }
  return found;
}

/// A head as wide as layers multiplies with the word embeddings: they cannot be narrower.
bool shares_wide_words(const Head& head) {
  for (size_t i = 1; i < head.layers.size(); ++i) {
    const HeadLayer& layer = head.layers[i];
    const bool words = layer.out == HeadLayer::Out::kVocabulary && layer.beside == nullptr;
    if (words && head.layers[i - 1].out == HeadLayer::Out::kHidden) return true;
  }
  return false;
}

class Families : public testing::TestWithParam<const Family*> {
 protected:
  template <typename Use>
  static void for_each_model(const Use& use) {
    const Family& family = *GetParam();
    for (const Head& head : family.heads) {
      for (const uint32_t embedding : {10U, kHidden}) {
        if (embedding != kHidden && (family.settings.embedding.key == nullptr || shares_wide_words(head))) continue;
        SCOPED_TRACE(convert::typed_name(static_cast<TaskKind>(head.task)) + " of " + std::to_string(embedding));
        use(Tiny(family, head, embedding, true));
        if (family.block.optional_biases) use(Tiny(family, head, embedding, false));
      }
    }
  }
};

TEST_P(Families, ConvertAndAnswer) {
  for_each_model([](const Tiny& model) {
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    const auto inputs = samples(model.config().segments, kVocabulary, graph.model.max_sequence);
    EXPECT_EQ(graph.model.max_sequence + model.config().first_position, kPositions);
    EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
    EXPECT_GE(compare(graph, fb::DType::i8, inputs).cosine(), kSmallestCosine);
  });
}

TEST_P(Families, KeepTheirNamesAndLeaveNothingOver) {
  for_each_model([](const Tiny& model) {
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    std::map<std::string, int> names;
    for (const auto& op : graph.model.subgraphs.front()->ops) ++names[op->name];
    for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
    convert::Draft draft(model.source());
    EXPECT_EQ(draft.tensors().size(), model.source().checkpoint->tensors().size());
    EXPECT_TRUE(draft.notes().empty());
  });
}

/// Every axis narrowed at once.
TEST_P(Families, StudentsAnswer) {
  for_each_model([](const Tiny& model) {
    convert::Draft draft(model.source());
    const auto first = [](uint32_t count) {
      convert::Indices kept;
      for (uint32_t i = 0; i < count; ++i) kept.push_back(i);
      return kept;
    };
    draft.keep(Axis::kVocabulary, 0, first(30));
    draft.keep(Axis::kPositions, 0, first(draft.config().first_position + 9));
    if (GetParam()->narrows_layers()) {
      for (uint32_t layer = 0; layer < draft.config().layers; ++layer) {
        draft.keep(Axis::kFfn, layer, first(12));
        if (!GetParam()->narrows_heads()) continue;
        draft.keep(Axis::kScores, layer, first(12));
        draft.keep(Axis::kValues, layer, first(12));
        draft.set_heads(layer, 2);
      }
      draft.keep_layers({1});
      draft.keep(Axis::kHidden, 0, first(15));
    }
    const convert::Graph graph = convert::import_source(draft.source(), model.options());
    EXPECT_EQ(graph.model.max_sequence, 9U);
    const auto inputs = samples(model.config().segments, 30, 9);
    EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
  });
}

/// Structured pruning by magnitude, or an error that names why the family has none.
TEST_P(Families, PruneOrSayWhyNot) {
  for_each_model([](const Tiny& model) {
    for (const auto pattern : {convert::PrunePattern::kHeads, convert::PrunePattern::kFfn}) {
      convert::PruneOptions options;
      options.pattern = pattern;
      options.share = 0.2;
      options.by_activation = false;
      convert::Draft draft(model.source());
      const bool heads = pattern == convert::PrunePattern::kHeads;
      const char* why = heads ? GetParam()->why_heads_stay() : GetParam()->why_layers_stay();
      if (why != nullptr) {
        try {
          convert::prune_structures(draft, options, {});
          ADD_FAILURE() << "was not refused";
        } catch (const convert::Error& error) {
          EXPECT_EQ(error.code(), convert::ExitCode::kUnsupported);
          EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
        continue;
      }
      const convert::StructureReport report = convert::prune_structures(draft, options, {});
      EXPECT_LT(report.parameters_after, report.parameters_before);
      const convert::Graph graph = convert::import_source(draft.source(), model.options());
      const auto inputs = samples(model.config().segments, kVocabulary, graph.model.max_sequence);
      EXPECT_LE(compare(graph, fb::DType::f32, inputs).largest, kLargestDifference);
    }
  });
}

/// Every byte of a file belongs to some component, and its image links what the family needs.
TEST_P(Families, ReportsAndImagesKnowThem) {
  for_each_model([](const Tiny& model) {
    const convert::FileBytes bytes =
        convert::build(convert::import_source(model.source(), model.options()), convert::TypeOptions());
    Model file;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &file, nullptr), Status::kOk);
    uint64_t size = 0;
    for (const convert::Component& component : convert::file_components(file)) size += component.bytes;
    EXPECT_EQ(size, bytes.size());
    const std::vector<std::string> words = firmware::linked_by(file).words;
    const auto links = [&](const char* what) { return std::find(words.begin(), words.end(), what) != words.end(); };
    const Family& family = *GetParam();
    EXPECT_EQ(links("biases by distance"), family.has(Slot::kDistances));
    EXPECT_EQ(links("biases by slopes"), family.settings.slopes);
    EXPECT_EQ(links("rotary positions"), family.settings.rotary.otherwise != 0);
    EXPECT_EQ(links("scores of places"), family.block.places);
    EXPECT_EQ(links("unfold"), model.config().convolution != 0);
    EXPECT_EQ(links("norms of queries and keys"), family.has(Slot::kQueryNorm));
    EXPECT_EQ(links("gates"), family.has(Slot::kGate));
    EXPECT_EQ(links("attention"), !family.block.averaged);
  });
}

/// What has no integer form is refused by name, with the next step; the rest points the same way.
TEST_P(Families, AreStaticOrSayWhyNot) {
  for_each_model([](const Tiny& model) {
    const Family& family = *GetParam();
    const convert::Graph graph = convert::import_source(model.source(), model.options());
    const bool refused = family.has(Slot::kDistances) || family.has(Slot::kGate) || family.block.places ||
                         family.block.bottlenecks || family.block.averaged || !model.has_biases() ||
                         model.gives_words();
    try {
      convert::check_static(graph);
      EXPECT_FALSE(refused);
    } catch (const convert::Error& error) {
      EXPECT_TRUE(refused) << error.what();
      EXPECT_EQ(error.code(), convert::ExitCode::kUnsupported);
      EXPECT_NE(std::string(error.what()).find("; "), std::string::npos) << error.what();
      return;
    }
    const uint32_t longest = graph.model.max_sequence;
    const auto choose = [&](convert::Runner&) { return samples(model.config().segments, kVocabulary, longest); };
    const convert::StaticRanges ranges =
        convert::measure_static(convert::unfuse(graph), {}, longest, choose, [](double) {});
    const convert::Built built = convert::build_static(graph, ranges);
    convert::Runner runner(built.bytes, longest);
    Agreement found;
    for (const convert::Sample& sample : samples(model.config().segments, kVocabulary, longest)) {
      const auto expected = evaluate(graph, sample.ids, sample.segments);
      for (const convert::OutputRows& output : runner.run(sample)) add(expected.at(output.name), output, &found);
    }
    EXPECT_GE(found.cosine(), kSmallestStaticCosine);
  });
}

TEST_P(Families, SensitivityMeasuresEveryMatrix) {
  const Family& family = *GetParam();
  const Head* classify = family.head(fb::TaskKind::classify);
  const Tiny model(family, classify != nullptr ? *classify : family.heads.front(), kHidden, true);
  const convert::Graph graph = convert::import_source(model.source(true), model.options(true));
  const std::vector<convert::LabelledText> texts = {{"h i j", "", "", ""}, {"k", "l m", "", ""}};
  const convert::Sensitivity measured =
      convert::measure_sensitivity(graph, texts, {fb::DType::i8, fb::DType::i4}, [](double) {});
  EXPECT_FALSE(measured.matrices.empty());
  for (const convert::MatrixCosts& costs : measured.matrices) {
    EXPECT_FALSE(costs.types.empty()) << costs.name;
    for (const convert::TypeCost& cost : costs.types) EXPECT_TRUE(std::isfinite(cost.divergence)) << costs.name;
  }
}

std::vector<const Family*> all_families() {
  std::vector<const Family*> all;
  for (const Family& family : convert::families()) all.push_back(&family);
  return all;
}

convert::EncoderConfig read(const Json& json) {
  convert::Problems problems;
  const Json parsed = Json::parse(json.dump());  // as a file's numbers are
  convert::EncoderConfig config = convert::read_encoder_config(convert::Fields(parsed, "config.json", problems));
  problems.raise();
  return config;
}

TEST(PublishedSettings, OlderNamesServeWhereTheOthersAreMissing) {
  const Json old = {{"model_type", "nomic_bert"},
                    {"n_embd", 24},
                    {"n_head", 3},
                    {"n_layer", 2},
                    {"n_inner", 40},
                    {"activation_function", "swiglu"},
                    {"rotary_emb_base", 500},
                    {"prenorm", false},
                    {"layer_norm_epsilon", 1e-6}};
  const convert::EncoderConfig config = read(old);
  EXPECT_EQ(config.hidden, 24U);
  EXPECT_EQ(config.heads, 3U);
  EXPECT_EQ(config.layers, 2U);
  EXPECT_EQ(config.intermediate, 40U);
  EXPECT_EQ(config.activation, fb::ActivationKind::silu);
  EXPECT_EQ(config.places.at(1).rotary_base, 500);
  EXPECT_FLOAT_EQ(config.epsilon, 1e-6F);
  for (const auto& [key, value] : std::map<std::string, Json>{
           {"prenorm", true}, {"rotary_emb_interleaved", true}, {"rotary_emb_fraction", 0.5}, {"num_experts", 8}}) {
    Json other = old;
    other[key] = value;
    EXPECT_THROW(read(other), convert::Error) << key;
  }
}

TEST(PublishedSettings, ElectraChoosesByTheFirstTokenOnly) {
  const Family& electra = *convert::find_family("electra");
  const Tiny model(electra, *electra.head(fb::TaskKind::choose), kHidden, true);
  convert::ModelSource source = model.source();
  source.config["summary_type"] = "mean";
  try {
    convert::import_source(source, model.options());
    ADD_FAILURE() << "was not refused";
  } catch (const convert::Error& error) {
    EXPECT_NE(std::string(error.what()).find("summary_type"), std::string::npos) << error.what();
  }
}

TEST(PublishedSettings, RotaryPositionsThatNtkScales) {
  Json json = {{"model_type", "new"},      {"hidden_size", 24},
               {"num_attention_heads", 3}, {"position_embedding_type", "rope"},
               {"rope_theta", 20000},      {"rope_scaling", {{"type", "ntk"}, {"factor", 8.0}}}};
  // As the models' own code computes it: the base times the factor, angles divided by factor^(2 / head width).
  const convert::LayerPlaces places = read(json).places.at(0);
  EXPECT_EQ(places.rotary_base, 160000);
  EXPECT_DOUBLE_EQ(places.rotary_step, std::pow(8.0, -2.0 / 8));
  json["rope_scaling"]["type"] = "yarn";
  EXPECT_THROW(read(json), convert::Error);
}

/// What this source is refused for.
std::string refusal(const convert::ModelSource& source, const convert::ImportOptions& options) {
  try {
    convert::import_source(source, options);
  } catch (const convert::Error& error) {
    return error.what();
  }
  return "";
}

TEST(PublishedSettings, ConvolutionsOfWholeTokensAroundEachOne) {
  const Family& family = *convert::find_family("deberta-v2");
  const Tiny model(family, *family.head(fb::TaskKind::classify), 10, true);
  EXPECT_EQ(refusal(model.source(), model.options()), "");
  const std::pair<const char*, Json> wrong[] = {
      {"conv_kernel_size", 2},    {"conv_kernel_size", -3},     {"conv_kernel_size", 1.5}, {"conv_kernel_size", "3"},
      {"conv_kernel_size", 4001}, {"conv_kernel_size", 5},      {"conv_groups", 2},        {"conv_act", "maxout"},
      {"embedding_size", 0},      {"embedding_size", 1u << 30}, {"embedding_size", 11}};
  for (const auto& [key, value] : wrong) {
    convert::ModelSource source = model.source();
    source.config[key] = value;
    EXPECT_NE(refusal(source, model.options()), "") << key << " " << value;
  }
  convert::ModelSource without = model.source();
  without.config.erase("conv_kernel_size");
  EXPECT_NE(refusal(without, model.options()).find("encoder.conv"), std::string::npos);
}

TEST(PublishedSettings, AHeadAsWideAsLayersHasNoNarrowWords) {
  const Family& family = *convert::find_family("deberta-v2");
  const auto wide = std::find_if(family.heads.begin(), family.heads.end(), shares_wide_words);
  ASSERT_NE(wide, family.heads.end());
  const Tiny model(family, *wide, 10, true);
  EXPECT_NE(refusal(model.source(), model.options()).find("embedding_size"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Registry, Families, testing::ValuesIn(all_families()), [](const auto& family) {
  std::string name = family.param->model_types.front();
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace bantam::golden
