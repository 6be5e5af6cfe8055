#include "network/settings/seq2seq_settings.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/known_keys.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostCombined = 1U << 14, kMostLocal = 1U << 20;

/// The value of `key` as an index into `names`.
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

/// "hidden_size" and "num_layers" apply to both stacks unless a stack has its own.
RecurrentSettings read_stack(const Fields& fields, bool decoder) {
  Json own = fields.whole();
  const std::string side = decoder ? "decoder_" : "encoder_";
  for (const auto& [key, name] : {std::pair("hidden_size", "hidden_size"), std::pair("num_layers", "layers")}) {
    if (fields.has(side + name)) own[key] = fields.raw(side + name);
  }
  if (decoder) own["bidirectional"] = false;
  return read_recurrent(fields.with(own));
}

/// Reads "attention", an object.
class AttentionReader {
 public:
  AttentionReader(const Fields& own, const PairSettings& pair) : own_(own), pair_(pair) {}

  PairAttention read() {
    out_.score = choice(own_, "score", {"none", "dot", "scaled_dot", "general", "additive"}, Score::kGeneral);
    out_.previous = choice(own_, "state", {"current", "previous"}, false);
    out_.feeding = own_.flag("input_feeding", false);
    out_.place = choice(own_, "window", {"global", "local-m", "local-p"}, fb::AlignPlace::all);
    out_.readout = choice(own_, "readout", {"none", "combine", "maxout"}, Readout::kCombine);
    read_sizes();
    read_readout();
    const uint32_t rows = pair_.encoder.directions() * pair_.encoder.state;
    const bool direct = out_.score == Score::kDot || out_.score == Score::kScaledDot;
    if (direct && rows != pair_.decoder.cells) {
      own_.problem(
          ExitCode::kInvalid, "score",
          fmt::format("a product of the decoder's {} numbers and the {} of a source's rows is none; \"general\" has a "
                      "matrix between them",
                      pair_.decoder.cells, rows));
    }
    return out_;
  }

 private:
  /// A count that only some settings have. `otherwise` 0: the key is required.
  uint32_t count(const char* key, bool has, uint32_t most, uint32_t otherwise, const char* needs) {
    if (has) return own_.has(key) || otherwise == 0 ? own_.count(key, most) : otherwise;
    if (own_.has(key)) own_.problem(ExitCode::kInvalid, key, fmt::format("is only read with {}", needs));
    return 0;
  }

  void read_sizes() {
    const uint32_t cells = pair_.decoder.cells;
    const bool local = out_.place != fb::AlignPlace::all, read_out = out_.readout != Readout::kState;
    const bool pairs = out_.readout == Readout::kMaxout;
    out_.window = count("window_size", local, kMostLocal, 0, "\"window\": \"local-m\" or \"local-p\"");
    out_.size = count("size", read_out, kMostCombined, pairs ? 2 * cells : cells, "a \"readout\"");
    out_.score_size =
        count("score_size", out_.score == Score::kAdditive, kMostCombined, cells, "\"score\": \"additive\"");
    out_.position_size =
        count("position_size", out_.place == fb::AlignPlace::given, kMostCombined, cells, "\"window\": \"local-p\"");
    if (pairs && out_.size % 2 != 0) {
      own_.problem(ExitCode::kInvalid, "size",
                   fmt::format("maxout takes the greater of each two of {} rows: an even number", out_.size));
    }
  }

  void read_readout() {
    const bool combines = out_.readout == Readout::kCombine, maxout = out_.readout == Readout::kMaxout;
    if (!combines && own_.has("activation")) {
      own_.problem(ExitCode::kInvalid, "activation", "is only read with \"readout\": \"combine\"");
    }
    out_.tanh = choice(own_, "activation", {"none", "tanh"}, true);
    out_.reads_previous = choice(own_, "readout_state", {"current", "previous"}, maxout && out_.previous);
    if (out_.reads_previous && !out_.previous) {
      own_.problem(ExitCode::kUnsupported, "readout_state", "\"previous\" is only read with \"state\": \"previous\"");
    }
    if (out_.readout != Readout::kState) return;
    if (!out_.previous) {
      own_.problem(ExitCode::kInvalid, "readout",
                   "\"none\" leaves nothing that reads the context, unless it is an input of the cells (\"state\": "
                   "\"previous\")");
    }
    if (out_.feeding) {
      own_.problem(ExitCode::kInvalid, "input_feeding", "there is nothing to feed with \"readout\": \"none\"");
    }
    if (own_.has("readout_state")) {
      own_.problem(ExitCode::kInvalid, "readout_state", "is only read with a \"readout\"");
    }
  }

  const Fields& own_;
  const PairSettings& pair_;
  PairAttention out_;
};

void read_attention(const Fields& fields, Problems& problems, PairSettings* out) {
  if (!fields.raw("attention").is_object()) {
    fields.problem(ExitCode::kInvalid, "attention", "is not an object; {\"score\": \"general\"} is one");
    return;
  }
  refuse_unknown_keys(fields.raw("attention"), "config.json: attention",
                      {"score", "state", "input_feeding", "window", "window_size", "readout", "readout_state", "size",
                       "score_size", "position_size", "activation"},
                      problems);
  const Fields own = fields.inside("attention");
  out->attention = AttentionReader(own, *out).read();
}

}  // namespace

PairSettings read_pair(const Fields& config) {
  Problems problems;
  const Fields fields(config.whole(), "config.json", problems, config.reads());
  PairSettings out;
  out.encoder = read_stack(fields, false);
  out.decoder = read_stack(fields, true);
  out.join = choice(fields, "state_join", {"concat", "sum", "mean", "forward", "reverse"}, Join::kConcat);
  out.first = choice(fields, "first_state", {"layers", "last", "zeros"}, First::kLayers);
  out.bridge = choice(fields, "bridge", {"none", "linear", "tanh"}, Bridge::kNone);
  out.every_step = choice(fields, "context", {"state", "steps"}, false);
  if (fields.has("attention")) read_attention(fields, problems, &out);
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
  if (!out.begins() && !out.every_step && !out.attends()) {
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
  problems.raise();
  return out;
}

}  // namespace bantam::convert
