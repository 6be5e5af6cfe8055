#include "firmware/small_plan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "format/view.h"
#include "graph/access.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "pack/lower.h"
#include "pack/plan.h"

namespace bantam::firmware {
namespace {

/// Restores a file's graph to its form before steps and offsets were assigned: every op writes its own tensors. In a
/// file with dynamic activations, these are f32.
class Unplanned {
 public:
  explicit Unplanned(const Model& model) : fixed_(is_static(*bantam::graph(root(model)).ops()->Get(0))) {
    root(model).UnPackTo(&graph_.model);
    const size_t tensors = graph_.model.tensors.size();
    graph_.constants.resize(tensors);
    for (size_t i = 0; i < tensors; ++i) {
      if (bantam::is_constant(tensor(root(model), static_cast<int32_t>(i))))
        graph_.constants[i] = std::make_shared<convert::Constant>();
    }
    now_.resize(tensors);
    std::iota(now_.begin(), now_.end(), 0);
    fb::SubgraphT& subgraph = convert::main_subgraph(graph_);
    for (const auto& step : subgraph.steps) {
      for (uint32_t i = 0; i < step->op_count; ++i) unplan(*subgraph.ops[step->first_op + i], step->rows);
    }
    for (const auto& output : graph_.model.outputs) {
      move(output->tensor);
      convert::tensor(graph_, output->tensor).role = fb::Role::output;
    }
  }

  bool fixed() const { return fixed_; }
  convert::Graph take() { return std::move(graph_); }

 private:
  void move(int32_t& slot) const {
    if (slot >= 0) slot = now_[static_cast<size_t>(slot)];
  }

  void unplan(fb::OpT& op, int32_t rows) {
    convert::for_each_read(op, [this](int32_t& slot) { move(slot); });
    const bool parts = op.attributes.type == fb::OpAttributes::SplitHeads;
    int32_t written = -1;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      int32_t& slot = op.outputs[i];
      if (slot < 0) continue;
      const auto at = static_cast<size_t>(slot);
      // The f32 result and its i8 form become one tensor.
      if (fixed_ || parts || i > 1 || written < 0) written = add(slot, rows);
      slot = now_[at] = written;
    }
    if (fixed_ || parts || written < 0) return;
    op.outputs.resize(std::max<size_t>(op.outputs.size(), 2), -1);
    if (op.outputs[0] < 0) op.outputs[0] = op.outputs[1];
    op.outputs[1] = -1;
  }

  /// Adds a tensor like `model` that no op has written yet.
  int32_t add(int32_t model, int32_t rows) {
    fb::TensorT fresh(convert::tensor(graph_, model));
    fresh.role = fb::Role::activation;
    fresh.region = fb::Region::shared;
    fresh.offset.clear();
    // Operators that run over sequences may write one row per token.
    if (fresh.shape.front().symbol() == convert::kTile) fresh.shape.front() = fb::Dim(rows, 1, 0, 1);
    if (!fixed_) {
      fresh.type = fb::DType::f32;
      fresh.scale_kind = fb::ScaleKind::none;
      if (fresh.layout == fb::Layout::head_rows) fresh.layout = fb::Layout::rows;
    }
    return convert::add_tensor(graph_, std::move(fresh));
  }

  bool fixed_;
  convert::Graph graph_;
  std::vector<int32_t> now_;  // by tensor of the file: the tensor that now holds its value
};

}  // namespace

flatbuffers::DetachedBuffer small_plan_tables(const Model& model) {
  Unplanned unplanned(model);
  convert::Graph graph = unplanned.take();
  if (!unplanned.fixed()) convert::pool_late(graph);  // as in small plans
  convert::split_queries(graph);
  if (!unplanned.fixed()) convert::quantize_activations(graph, fb::DType::i8);
  convert::make_steps(graph, true);
  convert::share_storage(graph);
  convert::plan_memory(graph);
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &graph.model));
  return builder.Release();
}

}  // namespace bantam::firmware
