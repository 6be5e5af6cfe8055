// One forward pass: steps one after the other, each split in tiles of rows that any worker may take.
#include "format/split_mix.h"
#include "linked.h"
#include "model/heads.h"
#include "ops/ops.h"
#include "session/float_environment.h"
#include "session/shortlist.h"
#include "session/state.h"

namespace bantam {
namespace {

/// The scores that are wanted; nothing where no shortlist is linked.
template <bool kLinked>
struct Wanted {
  ops::ListedScores listed;  // where the session's listed_only
};
template <>
struct Wanted<false> {};

struct StepRun : Wanted<linked::kShortlist> {
  SessionState* session;
  const fb::Step* step;
  uint32_t rows;
  uint32_t tile;
  uint32_t tiles;          // tasks
  uint32_t linear_number;  // of the step's first Linear
  bool last_rows;          // a tile is the last row of a sequence
  bool by_tokens;          // a task is a sequence, whose rows are tiles, one after the other
  uint32_t values[kSymbols];
  const ops::Helpers* helpers;  // where there is one task; null: one worker
};

/// A template, because `contexts`, `phase` and `sources` are no fields where none are linked.
template <typename Tile>
void remember(const SessionState& s, const fb::Step& step, Tile* tile) {
  if constexpr (linked::kContexts) {
    if (s.limits.context != 0 && step.phase() == fb::Phase::main) tile->contexts = &s.store->view;
  }
  if constexpr (linked::kSources) {
    tile->phase = step.phase();
    tile->rows_symbol = static_cast<uint32_t>(step.rows());
    tile->sources = &s.sources;
  }
}

/// The same of marks.
template <typename Tile>
void take_marks(const SessionState& s, Tile* tile) {
  if constexpr (linked::kMarks) tile->marks = s.marks;
}

/// The same of scores that are wanted.
template <typename Run, typename Tile>
void take_listed(const SessionState& s, const Run& run, Tile* tile) {
  if constexpr (linked::kShortlist) {
    if (s.listed_only && tile->phase == fb::Phase::main) tile->listed = &run.listed;
  }
}

/// The same of features.
template <typename Tile>
void take_features(const SessionState& s, Tile* tile) {
  if constexpr (linked::kFeatures) tile->features = s.features;
}

/// The same of threads.
template <typename Tile>
void take_helpers(const StepRun& run, Tile* tile) {
  if constexpr (linked::kHost) tile->helpers = run.helpers;
}

/// What a step that goes by tokens has written, for the token behind.
[[maybe_unused]] void keep_step(const StepRun& run, const ops::TileRun& tile) {
  if (tile.contexts == nullptr) return;
  for (uint32_t i = 0; i < run.step->op_count(); ++i) {
    const fb::Op& op = *graph(tile.model).ops()->Get(run.step->first_op() + i);
    if (ops::is_previous(op)) ops::keep_rows(tile, op);
  }
}

/// All ops of the step on rows [begin, begin + rows) of the run.
Status run_rows(const StepRun& run, uint32_t begin, uint32_t rows, uint32_t worker) {
  SessionState& s = *run.session;
  const fb::Model& model = root(s.model);
  ops::TileRun tile = {{},
                       {},
                       {},
                       {},
                       {},
                       {},
                       model,
                       s.model.data(),
                       s.kernels,
                       s.backend,
                       s.ids,
                       s.segments,
                       s.offsets,
                       s.sequences,
                       {run.values[kTokens], run.values[kSequences], run.values[kTile]},
                       s.shared,
                       s.f32_heads,
                       s.workers[worker].heads,
                       s.workers[worker].tile,
                       nullptr,
                       begin,
                       rows,
                       s.limits.block_rows,
                       s.limits.linear_rows,
                       run.linear_number};
  remember(s, *run.step, &tile);
  if (linked::kMarks) take_marks(s, &tile);
  if (linked::kFeatures) take_features(s, &tile);
  if (linked::kShortlist) take_listed(s, run, &tile);
  take_helpers(run, &tile);
  const FloatEnvironment environment;
  for (uint32_t i = 0; i < run.step->op_count(); ++i) {
    const uint32_t number = run.step->first_op() + i;
    const fb::Op& op = *graph(model).ops()->Get(number);
    const Session::Observer* observer = linked::kHost ? s.observer : nullptr;
    if (observer != nullptr && observer->before != nullptr) {
      observer->before(observer->context, number, begin, rows, worker);
    }
    tile.scratch = tile.tile + scratch_begin(model, run.step->phase(), op, run.values);
    const ops::Rule& rule = *ops::find_rule(op);
    const Status status = rule.run(tile, op);
    if (status != Status::kOk) return status;
    if (observer != nullptr && observer->after != nullptr) {
      observer->after(observer->context, number, begin, rows, worker);
    }
    if (linked::kHost && rule.facts->kind == fb::OpAttributes::Linear) ++tile.linear_number;
  }
  if constexpr (linked::op(linked::kOpPrevious)) keep_step(run, tile);
  return Status::kOk;
}

/// The step's task number `index`.
Status run_tile(const StepRun& run, uint32_t index, uint32_t worker) {
  const SessionState& s = *run.session;
  if (linked::op(linked::kOpPrevious) && run.by_tokens) {
    Status status = Status::kOk;
    for (uint32_t row = s.offsets[index]; row < s.offsets[index + 1] && status == Status::kOk; ++row) {
      status = run_rows(run, row, 1, worker);
    }
    return status;
  }
  const bool last = linked::kContexts && run.last_rows;
  const uint32_t begin = last ? s.offsets[index + 1] - 1 : index * run.tile;
  const uint32_t rows = last ? 1 : run.rows - begin < run.tile ? run.rows - begin : run.tile;
  return run_rows(run, begin, rows, worker);
}

/// What task `index` adds to its worker's marks: 64 well-mixed bits, so that each task once is told from any other tasks,
/// however often, without memory for each.
constexpr uint64_t mark(uint32_t index) { return split_mix((uint64_t{index} + 1) * kSplitMixStep); }

/// Tasks for `parallel`, which is not trusted: no memory is touched that a worker id has not, nothing is run of an index too
/// many, and what was left out or run twice is found.
struct Tasks {
  SessionState& session;
  uint32_t count;
  void (*task)(void* arg, uint32_t index, uint32_t worker);
  void* arg;
};

void run_task(void* arg, uint32_t index, uint32_t worker) {
  const Tasks& tasks = *static_cast<const Tasks*>(arg);
  if (worker >= tasks.session.limits.workers) return;  // it has no memory: run_tasks misses the task
  tasks.session.workers[worker].marks += mark(index);
  if (index < tasks.count) tasks.task(tasks.arg, index, worker);
}

/// Whether `parallel` has run each task once.
bool run_tasks(Tasks tasks) {
  SessionState& s = tasks.session;
  for (uint32_t w = 0; w < s.limits.workers; ++w) s.workers[w].marks = 0;
  s.parallel->run(s.parallel->context, tasks.count, run_task, &tasks);
  uint64_t marks = 0;
  for (uint32_t w = 0; w < s.limits.workers; ++w) marks += s.workers[w].marks;
  for (uint32_t i = 0; i < tasks.count; ++i) marks -= mark(i);
  return marks == 0;
}

struct PartTask {
  void (*task)(void* arg, uint32_t part);
  void* arg;
};

/// ops::Helpers::run of a session.
bool run_parts(void* session, uint32_t parts, void (*task)(void* arg, uint32_t part), void* arg) {
  PartTask part = {task, arg};
  const auto run = [](void* all, uint32_t index, uint32_t) {
    const FloatEnvironment environment;
    static_cast<PartTask*>(all)->task(static_cast<PartTask*>(all)->arg, index);
  };
  return run_tasks({*static_cast<SessionState*>(session), parts, run, &part});
}

/// All tiles of a step, or sequences, by whoever comes; of one alone the ops may have all threads.
Status run_step(StepRun& run) {
  SessionState& s = *run.session;
  const bool of_sequences = (linked::kContexts && run.last_rows) || (linked::op(linked::kOpPrevious) && run.by_tokens);
  const uint32_t tiles = run.tiles = of_sequences ? s.sequences : (run.rows + run.tile - 1) / run.tile;
  Status status = Status::kOk;
  if (!linked::kHost || s.limits.workers == 1) {
    for (uint32_t i = 0; i < tiles && status == Status::kOk; ++i) status = run_tile(run, i, 0);
    return status;
  }
  ops::Helpers helpers = {&s, run_parts, s.limits.workers, static_cast<size_t>(s.workers[1].tile - s.workers[0].tile)};
  run.helpers = tiles == 1 ? &helpers : nullptr;
  if (tiles == 1) return run_tile(run, 0, 0);
  for (uint32_t w = 0; w < s.limits.workers; ++w) s.workers[w].status = Status::kOk;
  const auto task = [](void* arg, uint32_t index, uint32_t worker) {
    const StepRun& step = *static_cast<const StepRun*>(arg);
    Status& own = step.session->workers[worker].status;
    if (own == Status::kOk) own = run_tile(step, index, worker);
  };
  const bool all_run = run_tasks({s, tiles, task, &run});
  for (uint32_t w = 0; w < s.limits.workers && status == Status::kOk; ++w) status = s.workers[w].status;
  return status != Status::kOk || all_run ? status : Status::kInvalidArgument;  // `parallel` breaks its contract
}

[[maybe_unused]] uint32_t count_linears(const fb::Model& model, const fb::Step& step) {
  uint32_t linears = 0;
  for (uint32_t i = 0; i < step.op_count(); ++i) {
    const fb::Op& op = *graph(model).ops()->Get(step.first_op() + i);
    linears += ops::executed_kind(op) == fb::OpAttributes::Linear ? 1u : 0u;
  }
  return linears;
}

Status check_rows(const OutputView& view) {
  for (uint32_t r = 0; r < view.rows; ++r) {
    const float* row = view.data + r * view.stride;
    // 0 * x is NaN for a NaN or an infinity, else a zero.
    float sum = 0;
    for (uint32_t c = 0; c < view.width; ++c) sum += row[c] * 0.0f;
    if (!(sum == 0.0f)) return Status::kNonFinite;
  }
  return Status::kOk;
}

Status check_outputs(const SessionState& s, uint32_t outputs) {
  for (uint32_t i = 0; i < outputs; ++i) {
    OutputView view;
    if (linked::kSources && root(s.model).outputs()->Get(i)->phase() != s.phase) continue;
    const bool last = linked::kContexts && s.last_rows;
    for (uint32_t sequence = 0; sequence < (last ? s.sequences : 1); ++sequence) {
      Status status = last ? s.output(i, sequence, &view) : s.output(i, &view);
      if (status == Status::kOk) status = check_rows(view);
      if (status != Status::kOk) return status;
    }
  }
  return Status::kOk;
}

/// Where the scores of words lie, and which of them each source's texts may have.
template <typename Run>
void want_listed(const SessionState& s, Run* run) {
  if constexpr (linked::kShortlist) {
    const fb::Model& model = root(s.model);
    const auto output = static_cast<uint32_t>(find_head(model, kNextWordHead));
    run->listed = {model.outputs()->Get(output)->tensor(), s.listed, listed_units(model)};
  }
}

/// Of every row of scores that was made.
[[maybe_unused]] void leave_out_unlisted(SessionState& s) {
  const auto output = static_cast<uint32_t>(find_head(root(s.model), kNextWordHead));
  for (uint32_t i = 0; i < s.sequences; ++i) {
    OutputView view;
    if (s.output(output, i, &view) != Status::kOk) continue;
    // The rows belong to the session.
    auto* scores = const_cast<float*>(view.data);
    for (uint32_t row = 0; row < view.rows; ++row) {
      keep_words(s.shortlist(s.source_numbers[i]), scores + row * view.stride, view.width);
    }
  }
}

/// Room for the batch's tokens in its contexts; the most tokens that one of them then has.
[[maybe_unused]] uint32_t take_contexts(SessionState& s) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < s.sequences; ++i) {
    const uint32_t context = s.store->numbers[i], tokens = s.offsets[i + 1] - s.offsets[i];
    s.store->prepare(context, tokens);
    s.store->past[i] = s.store->lengths[context];
    const uint32_t length = s.store->past[i] + tokens;
    longest = length > longest ? length : longest;
  }
  return longest;
}

/// The batch's tokens belong to its contexts from now on.
[[maybe_unused]] void keep_contexts(SessionState& s) {
  for (uint32_t i = 0; i < s.sequences; ++i) {
    s.store->append(s.store->numbers[i], s.ids + s.offsets[i], s.offsets[i + 1] - s.offsets[i]);
  }
}

/// `value` bytes of the arena, which fits size_t.
void raise_mark(uint64_t value, size_t* mark) {
  const auto bytes = static_cast<size_t>(value);
  *mark = bytes > *mark ? bytes : *mark;
}

}  // namespace

Status execute(SessionState& s, fb::Phase phase) {
  const fb::Model& model = root(s.model);
  const bool main = !linked::kSources || phase == fb::Phase::main;
  s.has_run = false;
  uint32_t longest = 0, source = 0;
  for (uint32_t i = 0; i < s.sequences; ++i) {
    const uint32_t rows = s.offsets[i + 1] - s.offsets[i];
    longest = rows > longest ? rows : longest;
  }
  const bool contexts = linked::kContexts && s.limits.context != 0 && main;
  if constexpr (linked::kSources) {
    for (uint32_t i = 0; i < s.sequences && s.limits.source != 0 && main; ++i) {
      if (linked::kChunks && s.source_numbers[i] == kNoSource) continue;
      const uint32_t length = s.source_lengths[s.source_numbers[i]];
      source = length > source ? length : source;
    }
  }
  if constexpr (linked::kContexts) {
    if (contexts) longest = take_contexts(s);
  }
  StepRun run = {};
  run.session = &s;
  if (linked::kShortlist && s.listed_only && main) want_listed(s, &run);
  size_t worker_high = 0;
  size_t heads_high = 0;
  for (const fb::Step* step : *graph(model).steps()) {
    if (linked::kSources && step->phase() != phase) {
      if constexpr (linked::kHost) run.linear_number += count_linears(model, *step);
      continue;
    }
    run.step = step;
    const bool of_tokens = step->rows() == static_cast<int32_t>(kTokens);
    run.rows = of_tokens ? s.tokens : s.sequences;
    // Nothing but outputs is read of what the last step makes.
    if constexpr (linked::kContexts) {
      // Where each sequence has one row, all are last ones, and tiles are of as many as elsewhere.
      const bool some = s.last_rows && s.tokens != s.sequences;
      run.last_rows = some && of_tokens && step == graph(model).steps()->Get(graph(model).steps()->size() - 1);
    }
    if constexpr (linked::op(linked::kOpPrevious)) {
      const bool by_tokens = ops::goes_by_tokens(model, *step);
      run.by_tokens = by_tokens && s.tokens != s.sequences;
      run.last_rows = run.last_rows && !by_tokens;
    }
    run.tile = choose_tile(model, s.limits, run.rows);
    round_symbols(model, s.limits, s.tokens, s.sequences, run.tile, run.values);
    raise_mark(step_bytes(model, s.limits, *step, longest, source, run.values), &worker_high);
    raise_mark(heads_bytes(model, s.limits, fb::Region::tile, run.values), &heads_high);
    const Status status = run_step(run);
    if (status != Status::kOk) return status;
    if constexpr (linked::kHost) run.linear_number += count_linears(model, *step);
  }
  for (uint32_t i = 0; i < kSymbols; ++i) s.values[i] = run.values[i];
  raise_mark(shared_bytes(model, phase, run.values) + heads_bytes(model, s.limits, fb::Region::shared, run.values),
             &s.shared_high);
  raise_mark(s.limits.workers * (worker_high + heads_high), &s.worker_high);
  s.has_run = true;
  s.phase = phase;
  if (linked::kShortlist && s.listed_only && main) leave_out_unlisted(s);
  const Status status = check_outputs(s, s.model.output_count());
  s.has_run = status == Status::kOk;
  if (contexts && s.has_run) keep_contexts(s);
  return status;
}

}  // namespace bantam
