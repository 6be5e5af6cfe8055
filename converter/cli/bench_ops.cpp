#include "cli/bench_ops.h"

#include <chrono>

#include "cli/errors.h"
#include "model/view.h"

namespace bantam::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// One worker's clock and sums; workers never share one.
struct WorkerClock {
  Clock::time_point start;
  std::vector<double> milliseconds;
};

void before(void* context, uint32_t, uint32_t, uint32_t, uint32_t worker) {
  (*static_cast<std::vector<WorkerClock>*>(context))[worker].start = Clock::now();
}

void after(void* context, uint32_t op, uint32_t, uint32_t, uint32_t worker) {
  WorkerClock& clock = (*static_cast<std::vector<WorkerClock>*>(context))[worker];
  clock.milliseconds[op] += std::chrono::duration<double, std::milli>(Clock::now() - clock.start).count();
}

/// Multiply-accumulates of one op on this batch; 0 for row operators.
uint64_t count_macs(const fb::Model& model, const fb::Op& op, uint32_t rows, const Batch& batch) {
  if (op.attributes_type() == fb::OpAttributes::Linear) {
    const fb::Tensor& weight = tensor(model, operand(op.inputs(), 1));
    return uint64_t{rows} * extent(weight, 0) * extent(weight, 1);
  }
  if (op.attributes_type() == fb::OpAttributes::Attention) {
    const fb::Attention& attention = *op.attributes_as_Attention();
    uint64_t pairs = 0;
    for (uint32_t s = 0; s < batch.sequences; ++s) {
      const uint64_t length = batch.offsets[s + 1] - batch.offsets[s];
      pairs += length * length;
    }
    return 2 * pairs * attention.heads() * attention.head_width();
  }
  return 0;
}

}  // namespace

std::vector<OpTiming> time_ops(Engine& engine, const Batch& batch, uint32_t repetitions) {
  const fb::Model& model = root(engine.model());
  const fb::Subgraph& ops = graph(model);
  std::vector<WorkerClock> clocks(engine.threads());
  for (WorkerClock& clock : clocks) clock.milliseconds.assign(ops.ops()->size(), 0.0);
  const Session::Observer observer{&clocks, before, after};
  engine.session().set_observer(&observer);
  for (uint32_t i = 0; i < repetitions; ++i) check(engine.session().run(batch), engine.file().path());
  engine.session().set_observer(nullptr);

  std::vector<OpTiming> timings;
  double all = 0;
  for (const fb::Step* step : *ops.steps()) {
    const uint32_t rows = static_cast<uint32_t>(step->rows()) == kSequences ? batch.sequences : batch.tokens;
    for (uint32_t i = step->first_op(); i < step->first_op() + step->op_count(); ++i) {
      const fb::Op& op = *ops.ops()->Get(i);
      OpTiming timing;
      timing.name = to_string(as_text(op.name()));
      timing.kind = fb::EnumNameOpAttributes(op.attributes_type());
      timing.macs = count_macs(model, op, rows, batch);
      for (const WorkerClock& clock : clocks) timing.milliseconds += clock.milliseconds[i] / repetitions;
      all += timing.milliseconds;
      timings.push_back(timing);
    }
  }
  for (OpTiming& timing : timings) timing.share = all > 0 ? timing.milliseconds / all : 0;
  return timings;
}

}  // namespace bantam::cli
