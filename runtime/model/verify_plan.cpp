// The plan: checks the order of reads and writes, and that no live tensor is overwritten.
//
// A shared tensor is alive from the first step that touches it to the last (an output: to the end), because the
// tiles of a step run in any order. A tile tensor is alive from its first write to its last use in a step.
#include "model/verify.h"
#include "ops/ops.h"

namespace bantam {
namespace {

using ops::Access;
using ops::Operands;

/// Operands that the verifier visits before it gives up: seconds at worst, far above the need of real files.
constexpr uint32_t kBudget = 1u << 25;

/// Tensors whose lifetimes one walk over the operators determines; the records lie on the stack.
constexpr uint32_t kTensorsTogether = linked::kHost ? 64 : 16;

/// The lifetime of a tensor as far as the walk has come: operators [first, end), which are whole steps for a shared
/// tensor and lie in step `step` for a tile tensor. `end` 0: not alive yet.
struct Life {
  int32_t tensor;
  uint32_t step;
  uint32_t first;
  uint32_t end;
  bool written;
  bool touched;
  fb::Phase phase;    // of the steps that access it
  bool written_here;  // in `step`
  bool read_whole;    // in `step`
  bool read_before;   // in `step`, which writes it afterwards
};

/// Returns true if arena tensor `t` ends before position `at` for all symbol values.
bool ends_before(const fb::Tensor& t, const flatbuffers::Vector<uint32_t>* at) {
  const uint64_t bytes = row_bytes(t);
  const uint32_t grows = 1 + rows_symbol(t);
  for (uint32_t i = 0; i <= kSymbols; ++i) {
    const uint32_t begin = coefficient(t.offset(), i);
    const uint32_t end = coefficient(at, i);
    if (begin > end || (i == grows && bytes > end - begin)) return false;
  }
  return true;
}

/// Returns true if, for all symbol values, one of the two ends before the other begins.
bool disjoint(const fb::Tensor& a, const fb::Tensor& b) {
  return ends_before(a, b.offset()) || ends_before(b, a.offset());
}

class PlanCheck {
 public:
  explicit PlanCheck(const fb::Model& model)
      : model_(model), ops_(*graph(model).ops()), steps_(*graph(model).steps()), tensors_(model.tensors()->size()) {}

  Verdict run() {
    for (uint32_t p = 0; p < (linked::kSources ? 2 : 1); ++p) {
      const auto phase = static_cast<fb::Phase>(p);
      if (count(plan_bytes(model_, phase, fb::Region::shared)) > 1 + kSymbols ||
          count(plan_bytes(model_, phase, fb::Region::tile)) > 1 + kSymbols) {
        return corrupt("the plan names unknown symbols");
      }
    }
    for (const fb::Step* step : steps_) {
      const Affine* tile = plan_bytes(model_, step->phase(), fb::Region::tile);
      for (uint32_t i = 0; i < step->op_count(); ++i) BANTAM_CHECK(check_op(*ops_.Get(step->first_op() + i), tile));
    }
    Life lives[kTensorsTogether];
    for (uint32_t next = 0; next < tensors_;) {
      uint32_t n = 0;
      for (; next < tensors_ && n < kTensorsTogether; ++next) {
        if (is_constant(at(static_cast<int32_t>(next)))) continue;
        lives[n] = {};
        lives[n++].tensor = static_cast<int32_t>(next);
      }
      if (n > 0) BANTAM_CHECK(check_lives(lives, n));
    }
    return {};
  }

 private:
  const fb::Tensor& at(int32_t index) const { return tensor(model_, index); }
  bool spend(uint32_t work) {
    spent_ += work;
    return spent_ <= kBudget;
  }

  /// Checks that an operator writes no tensor twice and none that it reads, except the residual that its output updates
  /// in place, and that its scratch begins in the tile region, independent of the run's lengths.
  Verdict check_op(const fb::Op& op, const Affine* tile) {
    const Operands operands(op);
    operands_ += operands.size();
    for (uint32_t i = 0; i < operands.size(); ++i) {
      const int32_t output = operands.tensor(i);
      if (output < 0 || operands.access(i) != Access::kWrite) continue;
      for (uint32_t j = 0; j < i; ++j) {
        if (operands.tensor(j) == output && operands.access(j) != Access::kResidual) {
          return corrupt("an op writes a tensor that it reads, or twice", output);
        }
      }
    }
    if (count(op.scratch()) > 1 + kSymbols) return corrupt("the plan names unknown symbols");
    for (uint32_t i = 0; i < count(op.scratch()); ++i) {
      const uint32_t begin = op.scratch()->Get(i);
      if (begin > coefficient(tile, i) || (begin != 0 && i != 0 && i != 1 + kTile)) {
        return corrupt("scratch memory begins outside the tile region");
      }
    }
    return {};
  }

  /// Checks that tensors are written before they are read, that a step does not write what its other tiles read, and
  /// that no other tensor overlaps a live one. `lives`: in ascending order of tensors.
  Verdict check_lives(Life* lives, uint32_t n) {
    uint32_t s = 0;
    for (const fb::Step* step : steps_) {
      const uint32_t step_end = step->first_op() + step->op_count();
      for (uint32_t o = step->first_op(); o < step_end; ++o) {
        const Operands operands(*ops_.Get(o));
        for (uint32_t i = 0; i < operands.size(); ++i) {
          Life* life = find(lives, n, operands.tensor(i));
          if (life != nullptr) BANTAM_CHECK(touch(*life, operands.access(i), s, *step, o));
        }
      }
      ++s;
    }
    if (!spend(operands_)) return kOutOfBudget;
    for (uint32_t i = 0; i < n; ++i) {
      const Life& life = lives[i];
      BANTAM_CHECK(leave_step(life));
      const fb::Tensor& t = at(life.tensor);
      const bool output = t.role() == fb::Role::output;
      if (output && !life.written) return corrupt("an output is never written", life.tensor);
      if (is_state(t)) continue;
      // Also for a tensor that no operator accesses.
      if (!ends_before(t, plan_bytes(model_, life.phase, t.region()))) {
        return corrupt("a tensor's place is outside its region of the arena", life.tensor);
      }
      if (t.region() != fb::Region::tile) {
        BANTAM_CHECK(check_alone(life.tensor, life.first, output ? end_of(life.phase) : life.end));
      }
      if constexpr (linked::kSources) {
        if (output) BANTAM_CHECK(check_output_phase(life));
      }
    }
    return {};
  }

  /// Returns the number of the operator after the last one of a pass.
  uint32_t end_of(fb::Phase phase) const {
    if (!linked::kSources || phase == fb::Phase::main) return ops_.size();
    uint32_t end = 0;
    for (const fb::Step* step : steps_) {
      if (step->phase() == phase) end = step->first_op() + step->op_count();
    }
    return end;
  }

  Verdict check_output_phase(const Life& life) const {
    for (const fb::Output* output : *model_.outputs()) {
      if (output->tensor() == life.tensor && output->phase() != life.phase) {
        return corrupt("an output is made by another pass than it says", life.tensor);
      }
    }
    return {};
  }

  static Life* find(Life* lives, uint32_t n, int32_t tensor) {
    // only an optimization
    if (linked::kHost && (tensor < lives[0].tensor || tensor > lives[n - 1].tensor)) return nullptr;
    uint32_t low = 0;
    while (n - low > 1) {
      const uint32_t middle = low + (n - low) / 2;
      (lives[middle].tensor > tensor ? n : low) = middle;
    }
    return lives[low].tensor == tensor ? lives + low : nullptr;
  }

  /// Records the pass that the tensor belongs to. Refuses a tensor of two passes, unless it is a state, and a state
  /// that is written twice.
  Verdict meet(Life& life, Access access, fb::Phase phase) {
    const bool state = is_state(at(life.tensor));
    if (!life.touched) life.phase = phase;
    life.touched = true;
    if (state && access == Access::kWrite && life.written) return corrupt("a state is written twice", life.tensor);
    return state || life.phase == phase ? Verdict{} : corrupt("a tensor is of two passes", life.tensor);
  }

  Verdict touch(Life& life, Access access, uint32_t step_number, const fb::Step& step, uint32_t op) {
    const bool in_tile = at(life.tensor).region() == fb::Region::tile;
    if constexpr (linked::kSources) BANTAM_CHECK(meet(life, access, step.phase()));
    if (life.step != step_number) {
      BANTAM_CHECK(leave_step(life));
      life.step = step_number;
      life.written_here = life.read_whole = life.read_before = false;
      if (in_tile) {
        life.written = false;
        life.end = 0;
      }
    }
    if (life.end == 0) life.first = in_tile ? op : step.first_op();
    life.end = in_tile ? op + 1 : step.first_op() + step.op_count();
    if (linked::op(linked::kOpPrevious) && access == Access::kReadBefore) {
      if (life.written) return corrupt("a row of the token before is one of an earlier step", life.tensor);
      life.read_before = true;
      return {};
    }
    if (access == Access::kWrite) {
      life.written = life.written_here = true;
    } else if (!life.written) {
      return corrupt("a tensor is read before it is written", life.tensor);
    }
    life.read_whole |= access == Access::kReadWhole;
    return {};
  }

  Verdict leave_step(const Life& life) {
    if (life.written_here && life.read_whole)
      return corrupt("a step writes rows that its other tiles read", life.tensor);
    if (linked::op(linked::kOpPrevious) && life.read_before && !life.written_here) {
      return corrupt("a row of the token before is never written in its step", life.tensor);
    }
    const fb::Tensor& t = at(life.tensor);
    return !is_state(t) && t.region() == fb::Region::tile ? check_alone(life.tensor, life.first, life.end) : Verdict{};
  }

  /// Checks that no operator in [first, end) accesses a tensor that overlaps tensor `index`. This is sufficient: of two
  /// tensors that are alive at the same time, one is accessed while the other is alive.
  Verdict check_alone(int32_t index, uint32_t first, uint32_t end) {
    const fb::Tensor& t = at(index);
    for (uint32_t o = first; o < end; ++o) {
      const fb::Op& op = *ops_.Get(o);
      if (t.region() == fb::Region::tile && op.scratch() != nullptr && !ends_before(t, op.scratch())) {
        return corrupt("a tensor in use lies in an op's scratch memory", index);
      }
      const Operands operands(op);
      for (uint32_t i = 0; i < operands.size(); ++i) {
        const int32_t other = operands.tensor(i);
        if (other < 0 || other == index || is_constant(at(other)) || is_state(at(other))) continue;
        if (at(other).region() == t.region() && !disjoint(t, at(other))) {
          return corrupt("two tensors that are alive together overlap in the arena", other);
        }
      }
      if (!spend(operands.size())) return kOutOfBudget;
    }
    return {};
  }

  static constexpr Verdict kOutOfBudget = unsupported("the plan is too large to be verified");

  const fb::Model& model_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Op>>& ops_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Step>>& steps_;
  uint32_t tensors_;
  uint32_t operands_ = 0;  // of all operators
  uint32_t spent_ = 0;
};

}  // namespace

Verdict check_plan(const fb::Model& model) { return PlanCheck(model).run(); }

}  // namespace bantam
