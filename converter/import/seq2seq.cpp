#include "import/seq2seq.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/recurrent.h"

namespace bantam::convert {
namespace {

constexpr const char* kEncoder = "encoder.rnn";
constexpr const char* kDecoder = "decoder.rnn";
constexpr uint32_t kMostCombined = 1U << 14;

/// How the last states of an encoder's two directions become one row.
enum class Join { kConcat, kSum, kMean, kForward, kReverse };
/// What a decoder's layers begin with: the state of the encoder's layer of their number, that of its last one, or zeros.
enum class First { kLayers, kLast, kZeros };
/// What stands between the two.
enum class Bridge { kNone, kLinear, kTanh };

/// How a decoder's state scores the rows of a source (Luong et al., arXiv 1508.04025).
enum class Score { kNone, kDot, kScaledDot, kGeneral };

struct PairSettings {
  RecurrentSettings encoder, decoder;
  Join join = Join::kConcat;
  First first = First::kLayers;
  Bridge bridge = Bridge::kNone;
  bool every_step = false;  // the source's state is also read beside each token
  Score score = Score::kNone;
  bool tanh_combined = true;  // the layer over context and state ends with its tanh
  uint32_t combined = 0;      // columns of that layer

  bool begins() const { return first != First::kZeros; }
  uint32_t joined() const { return encoder.both && join == Join::kConcat ? 2 * encoder.state : encoder.state; }
};

/// The value of `key`, one of `names` by its place.
template <typename Kind>
Kind choice(const Fields& fields, const char* key, const std::vector<const char*>& names, Kind otherwise) {
  const std::string value = fields.text(key, names[static_cast<size_t>(otherwise)]);
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    if (value == names[i]) return static_cast<Kind>(i);
    all += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  }
  fields.problem(ExitCode::kUnsupported, key, fmt::format("\"{}\" is not supported; {} are", value, all));
  return otherwise;
}

/// "hidden_size" and "num_layers" are of both stacks unless the stack has its own.
RecurrentSettings read_stack(const Fields& fields, bool decoder) {
  Json own = fields.whole();
  const std::string side = decoder ? "decoder_" : "encoder_";
  for (const auto& [key, name] : {std::pair("hidden_size", "hidden_size"), std::pair("num_layers", "layers")}) {
    if (fields.has(side + name)) own[key] = fields.raw(side + name);
  }
  if (decoder) own["bidirectional"] = false;
  return read_recurrent(fields.with(own));
}

/// "attention": an object.
void read_attention(const Fields& fields, PairSettings* out) {
  if (!fields.raw("attention").is_object()) {
    fields.problem(ExitCode::kInvalid, "attention", "is no object; {\"score\": \"general\"} is one");
    return;
  }
  const Fields own = fields.inside("attention");
  out->score = choice(own, "score", {"none", "dot", "scaled_dot", "general"}, Score::kGeneral);
  out->tanh_combined = choice(own, "activation", {"none", "tanh"}, true);
  out->combined = own.has("size") ? own.count("size", kMostCombined) : out->decoder.cells;
  if (own.text("state", "current") != "current") {
    own.problem(ExitCode::kUnsupported, "state",
                "only \"current\" is supported: the state behind a token scores the source");
  }
  if (own.flag("input_feeding", false)) own.problem(ExitCode::kUnsupported, "input_feeding", "only false is supported");
  const uint32_t rows = out->encoder.directions() * out->encoder.state;
  const bool direct = out->score == Score::kDot || out->score == Score::kScaledDot;
  if (direct && rows != out->decoder.cells) {
    own.problem(
        ExitCode::kInvalid, "score",
        fmt::format("a product of the decoder's {} numbers and the {} of a source's rows is none; \"general\" has a "
                    "matrix between them",
                    out->decoder.cells, rows));
  }
}

PairSettings read_pair(const Fields& fields) {
  PairSettings out;
  out.encoder = read_stack(fields, false);
  out.decoder = read_stack(fields, true);
  out.join = choice(fields, "state_join", {"concat", "sum", "mean", "forward", "reverse"}, Join::kConcat);
  out.first = choice(fields, "first_state", {"layers", "last", "zeros"}, First::kLayers);
  out.bridge = choice(fields, "bridge", {"none", "linear", "tanh"}, Bridge::kNone);
  out.every_step = choice(fields, "context", {"state", "steps"}, false);
  if (fields.has("attention")) read_attention(fields, &out);
  const std::string cell = out.encoder.cell == fb::Cell::lstm ? "LSTM" : "GRU";
  if (out.encoder.state != out.encoder.cells || out.decoder.state != out.decoder.cells) {
    fields.problem(ExitCode::kUnsupported, "proj_size", "encoder-decoders have no projections");
    out.encoder.state = out.encoder.cells;
    out.decoder.state = out.decoder.cells;
  }
  if (out.first == First::kLayers && out.encoder.layers != out.decoder.layers) {
    fields.problem(
        ExitCode::kInvalid, "decoder_layers",
        fmt::format("{} layers cannot begin with the states of {}; \"first_state\": \"last\" begins each with "
                    "that of the encoder's last one, \"zeros\" none",
                    out.decoder.layers, out.encoder.layers));
  }
  if (!out.begins() && !out.every_step && out.score == Score::kNone) {
    fields.problem(ExitCode::kInvalid, "first_state",
                   "\"zeros\" leaves nothing of the source to the decoder, unless it has \"attention\" or \"context\": "
                   "\"steps\"");
  }
  if (out.begins() && out.bridge == Bridge::kNone && out.joined() != out.decoder.cells) {
    fields.problem(ExitCode::kInvalid, "decoder_hidden_size",
                   fmt::format("the {} of {} numbers does not begin with the encoder's {}; a \"bridge\" (\"linear\", "
                               "\"tanh\") or another \"state_join\" makes them as many",
                               cell, out.decoder.cells, out.joined()));
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
      begins.beside = builder_.width(whole);
      begins.add_beside = [this, whole](const std::string& name, int32_t matrix) {
        return beside(name, whole, matrix);
      };
    }
    enter(fb::Phase::main);
    decoder->hidden = import_recurrent(builder_, weights_, s_.decoder, kDecoder, base_, decoder->hidden, begins);
    if (s_.score != Score::kNone) decoder->hidden = attended(source->hidden, decoder->hidden);
  }

 private:
  void enter(fb::Phase phase) {
    builder_.enter(phase);
    builder_.enter(fb::Part::recurrent);
  }

  /// Of rows [sequences, directions * state] one row a source.
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

  /// What the decoder's layers begin with, carried to the main pass.
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

  /// `x` behind the bridge, in the main pass.
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

  /// What the source's state gives the gates at every step: multiplied once.
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

  /// h~ = tanh(W [c; h] + b), c the mean of the source's rows by the softmax of their scores. W is linear: values are what its part for c
  /// makes of the rows, once a source, and keys what the matrix of "general" does, or the rows themselves.
  int32_t attended(int32_t rows, int32_t states) {
    const uint32_t source = builder_.width(rows), cells = builder_.width(states), columns = s_.combined;
    const uint32_t head = std::max(cells, columns);
    const std::string name = base_ + "attention", matrix = "attention.combine.weight", bias = "attention.combine.bias";
    const Values combine = weights_.encoder(matrix, {columns, source + cells});
    std::vector<Values> both;
    both.push_back(widened(keys(cells, source), head, source));
    both.push_back(widened(some_columns(combine, source + cells, 0, source), head, source));
    enter_attention(fb::Phase::source);
    const int32_t made = builder_.linear(
        name + ".kv", rows, builder_.linear_weight(name + ".kv.weight", 2 * head, source, concatenate(std::move(both))),
        kAbsent, {});
    const Heads kept = builder_.split_states(name + ".states", made, 1);
    enter_attention(fb::Phase::main);
    AttentionSpec all;
    all.scale = s_.score == Score::kScaledDot ? static_cast<float>(1 / std::sqrt(static_cast<double>(cells))) : 1.0F;
    const int32_t queries = builder_.split_queries(name + ".heads", filled(name + ".queries", states, head), 1);
    EpilogueSpec sum;
    sum.residual = builder_.attention(name, {queries, kept.k, kept.v}, all);
    if (columns != head) sum.residual = builder_.slice(name + ".context", sum.residual, 0, columns);
    const int32_t own =
        builder_.linear_weight(base_ + matrix, columns, cells, some_columns(combine, source + cells, source, cells));
    const bool biased = weights_.has_encoder(bias);
    const int32_t shift = biased ? builder_.vector(base_ + bias, weights_.encoder(bias, {columns})) : kAbsent;
    const int32_t combined = builder_.linear(name + ".combine", states, own, shift, sum);
    if (!s_.tanh_combined) return combined;
    EpilogueSpec tanh;
    tanh.activation = fb::ActivationKind::tanh;
    return builder_.row(name + ".tanh", combined, tanh);
  }

  /// What makes keys of a source's rows.
  Values keys(uint32_t cells, uint32_t source) {
    if (s_.score == Score::kGeneral) return weights_.encoder("attention.weight", {cells, source});
    Values same;
    same.values.assign(size_t{cells} * source, 0.0F);
    for (size_t i = 0; i < cells; ++i) same.values[i * (source + 1)] = 1;
    return same;
  }

  /// With rows of zeros behind it.
  static Values widened(Values matrix, uint32_t rows, uint32_t columns) {
    if (!matrix.values.empty()) matrix.values.resize(size_t{rows} * columns, 0.0F);
    return matrix;
  }

  /// `x` with zeros behind its columns.
  int32_t filled(const std::string& name, int32_t x, uint32_t columns) {
    const uint32_t own = builder_.width(x);
    if (own == columns) return x;
    Values same;
    same.values.assign(size_t{columns} * own, 0.0F);
    for (size_t i = 0; i < own; ++i) same.values[i * (own + 1)] = 1;
    return builder_.linear(name, x, builder_.linear_weight(name + ".weight", columns, own, std::move(same)), kAbsent,
                           {});
  }

  Builder& builder_;
  Weights& weights_;
  const PairSettings& s_;
  std::string base_;
  std::map<std::string, std::pair<int32_t, int32_t>> matrices_;  // of bridges, and their biases
};

}  // namespace

void add_recurrent_pair(Builder& builder, Weights& weights, const Fields& fields, Encoder* source, Encoder* decoder) {
  Problems wrong;
  const PairSettings settings = read_pair(Fields(fields.whole(), "config.json", wrong));
  wrong.raise();  // they would make every tensor's shape wrong
  PairBuilder(builder, weights, settings, decoder->base).run(source, decoder);
}

}  // namespace bantam::convert
