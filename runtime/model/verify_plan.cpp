// The plan: order of reads and writes, and that nothing alive is overwritten.
//
// A shared tensor is alive from the first step that touches it to the last (an output: to the end), because the
// tiles of a step run in any order. A tile tensor is alive from its first write to its last use in a step.
#include "model/verify.h"
#include "ops/ops.h"

namespace bantam {
namespace {

/// Operands that the verifier may visit before it gives up: seconds at worst, far above what real files take.
constexpr uint32_t kBudget = 1u << 25;
/// What one op costs of it when its operands are compared by number, and by place.
constexpr uint32_t kVisit = 4;
constexpr uint32_t kCompare = 16;

enum class Access : uint8_t { kRead, kReadWhole, kResidual, kWrite };

struct Operand {
  int32_t tensor;
  Access access;
};

/// The arena operands of an op that has at most that many, reads first.
struct Operands {
  Operands(const fb::Model& model, const fb::Op& op) {
    uint32_t whole = ops::find_rule(op)->whole_inputs;
    for (uint32_t i = 0; i < count(op.inputs()); ++i, whole >>= 1) {
      add(model, op.inputs()->Get(i), (whole & 1u) != 0 ? Access::kReadWhole : Access::kRead);
    }
    if (op.tail() != nullptr) add(model, op.tail()->residual(), Access::kResidual);
    for (uint32_t i = 0; i < count(op.outputs()); ++i) add(model, op.outputs()->Get(i), Access::kWrite);
  }

  const Operand* begin() const { return list; }
  const Operand* end() const { return list + size; }

  uint32_t size = 0;
  Operand list[kMostInputs + 1 + kMostOutputs];

 private:
  void add(const fb::Model& model, int32_t index, Access access) {
    if (index >= 0 && !is_constant(tensor(model, index))) list[size++] = {index, access};
  }
};

/// Does arena tensor `t` end before the place `at`, for every value of the symbols?
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

/// For every value of the symbols, one of the two ends before the other begins.
bool disjoint(const fb::Tensor& a, const fb::Tensor& b) {
  return ends_before(a, b.offset()) || ends_before(b, a.offset());
}

class PlanCheck {
 public:
  explicit PlanCheck(const fb::Model& model)
      : model_(model), ops_(*graph(model).ops()), steps_(*graph(model).steps()), tensors_(model.tensors()->size()) {}

  Verdict run() {
    for (const fb::Op* op : ops_) BANTAM_CHECK(check_op(*op));
    for (uint32_t i = 0; i < tensors_; ++i) BANTAM_CHECK(check_life(static_cast<int32_t>(i)));
    return {};
  }

 private:
  const fb::Tensor& at(int32_t index) const { return tensor(model_, index); }
  bool spend(uint32_t work) {
    spent_ += work;
    return spent_ <= kBudget;
  }

  /// An op writes no tensor twice and none that it reads, except the residual that its outputs update in place. The place
  /// behind which its scratch memory begins is in the tile region and no matter of the run's lengths.
  Verdict check_op(const fb::Op& op) {
    const Operands operands(model_, op);
    for (const Operand& output : operands) {
      if (output.access != Access::kWrite) continue;
      for (const Operand* other = operands.begin(); other != &output; ++other) {
        if (other->tensor == output.tensor && other->access != Access::kResidual) {
          return corrupt("an op writes a tensor that it reads, or twice", output.tensor);
        }
      }
    }
    if (count(op.scratch()) > 1 + kSymbols) return corrupt("the plan names unknown symbols");
    for (uint32_t i = 0; i < count(op.scratch()); ++i) {
      const uint32_t begin = op.scratch()->Get(i);
      if (begin > coefficient(model_.tile_bytes(), i) || (begin != 0 && i != 0 && i != 1 + kTile)) {
        return corrupt("scratch memory begins outside the tile region");
      }
    }
    return {};
  }

  /// Written before read; what other tiles read is not written in the same step; alone in its place while it is alive.
  Verdict check_life(int32_t index) {
    const fb::Tensor& t = at(index);
    if (is_constant(t)) return {};
    const bool per_step = t.region() == fb::Region::tile;
    const bool output = t.role() == fb::Role::output;
    bool written = false;
    // Ops [first, end) find it alive: in a tile its uses and what is between them, else whole steps.
    uint32_t first = 0;
    uint32_t end = 0;
    for (const fb::Step* step : steps_) {
      bool written_here = false;
      bool read_whole = false;
      if (per_step) {
        written = false;
        end = 0;
      }
      const uint32_t step_end = step->first_op() + step->op_count();
      for (uint32_t o = step->first_op(); o < step_end; ++o) {
        for (const Operand& operand : Operands(model_, *ops_.Get(o))) {
          if (operand.tensor != index) continue;
          if (end == 0) first = per_step ? o : step->first_op();
          end = per_step ? o + 1 : step_end;
          if (operand.access == Access::kWrite) {
            written = written_here = true;
          } else if (!written) {
            return corrupt("a tensor is read before it is written", index);
          }
          read_whole |= operand.access == Access::kReadWhole;
        }
      }
      if (!spend(kVisit * step->op_count())) return kOutOfBudget;
      if (written_here && read_whole) return corrupt("a step writes rows that its other tiles read", index);
      if (per_step) BANTAM_CHECK(check_alone(index, first, end));
    }
    if (output && !written) return corrupt("an output is never written", index);
    return per_step ? Verdict{} : check_alone(index, first, output ? ops_.size() : end);
  }

  /// No op of [first, end) touches what overlaps tensor `index`. Of two tensors that are alive together, one is touched while
  /// the other is alive.
  Verdict check_alone(int32_t index, uint32_t first, uint32_t end) {
    const fb::Tensor& t = at(index);
    for (uint32_t o = first; o < end; ++o) {
      const fb::Op& op = *ops_.Get(o);
      if (t.region() == fb::Region::tile && op.scratch() != nullptr && !ends_before(t, op.scratch())) {
        return corrupt("a tensor in use lies in an op's scratch memory", index);
      }
      for (const Operand& other : Operands(model_, op)) {
        const fb::Tensor& u = at(other.tensor);
        if (other.tensor != index && u.region() == t.region() && !disjoint(t, u)) {
          return corrupt("two tensors that are alive together overlap in the arena", other.tensor);
        }
      }
      if (!spend(kCompare)) return kOutOfBudget;
    }
    return {};
  }

  static constexpr Verdict kOutOfBudget = unsupported("the plan is too large to be verified");

  const fb::Model& model_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Op>>& ops_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Step>>& steps_;
  uint32_t tensors_;
  uint32_t spent_ = 0;
};

}  // namespace

Verdict check_plan(const fb::Model& model) { return PlanCheck(model).run(); }

}  // namespace bantam
