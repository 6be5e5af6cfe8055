// Pools before layers. A vector or labels that depend on a text's first or last token use one row of the last layer:
// the layers after its attention are computed for that row only. The row's bits do not change, because these ops
// process each row independently.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "graph/access.h"
#include "graph/builder.h"
#include "pack/lower.h"

namespace bantam::convert {
namespace {

bool is_plain(const EpilogueSpec& epilogue) {
  return epilogue.activation == fb::ActivationKind::none && epilogue.gate < 0 && epilogue.residual < 0 &&
         epilogue.norm == fb::NormKind::none;
}

class Pools {
 public:
  explicit Pools(Graph& graph) : graph_(graph), ops_(main_subgraph(graph).ops) {}

  void move_early() {
    while (move_one()) sort();
  }

  /// Undoes move_early: layers that were moved have a layer number (Tag), ops that originally followed the pool do not.
  void move_late() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const fb::OpT* pool = ops_[i]->tag != nullptr && ops_[i]->tag->layer() >= 0 ? pool_in_front(*ops_[i]) : nullptr;
      if (pool != nullptr) move_behind(i++, *pool);
    }
    for (size_t i = ops_.size(); i-- > 0;) {
      const bool idle = takes_one_row(*ops_[i]) && readers(ops_[i]->outputs[0]) == 0;
      if (idle) ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  using Op = std::unique_ptr<fb::OpT>;

  bool takes_one_row(const fb::OpT& op) const {
    if (op.attributes.type != fb::OpAttributes::Pool || phase_of(op) != fb::Phase::main) return false;
    const fb::PoolT& pool = *op.attributes.AsPool();
    const bool one = pool.kind == fb::PoolKind::first || pool.kind == fb::PoolKind::last;
    return one && !pool.l2 && pool.skip_last.empty() && is_plain(epilogue_of(op));
  }

  /// Returns true if two pools that take one row take the same row.
  static bool take_the_same(const fb::OpT& a, const fb::OpT& b) {
    const fb::PoolT &x = *a.attributes.AsPool(), &y = *b.attributes.AsPool();
    return x.kind == y.kind && x.skip_first == y.skip_first && x.skip_id == y.skip_id;
  }

  /// Returns true if each output row depends only on the same row of the inputs.
  static bool is_row_by_row(const fb::OpT& op) {
    return op.attributes.type == fb::OpAttributes::Linear || op.attributes.type == fb::OpAttributes::Row;
  }

  bool has_rows_of_tokens(int32_t index) const {
    const fb::TensorT& t = tensor(graph_, index);
    return !is_constant(graph_, index) && !is_state(t) && t.shape.front().symbol() == kTokens;
  }

  static std::vector<int32_t> rows_read(const fb::OpT& op) {
    const EpilogueSpec epilogue = epilogue_of(op);
    std::vector<int32_t> read = {op.inputs[0]};
    for (const int32_t more : {epilogue.residual, epilogue.gate}) {
      if (more >= 0 && std::find(read.begin(), read.end(), more) == read.end()) read.push_back(more);
    }
    return read;
  }

  /// The number of ops that read the tensor, plus the number of outputs that it is.
  size_t readers(int32_t index) const {
    size_t count = 0;
    for (const Op& op : ops_) {
      bool reads = false;
      for_each_read(*op, [&](int32_t read) { reads = reads || read == index; });
      count += reads ? 1U : 0U;
    }
    for (const auto& output : graph_.model.outputs) count += output->tensor == index ? 1U : 0U;
    return count;
  }

  bool move_one() {
    const std::vector<int32_t> producer = producers(graph_);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!takes_one_row(*ops_[i])) continue;
      const int32_t pooled = ops_[i]->inputs[0], from = producer[static_cast<size_t>(pooled)];
      if (from < 0 || !is_row_by_row(*ops_[static_cast<size_t>(from)])) continue;
      const std::vector<int32_t> read = rows_read(*ops_[static_cast<size_t>(from)]);
      const auto is_fit = [this](int32_t index) { return has_rows_of_tokens(index); };
      if (readers(pooled) != 1 || !has_rows_of_tokens(pooled) || !std::all_of(read.begin(), read.end(), is_fit)) {
        continue;
      }
      move(i, static_cast<size_t>(from), read);
      return true;
    }
    return false;
  }

  /// Makes op number `layer` read pooled rows, and the readers of op number `pool` read the layer's output.
  void move(size_t pool, size_t layer, const std::vector<int32_t>& read) {
    const fb::OpT before(*ops_[pool]);
    std::map<int32_t, int32_t> rows;
    for (const int32_t index : read) rows[index] = pooled_of(index, before);
    for_each_read(*ops_[layer], [&](int32_t& index) {
      const auto found = rows.find(index);
      if (found != rows.end()) index = found->second;
    });
    const int32_t whole = before.inputs[0], gone = before.outputs[0];
    fb::TensorT& kept = tensor(graph_, whole);
    kept.shape.front() = tensor(graph_, gone).shape.front();
    kept.role = tensor(graph_, gone).role;
    ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(pool));
    for (const Op& op : ops_) {
      for_each_read(*op, [&](int32_t& index) { index = index == gone ? whole : index; });
    }
    for (const auto& output : graph_.model.outputs) output->tensor = output->tensor == gone ? whole : output->tensor;
  }

  /// Returns a pool that takes the row that the layer reads, and to which all other pools before the layer are
  /// equivalent; null if other ops provide an input, or if the pools differ.
  const fb::OpT* pool_in_front(const fb::OpT& layer) const {
    if (!is_row_by_row(layer)) return nullptr;
    const std::vector<int32_t> producer = producers(graph_);
    const fb::OpT* found = nullptr;
    for (const int32_t index : rows_read(layer)) {
      const int32_t from = index < 0 ? -1 : producer[static_cast<size_t>(index)];
      if (from < 0 || !takes_one_row(*ops_[static_cast<size_t>(from)])) return nullptr;
      const fb::OpT* pool = ops_[static_cast<size_t>(from)].get();
      if (found != nullptr && !take_the_same(*pool, *found)) return nullptr;
      found = pool;
    }
    return found;
  }

  /// Makes op number `layer` read all rows, and its readers a new pool after it that takes the same row as `pool`.
  void move_behind(size_t layer, const fb::OpT& pool) {
    const std::vector<int32_t> producer = producers(graph_);
    auto behind = std::make_unique<fb::OpT>(pool);
    const fb::Dim all = tensor(graph_, pool.inputs[0]).shape.front(),
                  one = tensor(graph_, pool.outputs[0]).shape.front();
    const std::vector<int32_t> read = rows_read(*ops_[layer]);
    for_each_read(*ops_[layer], [&](int32_t& index) {
      if (std::find(read.begin(), read.end(), index) == read.end()) return;
      index = ops_[static_cast<size_t>(producer[static_cast<size_t>(index)])]->inputs[0];
    });
    const int32_t whole = ops_[layer]->outputs[0];
    fb::TensorT rows(tensor(graph_, whole));
    rows.shape.front() = one;
    tensor(graph_, whole).shape.front() = all;
    tensor(graph_, whole).role = fb::Role::activation;
    const int32_t pooled = add_tensor(graph_, std::move(rows));
    for (const Op& op : ops_) {
      for_each_read(*op, [&](int32_t& index) { index = index == whole ? pooled : index; });
    }
    for (const auto& output : graph_.model.outputs) output->tensor = output->tensor == whole ? pooled : output->tensor;
    behind->inputs = {whole};
    behind->outputs = {pooled, kAbsent};
    ops_.insert(ops_.begin() + static_cast<std::ptrdiff_t>(layer) + 1, std::move(behind));
  }

  /// Returns the rows that a pool like `like` would take of `index`; uses an existing pool if there is one.
  int32_t pooled_of(int32_t index, const fb::OpT& like) {
    const fb::PoolKind kind = like.attributes.AsPool()->kind;
    for (const Op& op : ops_) {
      if (takes_one_row(*op) && op->inputs[0] == index && take_the_same(*op, like)) return op->outputs[0];
    }
    fb::TensorT rows(tensor(graph_, index));
    rows.name += kind == fb::PoolKind::first ? ".first" : ".last";
    rows.shape.front() = tensor(graph_, like.outputs[0]).shape.front();
    rows.role = fb::Role::activation;
    auto op = std::make_unique<fb::OpT>(like);
    op->name = rows.name;
    op->inputs = {index};
    op->outputs = {add_tensor(graph_, std::move(rows)), kAbsent};
    ops_.push_back(std::move(op));
    return ops_.back()->outputs[0];
  }

  /// Sorts the ops so that each follows those that it reads; otherwise keeps their order.
  void sort() {
    std::vector<Op> sorted;
    std::vector<bool> made(graph_.model.tensors.size(), true);
    for (const Op& op : ops_) {
      for_each_write(*op, [&](int32_t index) { made[static_cast<size_t>(index)] = false; });
    }
    while (!ops_.empty()) {
      const auto next = std::find_if(ops_.begin(), ops_.end(), [&](const Op& op) {
        bool ready = true;
        for_each_read(*op, [&](int32_t index) { ready = ready && made[static_cast<size_t>(index)]; });
        return ready;
      });
      if (next == ops_.end()) throw std::logic_error("pool_early: a graph goes round");
      for_each_write(**next, [&](int32_t index) { made[static_cast<size_t>(index)] = true; });
      sorted.push_back(std::move(*next));
      ops_.erase(next);
    }
    ops_ = std::move(sorted);
  }

  Graph& graph_;
  std::vector<Op>& ops_;
};

}  // namespace

void pool_early(Graph& graph) {
  const std::vector<bool> by_tokens = ops_by_tokens(graph);
  if (std::find(by_tokens.begin(), by_tokens.end(), true) != by_tokens.end()) return;  // their order is not topological
  Pools(graph).move_early();
  remove_unused_tensors(graph);
}

void pool_late(Graph& graph) {
  Pools(graph).move_late();
  remove_unused_tensors(graph);
}

}  // namespace bantam::convert
