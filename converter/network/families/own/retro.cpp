// RETRO (Borgeaud et al. 2021, arXiv 2112.04426): a decoder that reads texts retrieved for each chunk of its own text.
// No library writes such directories; docs/retro.md describes them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "graph/places.h"
#include "network/blocks/modules.h"
#include "network/blocks/relative.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

/// Settings that only retrieval needs. Layers are numbered from 0, as tensors are; config.json numbers them from 1, as
/// the paper does.
struct RetroSettings {
  // Tokens per chunk; retrieved texts per chunk; tokens per retrieved text.
  uint32_t chunk = 64, neighbours = 2, neighbour = 128;
  std::vector<bool> attends, encoder_attends;  // P and P_enc of the paper: a flag per layer
  uint32_t hidden = 896, layers = 2, heads = 16, head_width = 56, intermediate = 3584;  // of the encoder
  bool own_words = true;  // the encoder has its own word table
  bool cross_places = true;
};
constexpr uint32_t kMostChunkSize = 1U << 12, kMostNeighbours = 64, kMostRetroWidth = 1U << 16,
                   kMostRetroLayers = 1U << 10;

/// Reads a list of layer numbers, starting at 1, as flags.
std::vector<bool> read_numbered_layers(const Fields& fields, const char* key, uint32_t layers, const Json& otherwise) {
  std::vector<bool> flags(layers);
  const Json& list = fields.has(key) ? fields.raw(key) : otherwise;
  for (const Json& layer : list.is_array() ? list : Json::array({-1})) {
    const uint64_t number = layer.is_number_unsigned() ? layer.get<uint64_t>() : 0;
    if (number == 0 || number > layers) {
      fields.problem(ExitCode::kInvalid, key,
                     fmt::format("is not a list of numbers of layers, from 1 to {}, as the paper counts them", layers));
      return flags;
    }
    flags[static_cast<size_t>(number) - 1] = true;
  }
  return flags;
}

/// The paper's P: every third layer, from the sixth on.
Json usual_layers(uint32_t layers) {
  Json list = Json::array();
  for (uint32_t i = 6; i <= layers; i += 3) list.push_back(i);
  return list;
}

Values zero_values(size_t count) {
  Values values;
  values.values.assign(count, 0.0F);
  return values;
}

/// One of the two stacks. Names are relative to the base model.
struct RetroSide {
  std::string name;  // "decoder."
  fb::Phase phase;
  fb::MaskKind mask;
  uint32_t hidden, heads, head_width, intermediate;
  ShiftedShape shape;
  int32_t distances = kAbsent;  // the row of each distance in its self-attention

  uint32_t columns() const { return heads * head_width; }
};

class RetroLayers {
 public:
  RetroLayers(Builder& builder, Weights& weights, const EncoderConfig& config, const RetroSettings& settings,
              uint32_t positions)
      : builder_(builder),
        weights_(weights),
        config_(config),
        settings_(settings),
        modules_(builder, weights, config),
        base_(std::string(config.family->base) + "."),
        decoder_{"decoder.",           fb::Phase::main,
                 fb::MaskKind::causal, config.hidden,
                 config.heads,         config.head_width,
                 config.intermediate,  {config.heads, config.head_width, config.hidden, positions - 1, true}},
        encoder_{"encoder.",
                 fb::Phase::source,
                 fb::MaskKind::segments,
                 settings.hidden,
                 settings.heads,
                 settings.head_width,
                 settings.intermediate,
                 {settings.heads, settings.head_width, settings.hidden, settings.neighbour - 1, false}} {}

  /// Algorithm 1 of the paper.
  int32_t run(Encoder* out) {
    int32_t x = out->hidden, encoded = kAbsent, chunk_rows = kAbsent;
    for (uint32_t i = 0; i < config_.layers; ++i) {
      x = attend(decoder_, i, x);
      if (settings_.attends[i] && encoded == kAbsent) {
        chunk_rows = x;
        encoded = encode(out->word_embeddings);
      }
      if (settings_.attends[i]) x = attend_to(decoder_, i, x, encoded);
      x = feed_forward(decoder_, i, x);
    }
    enter(decoder_, fb::Part::none, -1);
    out->hidden = builder_.row(base_ + "decoder.norm", x, modules_.norm("decoder.norm", config_.hidden));
    return chunk_rows;
  }

 private:
  /// The paper's ENCODER of the texts retrieved for a chunk; the caller's rows of the chunk are one of its inputs.
  int32_t encode(int32_t words) {
    enter(encoder_, fb::Part::embeddings, -1);
    builder_.input("neighbour_ids", fb::InputKind::source_ids, config_.vocabulary);
    builder_.input("neighbour_numbers", fb::InputKind::segments, settings_.neighbours + 1);
    const int32_t chunk = builder_.features(base_ + "encoder.chunk", config_.hidden);
    if (settings_.own_words) {
      const std::string name = "encoder.embeddings.weight";
      words = builder_.embedding(base_ + name, config_.vocabulary, encoder_.hidden,
                                 weights_.encoder(name, {config_.vocabulary, encoder_.hidden}));
    }
    int32_t x = builder_.embed(base_ + "encoder.embeddings", {{words, fb::IndexSource::ids}}, {});
    for (uint32_t i = 0; i < settings_.layers; ++i) {
      x = attend(encoder_, i, x);
      if (settings_.encoder_attends[i]) x = attend_to(encoder_, i, x, chunk);
      x = feed_forward(encoder_, i, x);
    }
    return x;
  }

  void enter(const RetroSide& side, fb::Part part, int32_t layer) {
    builder_.enter(side.phase);
    builder_.enter(part, layer);
  }
  static std::string prefix(const RetroSide& side, uint32_t layer) {
    return fmt::format("{}layers.{}.", side.name, layer);
  }

  int32_t normed(const std::string& name, int32_t x) {
    return builder_.row(base_ + name, x, modules_.norm(name, builder_.width(x)));
  }
  static EpilogueSpec added_to(int32_t x) {
    EpilogueSpec epilogue;
    epilogue.residual = x;
    return epilogue;
  }

  /// Several layers of `rows` outputs as one multiplication; `more` is added to the bias of the first.
  int32_t above(const std::string& op, int32_t x, uint32_t rows, const std::vector<std::string>& names,
                const Values& more) {
    const uint32_t in = builder_.width(x), out = static_cast<uint32_t>(names.size()) * rows;
    std::vector<Values> matrices, biases;
    bool biased = !more.values.empty();
    for (const std::string& name : names) {
      matrices.push_back(weights_.encoder(name + ".weight", {rows, in}));
      const bool bare = modules_.lacks_bias(name);
      biased = biased || !bare;
      Values bias = bare ? zero_values(rows) : weights_.encoder(name + ".bias", {rows});
      for (size_t i = 0; biases.empty() && i < more.values.size() && i < bias.values.size(); ++i) {
        bias.values[i] += more.values[i];
      }
      if (biases.empty()) bias.source.insert(bias.source.end(), more.source.begin(), more.source.end());
      biases.push_back(std::move(bias));
    }
    const int32_t matrix = modules_.matrix(op + ".weight", out, in, concatenate(std::move(matrices)));
    const int32_t bias = biased ? builder_.vector(base_ + op + ".bias", concatenate(std::move(biases))) : kAbsent;
    return builder_.linear(base_ + op, x, matrix, bias, {});
  }

  /// ATTN: x + self-attention with Transformer-XL's relative positions.
  int32_t attend(RetroSide& side, uint32_t i, int32_t x) {
    enter(side, fb::Part::attention, static_cast<int32_t>(i));
    const std::string name = prefix(side, i) + "attn";
    const std::vector<uint32_t> by_head = {side.heads, side.head_width};
    const Values content = weights_.encoder(name + ".content_bias", by_head);
    const Values places = weights_.encoder(name + ".position_bias", by_head);
    Values matrix = weights_.encoder(name + ".positions.weight", {side.columns(), side.hidden});
    matrix.values = turned(matrix.values, side.columns());
    const int32_t in = normed(prefix(side, i) + "attn_norm", x);
    const int32_t qkv =
        above(name + ".qkv", in, side.columns(), {name + ".q_proj", name + ".k_proj", name + ".v_proj"}, content);
    AttentionSpec spec;
    spec.mask = side.mask;
    if (side.distances == kAbsent) {
      Values rows;
      rows.values = side.shape.rows();
      side.distances = builder_.vector(base_ + side.name + "distances", std::move(rows));
    }
    add_shifted(builder_, base_ + name + ".places", side.shape, content, places, std::move(matrix), side.distances,
                &spec);
    const Heads split = builder_.split_heads(base_ + name + ".heads", qkv, side.heads);
    return modules_.dense(name + ".out_proj", builder_.attention(base_ + name, split, spec), side.hidden, added_to(x));
  }

  /// CCA of the decoder, to the encoded texts; CA of the encoder, to the chunk's rows. Where there is nothing to attend
  /// to the result is x + 0, because the output layer has no bias.
  int32_t attend_to(const RetroSide& side, uint32_t i, int32_t x, int32_t rows) {
    enter(side, fb::Part::attention, static_cast<int32_t>(i));
    const std::string name = prefix(side, i) + "cross";
    AttentionSpec spec;
    if (settings_.cross_places) spec.distance_bias = cross_biases(side, name);
    const int32_t in = normed(prefix(side, i) + "cross_norm", x);
    const int32_t q = builder_.split_queries(base_ + name + ".queries",
                                             modules_.dense(name + ".q_proj", in, side.columns(), {}), side.heads);
    enter(encoder_, fb::Part::attention, static_cast<int32_t>(i));
    const int32_t both = above(name + ".kv", rows, side.columns(), {name + ".k_proj", name + ".v_proj"}, {});
    const bool leaves = side.phase == fb::Phase::main;
    if (!leaves) spec.mask = fb::MaskKind::first_segment;
    const Heads kv = leaves ? builder_.split_states(base_ + name + ".states", both, side.heads)
                            : builder_.split_keys(base_ + name + ".keys", both, side.heads);
    enter(side, fb::Part::attention, static_cast<int32_t>(i));
    const int32_t context = builder_.attention(base_ + name, {q, kv.k, kv.v}, spec);
    const std::string out = name + ".out_proj";
    const int32_t matrix = modules_.matrix(out + ".weight", side.hidden, side.columns(),
                                           weights_.encoder(out + ".weight", {side.hidden, side.columns()}));
    return builder_.linear(base_ + out, context, matrix, kAbsent, added_to(x));
  }

  /// Positional logits of all distances, "a linear transform of a cosine vector": [heads, 2 D + 1]; element D + key -
  /// query is the paper's distance d = query - key, equations (6) and (7).
  int32_t cross_biases(const RetroSide& side, const std::string& name) {
    const uint32_t most = settings_.neighbour + 2 * settings_.chunk, width = side.hidden;
    const Values matrix = weights_.encoder(name + ".positions.weight", {side.heads, width});
    const std::vector<float> waves = precise_sinusoids(most + 1, width);
    Values biases;
    biases.source = matrix.source;
    for (size_t head = 0; head < side.heads && !matrix.values.empty(); ++head) {
      for (size_t element = 0; element <= size_t{2} * most; ++element) {
        const bool front = element < most;  // the key is before the query: d is above 0
        const size_t distance = front ? most - element : element - most;
        double sum = 0;
        for (size_t k = 0; k < width; ++k) {
          const bool turns = !front && k < width / 2;  // sin(-d) = -sin(d)
          const double wave = double{waves[distance * width + k]} * double{matrix.values[head * width + k]};
          sum += turns ? -wave : wave;
        }
        biases.values.push_back(static_cast<float>(sum));
      }
    }
    return builder_.table(base_ + name + ".biases", side.heads, 2 * most + 1, std::move(biases));
  }

  /// FFW
  int32_t feed_forward(const RetroSide& side, uint32_t i, int32_t x) {
    enter(side, fb::Part::feed_forward, static_cast<int32_t>(i));
    const std::string name = prefix(side, i) + "ffw";
    EpilogueSpec activated;
    activated.activation = config_.activation;
    const int32_t wide =
        modules_.dense(name + ".up", normed(prefix(side, i) + "ffw_norm", x), side.intermediate, activated);
    return modules_.dense(name + ".down", wide, side.hidden, added_to(x));
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const RetroSettings& settings_;
  Modules modules_;
  std::string base_;
  RetroSide decoder_, encoder_;
};

RetroSettings read_retro(const Fields& fields, const EncoderConfig& config) {
  RetroSettings out;
  out.chunk = fields.count("chunk_size", kMostChunkSize, out.chunk);
  out.neighbours = fields.count("num_neighbours", kMostNeighbours, out.neighbours);
  out.neighbour = fields.count("neighbour_size", 2 * kMostChunkSize, 2 * out.chunk);
  out.attends = read_numbered_layers(fields, "retrieval_layers", config.layers, usual_layers(config.layers));
  if (std::find(out.attends.begin(), out.attends.end(), true) == out.attends.end()) {
    fields.problem(ExitCode::kInvalid, "retrieval_layers", "names no layer that attends to what is retrieved");
  }
  out.hidden = fields.count("encoder_hidden_size", kMostRetroWidth, config.hidden);
  out.layers = fields.count("encoder_num_hidden_layers", kMostRetroLayers, out.layers);
  out.heads = fields.count("encoder_num_attention_heads", kMostRetroWidth, config.heads);
  out.intermediate = fields.count("encoder_intermediate_size", kMostRetroWidth, config.intermediate);
  out.encoder_attends = read_numbered_layers(fields, "encoder_retrieval_layers", out.layers, Json::array({1U}));
  out.own_words = !fields.flag("share_embeddings", false);
  const std::string places = fields.text("cross_positions", "linear");
  out.cross_places = places != "none";
  if (out.cross_places && places != "linear") {
    fields.problem(ExitCode::kUnsupported, "cross_positions",
                   fmt::format("\"{}\" is not supported; \"linear\" and \"none\" are", places));
  }
  if (!fields.has("encoder_head_dim") && out.hidden % out.heads != 0) {
    fields.problem(ExitCode::kInvalid, "encoder_num_attention_heads",
                   fmt::format("{} heads do not divide {} columns", out.heads, out.hidden));
  }
  out.head_width = fields.count("encoder_head_dim", kMostRetroWidth, std::max(1U, out.hidden / out.heads));
  if (out.hidden % 2 != 0) {
    fields.problem(ExitCode::kInvalid, "encoder_hidden_size",
                   "an odd number of columns has no sinusoids of sines and cosines");
  }
  if (!out.own_words && out.hidden != config.hidden) {
    fields.problem(ExitCode::kInvalid, "share_embeddings",
                   fmt::format("the encoder has {} columns, the decoder {}: they share no table of words", out.hidden,
                               config.hidden));
  }
  return out;
}

/// Adds the layers of both stacks, above the decoder's embeddings, and sets the model's sizes of chunks.
void add_retro_layers(const LayerSite& site) {
  const RetroSettings settings = read_retro(site.fields, site.config);
  site.problems.raise();  // wrong settings would make every tensor's shape wrong
  site.graph.model.chunk = settings.chunk;
  site.graph.model.max_source = settings.chunk + settings.neighbours * settings.neighbour;
  RetroLayers layers(site.builder, site.weights, site.config, settings, site.positions);
  site.encoder->chunk_rows = layers.run(site.encoder);
}

}  // namespace

Family retro() {
  Family family;
  family.model_types = {"retro"};
  family.base = "model";
  family.architectures = {"Retro"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128000;
  settings.positions.otherwise = 2048;
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 896;
  settings.heads.otherwise = 16;
  settings.head_width = "head_dim";
  settings.intermediate.otherwise = 3584;
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "rms_norm_eps";
  settings.epsilon_otherwise = 1e-6;
  settings.untied = true;
  family.layer = "decoder.layers.{}";
  family.own = {add_retro_layers, "some attend to what was retrieved"};
  Block& block = family.block;
  block.causal = block.shifted = block.rms_norms = block.optional_biases = true;
  family.roles = {{Slot::kWords, "decoder.embeddings.weight"}};
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"}, {fb::TaskKind::generate, "ForCausalLM", Rows::kTokens, {words}}};
  return family;
}

}  // namespace bantam::convert
