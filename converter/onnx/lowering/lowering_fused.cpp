// Fused operators of ONNX Runtime's optimizer.
#include <fmt/format.h>

#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

bool Lowering::read_fused(const Node& node) {
  const std::string& op = node.op;
  if (node.domain != "com.microsoft") return false;
  if (op == "EmbedLayerNormalization" || op == "QEmbedLayerNormalization") return read_embed_norm(node), true;
  if (op == "SkipLayerNormalization" || op == "SkipSimplifiedLayerNormalization") return read_skip_norm(node), true;
  const Value& x = in(node, 0);
  if (x.kind != Value::Kind::kRows) return false;
  fb::ActivationKind kind = fb::ActivationKind::none;
  if (op == "Gelu" || op == "BiasGelu") kind = fb::ActivationKind::gelu;
  if (op == "FastGelu") kind = fb::ActivationKind::gelu_tanh;
  if (op == "QuickGelu") {
    const float alpha = node.number("alpha", 1.702F);
    if (std::abs(alpha - 1.702F) < 1e-6F) kind = fb::ActivationKind::quick_gelu;
    if (alpha == 1) kind = fb::ActivationKind::silu;
  }
  if (kind == fb::ActivationKind::none) return false;
  int32_t block = block_of(x);
  if (there(node, 1)) block = biased(node, block, in(node, 1));
  set(node, 0, rows_of(activated(node, block, kind), x.axes));
  return true;
}

/// A constant. In QEmbedLayerNormalization it is quantized: its scale is six inputs later, its zero point eleven.
Value Lowering::table_of_embed_norm(const Node& node, size_t i) const {
  Value out = in(node, i);
  if (node.op != "QEmbedLayerNormalization" || out.kind != Value::Kind::kConstant) return out;
  out.constant.scale = constant_of(in(node, i + 6));
  out.constant.zero = there(node, i + 11) ? constant_of(in(node, i + 11)) : nullptr;
  const bool one = out.constant.scale != nullptr && out.constant.scale->size() == 1 && out.constant.is_integer() &&
                   (out.constant.zero == nullptr || out.constant.zero->size() == 1);
  if (!one) refuse("its tables have no scale, or several");
  return out;
}

void Lowering::read_embed_norm(const Node& node) {
  const bool integers = node.op == "QEmbedLayerNormalization";
  const size_t given_places = integers ? node.inputs.size() : 8;
  int32_t sum = -1;
  const auto look_up = [&](size_t table, const std::optional<std::vector<HostTensor>>& index, const Reach& shown) {
    want(shown);
    const Value rows = table_of_embed_norm(node, table);
    if (rows.kind != Value::Kind::kConstant || rows.constant.dims().size() != 2 || !index)
      refuse("its tables are not constants");
    const std::optional<Index> found = recognise_index(probes_, *index);
    if (!found || found->first < 0)
      refuse("looks up a table by what is neither ids, segments nor places in their order");
    Block block;
    block.kind = Block::Kind::kEmbed;
    block.name = node.name;
    block.weight = rows.constant;
    block.columns = static_cast<uint32_t>(rows.constant.dims()[1]);
    block.index = found->source;
    block.first = static_cast<uint32_t>(found->first);
    const int32_t one = add(std::move(block));
    if (sum < 0) {
      sum = one;
      return;
    }
    Block both;
    both.kind = Block::Kind::kAdd;
    both.inputs = {sum, one};
    both.columns = at(sum).columns;
    if (at(one).columns != both.columns) refuse("its tables have different widths");
    sum = add(std::move(both));
  };
  look_up(2, host(in(node, 0)), reach(node, 0));
  if (there(node, 1) && there(node, 4)) look_up(4, host(in(node, 1)), reach(node, 1));
  std::vector<HostTensor> places;
  for (const Probe& probe : probes_) places.push_back(probe.input(InputRole::kPositions));
  const bool placed = there(node, given_places);
  look_up(3, placed ? host(in(node, given_places)) : std::optional(places),
          placed ? reach(node, given_places) : Reach{});
  Block norm;
  norm.name = node.name;
  norm.inputs = {sum};
  norm.columns = at(sum).columns;
  if (!integers) {
    norm.stage = norm_stage(node, 5, 6, node.number("epsilon", 1e-12F));
  } else {
    norm.stage = norm_stage(node, node.inputs.size(), node.inputs.size(), node.number("epsilon", 1e-12F));
    for (const size_t i : {size_t{5}, size_t{6}}) {
      const std::shared_ptr<const HostTensor> values = constant_of(table_of_embed_norm(node, i));
      if (values == nullptr) refuse("its factors are not constants");
      std::vector<float>& to = i == 5 ? norm.stage.gamma : norm.stage.beta;
      for (size_t k = 0; k < values->size(); ++k) to.push_back(static_cast<float>(values->at(k)));
    }
  }
  Axes axes = plain_axes(norm);
  set(node, 2, rows_of(sum, axes));
  set(node, 0, rows_of(add(std::move(norm)), axes));
  // The second output is the number of tokens of each text.
  Value count;
  count.kind = Value::Kind::kHost;
  for (const Probe& probe : probes_) {
    HostTensor lengths = host_integers({});
    for (int64_t b = 0; b < probe.extents.batch; ++b) {
      int64_t length = 0;
      for (int64_t t = 0; t < probe.extents.tokens; ++t)
        length += probe.mask[static_cast<size_t>(b * probe.extents.tokens + t)];
      lengths.ints.push_back(length);
    }
    lengths.dims = {probe.extents.batch};
    count.host.push_back(std::move(lengths));
  }
  if (there(node, 7)) {
    const std::optional<std::vector<HostTensor>> mask = host(in(node, 7));
    if (!mask || !is_mask(probes_, *mask)) refuse("its mask is not that of the model");
  }
  set(node, 1, std::move(count));
}

void Lowering::read_skip_norm(const Node& node) {
  const Value x = in(node, 0), skip = in(node, 1);
  const bool rms = node.op == "SkipSimplifiedLayerNormalization";  // it has no beta
  Block sum;
  sum.kind = Block::Kind::kAdd;
  int32_t left = block_of(x);
  const size_t bias = rms ? 3 : 4;
  if (there(node, bias)) left = biased(node, left, in(node, bias));
  sum.inputs = {left, block_of(skip)};
  sum.columns = at(left).columns;
  sum.of_tokens = at(left).of_tokens;
  if (at(sum.inputs[1]).columns != sum.columns || at(sum.inputs[1]).of_tokens != sum.of_tokens)
    refuse("its inputs have different shapes");
  const int32_t both = add(std::move(sum));
  Block norm;
  norm.name = node.name;
  norm.inputs = {both};
  norm.columns = at(both).columns;
  norm.of_tokens = at(both).of_tokens;
  norm.stage = norm_stage(node, 2, rms ? node.inputs.size() : 3, node.number("epsilon", rms ? 1e-5F : 1e-12F));
  if (rms) norm.stage.norm = fb::NormKind::rms;
  const Axes axes = united(x.axes, skip.axes);
  set(node, 3, rows_of(both, axes));
  set(node, 0, rows_of(add(std::move(norm)), axes));
}

}  // namespace bantam::convert::onnx
