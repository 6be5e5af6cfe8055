// Models of a family with random weights for its roles, in memory as config.json and tensors; and the comparison of a
// converted model with an independent evaluation of its graph.
#ifndef BANTAM_TESTS_GOLDEN_TINY_H_
#define BANTAM_TESTS_GOLDEN_TINY_H_

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "golden/compare.h"
#include "golden/evaluate.h"
#include "graph/task_parts.h"
#include "import/hugging_face.h"
#include "network/settings/config.h"
#include "pack/build.h"
#include "run/runner.h"
#include "source/gliner.h"

namespace bantam::golden {

using convert::Axis;
using convert::Count;
using convert::Family;
using convert::Head;
using convert::HeadLayer;
using convert::Json;
using convert::MemoryTensor;
using convert::Slot;

inline constexpr uint32_t kVocabulary = 37, kHidden = 18, kHeads = 3, kFfn = 20, kPositions = 20, kLabels = 5,
                          kEntities = 7, kRetroHidden = 12;
inline constexpr double kSmallestCosine = 0.98, kSmallestStaticCosine = 0.9;

/// Returns the name of a family that builds its own layers; otherwise "".
inline std::string own_layers(const Family& family) {
  return family.own.add == nullptr ? "" : family.model_types.front();
}
inline bool is_recurrent(const Family& family) {
  const std::string own = own_layers(family);
  return own == "recurrent" || own == "elmo" || own == "seq2seq";
}

inline bool is_mamba(const Family& family) {
  const std::string own = own_layers(family);
  return own == "mamba" || own == "falcon_mamba";
}

inline bool is_rwkv(const Family& family) { return own_layers(family) == "rwkv"; }

/// A model of a family as config.json and tensors.
class Tiny {
 public:
  Tiny(const Family& family, const Head& head, uint32_t embedding, bool biases, const char* positions = nullptr)
      : family_(family), head_(head), biases_(biases) {
    if (positions != nullptr) config_["position_embedding_type"] = positions;
    config_["model_type"] = family.model_types.front();
    config_["decoder_start_token_id"] = 3U;
    config_["scale_embedding"] = true;
    if (family.source != nullptr) settle(family.source->settings, embedding);
    settle(family.settings, embedding);
    if (family.settings.windows == convert::Settings::Windows::kKinds) {
      config_["attention_types"] = Json::parse(R"([[["global", "local"], 1]])");
    }
    if (family.settings.windows == convert::Settings::Windows::kFrom) {
      config_["use_sliding_window"] = true;
      config_["max_window_layers"] = 1U;
    }
    if (family.settings.untied) {
      // RemBERT's output embeddings are wider than its input embeddings.
      config_["tie_word_embeddings"] = own_layers(family) != "nplm" && !family.block.reversible &&
                                       std::string(family.model_types.front()) != "rembert";
    }
    if (family.block.reversible) {
      config_["attn_layers"] = {"local", "lsh"};
      config_["local_attn_chunk_length"] = 6U;
      config_["lsh_attn_chunk_length"] = 4U;
      config_["num_hashes"] = 2U;
      config_["num_buckets"] = 4U;
      config_["axial_pos_embds"] = biases;
      config_["axial_pos_shape"] = {4U, kPositions / 4};
      config_["axial_pos_embds_dim"] = {6U, kHidden - 6};
      config_["is_decoder"] = head.task == fb::TaskKind::generate;
    }
    if (family.block.places) {
      config_["relative_attention"] = true;
      config_["pos_att_type"] = {"p2c", "c2p"};
      config_["position_buckets"] = 4U;
      config_["norm_rel_ebd"] = family.has(Slot::kPlacesNorm) ? "layer_norm" : "none";
    }
    if (family.has(Slot::kConvolution) && embedding != kHidden) config_["conv_kernel_size"] = 3U;
    if (family.block.projected) config_["sharing"] = "none";
    if (family.block.bottlenecks) config_["intra_bottleneck_size"] = 12U;
    if (is_recurrent(family)) {
      config_["hidden_size"] = kHidden / 2;
      config_["bidirectional"] = true;
      if (family.source != nullptr) config_["decoder_hidden_size"] = kHidden;
      if (own_layers(family) == "elmo") {  // words and layers are summed
        config_["hidden_size"] = kHidden + 2;
        config_["proj_size"] = kHidden;
        config_["num_layers"] = 2U;
      }
    }
    if (own_layers(family) == "textcnn") {
      config_["kernel_sizes"] = {2U, 3U};
      config_["num_filters"] = kHidden / 2;
      config_["padding"] = "same";
    }
    if (own_layers(family) == "nplm") {
      config_["hidden_size"] = kHidden;
      config_["context_size"] = 3U;
      config_["pad_token_id"] = 2U;
    }
    if (own_layers(family) == "retro") {
      config_["retrieval_layers"] = {2U};
      config_["chunk_size"] = 3U;
      config_["neighbour_size"] = 4U;
      config_["encoder_hidden_size"] = kRetroHidden;
      config_["encoder_num_attention_heads"] = 2U;
      config_["encoder_num_hidden_layers"] = 1U;
    }
    if (own_layers(family) == "evolved_transformer") config_["wide_attention_heads"] = 2 * kHeads;
    if (family.settings.task_types_if != nullptr) config_[family.settings.task_types_if] = true;
    config_["num_labels"] = kLabels;
    if (head.task == fb::TaskKind::find) {
      config_[convert::kGliner] = {{"hidden_size", 10U}, {"max_width", 3U}, {"max_types", 4U}};
    }
    config_["intent_labels"] = {"on", "off"};
    config_["slot_labels"] = {"O", "B-room", "I-room"};
    if (head.architecture != nullptr) {
      config_["architectures"] = {std::string(family.architectures.front()) + head.architecture};
    }
    Problems problems;
    const convert::Fields fields(config_, "config.json", problems);
    main_ = read_ = convert::read_encoder_config(fields);
    if (family.source != nullptr) source_ = convert::read_source_config(fields, family);
    problems.raise();
    encoder();
    if (family.source != nullptr) {
      read_ = source_;
      encoder();
      read_ = head.of_source ? source_ : main_;
    }
    heads();
  }

  /// `texts`: adds a tokenizer of letters.
  convert::ModelSource source(bool texts = false) const {
    convert::ModelSource source;
    source.config = config_;
    if (texts) source.tokenizer.vocab = vocabulary();
    source.checkpoint = std::make_shared<const convert::Checkpoint>(tensors_);
    return source;
  }

  convert::ImportOptions options(bool texts = false) const {
    convert::ImportOptions options;
    options.ids_only = !texts;
    if (finds()) options.max_tokens = kPositions;
    if (head_.architecture == nullptr) options.task = convert::typed_name(static_cast<TaskKind>(head_.task));
    return options;
  }

  const convert::EncoderConfig& config() const { return read_; }
  bool is_pair() const { return family_.source != nullptr && !head_.of_source; }
  bool has_biases() const { return biases_; }
  bool gives_token_vectors() const { return head_.task == fb::TaskKind::token_vectors; }
  bool finds() const { return head_.task == fb::TaskKind::find; }
  bool reads_question() const { return head_.by_question; }
  bool takes_marks() const { return finds() || family_.has(Slot::kEntities); }
  bool gives_words() const {
    return head_.task == fb::TaskKind::fill || head_.task == fb::TaskKind::pretraining ||
           head_.task == fb::TaskKind::generate;
  }

 private:
  using Problems = convert::Problems;

  static std::string vocabulary() {
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (uint32_t i = 5; i < kVocabulary; ++i) lines += std::string(1, static_cast<char>('A' + i)) + "\n";
    return lines;
  }

  void settle(const convert::Settings& settings, uint32_t embedding) {
    const auto set = [&](const Count& setting, uint32_t value) {
      if (setting.key != nullptr) config_[setting.key] = value;
    };
    set(settings.vocabulary, kVocabulary);
    set(settings.hidden, kHidden);
    set(settings.heads, kHeads);
    set(settings.intermediate, kFfn);
    set(settings.kv_heads, 1);
    set(settings.positions, kPositions);
    set(settings.layers, 2);
    set(settings.groups, 2);
    set(settings.inner_layers, 2);
    set(settings.embedding, embedding);
    set(settings.window, 6);
    set(settings.full_every, 3);
    set(settings.experts, 3);
    set(settings.experts_of_token, 2);
    set(settings.expert_columns, 12);
    set(settings.expert_capacity, 4);
    set(settings.expert_layers, 1);
    if (settings.layers_of_experts == convert::Settings::ExpertLayers::kListed) config_["decoder_sparse_step"] = 2U;
    if (settings.layers_of_experts == convert::Settings::ExpertLayers::kNumbered) config_["moe_layers"] = {1U};
    set(settings.features, 14);
    set(settings.entities, kEntities);
    set(settings.entity_width, 10);
    set(settings.entity_heads, 2);
    if (settings.spans != nullptr) {
      config_[settings.spans] = {4U, 6U};
      if (settings.dilations != nullptr) config_[settings.dilations] = {1U, 2U};
      config_["sep_token_id"] = 3U;
    }
    if (settings.blocks) {
      config_["block_size"] = family_.source == nullptr ? 2U : 4U;  // sources have no blocks: all see all
      config_["num_random_blocks"] = 1U;
    }
    if (settings.entities.key != nullptr) config_["layer_types"] = {"mix", "norm"};
    if (family_.has(Slot::kShortGate)) config_["layer_types"] = {"conv", "full_attention"};
    if (family_.has(Slot::kStateRates)) config_["block_types"] = {"recurrent", "attention"};
    if (settings.head_width != nullptr) config_[settings.head_width] = kHidden / kHeads;
    if (settings.head_norms.key != nullptr) config_[settings.head_norms.key] = true;
    if (settings.rotary.part != 1) {
      config_[settings.rotary.part_key == nullptr ? "partial_rotary_factor" : settings.rotary.part_key] = 0.67;
    }
    if (settings.rotary.width_key != nullptr) config_[settings.rotary.width_key] = 4U;
    for (const char* key :
         {settings.embedding_factor, settings.score_factor, settings.added_factor, settings.soft_cap}) {
      if (key != nullptr) config_[key] = 0.9;
    }
  }

  /// Returns the family of the stack being built: in an encoder-decoder, one of two.
  const Family& stack() const { return *read_.family; }

  uint64_t extent(Axis axis) const { return convert::extent_of(read_, axis); }

  void add(const std::string& name, std::vector<uint64_t> shape, float spread, float centre = 0) {
    size_t count = 1;
    for (const uint64_t size : shape) count *= static_cast<size_t>(size);
    std::normal_distribution<float> draw(centre, spread);
    MemoryTensor tensor{std::move(shape), {}};
    for (size_t i = 0; i < count; ++i) tensor.values.push_back(draw(random_));
    tensors_[name] = std::move(tensor);
  }

  /// The parts of one tensor are concatenated.
  void linear(const std::string& name, uint64_t out, uint64_t in, bool bare = false) {
    const bool turned = convert::tensor_part(name).turned;
    const std::string whole = convert::tensor_part(name).name;
    const auto before = tensors_.find(whole + ".weight");
    const uint64_t rows = before != tensors_.end() ? before->second.shape[turned ? 1 : 0] + out : out;
    // If norms have no statistics, nothing else bounds the activations.
    const float gain = stack().block.affine_norms ? 0.6F : 1.5F;
    add(whole + ".weight", turned ? std::vector<uint64_t>{in, rows} : std::vector<uint64_t>{rows, in},
        gain / std::sqrt(static_cast<float>(in)));
    if (biases_ && !bare) add(whole + ".bias", {rows}, 0.2F);
  }

  void norm(const std::string& name, uint64_t width) {
    add(name + ".weight", {width}, 0.2F, stack().block.gammas_less_one ? 0 : 1);
    if (biases_ && !stack().block.rms_norms) add(name + ".bias", {width}, 0.2F);
  }

  /// Adds the experts of a layer in one tensor: gates after the activated part or, with "^", inputs before outputs.
  void fused_experts(std::string name, Slot slot) {
    if (slot == Slot::kExpertGate) return;
    const convert::Axes axes = convert::axes_of(stack(), slot);
    uint64_t rows = extent(axes.rows) * (slot == Slot::kExpertUp ? 2 : 1), columns = extent(axes.columns);
    const float spread = 1.0F / std::sqrt(static_cast<float>(columns));
    const bool turned = name.back() == '^';
    if (turned) name.pop_back();
    // The experts that have bounds have biases, too.
    if (stack().settings.expert_limit != nullptr) add(name + "_bias", {read_.experts.experts, rows}, 0.2F);
    if (turned) std::swap(rows, columns);
    add(name + ".weight", {read_.experts.experts, rows, columns}, spread);
  }

  void module(const std::string& name, Slot slot) {
    if (slot == Slot::kQueriesKeysValues) {
      const uint64_t rows = extent(Axis::kScores) + 2 * extent(Axis::kShared);
      return linear(name, rows, kHidden, family_.has(Slot::kQueryBias));
    }
    if (slot == Slot::kConvolution) {
      add(name + ".weight", {kHidden, kHidden, read_.convolution}, 0.2F);
      return add(name + ".bias", {kHidden}, 0.2F);
    }
    if (slot == Slot::kEmbeddingProjection && stack().block.sums_projected) {
      return add(name + ".weight", {kHidden, read_.embedding}, 0.4F);
    }
    const convert::Axes axes = convert::axes_of(stack(), slot);
    if (slot == Slot::kSharedScale) return add(name + ".weight", {1, extent(axes.columns)}, 0.3F);
    if (convert::is_of_expert(slot) && std::string(stack().name(slot)).find("{}") == std::string::npos) {
      return fused_experts(name, slot);
    }
    if (stack().block.shifted && stack().is_whole(slot)) {
      const std::vector<uint32_t> shape = convert::shape_by_head(read_, slot);
      return add(name, {shape.begin(), shape.end()}, slot == Slot::kAttentionOut || shape.size() == 2 ? 0.3F : 0.4F);
    }
    if (slot == Slot::kSpanDepthwise) return add(name + ".weight", {kHidden, 1, read_.span_taps}, 0.3F);
    if (slot == Slot::kSpanPointwise) return add(name + ".weight", {extent(axes.rows), kHidden, 1}, 0.3F);
    if (slot == Slot::kSpanBias) return add(name, {extent(axes.rows), 1}, 0.2F);
    if (slot == Slot::kSpanScores) return linear(name, uint64_t{read_.heads} * read_.span_taps, extent(axes.columns));
    if (convert::is_vector(slot)) return add(name, {std::max<uint64_t>(extent(axes.rows), 1)}, 0.2F);
    if (slot == Slot::kDistanceKeys) return add(name + ".weight", {2 * kPositions - 1, read_.head_width}, 1);
    if (slot == Slot::kKeyProjection || slot == Slot::kValueProjection) {
      return add(name + ".weight", {uint64_t{kHeads} * read_.summed.features, kPositions}, 0.3F);
    }
    if (slot == Slot::kValueConvolution) return add(name + ".weight", {kHeads, 1, read_.value_taps, 1}, 0.2F);
    if (slot == Slot::kShortTaps) {
      add(name + ".weight", {kHidden, 1, read_.short_taps}, 0.4F);
      if (biases_) add(name + ".bias", {kHidden}, 0.2F);
      return;
    }
    if (slot == Slot::kInputGate || slot == Slot::kRateGate) {
      add(name + "_weight", {kHeads, kHidden / kHeads, kHidden / kHeads}, 0.5F);
      return add(name + "_bias", {kHeads, kHidden / kHeads}, 0.2F);
    }
    if (slot == Slot::kFeatureMatrix) return add(name + ".weight", {read_.summed.features, read_.head_width}, 1);
    if (axes.columns == Axis::kNone) return norm(name, extent(axes.rows));
    const bool bare = convert::is_of_expert(slot) || (slot == Slot::kPlaceKey && stack().block.shifted);
    linear(name, extent(axes.rows), extent(axes.columns), bare);
  }

  void encoder() {
    const std::string base = std::string(stack().base) + ".";
    const std::string own = own_layers(family_);
    if (is_recurrent(family_)) own == "elmo" ? bilm(base) : recurrent(base);
    if (own == "textcnn") convolutions(base + "convs.");
    if (own == "nplm") linear(base + "hidden", kHidden, 3 * uint64_t{kHidden});
    if (own == "evolved_transformer") evolved(base);
    if (own == "retro") retro(base);
    if (is_mamba(family_)) mamba(base);
    if (is_rwkv(family_)) rwkv(base);
    for (const auto& [slot, name] : convert::stored_roles(read_)) {
      if (slot == Slot::kFactorProjection) continue;
      if (slot == Slot::kEmbeddingProjection && !read_.projects) continue;
      if (slot == Slot::kSegments && read_.segments == 0) continue;
      if (slot == Slot::kDistanceKeys && !read_.relative.vectors) continue;
      if (read_.convolution == 0 && (slot == Slot::kConvolution || slot == Slot::kConvolutionNorm)) continue;
      if (convert::is_table(slot)) {
        const convert::Axes axes = convert::axes_of(stack(), slot);
        if (slot == Slot::kDistances) {
          // The biases of several layers add up.
          const bool each = std::string(stack().name(slot)).find("{}") != std::string::npos;
          add(base + name, {read_.buckets, kHeads}, each ? 0.1F : 1.0F);
          continue;
        }
        if (slot == Slot::kFirstAxis || slot == Slot::kSecondAxis) {
          const bool second = slot == Slot::kSecondAxis;
          const uint64_t rows = read_.chunked.axis_rows[second], columns = read_.chunked.axis_columns[second];
          add(base + name, second ? std::vector<uint64_t>{1, rows, columns} : std::vector<uint64_t>{rows, 1, columns},
              1);
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
          const bool none =
              i == 0 && slot == Slot::kAttentionNorm && stack().block.norm_first && !stack().block.norm_before_all;
          // Nothing reads the last layer's rows of entities.
          const bool unread = i + 1 == read_.layers && (slot == Slot::kEntityDown || slot == Slot::kEntityNorm);
          if (!none && !unread && convert::has_role(read_, slot, i))
            module(base + convert::layer_prefix(read_, i) + name, slot);
        }
      } else {
        module(base + name, slot);
      }
    }
  }

  /// Tensors of torch.nn.LSTM in both directions; a decoder's layer has the columns of both.
  void recurrent(const std::string& base) {
    const bool decoder = stack().block.causal;
    const std::string module = base + (decoder ? "decoder.rnn." : family_.source != nullptr ? "encoder.rnn." : "lstm.");
    const uint64_t cells = decoder ? kHidden : kHidden / 2, gates = 4 * cells;
    for (const char* direction : {"", "_reverse"}) {
      if (decoder && *direction != 0) continue;
      add(module + "weight_ih_l0" + direction, {gates, extent(Axis::kHidden)}, 0.4F);
      add(module + "weight_hh_l0" + direction, {gates, cells}, 0.4F);
      if (!biases_) continue;
      add(module + "bias_ih_l0" + direction, {gates}, 0.2F);
      add(module + "bias_hh_l0" + direction, {gates}, 0.2F);
    }
  }

  /// Tensors of torch.nn.LSTM with projections, one module per layer and direction, and a mixture.
  void bilm(const std::string& base) {
    const uint64_t cells = kHidden + 2, gates = 4 * cells;
    for (const char* layer : {"forward_layers.0.", "forward_layers.1.", "backward_layers.0.", "backward_layers.1."}) {
      for (const char* from : {"ih", "hh"}) {
        add(base + layer + "weight_" + from + "_l0", {gates, kHidden}, 0.4F);
        if (biases_) add(base + layer + "bias_" + from + "_l0", {gates}, 0.2F);
      }
      add(base + layer + "weight_hr_l0", {kHidden, cells}, 0.4F);
    }
    add(base + "mix.weights", {3}, 1);
    add(base + "mix.gamma", {1}, 0.2F, 1);
  }

  /// Tensors of torch.nn.Conv1d with two kernel sizes.
  void convolutions(const std::string& module) {
    for (const uint64_t size : {2U, 3U}) {
      const std::string name = module + std::to_string(size - 2);
      add(name + ".weight", {kHidden / 2, kHidden, size}, 0.4F);
      if (biases_) add(name + ".bias", {kHidden / 2}, 0.2F);
    }
  }

  /// Tensors of the Evolved Transformer, two layers per stack.
  void evolved(const std::string& base) {
    const bool decoder = stack().block.causal;
    const std::string side = base + (decoder ? "decoder." : "encoder.");
    const auto attention = [&](const std::string& name) {
      for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"}) linear(name + part, kHidden, kHidden);
    };
    const auto separable = [&](const std::string& name, uint64_t out, uint64_t in, uint64_t taps) {
      add(name + ".depthwise.weight", {in, 1, taps}, 0.4F);
      linear(name + ".pointwise", out, in);
    };
    for (const char* number : {"0.", "1."}) {
      const std::string layer = side + "layers." + number;
      for (const char* name : {"branch_norm", "self_attn_norm", "ffn_norm"}) norm(layer + name, kHidden);
      norm(layer + "convolution_norm", (decoder ? 2 : 4) * uint64_t{kHidden});
      attention(layer + "self_attn");
      linear(layer + "fc1", 4 * uint64_t{kHidden}, kHidden);
      linear(layer + "fc2", kHidden, 4 * uint64_t{kHidden});
      if (decoder) {
        norm(layer + "attention_norm", kHidden);
        norm(layer + "encoder_attn_norm", kHidden);
        for (const char* name : {"wide_attn", "first_encoder_attn", "encoder_attn"}) attention(layer + name);
        separable(layer + "left", 2 * uint64_t{kHidden}, kHidden, 11);
        separable(layer + "right", kHidden / 2, kHidden, 7);
        separable(layer + "convolution", kHidden, 2 * uint64_t{kHidden}, 7);
        continue;
      }
      norm(layer + "glu_norm", kHidden);
      linear(layer + "glu_values", kHidden, kHidden);
      linear(layer + "glu_gates", kHidden, kHidden);
      linear(layer + "left", 4 * uint64_t{kHidden}, kHidden);
      add(layer + "right.weight", {kHidden / 2, kHidden, 3}, 0.3F);
      if (biases_) add(layer + "right.bias", {kHidden / 2}, 0.2F);
      separable(layer + "convolution", kHidden / 2, 4 * uint64_t{kHidden}, 9);
    }
    norm(side + "norm", kHidden);
  }

  /// Tensors of Mamba's two layers.
  void mamba(const std::string& base) {
    const uint64_t inside = read_.intermediate, rank = (kHidden + 15) / 16, states = 16;
    for (const char* number : {"0.", "1."}) {
      const std::string layer = base + "layers." + number, mixer = layer + "mixer.";
      norm(layer + "norm", kHidden);
      linear(mixer + "in_proj", 2 * inside, kHidden);
      add(mixer + "conv1d.weight", {inside, 1, 4}, 0.4F);
      if (biases_) add(mixer + "conv1d.bias", {inside}, 0.2F);
      linear(mixer + "x_proj", rank + 2 * states, inside, true);
      linear(mixer + "dt_proj", inside, rank);
      add(mixer + "A_log", {inside, states}, 0.5F);
      add(mixer + "D", {inside}, 0.5F);
      linear(mixer + "out_proj", kHidden, inside);
    }
    norm(base + "norm_f", kHidden);
  }

  /// Tensors of RWKV's two layers.
  void rwkv(const std::string& base) {
    for (const char* number : {"0.", "1."}) {
      const std::string layer = base + "blocks." + number, mixer = layer + "attention.", feed = layer + "feed_forward.";
      if (number == std::string("0.")) norm(layer + "pre_ln", kHidden);
      for (const char* name : {"ln1", "ln2"}) norm(layer + name, kHidden);
      for (const char* name : {"key", "value", "receptance", "output"}) linear(mixer + name, kHidden, kHidden, true);
      for (const char* name : {"key", "value", "receptance"}) add(mixer + "time_mix_" + name, {1, 1, kHidden}, 0.5F);
      for (const char* name : {"time_decay", "time_first"}) add(mixer + name, {kHidden}, 0.5F);
      for (const char* name : {"key", "receptance"}) add(feed + "time_mix_" + name, {1, 1, kHidden}, 0.5F);
      linear(feed + "key", read_.intermediate, kHidden, true);
      linear(feed + "receptance", kHidden, kHidden, true);
      linear(feed + "value", kHidden, read_.intermediate, true);
    }
    norm(base + "ln_out", kHidden);
  }

  /// Tensors of RETRO: two decoder layers, of which the last one attends to retrieved texts, and one encoder layer.
  void retro(const std::string& base) {
    add(base + "encoder.embeddings.weight", {kVocabulary, kRetroHidden}, 1);
    norm(base + "decoder.norm", kHidden);
    for (const char* name : {"decoder.layers.0.", "decoder.layers.1.", "encoder.layers.0."}) {
      const std::string layer = base + name;
      const bool encoder = *name == 'e';
      const uint64_t width = encoder ? kRetroHidden : kHidden, other = encoder ? kHidden : kRetroHidden;
      const uint64_t heads = encoder ? 2 : kHeads;
      for (const char* part : {"attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.out_proj"}) {
        linear(layer + part, width, width);
      }
      linear(layer + "attn.positions", width, width, true);
      for (const char* part : {"attn.content_bias", "attn.position_bias"})
        add(layer + part, {heads, width / heads}, 0.3F);
      linear(layer + "ffw.up", kFfn, width);
      linear(layer + "ffw.down", width, kFfn);
      for (const char* part : {"attn_norm", "ffw_norm"}) norm(layer + part, width);
      if (layer == base + "decoder.layers.0.") continue;
      norm(layer + "cross_norm", width);
      linear(layer + "cross.q_proj", width, width);
      for (const char* part : {"cross.k_proj", "cross.v_proj"}) linear(layer + part, width, other);
      linear(layer + "cross.out_proj", width, width, true);
      linear(layer + "cross.positions", heads, width, true);
    }
  }

  /// Tensors of GLiNER with 10 columns.
  void span_head() {
    constexpr uint64_t kColumns = 10;
    const auto biased = [&](const std::string& name, uint64_t out, uint64_t in) {
      linear(name, out, in, true);
      add(name + ".bias", {out}, 0.2F);
    };
    const auto both = [&](const std::string& name, uint64_t in) {
      biased(name + ".0", 4 * kColumns, in);
      biased(name + ".3", kColumns, 4 * kColumns);
    };
    biased("token_rep_layer.projection", kColumns, kHidden);
    for (const char* name : {"project_start", "project_end"}) {
      both(std::string("span_rep_layer.span_rep_layer.") + name, kColumns);
    }
    both("span_rep_layer.span_rep_layer.out_project", 2 * kColumns);
    both("prompt_rep_layer", kColumns);
    for (const char* direction : {"", "_reverse"}) {
      for (const char* kind : {"ih", "hh"}) {
        const std::string end = std::string(kind) + "_l0" + direction;
        add("rnn.lstm.weight_" + end, {2 * kColumns, *kind == 'i' ? kColumns : kColumns / 2}, 0.4F);
        add("rnn.lstm.bias_" + end, {2 * kColumns}, 0.2F);
      }
    }
  }

  void heads() {
    if (finds()) span_head();
    if (head_.task == fb::TaskKind::joint) {
      linear("intent_classifier", 2, rows_width());
      linear("slot_classifier", 3, rows_width());
    }
    const bool both = head_.task == fb::TaskKind::pretraining;
    for (const fb::TaskKind part : {fb::TaskKind::fill, fb::TaskKind::next_sentence}) {
      if (both) layers(*family_.head(part));
    }
    layers(head_);
  }

  /// Returns the width of the rows that heads read.
  uint64_t rows_width() const {
    if (convert::has_role(read_, Slot::kLastProjection)) return read_.embedding;
    return own_layers(family_) == "elmo" || family_.block.reversible ? 2 * kHidden : kHidden;
  }

  void layers(const Head& head) {
    uint64_t in = rows_width();
    for (const HeadLayer& layer : head.layers) {
      if (layer.out == HeadLayer::Out::kVocabulary) {  // tied
        if (family_.block.reversible) add(layer.name + std::string(".weight"), {kVocabulary, 2 * kHidden}, 0.4F);
        if (own_layers(family_) == "nplm") {  // or not
          add(layer.name + std::string(".weight"), {kVocabulary, kHidden}, 0.4F);
          add("direct.weight", {kVocabulary, 3 * uint64_t{kHidden}}, 0.2F);
        }
        if (in != read_.embedding && std::string(family_.model_types.front()) == "rembert")
          add(layer.name + std::string(".weight"), {kVocabulary, in}, 0.4F);
        if (layer.bare) continue;
        if (layer.row_bias) {
          add(layer.bias, {1, kVocabulary}, 0.2F);
          continue;
        }
        add(layer.bias != nullptr ? layer.bias : std::string(layer.name) + ".bias", {kVocabulary}, 0.2F);
        const uint64_t beside = kHidden - read_.embedding;
        if (layer.beside != nullptr && beside != 0)
          add(layer.beside + std::string(".weight"), {beside, kVocabulary}, 0.3F);
        continue;
      }
      const std::map<HeadLayer::Out, uint64_t> widths = {
          {HeadLayer::Out::kLabels, kLabels}, {HeadLayer::Out::kHidden, kHidden},
          {HeadLayer::Out::kInner, kFfn},     {HeadLayer::Out::kEmbedding, read_.embedding},
          {HeadLayer::Out::kOne, 1},          {HeadLayer::Out::kTwo, 2},
          {HeadLayer::Out::kVector, 7}};
      const uint64_t out = widths.at(layer.out);
      if (layer.two_rows) in = 2 * kHidden;
      linear((layer.of_base ? std::string(family_.base) + "." : "") + layer.name, out, in, layer.bare);
      if (layer.norm != nullptr) norm(layer.norm, out);
      in = out;
    }
  }

  const Family& family_;
  const Head& head_;
  const bool biases_;
  Json config_ = Json::object();
  convert::EncoderConfig main_, source_, read_;
  std::map<std::string, MemoryTensor> tensors_;
  std::mt19937 random_{7};
};

/// `pairs`: for encoder-decoders, whose decoders read the ids of another sample. `marks`: if the head uses them.
inline std::vector<convert::Sample> samples(uint32_t segments, uint32_t vocabulary, uint32_t longest,
                                            bool pairs = false, bool marks = false) {
  std::vector<convert::Sample> all;
  std::mt19937 random(3);
  for (const uint32_t length : {1U, 7U, longest}) {
    convert::Sample sample;
    for (uint32_t i = 0; i < length; ++i) {
      sample.ids.push_back(static_cast<int32_t>(random() % vocabulary));
      if (segments > 1) sample.segments.push_back(i < length / 2 ? 0 : 1);
      if (marks) sample.marks.push_back(i < 4 ? static_cast<int32_t>(i % 2) : i % 3 == 0 ? 0 : 2);
    }
    all.push_back(std::move(sample));
  }
  for (size_t i = 0; pairs && i < all.size(); ++i) all[i].decoder_ids = all[all.size() - 1 - i].ids;
  return all;
}

struct Agreement {
  double largest = 0, both = 0, expected = 0, actual = 0;
  double cosine() const { return both / std::sqrt(expected * actual); }
};

inline void add(const Matrix& expected, const convert::OutputRows& output, Agreement* found) {
  EXPECT_EQ(expected.values.size(), output.values.size()) << output.name;
  for (size_t row = 0; row < expected.rows; ++row) {
    for (size_t i = 0; i < expected.width; ++i) {
      const double e = expected.at(row, i), a = static_cast<double>(output.row(row)[i]);
      // Written so that a NaN fails, although no comparison with it is true.
      if (!(std::abs(e - a) <= found->largest)) found->largest = std::abs(e - a);
      found->both += e * a;
      found->expected += e * e;
      found->actual += a * a;
    }
  }
}

inline Agreement compare(const convert::Graph& graph, fb::DType weights, const std::vector<convert::Sample>& samples) {
  convert::TypeOptions types;
  types.weights = weights;
  const convert::FileBytes bytes = convert::build(graph, types);
  convert::Runner runner(bytes, graph.model.max_sequence);
  Agreement found;
  for (convert::Sample sample : samples) {
    if (graph.model.chunk != 0) runner.complete(&sample, 0);  // with retrieved texts
    const auto expected =
        evaluate(graph, sample.ids, sample.segments, sample.decoder_ids, sample.marks, sample.neighbours);
    for (const convert::OutputRows& output : runner.run(sample)) {
      add(expected.at(output.name), output, &found);
    }
  }
  return found;
}

/// Returns true for a head that multiplies with the word embeddings at full width: they cannot be narrower.
inline bool shares_wide_words(const Head& head) {
  for (size_t i = 1; i < head.layers.size(); ++i) {
    const HeadLayer& layer = head.layers[i];
    const bool words = layer.out == HeadLayer::Out::kVocabulary && layer.beside == nullptr;
    if (words && head.layers[i - 1].out == HeadLayer::Out::kHidden) return true;
  }
  return false;
}

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_TINY_H_
