// One forward pass: runs the steps in order; each is split into tiles of rows that any worker may take.
#include "format/split_mix.h"
#include "linked.h"
#include "model/heads.h"
#include "ops/ops.h"
#include "session/float_environment.h"
#include "session/parts/shortlist.h"
#include "session/state.h"

namespace bantam {
namespace {

/// The words whose scores are needed; no field if shortlists are not linked.
template <bool kLinked>
struct Wanted {
  ops::ListedScores listed;  // only if the session's listed_only is set
};
template <>
struct Wanted<false> {};

struct StepRun : Wanted<linked::kShortlist> {
  SessionState* session;
  const fb::Step* step;
  uint32_t rows;
  uint32_t tile;
  uint32_t tiles;          // tasks
  uint32_t linear_number;  // number of the step's first Linear
  bool last_rows;          // each tile is the last row of a sequence
  bool by_tokens;          // each task is a sequence, whose rows are tiles that run in order
  bool scores;             // each tile consists of scored rows
  uint32_t values[kSymbols];
  const ops::Helpers* helpers;  // only if there is a single task; null: one worker
};

/// Sets the tile's contexts and sources. A template, because Tile has no fields for them if they are not linked.
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

/// Sets the tile's marks.
template <typename Tile>
void take_marks(const SessionState& s, Tile* tile) {
  if constexpr (linked::kMarks) tile->marks = s.marks;
}

/// Sets the words whose scores the tile computes.
template <typename Run, typename Tile>
void take_listed(const SessionState& s, const Run& run, Tile* tile) {
  if constexpr (linked::kShortlist) {
    if (s.listed_only && tile->phase == fb::Phase::main) tile->listed = &run.listed;
  }
}

/// Sets the tile's features.
template <typename Tile>
void take_features(const SessionState& s, Tile* tile) {
  if constexpr (linked::kFeatures) tile->features = s.features;
}

/// Sets the rows that are scored alone: scored row number `first` is the tile's first row.
template <typename Tile>
void take_scored(const SessionState& s, uint32_t first, Tile* tile) {
  if constexpr (linked::kScoredRows) {
    tile->scored = &s.scored;
    tile->first_scored = first;
  }
}

/// Sets the threads that help with the tile.
template <typename Tile>
void take_helpers(const StepRun& run, Tile* tile) {
  if constexpr (linked::kHost) tile->helpers = run.helpers;
}

/// Stores the rows that a token-by-token step has written, for the next token.
[[maybe_unused]] void keep_step([[maybe_unused]] const StepRun& run, const ops::TileRun& tile) {
  if (tile.contexts == nullptr) return;
  if constexpr (linked::op(linked::kOpPrevious)) {
    for (uint32_t i = 0; i < run.step->op_count(); ++i) {
      const fb::Op& op = *graph(tile.model).ops()->Get(run.step->first_op() + i);
      if (ops::is_previous(op)) ops::keep_rows(tile, op);
    }
  }
}

/// Counts the Linear operators among the step's first `ops` operators.
[[maybe_unused]] uint32_t count_linears(const fb::Model& model, const fb::Step& step, uint32_t ops) {
  uint32_t linears = 0;
  for (uint32_t i = 0; i < ops; ++i) {
    const fb::Op& op = *graph(model).ops()->Get(step.first_op() + i);
    linears += ops::executed_kind(op) == fb::OpAttributes::Linear ? 1u : 0u;
  }
  return linears;
}

/// Rows of a task; if they are scored alone, `first_scored` is the number of the first among the scored rows.
struct TaskRows {
  uint32_t begin;
  uint32_t count;
  uint32_t first_scored;
};

/// Runs operators [first, last) of the step, by default all, on these rows.
Status run_rows(const StepRun& run, const TaskRows& task, uint32_t worker, uint32_t first = 0,
                uint32_t last = UINT32_MAX) {
  SessionState& s = *run.session;
  const fb::Model& model = root(s.model);
  ops::TileRun tile = {{},
                       {},
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
                       task.begin,
                       task.count,
                       s.limits.block_rows,
                       s.limits.linear_rows,
                       run.linear_number};
  remember(s, *run.step, &tile);
  if (linked::kMarks) take_marks(s, &tile);
  if (linked::kFeatures) take_features(s, &tile);
  if (linked::kShortlist) take_listed(s, run, &tile);
  if (linked::kScoredRows && run.scores) take_scored(s, task.first_scored, &tile);
  take_helpers(run, &tile);
  const FloatEnvironment environment;
  const uint32_t end = last < run.step->op_count() ? last : run.step->op_count();
  if (linked::kHost && first != 0) tile.linear_number += count_linears(model, *run.step, first);
  for (uint32_t i = first; i < end; ++i) {
    const uint32_t number = run.step->first_op() + i;
    const fb::Op& op = *graph(model).ops()->Get(number);
    const Session::Observer* observer = linked::kHost ? s.observer : nullptr;
    if (observer != nullptr && observer->before != nullptr) {
      observer->before(observer->context, number, task.begin, task.count, worker);
    }
    tile.scratch = tile.tile + scratch_begin(model, run.step->phase(), op, run.values);
    const ops::Rule& rule = *ops::find_rule(op);
    const Status status = rule.run(tile, op);
    if (status != Status::kOk) return status;
    if (observer != nullptr && observer->after != nullptr) {
      observer->after(observer->context, number, task.begin, task.count, worker);
    }
    if (linked::kHost && rule.facts->kind == fb::OpAttributes::Linear) ++tile.linear_number;
  }
  if constexpr (linked::op(linked::kOpPrevious)) keep_step(run, tile);
  return Status::kOk;
}

/// Returns true if each tile is the last row of a sequence.
bool of_last_rows(const StepRun& run) { return linked::kContexts && run.last_rows; }
/// Returns true if each task is a sequence that runs token by token.
bool goes_by_tokens(const StepRun& run) { return linked::op(linked::kOpPrevious) && run.by_tokens; }

/// Returns the rows of task number `index` of a step that does not run token by token.
TaskRows rows_of(const StepRun& run, uint32_t index) {
  const SessionState& s = *run.session;
  if constexpr (linked::kScoredRows) {
    if (run.scores) {
      const uint32_t first = s.scored_begins[index];
      return {s.scored_numbers[first], s.scored_begins[index + 1] - first, first};
    }
  }
  if (of_last_rows(run)) return {s.offsets[index + 1] - 1, 1, 0};
  const uint32_t begin = index * run.tile;
  return {begin, run.rows - begin < run.tile ? run.rows - begin : run.tile, 0};
}

/// Runs task number `index` of the step.
Status run_tile(const StepRun& run, uint32_t index, uint32_t worker) {
  const SessionState& s = *run.session;
  if (goes_by_tokens(run)) {
    Status status = Status::kOk;
    for (uint32_t row = s.offsets[index]; row < s.offsets[index + 1] && status == Status::kOk; ++row) {
      status = run_rows(run, {row, 1, 0}, worker);
    }
    return status;
  }
  return run_rows(run, rows_of(run, index), worker);
}

/// In a stepped run, the units of task `index` are its operators or its tokens. units_of counts them, run_unit runs
/// one.
uint32_t units_of(const StepRun& run, uint32_t index) {
  const uint32_t* offsets = run.session->offsets;
  return goes_by_tokens(run) ? offsets[index + 1] - offsets[index] : run.step->op_count();
}
Status run_unit(const StepRun& run, uint32_t index, uint32_t unit) {
  if (goes_by_tokens(run)) return run_rows(run, {run.session->offsets[index] + unit, 1, 0}, 0);
  return run_rows(run, rows_of(run, index), 0, unit, unit + 1);
}

/// The number that task `index` adds to its worker's marks: 64 well-mixed bits. The sum of all marks shows, without
/// memory per task, whether tasks were skipped or run several times.
constexpr uint64_t mark(uint32_t index) { return split_mix((uint64_t{index} + 1) * kSplitMixStep); }

/// Tasks for `parallel`, which is not trusted: run_task touches only memory of valid worker ids and ignores indices
/// that are too large; run_tasks detects tasks that were skipped or run twice.
struct Tasks {
  SessionState& session;
  uint32_t count;
  void (*task)(void* arg, uint32_t index, uint32_t worker);
  void* arg;
};

void run_task(void* arg, uint32_t index, uint32_t worker) {
  const Tasks& tasks = *static_cast<const Tasks*>(arg);
  if (worker >= tasks.session.limits.workers) return;  // there is no memory for it: run_tasks detects the missing task
  tasks.session.workers[worker].marks += mark(index);
  if (index < tasks.count) tasks.task(tasks.arg, index, worker);
}

/// Runs the tasks with `parallel`. Returns true if each task ran exactly once.
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

/// Runs all tiles of a step, or all sequences, on the available workers; if there is only one, its operators may use
/// all threads.
Status run_step(StepRun& run) {
  SessionState& s = *run.session;
  const uint32_t tiles = run.tiles;
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
  return status != Status::kOk || all_run ? status : Status::kInvalidArgument;  // `parallel` violated its contract
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
    if (lacks_rows(s, i)) continue;
    const bool last = linked::kContexts && s.last_rows;
    for (uint32_t sequence = 0; sequence < (last ? s.sequences : 1); ++sequence) {
      Status status = last ? s.output(i, sequence, &view) : s.output(i, &view);
      if (status == Status::kOk) status = check_rows(view);
      if (status != Status::kOk) return status;
    }
  }
  return Status::kOk;
}

/// Sets the tensor of word scores, and the words that each source's texts may contain.
template <typename Run>
void want_listed(const SessionState& s, Run* run) {
  if constexpr (linked::kShortlist) {
    const fb::Model& model = root(s.model);
    const auto output = static_cast<uint32_t>(find_head(model, kNextWordHead));
    run->listed = {model.outputs()->Get(output)->tensor(), s.listed, listed_units(model)};
  }
}

/// Excludes unlisted words in every computed row of scores.
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

/// Reserves room for the batch's tokens in its contexts. Returns the most tokens that a context then has.
uint32_t take_contexts([[maybe_unused]] SessionState& s) {
  uint32_t longest = 0;
  if constexpr (linked::kContexts) {
    for (uint32_t i = 0; i < s.sequences; ++i) {
      const uint32_t context = s.store->numbers[i], tokens = s.offsets[i + 1] - s.offsets[i];
      s.store->prepare(context, tokens);
      s.store->past[i] = s.store->lengths[context];
      const uint32_t length = s.store->past[i] + tokens;
      longest = length > longest ? length : longest;
    }
    s.store->choose_slots(s.sequences, s.store->numbers, s.store->count, s.store->lengths);
  }
  return longest;
}

/// Appends the batch's tokens to its contexts.
void keep_contexts([[maybe_unused]] SessionState& s) {
  if constexpr (linked::kContexts) {
    for (uint32_t i = 0; i < s.sequences; ++i) {
      s.store->keep_slot(i, s.store->numbers[i]);
      s.store->append(s.store->numbers[i], s.ids + s.offsets[i], s.offsets[i + 1] - s.offsets[i]);
    }
  }
}

/// Raises a high-water mark to `value` bytes; the arena fits size_t.
void raise_mark(uint64_t value, size_t* mark) {
  const auto bytes = static_cast<size_t>(value);
  *mark = bytes > *mark ? bytes : *mark;
}

/// The size of a pass, from the lengths of the batch, and the arena memory that it takes.
struct Pass {
  fb::Phase phase;
  PassSize size;
  bool measures;  // arena use is measured
  size_t worker_high, heads_high;
};

bool is_main(fb::Phase phase) { return !linked::kSources || phase == fb::Phase::main; }
bool takes_contexts(const SessionState& s, fb::Phase phase) {
  return linked::kContexts && s.limits.context != 0 && is_main(phase);
}

Pass begin_pass(SessionState& s, fb::Phase phase) {
  s.has_run = false;
  PassSize size = {s.tokens, s.sequences, s.scored_count, 0, 0};
  for (uint32_t i = 0; i < s.sequences; ++i) {
    const uint32_t rows = s.offsets[i + 1] - s.offsets[i];
    size.longest = rows > size.longest ? rows : size.longest;
  }
  if constexpr (linked::kSources) {
    for (uint32_t i = 0; i < s.sequences && s.limits.source != 0 && is_main(phase); ++i) {
      if (linked::kChunks && s.source_numbers[i] == kNoSource) continue;
      const uint32_t length = s.source_lengths[s.source_numbers[i]];
      size.source = length > size.source ? length : size.source;
    }
  }
  if (takes_contexts(s, phase)) size.longest = take_contexts(s);
  return {phase, size, !s.has_measured(phase, size, s.limits.workers), 0, 0};
}

StepRun step_run(SessionState& s, fb::Phase phase) {
  StepRun run = {};
  run.session = &s;
  if (linked::kShortlist && s.listed_only && is_main(phase)) want_listed(s, &run);
  return run;
}

/// Prepares `run` for its step.
void enter_step(Pass* pass, StepRun* run) {
  const SessionState& s = *run->session;
  const fb::Model& model = root(s.model);
  const bool of_tokens = run->step->rows() == static_cast<int32_t>(kTokens);
  run->rows = of_tokens ? s.tokens : s.sequences;
  // Only outputs are read from the last step's results.
  [[maybe_unused]] const auto is_last = [&] {
    return run->step == graph(model).steps()->Get(graph(model).steps()->size() - 1);
  };
  if constexpr (linked::kContexts) {
    // If every sequence has one row, all rows are last ones, and the normal tiles are used.
    const bool some = s.last_rows && s.tokens != s.sequences;
    run->last_rows = some && of_tokens && is_last();
  }
  if constexpr (linked::op(linked::kOpPrevious)) {
    const bool by_tokens = ops::goes_by_tokens(model, *run->step);
    run->by_tokens = by_tokens && s.tokens != s.sequences;
    run->last_rows = run->last_rows && !by_tokens;
  }
  if constexpr (linked::kScoredRows) {
    run->scores = s.limits.scored_rows != 0 && is_main(pass->phase) && is_last();
    if (run->scores) run->rows = s.scored_count;
    run->last_rows = run->last_rows && !run->scores;
  }
  run->tile = choose_tile(model, s.limits, run->rows);
  const bool of_sequences = of_last_rows(*run) || goes_by_tokens(*run);
  run->tiles = of_sequences ? s.sequences : (run->rows + run->tile - 1) / run->tile;
  if constexpr (linked::kScoredRows) run->tiles = run->scores ? s.scored_tiles : run->tiles;
  round_symbols(model, s.limits, s.tokens, s.sequences, run->tile, run->values);
  if (!pass->measures) return;
  raise_mark(step_bytes(model, s.limits, *run->step, pass->size.longest, pass->size.source, run->values),
             &pass->worker_high);
  raise_mark(heads_bytes(model, s.limits, fb::Region::tile, run->values), &pass->heads_high);
}

/// Ends the pass after all of its steps; `run` is the last one.
Status end_pass(SessionState& s, const Pass& pass, const StepRun& run) {
  const fb::Model& model = root(s.model);
  for (uint32_t i = 0; i < kSymbols; ++i) s.values[i] = run.values[i];
  if (pass.measures) {
    const uint64_t heads = heads_bytes(model, s.limits, fb::Region::shared, run.values);
    raise_mark(shared_bytes(model, s.limits, pass.phase, run.values) + heads, &s.shared_high);
    raise_mark(s.limits.workers * (pass.worker_high + pass.heads_high), &s.worker_high);
    s.keep_measured(pass.phase, pass.size, s.limits.workers);
  }
  s.has_run = true;
  s.phase = pass.phase;
  if (linked::kShortlist && s.listed_only && is_main(pass.phase)) leave_out_unlisted(s);
  const Status status = check_outputs(s, s.model.output_count());
  s.has_run = status == Status::kOk;
  if (takes_contexts(s, pass.phase) && s.has_run) keep_contexts(s);
  return status;
}

/// Returns true if the step belongs to another pass.
bool is_of_other(const fb::Step& step, fb::Phase phase) { return linked::kSources && step.phase() != phase; }

}  // namespace

Status execute(SessionState& s, fb::Phase phase) {
  const fb::Model& model = root(s.model);
  Pass pass = begin_pass(s, phase);
  StepRun run = step_run(s, phase);
  for (const fb::Step* step : *graph(model).steps()) {
    if (!is_of_other(*step, phase)) {
      run.step = step;
      enter_step(&pass, &run);
      const Status status = run_step(run);
      if (status != Status::kOk) return status;
    }
    if constexpr (linked::kHost) run.linear_number += count_linears(model, *step, step->op_count());
  }
  return end_pass(s, pass, run);
}

uint32_t begin_steps(SessionState& s, SteppedRun::Place* at) {
  Pass pass = begin_pass(s, fb::Phase::main);
  at->longest = pass.size.longest;
  at->source = pass.size.source;
  StepRun run = step_run(s, fb::Phase::main);
  uint32_t units = 0;
  for (const fb::Step* step : *graph(root(s.model)).steps()) {
    if (is_of_other(*step, fb::Phase::main)) continue;
    run.step = step;
    enter_step(&pass, &run);
    for (uint32_t task = 0; task < run.tiles; ++task) units += units_of(run, task);
  }
  return units;
}

Status execute_some(SessionState& s, uint32_t units, SteppedRun::Place* at, bool* done) {
  const auto& steps = *graph(root(s.model)).steps();
  const PassSize size = {s.tokens, s.sequences, s.scored_count, at->longest, at->source};
  Pass pass = {fb::Phase::main, size, true, at->worker_high, at->heads_high};
  StepRun run = step_run(s, fb::Phase::main);
  for (; at->step < steps.size(); ++at->step, at->task = 0) {
    const fb::Step* step = steps.Get(at->step);
    if (!is_of_other(*step, fb::Phase::main)) {
      run.step = step;
      run.linear_number = at->linears;
      enter_step(&pass, &run);
      at->worker_high = pass.worker_high;
      at->heads_high = pass.heads_high;
      for (; at->task < run.tiles; ++at->task, at->unit = 0) {
        for (const uint32_t count = units_of(run, at->task); at->unit < count; ++at->unit, ++at->executed, --units) {
          if (units == 0) return Status::kOk;
          const Status status = run_unit(run, at->task, at->unit);
          if (status != Status::kOk) return status;
        }
      }
    }
    if constexpr (linked::kHost) at->linears += count_linears(root(s.model), *step, step->op_count());
  }
  *done = true;
  return end_pass(s, pass, run);
}

}  // namespace bantam
