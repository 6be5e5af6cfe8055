// Determines which graphs have a static form, and builds the form in which they are calibrated.
#include <fmt/format.h>

#include "base/error.h"
#include "graph/access.h"
#include "graph/builder.h"
#include "quantize/static.h"

namespace bantam::convert {
namespace {

constexpr const char* kNext = "; convert it with --activations dynamic";

bool is_output(const Graph& graph, int32_t t) { return tensor(graph, t).role == fb::Role::output; }

bool only_outputs_read(const Graph& graph, int32_t t) {
  for (const auto& op : main_subgraph(graph).ops) {
    bool reads = false;
    for_each_read(*op, [&](int32_t read) { reads = reads || read == t; });
    if (reads && !shapes_output(*op)) return false;
  }
  return true;
}

/// Returns why the op has no static form; empty if it has one.
std::string obstacle(const Graph& graph, const fb::OpT& op) {
  const EpilogueSpec epilogue = epilogue_of(op);
  const fb::NormKind norm = epilogue.norm;
  const bool active = epilogue.activation != fb::ActivationKind::none;
  const bool residual = epilogue.residual >= 0;
  if (epilogue.gate >= 0) return "a gate has no integer form";
  if (epilogue.store_sum) return "a residual that is stored before a norm has no integer form";
  if (norm != fb::NormKind::none && norm != fb::NormKind::layer) return "only layer norm has an integer form";
  if (norm == fb::NormKind::layer && active) return "an activation before a norm has none";
  if (residual && norm == fb::NormKind::none) return "a residual without a norm has none";
  switch (op.attributes.type) {
    case fb::OpAttributes::Linear:
      for (const auto& other : main_subgraph(graph).ops) {
        for (const int32_t table : tables_of(*other)) {
          const bool tied =
              graph.constants[static_cast<size_t>(table)] == graph.constants[static_cast<size_t>(op.inputs[1])];
          if (tied) return "an output layer that shares the embeddings has none";
        }
      }
      return {};
    case fb::OpAttributes::Embed:
      return norm == fb::NormKind::layer ? "" : "an embedding without a layer norm has none";
    case fb::OpAttributes::Attention:
    case fb::OpAttributes::SplitHeads:
      if (phase_of(op) != fb::Phase::main ||
          (op.attributes.type == fb::OpAttributes::Attention && op.attributes.AsAttention()->cross)) {
        return "attention of encoder-decoders has no integer form";
      }
      if (op.attributes.type == fb::OpAttributes::Attention &&
          op.attributes.AsAttention()->mask >= fb::MaskKind::globals) {
        return "attention to global tokens and to blocks has no integer form";
      }
      if (op.inputs.size() > 3 || (op.attributes.type == fb::OpAttributes::SplitHeads && op.inputs.size() > 1)) {
        return "biases of scores, rotary positions and norms of queries and keys have no integer form";
      }
      if (op.attributes.type == fb::OpAttributes::Attention && op.attributes.AsAttention()->soft_cap != 0) {
        return "scores that are capped have no integer form";
      }
      return active || norm != fb::NormKind::none ? "what follows attention here has none" : "";
    case fb::OpAttributes::Pool: {
      const fb::PoolT& pool = *op.attributes.AsPool();
      const bool sums = pool.kind == fb::PoolKind::mean || pool.kind == fb::PoolKind::sum || pool.l2;
      return sums && !only_outputs_read(graph, op.outputs[0]) ? "a mean that other layers read has none" : "";
    }
    case fb::OpAttributes::Slice:
    case fb::OpAttributes::Crf:
      return is_output(graph, op.outputs[0]) ? "" : "slices of anything but outputs have none";
    default:
      return fmt::format("{} has none", fb::EnumNameOpAttributes(op.attributes.type));
  }
}

/// Returns a Row op that reads x and writes y.
std::unique_ptr<fb::OpT> make_row(const std::string& name, int32_t x, int32_t y) {
  auto row = std::make_unique<fb::OpT>();
  row->name = name;
  row->inputs = {x};
  row->outputs = {y, -1};
  row->attributes.Set(fb::RowT{});
  row->epilogue = std::make_unique<fb::EpilogueT>();
  return row;
}

/// Adds an activation like `like`, for an intermediate value before it.
int32_t add_step(Graph& graph, int32_t like, const char* suffix) {
  fb::TensorT step(tensor(graph, like));
  step.name += suffix;
  step.role = fb::Role::activation;
  return add_tensor(graph, std::move(step));
}

}  // namespace

void check_static(const Graph& graph) {
  Problems problems;
  for (const auto& op : main_subgraph(graph).ops) {
    const std::string why = obstacle(graph, *op);
    if (!why.empty()) problems.add(ExitCode::kUnsupported, fmt::format("{}: {}{}", op->name, why, kNext));
  }
  problems.raise();
}

Graph unfuse(const Graph& graph) {
  Graph result = clone(graph);
  std::vector<std::unique_ptr<fb::OpT>> ops;
  for (auto& op : main_subgraph(result).ops) {
    const bool split = op->attributes.type == fb::OpAttributes::SplitHeads;
    if (!op->epilogue || split) {
      ops.push_back(std::move(op));
      continue;
    }
    EpilogueSpec epilogue = epilogue_of(*op);
    const int32_t y = op->outputs[0];
    const std::string name = op->name;
    int32_t x = y;
    const bool more = epilogue.activation != fb::ActivationKind::none || epilogue.residual >= 0 || epilogue.gate >= 0;
    const bool norm = epilogue.norm != fb::NormKind::none;
    if (more || norm) {
      x = add_step(result, y, more ? ".linear" : ".sum");
      op->outputs[0] = x;
      set_epilogue(*op, {});
    }
    ops.push_back(std::move(op));
    if (more) {
      const int32_t sum = norm ? add_step(result, y, ".sum") : y;
      ops.push_back(make_row(name + ".sum", x, sum));
      EpilogueSpec before;
      before.activation = epilogue.activation;
      before.gate = epilogue.gate;
      before.residual = epilogue.residual;
      set_epilogue(*ops.back(), before);
      x = sum;
    }
    if (norm) {
      ops.push_back(make_row(name + ".norm", x, y));
      epilogue.activation = fb::ActivationKind::none;
      epilogue.gate = kAbsent;
      epilogue.residual = kAbsent;
      set_epilogue(*ops.back(), epilogue);
    }
  }
  main_subgraph(result).ops = std::move(ops);
  return result;
}

}  // namespace bantam::convert
