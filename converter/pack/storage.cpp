// Storage. In SSA form every op writes its own tensor. Two rules let a new tensor reuse the storage of an old one row
// by row, so that the executable form has one residual stream:
//   residual   y = epilogue(...) + x, x not needed afterwards: y overwrites x;
//   successor  x is read for the last time earlier in the step that writes y, and y is of the same kind.
// Neither applies while another tile of the same step may still read x as a whole (keys, values). Afterwards, a tensor
// that is only read in the step that writes it is in a tile; all others are shared.
#include <algorithm>
#include <map>
#include <vector>

#include "graph/access.h"
#include "graph/builder.h"
#include "pack/lower.h"

namespace bantam::convert {
namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

struct Use {
  size_t written = kNever;  // op
  size_t last_read = 0;     // op
  bool read = false;
  bool outlives_step = false;  // read in another step, or an output
  bool by_tokens = false;      // the next token's row is computed from it, so that it needs its own storage
  std::vector<size_t> whole;   // steps in which some op reads all rows
};

struct Storage {
  Graph& graph;
  fb::SubgraphT& subgraph = main_subgraph(graph);
  std::vector<size_t> step_of;  // op -> step
  std::vector<Use> uses;        // by tensor
  std::vector<int32_t> parent;  // tensor: one whose storage it uses, or itself at the end of the chain

  explicit Storage(Graph& g) : graph(g), uses(g.model.tensors.size()), parent(g.model.tensors.size()) {
    for (size_t s = 0; s < subgraph.steps.size(); ++s) step_of.insert(step_of.end(), subgraph.steps[s]->op_count, s);
    for (size_t t = 0; t < parent.size(); ++t) parent[t] = static_cast<int32_t>(t);
    for (size_t i = 0; i < subgraph.ops.size(); ++i) {
      for_each_write(*subgraph.ops[i], [&](int32_t t) {
        Use& use = uses[static_cast<size_t>(t)];
        use.written = i;
        // Ops over sequences write rows of other tiles than the current one.
        const bool of_tokens = tensor(graph, t).shape.front().symbol() == kTokens;
        use.outlives_step = use.outlives_step || (of_tokens && runs_over_sequences(*subgraph.ops[i]));
      });
      for_each_read(*subgraph.ops[i], [&](int32_t t) { note_read(t, i); });
    }
    for (const auto& output : graph.model.outputs) uses[static_cast<size_t>(output->tensor)].outlives_step = true;
  }

  void note_read(int32_t t, size_t op) {
    if (is_constant(graph, t)) return;
    Use& use = uses[static_cast<size_t>(t)];
    use.read = true;
    use.last_read = op;
    if (use.written == kNever || step_of[use.written] != step_of[op]) use.outlives_step = true;
    if (reads_all_rows(*subgraph.ops[op], t)) use.whole.push_back(step_of[op]);
    use.by_tokens |= reads_before(*subgraph.ops[op], t);
  }

  bool same_kind(int32_t a, int32_t b) const {
    if (uses[static_cast<size_t>(a)].by_tokens || uses[static_cast<size_t>(b)].by_tokens) return false;
    const fb::TensorT& x = tensor(graph, a);
    const fb::TensorT& y = tensor(graph, b);
    return x.type == y.type && x.layout == y.layout && x.heads == y.heads && x.scale_kind == y.scale_kind &&
           width(x) == width(y) && x.shape.front().symbol() == y.shape.front().symbol();
  }

  bool is_output(int32_t t) const { return tensor(graph, t).role == fb::Role::output; }

  /// Returns true if a tensor that op `i` writes may reuse the storage of `old`, judging by the readers of `old`.
  bool is_free(int32_t old, size_t i, bool read_by_op_too) const {
    const Use& use = uses[static_cast<size_t>(old)];
    if (is_constant(graph, old) || is_output(old) || is_state(tensor(graph, old)) || use.written == kNever)
      return false;
    if (use.read && use.last_read >= i + (read_by_op_too ? 1 : 0)) return false;
    for (const size_t step : use.whole) {
      if (step == step_of[i]) return false;
    }
    return true;
  }

  /// The tensor whose storage `t` uses.
  int32_t buffer(int32_t t) {
    int32_t& up = parent[static_cast<size_t>(t)];
    while (parent[static_cast<size_t>(up)] != up) up = parent[static_cast<size_t>(up)];
    return up;
  }

  /// Moves `fresh`, and the tensors that share its storage, to the storage of `old`.
  void take_over(int32_t old, int32_t fresh) { parent[static_cast<size_t>(buffer(fresh))] = buffer(old); }
};

void share_residuals(Storage& storage, std::vector<bool>* taken) {
  for (size_t i = 0; i < storage.subgraph.ops.size(); ++i) {
    const fb::OpT& op = *storage.subgraph.ops[i];
    const int32_t old = epilogue_of(op).residual;
    if (old < 0) continue;
    const bool also_input = std::count(op.inputs.begin(), op.inputs.end(), old) > 1;
    for (const int32_t fresh : op.outputs) {
      if (fresh < 0 || also_input || (*taken)[static_cast<size_t>(old)]) continue;
      if (!storage.same_kind(old, fresh) || !storage.is_free(old, i, true)) continue;
      storage.take_over(old, fresh);
      (*taken)[static_cast<size_t>(old)] = true;
    }
  }
}

void share_successors(Storage& storage, std::vector<bool>* taken) {
  // Tensors that outlive their step, by the step that reads them last.
  std::vector<std::vector<int32_t>> ends(storage.subgraph.steps.size());
  for (size_t t = 0; t < storage.uses.size(); ++t) {
    const Use& use = storage.uses[t];
    if (use.outlives_step && use.read) ends[storage.step_of[use.last_read]].push_back(static_cast<int32_t>(t));
  }
  for (size_t i = 0; i < storage.subgraph.ops.size(); ++i) {
    for_each_write(*storage.subgraph.ops[i], [&](int32_t fresh) {
      if (!storage.uses[static_cast<size_t>(fresh)].outlives_step || is_state(tensor(storage.graph, fresh))) return;
      if (storage.buffer(fresh) != fresh) return;
      for (const int32_t old : ends[storage.step_of[i]]) {
        if ((*taken)[static_cast<size_t>(old)]) continue;
        if (!storage.same_kind(old, fresh) || !storage.is_free(old, i, false)) continue;
        storage.take_over(old, fresh);
        (*taken)[static_cast<size_t>(old)] = true;
        return;
      }
    });
  }
}

}  // namespace

void share_storage(Graph& graph) {
  Storage storage(graph);
  const size_t count = storage.uses.size();
  std::vector<bool> taken(count, false);  // another tensor already reuses its storage
  share_residuals(storage, &taken);
  share_successors(storage, &taken);

  // A chain that contains an output is named after it, because outputs keep their identity.
  std::vector<int32_t> map(count);
  std::map<int32_t, int32_t> representative;
  std::vector<bool> shared(count, false);
  std::vector<bool> keep(count, false);
  for (size_t t = 0; t < count; ++t) {
    const auto index = static_cast<int32_t>(t);
    const int32_t buffer = storage.buffer(index);
    if (representative.count(buffer) == 0 || storage.is_output(index)) representative[buffer] = index;
    if (storage.uses[t].outlives_step) shared[static_cast<size_t>(buffer)] = true;
  }
  for (size_t t = 0; t < count; ++t) {
    map[t] = representative.at(storage.buffer(static_cast<int32_t>(t)));
    keep[static_cast<size_t>(map[t])] = true;
    if (graph.constants[t]) continue;
    fb::TensorT& activation = *graph.model.tensors[t];
    const bool in_tile = !shared[static_cast<size_t>(storage.buffer(static_cast<int32_t>(t)))];
    activation.region = in_tile ? fb::Region::tile : fb::Region::shared;
    if (in_tile) activation.shape.front() = fb::Dim(int32_t{kTile}, 1, 0, 1);
  }
  remap_tensors(graph, map, keep);
  remove_unused_tensors(graph);
}

}  // namespace bantam::convert
