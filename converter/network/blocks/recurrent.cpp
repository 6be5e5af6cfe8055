#include "network/blocks/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostLayers = 64, kMostCells = 1U << 14;

/// Pads the rows of each gate with zeros to a multiple of 16 rows.
Values in_blocks(Values values, uint32_t gates, uint32_t cells, uint32_t columns) {
  const size_t block = kernels::pad16(cells);
  if (values.values.empty() || block == cells) return values;
  std::vector<float> padded(gates * block * columns, 0.0F);
  const auto count = static_cast<std::ptrdiff_t>(size_t{cells} * columns);
  for (uint32_t gate = 0; gate < gates; ++gate) {
    const auto from = values.values.begin() + static_cast<std::ptrdiff_t>(gate) * count;
    std::copy(from, from + count, padded.begin() + static_cast<std::ptrdiff_t>(gate * block * columns));
  }
  values.values = std::move(padded);
  return values;
}

class Layers {
 public:
  Layers(Builder& builder, Weights& weights, const RecurrentSettings& settings, const std::string& module,
         const std::string& base)
      : builder_(builder), weights_(weights), s_(settings), module_(module), base_(base) {}

  int32_t run(int32_t x, RecurrentEnds ends) {
    for (uint32_t layer = 0; layer < s_.layers; ++layer) {
      builder_.enter(fb::Part::recurrent, static_cast<int32_t>(s_.number + layer));
      x = one(layer, x, &ends);
    }
    return x;
  }

 private:
  /// The name of a tensor of a layer and direction.
  std::string name(const char* what, uint32_t layer, uint32_t direction) const {
    return fmt::format("{}.{}_l{}{}", module_, what, layer, direction == 0 ? "" : "_reverse");
  }

  Values take(const std::string& tensor, const std::vector<uint32_t>& shape) {
    return s_.of_head ? weights_.head(tensor, shape) : weights_.encoder(tensor, shape);
  }

  /// A GRU's reset gate multiplies the state's part of the candidate n, bias included, so that bias stays with the
  /// state. The other state biases are added to those of the input.
  Values state_bias(const Values& bias) const {
    Values own = bias;
    if (s_.cell == fb::Cell::lstm || own.values.empty()) return {};
    std::fill_n(own.values.begin(), 2 * size_t{s_.cells}, 0.0F);
    return own;
  }
  void add_input_bias(Values& bias, const Values& of_state) const {
    const size_t count = s_.cell == fb::Cell::lstm ? bias.values.size() : 2 * size_t{s_.cells};
    for (size_t i = 0; i < count && i < bias.values.size() && i < of_state.values.size(); ++i) {
      bias.values[i] += of_state.values[i];
    }
    bias.source.insert(bias.source.end(), of_state.source.begin(), of_state.source.end());
    bias.source_bytes += of_state.source_bytes;
  }

  int32_t one(uint32_t layer, int32_t x, RecurrentEnds* ends) {
    const std::vector<RecurrentBeside> beside = layer == 0 ? ends->beside : std::vector<RecurrentBeside>();
    const uint32_t own = builder_.width(x), gates = s_.gates() * s_.cells;
    const uint32_t columns = s_.gates() * kernels::pad16(s_.cells);
    uint32_t in = own;
    for (const RecurrentBeside& part : beside) in += part.columns;
    const std::string first_bias = name("bias_ih", layer, 0);
    const bool biased = s_.of_head ? weights_.has_head(first_bias) : weights_.has_encoder(first_bias);
    std::vector<Values> inputs, biases;
    std::vector<std::vector<Values>> others(beside.size());
    std::vector<RecurrentWeights> states;
    for (uint32_t d = 0; d < s_.directions(); ++d) {
      const auto blocks = [&](Values values, uint32_t width) {
        return in_blocks(std::move(values), s_.gates(), s_.cells, width);
      };
      const std::string weight = name("weight_hh", layer, d);
      const Values input = take(name("weight_ih", layer, d), {gates, in});
      inputs.push_back(blocks(beside.empty() ? input : some_columns(input, in, 0, own), own));
      uint32_t at = own;
      for (size_t part = 0; part < beside.size(); at += beside[part++].columns) {
        const uint32_t count = beside[part].columns;
        others[part].push_back(blocks(some_columns(input, in, at, count), count));
      }
      RecurrentWeights of;
      of.weights =
          builder_.linear_weight(base_ + weight, columns, s_.state, blocks(take(weight, {gates, s_.state}), s_.state));
      if (biased) {
        Values bias = take(name("bias_ih", layer, d), {gates});
        const Values of_state = take(name("bias_hh", layer, d), {gates});
        add_input_bias(bias, of_state);
        biases.push_back(blocks(std::move(bias), 1));
        Values stays = state_bias(of_state);
        if (!stays.values.empty()) {
          of.bias = builder_.vector(base_ + name("bias_hh", layer, d), blocks(std::move(stays), 1));
        }
      }
      if (s_.state != s_.cells) {
        const std::string projection = name("weight_hr", layer, d);
        of.projection =
            builder_.linear_weight(base_ + projection, s_.state, s_.cells, take(projection, {s_.state, s_.cells}));
      }
      states.push_back(of);
    }
    const std::string input = base_ + name("weight_ih", layer, 0), op = fmt::format("{}{}.l{}", base_, module_, layer);
    const int32_t matrix =
        builder_.linear_weight(input, s_.directions() * columns, own, concatenate(std::move(inputs)));
    const int32_t bias =
        biased ? builder_.vector(base_ + name("bias_ih", layer, 0), concatenate(std::move(biases))) : kAbsent;
    EpilogueSpec sum;
    for (size_t part = 0; part < beside.size(); ++part) {
      const std::string& end = beside[part].name;
      const int32_t other = builder_.linear_weight(input + end, s_.directions() * columns, beside[part].columns,
                                                   concatenate(std::move(others[part])));
      sum.residual = beside[part].add(op + end, other, sum.residual);
    }
    const int32_t given = builder_.linear(op + ".gates", x, matrix, bias, sum);
    if (ends->cell != nullptr) return ends->cell(layer, op, given, states.front());
    const RecurrentState first = layer < ends->first.size() ? ends->first[layer] : RecurrentState{};
    RecurrentState left;
    const bool keeps = ends->last != nullptr && (ends->of_all || layer + 1 == s_.layers);
    const int32_t y = builder_.recurrent(op, s_.cell, given, states, s_.reverse, first, keeps ? &left : nullptr,
                                         kAbsent, -1, s_.mark);
    if (keeps) ends->last->push_back(left);
    return y;
  }

  Builder& builder_;
  Weights& weights_;
  const RecurrentSettings& s_;
  std::string module_, base_;
};

}  // namespace

RecurrentSettings read_recurrent(const Fields& fields) {
  RecurrentSettings out;
  const std::string cell = fields.text("cell_type", "lstm");
  if (cell == "gru") {
    out.cell = fb::Cell::gru;
  } else if (cell != "lstm") {
    fields.problem(ExitCode::kUnsupported, "cell_type",
                   fmt::format("\"{}\" is not supported; \"lstm\" and \"gru\" are", cell));
  }
  out.cells = fields.count("hidden_size", kMostCells);
  out.layers = fields.count("num_layers", kMostLayers, 1);
  out.both = fields.flag("bidirectional", false);
  const bool projects = fields.has("proj_size") && fields.raw("proj_size") != 0;
  out.state = projects ? fields.count("proj_size", kMostCells) : out.cells;
  if (projects && out.cell == fb::Cell::gru) {
    fields.problem(ExitCode::kInvalid, "proj_size", "torch.nn.GRU has no projection");
  } else if (projects && out.state >= out.cells) {
    fields.problem(ExitCode::kInvalid, "proj_size",
                   fmt::format("{} is not less than hidden_size, {}", out.state, out.cells));
  }
  return out;
}

int32_t import_recurrent(Builder& builder, Weights& weights, const RecurrentSettings& settings,
                         const std::string& module, const std::string& base, int32_t x, const RecurrentEnds& ends) {
  return Layers(builder, weights, settings, module, base).run(x, ends);
}

int32_t import_ssru(Builder& builder, Weights& weights, const std::string& forget, const std::string& candidate,
                    const std::string& gates, const std::string& name, int32_t x) {
  const uint32_t cells = builder.width(x);
  std::vector<Values> matrices, biases;
  for (const std::string& module : {forget, candidate}) {
    matrices.push_back(in_blocks(weights.encoder(module + ".weight", {cells, cells}), 1, cells, cells));
    biases.push_back(in_blocks(weights.encoder(module + ".bias", {cells}), 1, cells, 1));
  }
  const int32_t matrix =
      builder.linear_weight(gates + ".weight", 2 * kernels::pad16(cells), cells, concatenate(std::move(matrices)));
  const int32_t bias = builder.vector(gates + ".bias", concatenate(std::move(biases)));
  return builder.ssru(name, builder.linear(gates, x, matrix, bias, {}), cells);
}

}  // namespace bantam::convert
