#include "probe/step_bytes.h"

#include <set>

#include "format/view.h"

namespace bantam::probe {
namespace {

uint64_t size_of(const fb::Blob* blob) { return blob == nullptr ? 0 : blob->size(); }

/// Returns the bytes of the weights of linear layers in the steps for which `counts` is true.
template <class Counts>
uint64_t bytes_of(const Model& model, const Counts& counts) {
  const fb::Model& stored = root(model);
  const fb::Subgraph& ops = graph(stored);
  std::set<int32_t> read;
  for (const fb::Step* step : *ops.steps()) {
    if (!counts(*step)) continue;
    for (uint32_t i = step->first_op(); i < step->first_op() + step->op_count(); ++i) {
      const fb::Op& op = *ops.ops()->Get(i);
      if (op.attributes_as_Linear() != nullptr) read.insert(operand(op.inputs(), 1));
    }
  }
  uint64_t bytes = 0;
  for (const int32_t index : read) {
    const fb::Tensor& weight = tensor(stored, index);
    bytes += size_of(weight.data()) + size_of(weight.scales()) + size_of(weight.sums());
  }
  return bytes;
}

}  // namespace

uint64_t step_bytes(const Model& model) {
  return bytes_of(model, [](const fb::Step& step) { return step.phase() == fb::Phase::main; });
}

uint64_t pass_bytes(const Model& model) {
  return bytes_of(model, [](const fb::Step&) { return true; });
}

}  // namespace bantam::probe
