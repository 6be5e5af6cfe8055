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

constexpr Verdict kOutOfBudget = unsupported("the plan is too large to be verified");

enum class Access : uint8_t { kRead, kReadWhole, kWrite };

constexpr uint32_t kMostInputs = 8;
constexpr uint32_t kMostOutputs = 8;

struct Operand {
  int32_t tensor;
  Access access;
};

/// The arena operands of an op that check_aliasing has seen, reads first.
struct Operands {
  Operands(const fb::Model& model, const fb::Op& op) {
    const uint32_t whole = ops::find_rule(op)->whole_inputs;
    for (uint32_t i = 0; i < count(op.inputs()); ++i) {
      add(model, op.inputs()->Get(i), (whole >> i & 1u) != 0 ? Access::kReadWhole : Access::kRead);
    }
    if (op.tail() != nullptr) add(model, op.tail()->residual(), Access::kRead);
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

struct Interval {
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;

  void add(uint32_t at) {
    first = at < first ? at : first;
    last = at > last ? at : last;
  }
  bool meets(const Interval& other) const { return first <= other.last && other.first <= last; }
};

/// Does arena tensor `t` end before the place `at`, for every value of the symbols?
bool ends_before(const fb::Tensor& t, const flatbuffers::Vector<uint32_t>* at) {
  const uint64_t bytes = row_bytes(t);
  const uint32_t grows = 1 + rows_symbol(t);
  bool before = true;
  for (uint32_t i = 0; i <= kSymbols; ++i) {
    before &= coefficient(t.offset(), i) + (i == grows ? bytes : 0) <= coefficient(at, i);
  }
  return before;
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
    for (const fb::Op* op : ops_) {
      BANTAM_CHECK(check_aliasing(*op));
      BANTAM_CHECK(check_scratch(*op));
    }
    for (uint32_t i = 0; i < tensors_; ++i) {
      if (!is_constant(*model_.tensors()->Get(i))) BANTAM_CHECK(check_order(static_cast<int32_t>(i)));
    }
    BANTAM_CHECK(check_shared_overlap());
    for (const fb::Step* step : steps_) BANTAM_CHECK(check_tile_overlap(*step));
    return {};
  }

 private:
  const fb::Tensor& at(int32_t index) const { return tensor(model_, index); }
  bool in_region(int32_t index, fb::Region region) const {
    return !is_constant(at(index)) && at(index).region() == region;
  }
  bool spend(uint32_t work) {
    spent_ += work;
    return spent_ <= kBudget;
  }

  /// The place behind which scratch memory begins is in the tile region and no matter of the run's lengths.
  Verdict check_scratch(const fb::Op& op) {
    if (count(op.scratch()) > 1 + kSymbols) return corrupt("the plan names unknown symbols");
    for (uint32_t i = 0; i < count(op.scratch()); ++i) {
      const uint64_t begin = op.scratch()->Get(i);
      if (begin > coefficient(model_.tile_bytes(), i) || (begin != 0 && i != 0 && i != 1 + kTile)) {
        return corrupt("scratch memory begins outside the tile region");
      }
    }
    return {};
  }

  /// An op writes no tensor twice and none that it reads, except the residual that its outputs update in place.
  Verdict check_aliasing(const fb::Op& op) {
    const uint32_t outputs = count(op.outputs());
    if (outputs > kMostOutputs || count(op.inputs()) > kMostInputs) return unsupported("an op has too many operands");
    for (uint32_t o = 0; o < outputs; ++o) {
      const int32_t output = op.outputs()->Get(o);
      if (output < 0) continue;
      for (uint32_t i = 0; i < count(op.inputs()); ++i) {
        if (op.inputs()->Get(i) == output) return corrupt("an op writes a tensor that it reads", output);
      }
      for (uint32_t other = 0; other < o; ++other) {
        if (op.outputs()->Get(other) == output) return corrupt("an op writes a tensor twice", output);
      }
    }
    return {};
  }

  /// Written before read; what other tiles read is not written in the same step.
  Verdict check_order(int32_t index) {
    const bool per_step = at(index).region() == fb::Region::tile;
    bool written = false;
    Verdict verdict;
    for (const fb::Step* step : steps_) {
      bool written_here = false;
      bool read_whole = false;
      if (per_step) written = false;
      for (uint32_t o = step->first_op(); o < end_op(*step); ++o) {
        for (const Operand& operand : Operands(model_, *ops_.Get(o))) {
          if (operand.tensor != index) continue;
          const bool writes = operand.access == Access::kWrite;
          if (!writes && !written) verdict = corrupt("a tensor is read before it is written", index);
          written |= writes;
          written_here |= writes;
          read_whole |= operand.access == Access::kReadWhole;
        }
        if (!spend(4)) return kOutOfBudget;
      }
      if (written_here && read_whole) return corrupt("a step writes rows that its other tiles read", index);
      if (!verdict.ok()) return verdict;
    }
    if (!written && at(index).role() == fb::Role::output) return corrupt("an output is never written", index);
    return {};
  }

  static uint32_t end_op(const fb::Step& step) { return step.first_op() + step.op_count(); }

  /// Adds `at` if the tensor is an operand of one of the step's ops; their own numbers if `at` is null.
  void add_uses(const fb::Step& step, int32_t index, const uint32_t* at, Interval* alive) {
    for (uint32_t o = step.first_op(); o < end_op(step); ++o) {
      for (const Operand& operand : Operands(model_, *ops_.Get(o))) {
        if (operand.tensor == index) alive->add(at == nullptr ? o : *at);
      }
    }
    spent_ += 4 * step.op_count();
  }

  /// Steps during which a shared tensor is alive.
  Interval lifetime(int32_t index) {
    Interval alive;
    for (uint32_t s = 0; s < steps_.size(); ++s) add_uses(*steps_.Get(s), index, &s, &alive);
    if (at(index).role() == fb::Role::output) alive.add(steps_.size());
    return alive;
  }

  Verdict check_shared_overlap() {
    for (uint32_t i = 0; i < tensors_; ++i) {
      const int32_t a = static_cast<int32_t>(i);
      if (!in_region(a, fb::Region::shared)) continue;
      const Interval alive = lifetime(a);
      for (uint32_t j = i + 1; j < tensors_; ++j) {
        if (!spend(1)) return kOutOfBudget;
        const int32_t b = static_cast<int32_t>(j);
        if (in_region(b, fb::Region::shared) && !disjoint(at(a), at(b)) && alive.meets(lifetime(b))) {
          return corrupt("two tensors that are alive together overlap in the arena", b);
        }
      }
    }
    return {};
  }

  Verdict check_tile_overlap(const fb::Step& step) {
    Verdict verdict;
    for (uint32_t o = step.first_op(); o < end_op(step); ++o) {
      for (const Operand& written : Operands(model_, *ops_.Get(o))) {
        const int32_t a = written.tensor;
        if (written.access != Access::kWrite || !in_region(a, fb::Region::tile) || spent_ > kBudget) continue;
        Interval alive;  // in ops
        add_uses(step, a, nullptr, &alive);
        // Everything alive together with `a` and written no earlier is met here or from the other side.
        for (uint32_t p = alive.first; p <= alive.last; ++p) {
          const auto* scratch = ops_.Get(p)->scratch();
          if (scratch != nullptr && !ends_before(at(a), scratch)) {
            verdict = corrupt("a tensor in use lies in an op's scratch memory", a);
          }
          for (const Operand& other : Operands(model_, *ops_.Get(p))) {
            const int32_t b = other.tensor;
            if (b != a && in_region(b, fb::Region::tile) && !disjoint(at(a), at(b))) {
              verdict = corrupt("two tensors that are alive together overlap in the tile region", b);
            }
          }
        }
        spent_ += 4 * (alive.last - alive.first + 1);
      }
      if (spent_ > kBudget) return kOutOfBudget;
      if (!verdict.ok()) return verdict;
    }
    return {};
  }

  const fb::Model& model_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Op>>& ops_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Step>>& steps_;
  uint32_t tensors_;
  uint32_t spent_ = 0;
};

}  // namespace

Verdict check_plan(const fb::Model& model) { return PlanCheck(model).run(); }

}  // namespace bantam
