#include "probe/op_times.h"

#include <algorithm>
#include <chrono>

#include "format/view.h"
#include "ops/matrices.h"

namespace bantam::probe {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Returns the measured time of an empty interval.
double clock_cost() {
  double least = 1;
  for (int i = 0; i < 1000; ++i) {
    const Clock::time_point begin = Clock::now();
    least = std::min(least, milliseconds_between(begin, Clock::now()));
  }
  return least;
}

/// The clock and sums of one worker in one pass; each worker has its own.
struct WorkerClock {
  Clock::time_point start;
  std::vector<double> milliseconds;
  double cost = 0;
};

void before(void* context, uint32_t, uint32_t, uint32_t, uint32_t worker) {
  (*static_cast<std::vector<WorkerClock>*>(context))[worker].start = Clock::now();
}

void after(void* context, uint32_t op, uint32_t, uint32_t, uint32_t worker) {
  const Clock::time_point end = Clock::now();
  WorkerClock& clock = (*static_cast<std::vector<WorkerClock>*>(context))[worker];
  const double spent = milliseconds_between(clock.start, end);
  clock.milliseconds[op] += std::max(spent / 2, spent - clock.cost);
}

/// Returns the number of keys that the query at `position` of `length` tokens attends to; the few global tokens are not
/// counted.
uint64_t visible_keys(const fb::Attention& attention, uint64_t position, uint64_t length) {
  if (attention.mask() == fb::MaskKind::of_globals) return 0;
  if (attention.mask() == fb::MaskKind::blocks && length > attention.full_until()) {
    const uint64_t own = position / attention.block();
    if (own == 0 || own == (length - 1) / attention.block()) return length;
    return std::min(length, uint64_t{attention.block()} * (5 + attention.random()));
  }
  const bool causal = attention.mask() == fb::MaskKind::causal || attention.mask() == fb::MaskKind::causal_window;
  const bool window = attention.mask() == fb::MaskKind::window || attention.mask() == fb::MaskKind::window_fillers ||
                      attention.mask() == fb::MaskKind::causal_window || attention.mask() == fb::MaskKind::globals;
  const uint64_t reach = window ? attention.window() : length;
  const uint64_t first = position > reach ? position - reach : 0;
  const uint64_t last = causal ? position : std::min(length - 1, position + reach);
  return last - first + 1;
}

/// Returns the number of query-key pairs of all sequences; `attention` null: of all pairs of their tokens.
uint64_t count_pairs(const fb::Attention* attention, const Batch& batch) {
  uint64_t pairs = 0;
  for (uint32_t s = 0; s < batch.sequences; ++s) {
    const uint64_t length = batch.offsets == nullptr ? batch.tokens : batch.offsets[s + 1] - batch.offsets[s];
    if (attention == nullptr) pairs += length * length;
    for (uint64_t position = 0; attention != nullptr && position < length; ++position)
      pairs += visible_keys(*attention, position, length);
  }
  return pairs;
}

enum class Macs : uint8_t { kNone, kWeights, kScores, kState, kExperts, kSums, kChunks };

/// The functions by row of ops/ops.inc.
constexpr Macs kMacs[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, macs, ...) Macs::macs,
#include "ops/ops.inc"
#undef BANTAM_OP
};

void count_macs(const fb::Model& model, const fb::Op& op, uint32_t rows, const Batch& batch, OpTime* out) {
  const uint32_t row = ops::find_row(op);
  const Macs macs = row == linked::kOps ? Macs::kNone : kMacs[row];
  if (macs == Macs::kWeights) {
    const fb::Depthwise* convolution = op.attributes_as_Depthwise();
    if (convolution != nullptr && convolution->heads() != 0) {
      const uint64_t taps = uint64_t{convolution->before()} + 1 + convolution->after();
      out->macs = rows * taps * width(tensor(model, operand(op.inputs(), 0)));
      return;
    }
    const fb::Tensor& weight = tensor(model, operand(op.inputs(), 1));
    const fb::Linear* layer = op.attributes_as_Linear();
    const bool terms = layer != nullptr && layer->saturations() != 0;  // term weights need the scores of all tokens
    out->macs = uint64_t{terms ? batch.tokens : rows} * extent(weight, 0) * extent(weight, 1);
    out->int8 = integer_weights(weight);
  }
  if (macs == Macs::kScores) {
    const fb::Attention* attention = op.attributes_as_Attention();
    const uint64_t columns = attention != nullptr ? uint64_t{2} * attention->heads() * attention->head_width()
                                                  : width(tensor(model, operand(op.inputs(), 0)));
    out->macs = count_pairs(attention, batch) * columns;
    out->int8 = tensor(model, operand(op.inputs(), 0)).type() == fb::DType::i8;
  }
  if (macs == Macs::kSums) {
    const fb::KeySums* sums = op.attributes_as_KeySums();
    const uint64_t features = sums != nullptr ? sums->features() : op.attributes_as_LinearAttention()->features();
    const uint64_t columns = width(tensor(model, operand(op.inputs(), 0))) / (sums != nullptr ? 2 : 1);
    out->macs = 2 * batch.tokens * features * columns;
  }
  if (macs == Macs::kState) {
    ops::for_each_matrix(op, [&](int32_t index) {
      const fb::Tensor& weight = tensor(model, index);
      out->macs += uint64_t{batch.tokens} * extent(weight, 0) * extent(weight, 1);
      out->int8 = integer_weights(weight);
    });
  }
  if (macs == Macs::kChunks) {
    const fb::ChunkAttention& a = *op.attributes_as_ChunkAttention();
    const uint64_t rounds = std::max(a.rounds(), 1U), parts = a.rounds() != 0 ? 2 : 3;
    const uint64_t seen = (uint64_t{a.before()} + 1 + a.after()) * a.chunk();
    out->macs = 2 * batch.tokens * rounds * seen * (width(tensor(model, operand(op.inputs(), 0))) / parts);
    const int32_t rotations = operand(op.inputs(), 1);
    if (rotations >= 0) {
      const fb::Tensor& matrix = tensor(model, rotations);
      out->macs += uint64_t{batch.tokens} * extent(matrix, 0) * extent(matrix, 1);
    }
  }
  if (macs == Macs::kExperts) {
    const fb::Experts& layer = *op.attributes_as_Experts();
    ops::for_each_matrix(op, [&](int32_t index) {
      const fb::Tensor& weight = tensor(model, index);
      out->macs += uint64_t{rows} * layer.top() * (extent(weight, 0) / layer.experts()) * extent(weight, 1);
      out->int8 = integer_weights(weight);
    });
  }
}

}  // namespace

std::vector<OpTime> list_ops(const Model& model, const Batch& batch) {
  const fb::Model& stored = root(model);
  const fb::Subgraph& ops = graph(stored);
  std::vector<OpTime> list(ops.ops()->size());
  for (const fb::Step* step : *ops.steps()) {
    const uint32_t rows = static_cast<uint32_t>(step->rows()) == kSequences ? batch.sequences : batch.tokens;
    for (uint32_t i = step->first_op(); i < step->first_op() + step->op_count(); ++i) {
      const fb::Op& op = *ops.ops()->Get(i);
      const Text name = as_text(op.name());
      list[i].name.assign(name.data == nullptr ? "" : name.data, name.size);
      list[i].kind = fb::EnumNameOpAttributes(op.attributes_type());
      count_macs(stored, op, rows, batch, &list[i]);
    }
  }
  return list;
}

Status time_ops(Session& session, const Batch& batch, uint32_t workers, uint32_t passes, RunPasses run,
                std::vector<OpTime>* out) {
  *out = list_ops(session.model(), batch);
  std::vector<WorkerClock> clocks(workers);
  const double cost = clock_cost();
  for (WorkerClock& clock : clocks) clock.cost = cost;
  const Session::Observer observer{&clocks, before, after};
  session.set_observer(&observer);
  Status status = Status::kOk;
  for (uint32_t pass = 0; pass < passes && status == Status::kOk; ++pass) {
    for (WorkerClock& clock : clocks) clock.milliseconds.assign(out->size(), 0.0);
    status = run(session, batch);
    for (size_t i = 0; i < out->size(); ++i) {
      OpTime& op = (*out)[i];
      double spent = 0;
      for (const WorkerClock& clock : clocks) spent += clock.milliseconds[i];
      op.mean += spent / passes;
      op.least = pass == 0 ? spent : std::min(op.least, spent);
    }
  }
  session.set_observer(nullptr);
  return status;
}

double limit_ms(const Peaks& peaks, uint64_t int8_macs, uint64_t f32_macs) {
  if ((int8_macs != 0 && peaks.int8 == 0) || (f32_macs != 0 && peaks.f32 == 0)) return 0;
  double seconds = 0;
  if (int8_macs != 0) seconds += static_cast<double>(int8_macs) / peaks.int8;
  if (f32_macs != 0) seconds += static_cast<double>(f32_macs) / peaks.f32;
  return seconds * 1e3;
}

double of_peak(const OpTime& op, const Peaks& peaks) {
  return op.least > 0 ? limit_ms(peaks, op.int8_macs(), op.f32_macs()) / op.least : 0;
}

std::vector<KindTime> sum_kinds(const std::vector<OpTime>& ops) {
  std::vector<KindTime> kinds;
  for (const OpTime& op : ops) {
    KindTime* kind = nullptr;
    for (KindTime& known : kinds) {
      if (known.sum.kind == op.kind && known.sum.int8 == op.int8) kind = &known;
    }
    if (kind == nullptr) {
      kind = &kinds.emplace_back();
      kind->sum.kind = op.kind;
      kind->sum.int8 = op.int8;
    }
    ++kind->count;
    kind->sum.macs += op.macs;
    kind->sum.least += op.least;
    kind->sum.mean += op.mean;
  }
  return kinds;
}

double total_least(const std::vector<OpTime>& ops) {
  double total = 0;
  for (const OpTime& op : ops) total += op.least;
  return total;
}

}  // namespace bantam::probe
