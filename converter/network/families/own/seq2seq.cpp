// Seq2seq: a recurrent encoder and a recurrent decoder, each with its own words, stored as PyTorch does (Cho et al.,
// arXiv 1406.1078; Sutskever et al., arXiv 1409.3215). No library writes such directories; docs/recurrent.md describes
// them.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/recurrent.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"
#include "network/settings/seq2seq_settings.h"

namespace bantam::convert {
namespace {

constexpr const char* kEncoder = "encoder.rnn";
constexpr const char* kDecoder = "decoder.rnn";
constexpr const char* kAttention = "attention";

/// Rows first, first + step, ... of a matrix; with `less_next` the following row is subtracted from each.
Values some_rows(const Values& from, uint32_t columns, uint32_t first, uint32_t step, bool less_next) {
  Values out;
  out.source = from.source;
  out.source_type = from.source_type;
  out.source_bytes = from.source_bytes / step;
  for (size_t row = first; (row + 1) * columns <= from.values.size(); row += step) {
    for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
      out.values.push_back(from.values[i] - (less_next ? from.values[i + columns] : 0.0F));
    }
  }
  return out;
}

class PairBuilder {
 public:
  PairBuilder(Builder& builder, Weights& weights, const PairSettings& settings, std::string base)
      : builder_(builder), weights_(weights), s_(settings), base_(std::move(base)) {}

  void run(Encoder* source, Encoder* decoder) {
    std::vector<RecurrentState> left;
    RecurrentEnds ends;
    if (s_.begins() || s_.every_step) ends.last = &left;
    ends.of_all = s_.first == First::kLayers;
    enter(fb::Phase::source);
    source->hidden = import_recurrent(builder_, weights_, s_.encoder, kEncoder, base_, source->hidden, ends);
    for (RecurrentState& state : left) {
      state.state = joined(state.state);
      state.cells = s_.begins() ? joined(state.cells) : kAbsent;
    }
    RecurrentEnds begins;
    if (s_.begins()) begins.first = first_states(left);
    if (s_.every_step) {
      const int32_t whole = left.back().state;
      begins.beside.push_back(
          {".beside", builder_.width(whole),
           [this, whole](const auto& name, int32_t matrix, int32_t) { return beside(name, whole, matrix); }});
    }
    if (s_.attends()) look_at(source->hidden);
    words_ = decoder->hidden;
    if (s_.attention.goes_back()) go_back(&begins);
    enter(fb::Phase::main);
    decoder->hidden = import_recurrent(builder_, weights_, s_.decoder, kDecoder, base_, words_, begins);
    if (s_.attends()) decoder->hidden = read_out(decoder->hidden);
  }

 private:
  void enter(fb::Phase phase) {
    builder_.enter(phase);
    builder_.enter(fb::Part::recurrent);
  }

  /// Reduces rows [sequences, directions * state] to the decoder's source state, as Join says.
  int32_t joined(int32_t last) {
    if (last < 0 || !s_.encoder.both || s_.join == Join::kConcat) return last;
    const uint32_t width = builder_.width(last) / 2;
    const std::string name = builder_.name(last) + ".joined";
    if (s_.join == Join::kForward || s_.join == Join::kReverse) {
      return builder_.slice(name, last, s_.join == Join::kForward ? 0 : width, width);
    }
    EpilogueSpec sum;
    sum.residual = builder_.slice(name + ".forward", last, 0, width);
    if (s_.join == Join::kMean) {
      Values half;
      half.values.assign(width, 0.5F);
      sum.norm = fb::NormKind::affine;
      sum.gamma = builder_.vector(name + ".half", std::move(half));
    }
    return builder_.slice(name, last, width, width, &sum);
  }

  /// The initial states of the decoder's layers, passed to the main pass.
  std::vector<RecurrentState> first_states(const std::vector<RecurrentState>& left) {
    std::vector<RecurrentState> out;
    for (uint32_t layer = 0; layer < s_.decoder.layers; ++layer) {
      const RecurrentState& from = s_.first == First::kLast ? left.back() : left[layer];
      const bool again = s_.first == First::kLast && layer > 0;
      out.push_back(again ? out.front()
                          : RecurrentState{bridged("bridge", from.state), bridged("bridge_cells", from.cells)});
    }
    return out;
  }

  /// `x` after the bridge, in the main pass.
  int32_t bridged(const std::string& module, int32_t x) {
    if (x < 0) return kAbsent;
    const std::string name = builder_.name(x);
    enter(fb::Phase::source);
    if (s_.bridge != Bridge::kNone) {
      const uint32_t rows = s_.decoder.cells, columns = builder_.width(x);
      if (matrices_.count(module) == 0) {
        const std::string weight = module + ".weight", bias = module + ".bias";
        const int32_t matrix =
            builder_.linear_weight(base_ + weight, rows, columns, weights_.encoder(weight, {rows, columns}));
        const bool biased = weights_.has_encoder(bias);
        matrices_[module] = {matrix, biased ? builder_.vector(base_ + bias, weights_.encoder(bias, {rows})) : kAbsent};
      }
      EpilogueSpec epilogue;
      if (s_.bridge == Bridge::kTanh) epilogue.activation = fb::ActivationKind::tanh;
      x = builder_.linear(name + ".bridge", x, matrices_[module].first, matrices_[module].second, epilogue);
    }
    const int32_t state = builder_.leave(name + ".state", x);
    enter(fb::Phase::main);
    return builder_.slice(name + ".first", state, 0, builder_.width(state));
  }

  /// The source state's part of the gates' inputs, which is added at every step but computed once.
  int32_t beside(const std::string& name, int32_t whole, int32_t matrix) {
    enter(fb::Phase::source);
    const int32_t state = builder_.leave(name + ".state", builder_.linear(name, whole, matrix, kAbsent, {}));
    enter(fb::Phase::main);
    return builder_.spread(name + ".rows", state);
  }

  void enter_attention(fb::Phase phase) {
    builder_.enter(phase);
    builder_.enter(fb::Part::attention);
  }

  /// A linear layer with its matrix [rows, columns], and its bias if it has one.
  int32_t layer(const std::string& module, int32_t x, uint32_t rows, fb::ActivationKind activation) {
    const std::string weight = module + ".weight", bias = module + ".bias";
    const uint32_t columns = builder_.width(x);
    const int32_t matrix =
        builder_.linear_weight(base_ + weight, rows, columns, weights_.encoder(weight, {rows, columns}));
    EpilogueSpec epilogue;
    epilogue.activation = activation;
    return builder_.linear(base_ + module, x, matrix, optional_bias(bias, rows), epilogue);
  }
  int32_t optional_bias(const std::string& name, uint32_t rows) {
    return weights_.has_encoder(name) ? builder_.vector(base_ + name, weights_.encoder(name, {rows})) : kAbsent;
  }

  /// Passes the source's rows to the main pass as keys and values of attention.
  void look_at(int32_t rows) {
    const PairAttention& a = s_.attention;
    enter_attention(fb::Phase::source);
    const std::string name = base_ + kAttention;
    values_ = keys_ = builder_.leave(name + ".values", rows);
    if (a.score == Score::kGeneral) {
      keys_ = layer(kAttention, rows, s_.decoder.cells, fb::ActivationKind::none);
    } else if (a.score == Score::kAdditive) {
      keys_ = layer("attention.key", rows, a.score_size, fb::ActivationKind::none);
    }
    if (keys_ != values_) keys_ = builder_.leave(name + ".keys", keys_);
    enter_attention(fb::Phase::main);
  }

  /// The context c: the mean of the source's rows, weighted by their scores for `state`.
  int32_t context(int32_t state) {
    const PairAttention& a = s_.attention;
    const uint32_t cells = s_.decoder.cells;
    enter_attention(fb::Phase::main);
    AlignSpec spec;
    spec.place = a.place;
    spec.window = a.window;
    if (a.score == Score::kScaledDot) spec.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(cells)));
    if (a.place == fb::AlignPlace::given) {
      const int32_t inner = layer("attention.position", state, a.position_size, fb::ActivationKind::tanh);
      spec.centre = layer("attention.position_energy", inner, 1, fb::ActivationKind::sigmoid);
    }
    int32_t query = state, energy = kAbsent;
    if (a.score == Score::kAdditive) {
      query = layer("attention.query", state, a.score_size, fb::ActivationKind::none);
      const std::string weight = "attention.energy.weight", bias = "attention.energy.bias";
      energy = builder_.vector(base_ + weight, weights_.encoder(weight, {1, a.score_size}));
      if (weights_.has_encoder(bias)) weights_.encoder(bias, {1});  // a constant, which the softmax cancels
    }
    return builder_.align(base_ + kAttention, query, keys_, values_, energy, spec);
  }

  /// Makes the layers run token by token, because they read results of the previous token.
  void go_back(RecurrentEnds* ends) {
    const PairAttention& a = s_.attention;
    enter(fb::Phase::main);
    for (uint32_t layer = 0; layer < s_.decoder.layers; ++layer) {
      const RecurrentState first = layer < ends->first.size() ? ends->first[layer] : RecurrentState{};
      const std::string name = fmt::format("{}{}.l{}.previous", base_, kDecoder, layer);
      RecurrentState before;
      before.state = builder_.previous(name, s_.decoder.cells, first.state);
      if (s_.decoder.cell == fb::Cell::lstm) {
        before.cells = builder_.previous(name + "_cells", s_.decoder.cells, first.cells);
      }
      before_.push_back(before);
    }
    if (a.previous) {
      context_ = context(before_.back().state);
      ends->beside.push_back(rows_beside(".context", context_));
    }
    if (a.feeding) {
      fed_ = builder_.previous(base_ + kAttention + ".fed", a.readout == Readout::kMaxout ? a.size / 2 : a.size);
      ends->beside.push_back(rows_beside(".fed", fed_));
    }
    ends->cell = [this](uint32_t layer, const std::string& name, int32_t given, const RecurrentWeights& weights) {
      const RecurrentState& before = before_[layer];
      const int32_t own = builder_.linear(name + ".own", before.state, weights.weights, weights.bias, {});
      const bool lstm = s_.decoder.cell == fb::Cell::lstm;
      const RecurrentState after =
          builder_.recurrent_cell(name, s_.decoder.cell, given, own, lstm ? before.cells : before.state);
      builder_.close(before.state, after.state);
      if (lstm) builder_.close(before.cells, after.cells);
      return after.state;
    };
  }

  RecurrentBeside rows_beside(const std::string& name, int32_t x) {
    return {name, builder_.width(x), [this, x](const std::string& op, int32_t matrix, int32_t sum) {
              EpilogueSpec epilogue;
              epilogue.residual = sum;
              return builder_.linear(op, x, matrix, kAbsent, epilogue);
            }};
  }

  /// The input of the output layer, computed from `states` of the last layer.
  int32_t read_out(int32_t states) {
    const PairAttention& a = s_.attention;
    if (a.readout == Readout::kState) return states;
    if (!a.previous) context_ = context(states);
    enter_attention(fb::Phase::main);
    const int32_t state = a.reads_previous ? before_.back().state : states;
    const int32_t out = a.readout == Readout::kMaxout ? maxout({state, words_, context_}) : combine({context_, state});
    if (fed_ >= 0) builder_.close(fed_, out);
    return out;
  }

  /// `matrix` [rows, all columns] times the concatenated `parts`, plus a bias.
  int32_t product(const std::string& name, const std::vector<int32_t>& parts, const Values& matrix, uint32_t rows,
                  int32_t bias) {
    uint32_t columns = 0, begin = 0;
    for (const int32_t part : parts) columns += builder_.width(part);
    int32_t sum = kAbsent;
    for (size_t i = 0; i < parts.size(); ++i) {
      const uint32_t own = builder_.width(parts[i]);
      const std::string of_part = fmt::format("{}.{}", name, i);
      const int32_t weight =
          builder_.linear_weight(of_part + ".weight", rows, own, some_columns(matrix, columns, begin, own));
      EpilogueSpec epilogue;
      epilogue.residual = sum;
      sum = builder_.linear(of_part, parts[i], weight, i + 1 == parts.size() ? bias : kAbsent, epilogue);
      begin += own;
    }
    return sum;
  }
  Values readout_matrix(const std::string& name, const std::vector<int32_t>& parts) {
    uint32_t columns = 0;
    for (const int32_t part : parts) columns += builder_.width(part);
    return weights_.encoder(name, {s_.attention.size, columns});
  }

  /// h~ = tanh(W [c; h] + b)
  int32_t combine(const std::vector<int32_t>& parts) {
    const std::string name = "attention.combine";
    const Values matrix = readout_matrix(name + ".weight", parts);
    const int32_t sum =
        product(base_ + name, parts, matrix, s_.attention.size, optional_bias(name + ".bias", s_.attention.size));
    if (!s_.attention.tanh) return sum;
    EpilogueSpec tanh;
    tanh.activation = fb::ActivationKind::tanh;
    return builder_.row(base_ + name + ".tanh", sum, tanh);
  }

  /// t_j = max(x_2j, x_2j+1) with x = W [s; y; c] + b, computed as x_2j+1 + relu(x_2j - x_2j+1).
  int32_t maxout(const std::vector<int32_t>& parts) {
    const std::string name = "attention.maxout", bias = name + ".bias";
    const uint32_t rows = s_.attention.size / 2;
    const Values matrix = readout_matrix(name + ".weight", parts);
    uint32_t columns = 0;
    for (const int32_t part : parts) columns += builder_.width(part);
    const bool biased = weights_.has_encoder(bias);
    const Values biases = biased ? weights_.encoder(bias, {s_.attention.size}) : Values{};
    const auto half = [&](const std::string& end, uint32_t first, bool less_next) {
      const int32_t own =
          biased ? builder_.vector(base_ + bias + end, some_rows(biases, 1, first, 2, less_next)) : kAbsent;
      return product(base_ + name + end, parts, some_rows(matrix, columns, first, 2, less_next), rows, own);
    };
    EpilogueSpec greater;
    greater.activation = fb::ActivationKind::relu;
    greater.residual = half(".second", 1, false);
    return builder_.row(base_ + name, half(".more", 0, true), greater);
  }

  Builder& builder_;
  Weights& weights_;
  const PairSettings& s_;
  std::string base_;
  std::map<std::string, std::pair<int32_t, int32_t>> matrices_;  // matrices of bridges, and their biases
  int32_t words_ = kAbsent;                                      // rows of the decoder's embeddings
  int32_t keys_ = kAbsent, values_ = kAbsent;                    // from the states of a source's tokens
  int32_t context_ = kAbsent;
  std::vector<RecurrentState> before_;  // of each layer, after the previous token
  int32_t fed_ = kAbsent;
};

/// Adds the layers of both stacks once both have their embeddings. docs/recurrent.md lists the settings.
void add_recurrent_pair(const LayerSite& site) {
  if (site.phase == fb::Phase::source) return;
  const PairSettings settings = read_pair(site.fields);
  PairBuilder(site.builder, site.weights, settings, site.encoder->base).run(site.source, site.encoder);
}

Family seq2seq_stack(bool decoder) {
  Family family;
  family.base = "seq2seq";
  Settings& settings = family.settings;
  settings.vocabulary = {decoder ? "target_vocab_size" : "source_vocab_size", 0};
  settings.positions = {decoder ? "max_target_length" : "max_source_length", 512};
  settings.segments = {nullptr, 0};
  settings.hidden.key = decoder ? "decoder_embedding_size" : "encoder_embedding_size";
  settings.synonyms = {{"embedding_size", settings.hidden.key}, {"hidden_size", settings.hidden.key}};
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  settings.untied = true;
  family.own = {add_recurrent_pair, "they are recurrent"};
  family.block.causal = decoder;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, decoder ? "decoder.embedding.weight" : "encoder.embedding.weight"}};
  family.layer = decoder ? "decoder.layer.{}" : "encoder.layer.{}";
  return family;
}

}  // namespace

Family seq2seq() {
  Family family = seq2seq_stack(true);
  family.source = std::make_shared<const Family>(seq2seq_stack(false));
  family.model_types = {"seq2seq", "seq2seq-gru"};
  family.architectures = {"Seq2Seq"};
  family.heads = {{fb::TaskKind::generate, "ForGeneration", Rows::kTokens, {{"output", HeadLayer::Out::kVocabulary}}},
                  {fb::TaskKind::none, "Model"}};
  return family;
}

}  // namespace bantam::convert
