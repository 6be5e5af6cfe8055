// How memory is planned
//
// A run has T tokens, S sequences and works on tiles of R rows; none is known when the file is written. So an
// offset is not a number but an affine function  o0 + oT * T + oS * S + oR * R,  and so is a size. Two tensors
// that are alive together must not overlap for any T, S, R. It is enough, and simple to verify, that one's end
// is less than or equal to the other's begin in each of the four coefficients.
//
// Lifetimes. A shared tensor is touched by all tiles of a step in any order, so it lives from the first step
// that touches it to the last, whole steps; an output lives to the end of the run. A tile tensor lives from the op that
// writes it to the last op that reads it, within its step; tile tensors of different steps never coexist, because a
// worker is in one step at a time. Each op's scratch begins after the tile tensors then in use.
//
// Placement is greedy, largest first (as TensorFlow Lite Micro's planner does for plain numbers): candidates
// for a tensor's begin are zero and the end of each tensor that is already placed and alive with it; from a
// candidate the tensor is pushed, componentwise, beyond every tensor that it would overlap until none is left.
// The candidate whose end is smallest at typical lengths wins. Sizes are summed and compared at those lengths
// only to choose; validity never depends on them.
//
// Alignment: sizes are multiples of 64 bytes for every legal value (rows are counted in multiples of 16 and a
// row's bytes are a multiple of 4), therefore every sum of sizes is aligned too.
#include "pack/plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "format/view.h"
#include "graph/access.h"
#include "graph/builder.h"

namespace bantam::convert {
namespace {

Affine add(const Affine& a, const Affine& b) {
  Affine sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

Affine join(const Affine& a, const Affine& b) {
  Affine most(a.size());
  for (size_t i = 0; i < a.size(); ++i) most[i] = std::max(a[i], b[i]);
  return most;
}

uint64_t value(const Affine& a, const std::vector<uint64_t>& typical) {
  uint64_t sum = a[0];
  for (size_t i = 1; i < a.size(); ++i) sum += a[i] * typical[i - 1];
  return sum;
}

/// Returns the first position from `begin` upwards where `size` overlaps none of `others`.
Affine push(Affine begin, const Affine& size, const std::vector<std::pair<Affine, Affine>>& others) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [from, to] : others) {
      if (fits_before(to, begin) || fits_before(add(begin, size), from)) continue;
      begin = join(begin, to);
      moved = true;
    }
  }
  return begin;
}

}  // namespace

bool fits_before(const Affine& a, const Affine& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

namespace {

/// The indices of the intervals in the order of `before`.
template <typename Before>
std::vector<size_t> ordered(const std::vector<Interval>& intervals, const Before& before) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(intervals[a], intervals[b]); });
  return order;
}

}  // namespace

Placement place(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical) {
  const auto larger = [&](const Interval& a, const Interval& b) {
    return value(a.size, typical) > value(b.size, typical);
  };
  return place_in_order(intervals, typical, ordered(intervals, larger));
}

Placement place_in_order(const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical,
                         const std::vector<size_t>& order) {
  Placement result;
  result.total.assign(typical.size() + 1, 0);
  result.offsets.assign(intervals.size(), {});
  std::vector<size_t> placed;
  for (const size_t index : order) {
    const Interval& item = intervals[index];
    std::vector<std::pair<Affine, Affine>> others;
    for (const size_t other : placed) {
      const Interval& there = intervals[other];
      if (there.end < item.begin || item.end < there.begin) continue;
      others.emplace_back(result.offsets[other], add(result.offsets[other], there.size));
    }
    Affine best = push(Affine(typical.size() + 1, 0), item.size, others);
    uint64_t best_end = value(join(result.total, add(best, item.size)), typical);
    uint64_t best_begin = value(best, typical);
    for (const auto& other : others) {
      const Affine begin = push(other.second, item.size, others);
      const uint64_t end = value(join(result.total, add(begin, item.size)), typical);
      const uint64_t at = value(begin, typical);
      if (end < best_end || (end == best_end && at < best_begin)) {
        best = begin;
        best_end = end;
        best_begin = at;
      }
    }
    result.offsets[index] = best;
    result.total = join(result.total, add(best, item.size));
    placed.push_back(index);
  }
  return result;
}

namespace {

bool sums_keys(const Graph& graph) {
  const auto& ops = main_subgraph(graph).ops;
  return std::any_of(ops.begin(), ops.end(),
                     [](const auto& op) { return op->attributes.type == fb::OpAttributes::KeySums; });
}

}  // namespace

Affine arena_size(const Graph& graph, const fb::TensorT& tensor) {
  Affine size(graph.model.symbols.size() + 1, 0);
  const fb::Dim& count = tensor.shape.front();
  if (count.symbol() < 0 || count.a() != 1 || count.b() != 0 || count.c() != 1) {
    throw Error(ExitCode::kInternal, "activation " + tensor.name + " has rows that are not counted by a symbol");
  }
  const bool pages = tensor.layout == fb::Layout::key_pages || tensor.layout == fb::Layout::value_pages;
  if (tensor.layout != fb::Layout::rows && tensor.layout != fb::Layout::head_rows && !pages) {
    throw Error(ExitCode::kInternal, "activation " + tensor.name + " has a layout of constants");
  }
  uint64_t row = row_bytes({tensor.type, tensor.layout, static_cast<uint32_t>(width(tensor)),
                            std::max(tensor.heads, 1u), tensor.scale_kind == fb::ScaleKind::fixed});
  // Sums over keys take hundreds of kilobytes per sequence: sessions reserve exactly as many as there are, instead of a
  // multiple of 16 (session/layout.cpp).
  if (count.symbol() == int32_t{kSequences} && sums_keys(graph)) row = round_up(row, 64);
  size[static_cast<size_t>(count.symbol()) + 1] = row;
  return size;
}

namespace {

/// The end of the tile tensors that are in use at op `time`.
Affine live_end(const std::vector<Interval>& intervals, const Placement& placement, uint64_t time) {
  Affine end(placement.total.size(), 0);
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].begin > time || intervals[i].end < time) continue;
    end = join(end, add(placement.offsets[i], intervals[i].size));
  }
  return end;
}

/// Number of f32 columns that an op holds in scratch: the width of its result if no f32 output receives it.
uint64_t scratch_columns(const Graph& graph, const fb::OpT& op) {
  if (op.outputs.size() != 2 || (op.outputs[0] >= 0 && epilogue_of(op).residual != op.outputs[0])) return 0;
  return width(tensor(graph, op.outputs[op.outputs[1] >= 0 ? 1 : 0]));
}

/// Chooses the placement of tile tensors that minimizes the largest need of an op, including scratch after the tensors
/// in use: largest first, or longest in use first, which keeps the space after them free for scratch.
Placement place_tile(const Graph& graph, const std::vector<Interval>& intervals, const std::vector<uint64_t>& typical) {
  constexpr uint64_t kBlockRows = 4;
  const auto& ops = main_subgraph(graph).ops;
  const auto worst = [&](const Placement& placement) {
    uint64_t most = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      const uint64_t scratch = kBlockRows * sizeof(float) * scratch_columns(graph, *ops[i]);
      most = std::max(most, value(live_end(intervals, placement, i), typical) + scratch);
    }
    return most;
  };
  Placement largest = place(intervals, typical);
  const auto later = [](const Interval& a, const Interval& b) { return a.end > b.end; };
  Placement last = place_in_order(intervals, typical, ordered(intervals, later));
  return worst(last) < worst(largest) ? last : largest;
}

/// Largest first, except that word scores come last, so that sessions that compute them for some tokens only
/// (SessionOptions::scored_rows) need no room for the others.
std::vector<size_t> shared_order(const Graph& graph, const std::vector<Interval>& intervals,
                                 const std::vector<size_t>& tensors, const std::vector<uint64_t>& typical) {
  std::vector<size_t> order = ordered(
      intervals, [&](const Interval& a, const Interval& b) { return value(a.size, typical) > value(b.size, typical); });
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    return std::none_of(graph.model.outputs.begin(), graph.model.outputs.end(), [&](const auto& output) {
      return output->role == fb::OutputRole::words && output->tensor == static_cast<int32_t>(tensors[i]);
    });
  });
  return order;
}

/// Places all tensors of a pass in `region`; times are steps for shared tensors and ops for tile tensors.
void plan_region(Graph& graph, fb::Phase phase, fb::Region region, const std::vector<uint64_t>& typical,
                 std::vector<uint32_t>* total) {
  fb::SubgraphT& subgraph = main_subgraph(graph);
  std::vector<Interval> intervals;
  std::vector<int32_t> interval_of(graph.model.tensors.size(), -1);
  std::vector<size_t> tensors;
  for (size_t s = 0; s < subgraph.steps.size(); ++s) {
    const fb::StepT& step = *subgraph.steps[s];
    if (step.phase != phase) continue;
    for (size_t i = step.first_op; i < size_t{step.first_op} + step.op_count; ++i) {
      const uint64_t time = region == fb::Region::shared ? s : i;
      const auto touch = [&](int32_t t) {
        const auto at = static_cast<size_t>(t);
        const fb::TensorT& touched = *graph.model.tensors[at];
        if (graph.constants[at] || touched.region != region || is_state(touched)) return;
        if (interval_of[at] < 0) {
          interval_of[at] = static_cast<int32_t>(intervals.size());
          intervals.push_back({arena_size(graph, *graph.model.tensors[at]), time, time});
          tensors.push_back(at);
        }
        Interval& interval = intervals[static_cast<size_t>(interval_of[at])];
        interval.end = std::max(interval.end, time);
        if (graph.model.tensors[at]->role == fb::Role::output) interval.end = std::numeric_limits<uint64_t>::max();
      };
      for_each_read(*subgraph.ops[i], touch);
      for_each_write(*subgraph.ops[i], touch);
    }
  }
  const bool in_tile = region == fb::Region::tile;
  const Placement placement =
      in_tile ? place_tile(graph, intervals, typical)
              : place_in_order(intervals, typical, shared_order(graph, intervals, tensors, typical));
  const auto narrow = [](const Affine& wide) {
    std::vector<uint32_t> result;
    for (const uint64_t coefficient : wide) {
      if (coefficient > std::numeric_limits<uint32_t>::max()) {
        throw Error(ExitCode::kUnsupported, "one row of the activations takes more than 4 GiB");
      }
      result.push_back(static_cast<uint32_t>(coefficient));
    }
    return result;
  };
  for (size_t i = 0; i < intervals.size(); ++i) graph.model.tensors[tensors[i]]->offset = narrow(placement.offsets[i]);
  *total = narrow(placement.total);
  if (!in_tile) return;
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    if (phase_of(*subgraph.ops[i]) == phase) subgraph.ops[i]->scratch = narrow(live_end(intervals, placement, i));
  }
}

}  // namespace

void plan_memory(Graph& graph) {
  // Typical: one sequence of 128 tokens and tiles of 4 rows, as on devices with little memory.
  std::vector<uint64_t> typical;
  for (size_t s = 0; s < graph.model.symbols.size(); ++s) typical.push_back(s == kTokens ? 128 : 4);
  fb::ModelT& model = graph.model;
  plan_region(graph, fb::Phase::main, fb::Region::shared, typical, &model.shared_bytes);
  plan_region(graph, fb::Phase::main, fb::Region::tile, typical, &model.tile_bytes);
  if (main_subgraph(graph).steps.front()->phase == fb::Phase::main) return;
  plan_region(graph, fb::Phase::source, fb::Region::shared, typical, &model.source_shared_bytes);
  plan_region(graph, fb::Phase::source, fb::Region::tile, typical, &model.source_tile_bytes);
}

}  // namespace bantam::convert
