// Mamba (arXiv 2312.00752) and Falcon Mamba (arXiv 2410.05355): layers of a short convolution and a selective scan,
// whose steps and factors of states are computed from each token. Falcon Mamba norms these before it uses them.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/modules.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostStates = 256, kMostMambaTaps = 64, kMostRank = 1U << 16;

struct MambaSettings {
  uint32_t columns = 0;  // of a layer's inside
  uint32_t states = 0, taps = 0, rank = 0;
  float norm_epsilon = 0;  // of steps and factors; 0: they are not normed
};

class MambaLayers {
 public:
  MambaLayers(const LayerSite& site, const MambaSettings& settings)
      : builder_(site.builder),
        weights_(site.weights),
        config_(site.config),
        s_(settings),
        modules_(site.builder, site.weights, site.config),
        base_(site.encoder->base) {}

  int32_t run(int32_t x) {
    for (uint32_t i = 0; i < config_.layers; ++i) {
      builder_.enter(fb::Part::recurrent, static_cast<int32_t>(i));
      layer_ = layer_prefix(config_, i);
      const int32_t in = builder_.row(base_ + layer_ + "norm", x, modules_.norm(layer_ + "norm", config_.hidden));
      layer_ += "mixer.";
      x = mixed(in, x);
    }
    return x;
  }

 private:
  Values take(const std::string& name, const std::vector<uint32_t>& shape) {
    return weights_.encoder(layer_ + name, shape);
  }

  /// The linear layer `op` with the given matrix, and the bias of `module` if the file has one.
  int32_t linear(const std::string& op, int32_t x, uint32_t rows, Values matrix, const std::string& module,
                 const EpilogueSpec& epilogue) {
    const std::string name = base_ + layer_ + op, bias = module + ".bias";
    const int32_t weight = builder_.linear_weight(name + ".weight", rows, builder_.width(x), std::move(matrix));
    const bool biased = !module.empty() && weights_.has_encoder(layer_ + bias);
    return builder_.linear(name, x, weight, biased ? builder_.vector(name + ".bias", take(bias, {rows})) : kAbsent,
                           epilogue);
  }
  int32_t module(const std::string& op, const std::string& name, int32_t x, uint32_t rows,
                 const EpilogueSpec& epilogue) {
    return linear(op, x, rows, take(name + ".weight", {rows, builder_.width(x)}), name, epilogue);
  }

  /// The activated convolution over rows of `x` and those before them.
  int32_t convolved(int32_t x) {
    const std::string op = base_ + layer_ + "conv1d";
    Values taps = take("conv1d.weight", {s_.columns, 1, s_.taps});
    taps.values = turned(taps.values, s_.columns);
    EpilogueSpec biased, activated;
    if (weights_.has_encoder(layer_ + "conv1d.bias")) {
      biased = plus_vector(builder_, op, take("conv1d.bias", {s_.columns}));
    }
    activated.activation = config_.activation;
    return builder_.row(op + ".out", builder_.short_convolution(op, x, s_.taps - 1, std::move(taps), biased),
                        activated);
  }

  /// Some rows of the module that makes steps and factors of states, normed without factors if the settings say so.
  int32_t part(const char* op, int32_t x, const Values& all, uint32_t begin, uint32_t count) {
    EpilogueSpec epilogue;
    if (s_.norm_epsilon != 0) {
      Values ones;
      ones.values.assign(count, 1.0F);
      epilogue.norm = fb::NormKind::rms;
      epilogue.gamma = builder_.vector(base_ + layer_ + op + ".ones", std::move(ones));
      epilogue.epsilon = s_.norm_epsilon;
    }
    return linear(op, x, count, rows_between(all, s_.columns, begin, begin + count), "", epilogue);
  }

  /// -exp(A_log), a row for each state.
  int32_t rates() {
    Values rates = take("A_log", {s_.columns, s_.states});
    for (float& rate : rates.values) rate = static_cast<float>(-std::exp(static_cast<double>(rate)));
    rates.values = turned(rates.values, s_.columns);
    return padded_table(builder_, base_ + layer_ + "A_log", s_.states, s_.columns, std::move(rates));
  }

  int32_t mixed(int32_t in, int32_t x) {
    EpilogueSpec silu, softplus, gated, sum;
    const int32_t rows = module("in_proj", "in_proj[0/2]", in, s_.columns, {});
    silu.activation = fb::ActivationKind::silu;
    gated.gate = module("in_proj_gate", "in_proj[1/2]", in, s_.columns, silu);
    ScanSpec scan;
    scan.x = convolved(rows);
    const Values all = take("x_proj.weight", {s_.rank + 2 * s_.states, s_.columns});
    const int32_t steps = part("x_proj_steps", scan.x, all, 0, s_.rank);
    scan.in = part("x_proj_in", scan.x, all, s_.rank, s_.states);
    scan.out = part("x_proj_out", scan.x, all, s_.rank + s_.states, s_.states);
    softplus.activation = fb::ActivationKind::softplus;
    scan.steps = module("dt_proj", "dt_proj", steps, s_.columns, softplus);
    scan.rates = rates();
    scan.skip = builder_.vector(base_ + layer_ + "D", take("D", {s_.columns}));
    const int32_t scanned = builder_.scan(base_ + layer_ + "scan", scan);
    sum.residual = x;
    return module("out_proj", "out_proj", builder_.row(base_ + layer_ + "gated", scanned, gated), config_.hidden, sum);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const MambaSettings& s_;
  Modules modules_;
  std::string base_, layer_;
};

MambaSettings read_mamba(const LayerSite& site, bool normed) {
  MambaSettings out;
  out.columns = site.config.intermediate;
  out.states = site.fields.count("state_size", kMostStates, 16);
  out.taps = site.fields.count("conv_kernel", kMostMambaTaps, 4);
  const bool automatic = site.fields.has("time_step_rank") && site.fields.raw("time_step_rank") == "auto";
  const uint32_t usual = (site.config.hidden + 15) / 16;
  out.rank = automatic ? usual : site.fields.count("time_step_rank", kMostRank, usual);
  if (!normed) return out;
  const double epsilon = site.fields.number("mixer_rms_eps", 1e-6);
  if (!(epsilon > 0 && epsilon < 1)) {
    site.fields.problem(ExitCode::kInvalid, "mixer_rms_eps", "is not between 0 and 1");
  }
  out.norm_epsilon = static_cast<float>(epsilon);
  return out;
}

void add_layers(const LayerSite& site, bool normed) {
  const MambaSettings settings = read_mamba(site, normed);
  site.problems.raise();  // wrong settings would make every tensor's shape wrong
  Encoder& out = *site.encoder;
  out.hidden = MambaLayers(site, settings).run(out.hidden);
  Modules modules(site.builder, site.weights, site.config);
  const EpilogueSpec last = modules.norm("norm_f", site.config.hidden);
  out.hidden = site.builder.row(out.base + "norm_f", out.hidden, last);
  out.gamma = last.gamma;
}
void add_mamba(const LayerSite& site) { add_layers(site, false); }
void add_normed_mamba(const LayerSite& site) { add_layers(site, true); }

/// A layer is twice as wide inside unless "expand" says otherwise.
void settle_mamba(const Fields& config, EncoderConfig& out) {
  constexpr uint32_t kMostInside = 1U << 16;
  constexpr const char* kColumns = "intermediate_size";
  const double expand = config.number("expand", 2);
  const double columns = config.has(kColumns) ? config.count(kColumns, kMostInside) : std::floor(expand * out.hidden);
  if (!(columns >= 1 && columns <= kMostInside)) {
    config.problem(ExitCode::kInvalid, "expand", "makes layers of no columns, or of more than 65536");
    return;
  }
  out.intermediate = static_cast<uint32_t>(columns);
}

}  // namespace

Family mamba() {
  Family family;
  family.model_types = {"mamba"};
  family.base = "backbone";
  family.architectures = {"Mamba"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50280;
  settings.positions.otherwise = 1U << 17;
  settings.segments = {nullptr, 0};
  settings.layers.otherwise = 32;
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.activation_otherwise = "silu";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.settle = settle_mamba;
  family.layer = "layers.{}";
  family.block.causal = true;
  family.block.rms_norms = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embeddings.weight"}};
  family.own = {add_mamba, "they are recurrent"};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family falcon_mamba() {
  Family family = mamba();
  family.model_types = {"falcon_mamba"};
  family.architectures = {"FalconMamba"};
  family.own.add = add_normed_mamba;
  return family;
}

}  // namespace bantam::convert
