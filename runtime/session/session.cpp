#include "bantam/session.h"

#include "format/verdict.h"
#include "language.h"
#include "linked.h"
#include "session/as_written.h"
#include "session/parts/shortlist.h"
#include "session/state.h"

namespace bantam {
namespace {

template <typename T>
T* part(uint8_t* arena, uint64_t offset) {
  return reinterpret_cast<T*>(arena + offset);
}

/// Copies a checked batch into the session's arrays. The source may be those arrays.
void copy_batch(const Batch& batch, [[maybe_unused]] fb::Phase phase, SessionState* s) {
  for (uint32_t i = 0; i < batch.tokens; ++i) s->ids[i] = batch.ids == nullptr ? 0 : batch.ids[i];
  for (uint32_t i = 0; i < batch.tokens; ++i) s->segments[i] = batch.segments == nullptr ? 0 : batch.segments[i];
  if constexpr (linked::kMarks) {
    for (uint32_t i = 0; s->marks != nullptr && i < batch.tokens; ++i) {
      s->marks[i] = batch.marks == nullptr ? 0 : batch.marks[i];
    }
  }
  s->keep_features(batch.features);
  s->want_listed(batch.listed);
  for (uint32_t i = 0; i <= batch.sequences; ++i) {
    s->offsets[i] = batch.offsets != nullptr ? batch.offsets[i] : i * batch.tokens;
  }
  s->tokens = batch.tokens;
  s->sequences = batch.sequences;
  s->last_rows = linked::kContexts && batch.last_rows && s->limits.scored_rows == 0;
  if constexpr (linked::kContexts) {
    // Sources use no contexts, of which there may be fewer.
    const bool main = !linked::kSources || phase == fb::Phase::main;
    for (uint32_t i = 0; i < batch.sequences && s->limits.context != 0 && main; ++i) {
      s->store->numbers[i] = batch.contexts != nullptr ? batch.contexts[i] : i;
    }
  }
  if constexpr (linked::kSources) {
    const bool none = linked::kChunks && s->limits.chunk != 0 && phase == fb::Phase::main;
    for (uint32_t i = 0; i < batch.sequences && s->limits.source != 0; ++i) {
      s->source_numbers[i] = batch.sources != nullptr ? batch.sources[i] : none ? kNoSource : i;
    }
  }
}

/// Checks that contexts are ascending and have room for the new tokens.
[[maybe_unused]] Status check_contexts(const Batch& batch, const uint32_t* offsets, const SessionState& s) {
  if (s.limits.context == 0) return batch.contexts == nullptr ? Status::kOk : Status::kInvalidArgument;
  for (uint32_t i = 0; i < batch.sequences; ++i) {
    const uint32_t context = batch.contexts != nullptr ? batch.contexts[i] : i;
    if (context >= s.limits.max_sequences) return Status::kIndexOutOfRange;
    if (i > 0 && batch.contexts != nullptr && context <= batch.contexts[i - 1]) return Status::kInvalidArgument;
    if (offsets[i + 1] - offsets[i] > s.limits.context - s.store->lengths[context]) return Status::kTooManyTokens;
  }
  return Status::kOk;
}

/// Returns true if all tokens of sequence `i` belong to the same chunk, the one before them.
[[maybe_unused]] bool goes_with_one_chunk(const Batch& batch, const uint32_t* offsets, const SessionState& s,
                                          uint32_t i) {
  const uint32_t context = batch.contexts != nullptr ? batch.contexts[i] : i;
  const uint32_t past = linked::kContexts && s.limits.context != 0 ? s.store->lengths[context] : 0;
  const uint32_t chunk = linked::kChunks ? s.limits.chunk : 1;  // avoids a division by 0 in images without chunks
  const uint32_t first = (past + 1) / chunk;
  return first != 0 && first == (past + (offsets[i + 1] - offsets[i])) / chunk;
}

/// Checks that a run uses existing sources, and that encode() writes each source only once.
[[maybe_unused]] Status check_sources(const Batch& batch, const uint32_t* offsets, const SessionState& s,
                                      fb::Phase phase) {
  if (s.limits.source == 0) return batch.sources == nullptr ? Status::kOk : Status::kInvalidArgument;
  const bool makes = phase == fb::Phase::source;
  const bool chunks = linked::kChunks && s.limits.chunk != 0 && !makes;
  if (chunks && batch.sources == nullptr) return Status::kOk;
  for (uint32_t i = 0; i < batch.sequences; ++i) {
    const uint32_t source = batch.sources != nullptr ? batch.sources[i] : i;
    if (chunks && source == kNoSource) continue;
    if (source >= s.limits.sources) return Status::kIndexOutOfRange;
    if (!makes && s.source_lengths[source] == 0) return Status::kNotRun;
    if (chunks && !goes_with_one_chunk(batch, offsets, s, i)) return Status::kInvalidArgument;
    if (makes && i > 0 && batch.sources != nullptr && source <= batch.sources[i - 1]) return Status::kInvalidArgument;
  }
  return Status::kOk;
}

Status check_batch(const Batch& batch, const SessionState& s, fb::Phase phase) {
  const bool main = !linked::kSources || phase == fb::Phase::main;
  const bool chunks = linked::kChunks && s.limits.chunk != 0;
  const bool features = feature_width(root(s.model)) != 0 && !(chunks && main);
  if ((batch.ids == nullptr && !features) || batch.tokens == 0 || batch.sequences == 0) return Status::kInvalidArgument;
  if (features != (batch.features != nullptr)) return Status::kInvalidArgument;
  if (batch.offsets == nullptr && batch.sequences != 1) return Status::kInvalidArgument;
  if (batch.tokens > most_tokens(s.limits, phase)) return Status::kTooManyTokens;
  if (batch.sequences > most_sequences(s.limits, phase)) return Status::kTooManySequences;
  const uint32_t whole[2] = {0, batch.tokens};
  const uint32_t* offsets = batch.offsets != nullptr ? batch.offsets : whole;
  if (offsets[0] != 0 || offsets[batch.sequences] != batch.tokens) return Status::kInvalidArgument;
  for (uint32_t i = 0; i < batch.sequences; ++i) {
    if (offsets[i + 1] <= offsets[i] || offsets[i + 1] > batch.tokens) return Status::kInvalidArgument;
    if (main && offsets[i + 1] - offsets[i] > s.limits.longest) return Status::kTooManyTokens;
  }
  if constexpr (linked::kContexts) {
    const Status status = main ? check_contexts(batch, offsets, s) : Status::kOk;
    if (status != Status::kOk) return status;
  }
  if constexpr (linked::kSources) {
    const Status status = check_sources(batch, offsets, s, phase);
    if (status != Status::kOk) return status;
  }
  const uint32_t vocabulary = ids_input(root(s.model), phase)->limit();
  const uint32_t segment_types = s.model.segment_types();
  for (uint32_t i = 0; i < batch.tokens; ++i) {
    if (batch.ids != nullptr && static_cast<uint32_t>(batch.ids[i]) >= vocabulary) return Status::kIndexOutOfRange;
    if (batch.segments != nullptr && static_cast<uint32_t>(batch.segments[i]) >= segment_types) {
      return Status::kIndexOutOfRange;
    }
  }
  const uint32_t marks = mark_types(root(s.model));
  for (uint32_t i = 0; batch.marks != nullptr && i < batch.tokens; ++i) {
    if (static_cast<uint32_t>(batch.marks[i]) >= marks) return Status::kIndexOutOfRange;
  }
  return Status::kOk;
}

/// Returns true if the last pass was successful and computed this output.
bool has_output(const SessionState& s, uint32_t index) {
  return s.has_run && (!linked::kSources || root(s.model).outputs()->Get(index)->phase() == s.phase);
}

/// Returns true if the output consists of rows that are scored alone.
bool is_scored([[maybe_unused]] const SessionState& s, [[maybe_unused]] uint32_t index) {
  if constexpr (linked::kScoredRows) {
    return s.limits.scored_rows != 0 && root(s.model).outputs()->Get(index)->tensor() == s.scored.tensor;
  }
  return false;
}

/// Sets a view of all rows of an output.
void view_output(const SessionState& s, uint32_t index, OutputView* out) {
  const fb::Output& output = *root(s.model).outputs()->Get(index);
  const fb::Tensor& t = tensor(root(s.model), output.tensor());
  out->name = as_text(output.name());
  out->data = reinterpret_cast<const float*>(s.shared + evaluate(t.offset(), s.values));
  out->per_token = rows_symbol(t) == kTokens;
  out->rows = out->per_token ? s.tokens : s.sequences;
  out->width = width(t);
  out->stride = kernels::pad16(width(t));
  out->squeeze = output.squeeze();
  out->numbers = nullptr;
  if constexpr (linked::kScoredRows) {
    if (!is_scored(s, index)) return;
    out->data = reinterpret_cast<const float*>(s.scored.data);
    out->rows = s.scored_count;
    out->numbers = s.scored_count < s.tokens ? s.scored_numbers : nullptr;
  }
}

/// Narrows a view of scored rows to those of one sequence.
[[maybe_unused]] void view_scored([[maybe_unused]] const SessionState& s, [[maybe_unused]] uint32_t sequence,
                                  [[maybe_unused]] OutputView* out) {
  if constexpr (linked::kScoredRows) {
    uint32_t first = 0, end = 0;
    for (uint32_t i = 0; i != s.scored_count; ++i) {
      first += s.scored_numbers[i] < s.offsets[sequence] ? 1u : 0u;
      end += s.scored_numbers[i] < s.offsets[sequence + 1] ? 1u : 0u;
    }
    out->data += size_t{first} * out->stride;
    out->rows = end - first;
    if (out->numbers != nullptr) out->numbers += first;
  }
}

/// A template, because the fields do not exist if states are not linked.
template <class Store>
void begin_states([[maybe_unused]] const Layout& layout, [[maybe_unused]] uint8_t* arena,
                  [[maybe_unused]] const Model& model, [[maybe_unused]] Store* store) {
  if constexpr (linked::kStates) {
    const uint64_t slot = slot_bytes(root(model));
    if (slot == 0) return;
    auto* begins = part<uint64_t>(arena, layout.state_begins);
    for (uint32_t i = 0; i <= store->tensors; ++i) begins[i] = 0;
    for_each_state(root(model), [&](uint32_t t, uint64_t bytes) { begins[t + 1] = bytes; });
    for (uint32_t i = 0; i < store->tensors; ++i) begins[i + 1] += begins[i];
    store->place_slots(part<uint32_t>(arena, layout.state_numbers), store->count);
    store->view.states = arena + layout.states;
    store->view.state_begins = begins;
    store->view.slot_bytes = slot;
    store->view.slots_before = store->before;
    store->view.slots_behind = store->behind;
  }
}

void begin_contexts([[maybe_unused]] const Layout& layout, [[maybe_unused]] uint8_t* arena,
                    [[maybe_unused]] SessionState* s) {
  if constexpr (linked::kContexts) {
    const fb::Model& model = root(s->model);
    auto& store = *new (arena + round_up(sizeof(SessionState), 16)) ContextStore();
    s->store = &store;
    store.count = s->limits.max_sequences;
    store.room = s->limits.context;
    store.list_pages = context_pages(s->limits);
    store.tensors = model.tensors()->size();
    store.pages = arena + layout.contexts;
    store.begins = part<uint64_t>(arena, layout.context_begins);
    const uint64_t rows = uint64_t{store.count} * store.list_pages * 16;
    for (uint32_t i = 0; i <= store.tensors; ++i) store.begins[i] = 0;
    for_each_kept(model, s->limits, [&](uint32_t t, uint64_t row_bytes) { store.begins[t + 1] = rows * row_bytes; });
    for (uint32_t i = 0; i < store.tensors; ++i) store.begins[i + 1] += store.begins[i];
    place_contexts(part<uint32_t>(arena, layout.context_numbers), part<int32_t>(arena, layout.context_ids), &store);
    store.clear();
    store.view = {{}, store.pages, store.begins, store.lists, store.list_pages, store.numbers, store.past};
    begin_states(layout, arena, s->model, &store);
  }
}

[[maybe_unused]] void begin_sources(const Layout& layout, uint8_t* arena, SessionState* s) {
  const fb::Model& model = root(s->model);
  auto* begins = part<uint64_t>(arena, layout.source_begins);
  uint64_t begin = 0;
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    begins[i] = begin;
    begin += source_bytes(*model.tensors()->Get(i), s->limits);
  }
  const uint32_t sequences = s->limits.max_sequences > s->limits.sources ? s->limits.max_sequences : s->limits.sources;
  s->source_numbers = part<uint32_t>(arena, layout.source_numbers);
  s->source_lengths = s->source_numbers + sequences;
  if (s->limits.shifts) s->shifted_ids = part<int32_t>(arena, layout.shifted_ids);
  for (uint32_t i = 0; i < s->limits.sources; ++i) s->source_lengths[i] = 0;
  if constexpr (linked::kChunks) {
    if (s->limits.chunk != 0) {
      auto* segments = part<int32_t>(arena, layout.source_segments);
      for (uint32_t i = 0; i < s->limits.sources * source_rows(s->limits); ++i) segments[i] = 0;
      s->keep_segments(segments);
    }
  }
  s->sources = {arena + layout.sources, begins, source_rows(s->limits), s->source_numbers, s->source_lengths,
                s->source_segments};
  if (listed_units(model) != 0) s->keep_listed(part<uint32_t>(arena, layout.listed));
}

}  // namespace

size_t arena_bytes(const Model& model, const SessionOptions& options) {
  Limits limits;
  Layout layout;
  if (!model.is_open() || resolve(model, options, &limits, nullptr) != Status::kOk) return 0;
  return lay_out(root(model), limits, &layout) ? static_cast<size_t>(layout.size) : 0;
}

Status Session::create(const Model& model, const SessionOptions& options, void* arena, size_t size, Session** out,
                       Fault* fault) {
  if (!model.is_open() || arena == nullptr || out == nullptr) return Status::kInvalidArgument;
  if (reinterpret_cast<uintptr_t>(arena) % kArenaAlignment != 0) return Status::kMisaligned;
  Limits limits;
  const Status resolved = resolve(model, options, &limits, fault);
  if (resolved != Status::kOk) return resolved;
  Layout layout;
  if (!lay_out(root(model), limits, &layout) || size < layout.size) return Status::kArenaTooSmall;
  const kernels::Table* table = kernels::table(options.isa);
  if (table == nullptr) return Status::kUnavailable;
  if (!computes_as_written()) {
    return refuse(Status::kUnavailable, "this build alters floats: compile with -ffp-contract=off -fno-fast-math",
                  "build", 5, fault);
  }
  auto* bytes = static_cast<uint8_t*>(arena);
  auto* s = new (arena) SessionState(model, limits, *table);
  s->shared = bytes + layout.shared;
  if constexpr (linked::kHost) {
    s->parallel = options.parallel;
    s->backend = limits.backend ? options.backend : nullptr;
    s->f32_heads = limits.f32_heads ? bytes + layout.f32_heads : nullptr;
  }
  s->workers = part<Worker>(bytes, layout.workers);
  for (uint32_t w = 0; w < limits.workers; ++w) {
    uint8_t* memory = bytes + layout.worker_memory + w * layout.worker_size;
    s->workers[w] = {memory, memory + layout.tile_heads, Status::kOk, 0};
  }
  s->ids = part<int32_t>(bytes, layout.ids);
  s->segments = part<int32_t>(bytes, layout.segments);
  s->offsets = part<uint32_t>(bytes, layout.offsets);
  if constexpr (linked::kMarks) {
    if (mark_types(root(model)) > 1) s->keep_marks(part<int32_t>(bytes, layout.marks));
  }
  if constexpr (linked::kTokenizer) {
    s->has_tokenizer = model.has_tokenizer();
    if (s->has_tokenizer) {
      const uint32_t number = reads_sources(limits) ? root(model).source_tokenizer() : 0;
      const Status opened = Tokenizer::open(model, number, &s->tokenizer);
      if (opened != Status::kOk) return opened;
      s->results = part<EncodeResult>(bytes, layout.results);
      if (linked::kOffsets && limits.offsets) {
        s->text_offsets = part<Offset>(bytes, layout.text_offsets);
        s->text_sequences = part<uint8_t>(bytes, layout.text_sequences);
      }
    }
  }
  if (linked::kContexts && limits.context != 0) begin_contexts(layout, bytes, s);
  if constexpr (linked::kSources) {
    if (limits.source != 0) begin_sources(layout, bytes, s);
  }
  if constexpr (linked::kScoredRows) {
    if (limits.scored_rows != 0) {
      auto* numbers = part<uint32_t>(bytes, layout.scored_numbers);
      s->keep_scores({limits.scored, bytes + layout.scored}, numbers, numbers + limits.scored_rows);
    }
  }
  s->fixed_bytes = static_cast<size_t>(layout.shared + (layout.size - layout.ids));
  *out = s;
  return Status::kOk;
}

Status encode_batch(SessionState& s) {
  for (uint32_t i = 0; i < s.sequences; ++i) s.source_lengths[s.source_numbers[i]] = 0;
  const Status status = execute(s, fb::Phase::source);
  if (status != Status::kOk) return status;
  for (uint32_t i = 0; i < s.sequences; ++i) {
    const uint32_t source = s.source_numbers[i], length = s.offsets[i + 1] - s.offsets[i];
    s.source_lengths[source] = length;
    if constexpr (linked::kChunks) {
      for (uint32_t row = 0; row < length && s.source_segments != nullptr; ++row) {
        s.source_segments[source * s.sources.rows + row] = s.segments[s.offsets[i] + row];
      }
    }
    if (s.listed == nullptr) continue;
    const fb::Model& model = root(s.model);
    list_words(*shortlist_of(model), s.model.data(), s.ids + s.offsets[i], length,
               s.listed + size_t{source} * listed_units(model));
  }
  return Status::kOk;
}

bool lacks_rows([[maybe_unused]] const SessionState& s, [[maybe_unused]] uint32_t output) {
  if constexpr (linked::kScoredRows) {
    const fb::Tensor& t = tensor(root(s.model), root(s.model).outputs()->Get(output)->tensor());
    return s.limits.scored_rows != 0 && s.scored_count < s.tokens && !is_scored(s, output) && rows_symbol(t) == kTokens;
  }
  return false;
}

Status want_scored(SessionState& s, const uint32_t* rows, [[maybe_unused]] uint32_t count,
                   [[maybe_unused]] bool last_rows) {
  if (!linked::kScoredRows || s.limits.scored_rows == 0)
    return rows == nullptr ? Status::kOk : Status::kInvalidArgument;
  if constexpr (linked::kScoredRows) {
    const bool all = rows == nullptr && !last_rows;
    const uint32_t wanted = all ? s.tokens : rows == nullptr ? s.sequences : count;
    if (wanted == 0) return Status::kInvalidArgument;
    if (wanted > s.limits.scored_rows) return Status::kTooManyTokens;
    const uint32_t most = choose_tile(root(s.model), s.limits, wanted);
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < wanted; ++i) {
      const uint32_t row = all ? i : rows == nullptr ? s.offsets[i + 1] - 1 : rows[i];
      if (row >= s.tokens) return Status::kIndexOutOfRange;
      if (i > 0 && row <= s.scored_numbers[i - 1]) return Status::kInvalidArgument;
      const bool follows = i > 0 && row == s.scored_numbers[i - 1] + 1;
      if (!follows || i - s.scored_begins[tiles - 1] == most) s.scored_begins[tiles++] = i;
      s.scored_numbers[i] = row;
    }
    s.scored_begins[tiles] = wanted;
    s.keep_scored(wanted, tiles);
  }
  return Status::kOk;
}

Status take_batch(SessionState& s, const Batch& batch) {
  s.has_run = false;
  Status status = check_batch(batch, s, fb::Phase::main);
  if (status != Status::kOk) return status;
  copy_batch(batch, fb::Phase::main, &s);
  s.filled = Filled::kIds;
  return want_scored(s, batch.rows, batch.row_count, batch.last_rows);
}

Status Session::run(const Batch& batch) {
  SessionState& s = state(this);
  const Status status = take_batch(s, batch);
  return status == Status::kOk ? execute(s, fb::Phase::main) : status;
}

Status Session::encode(const Batch& batch) {
  SessionState& s = state(this);
  if (!linked::kSources || s.limits.source == 0) return Status::kNoSuchTask;
  s.has_run = false;
  const Status status = check_batch(batch, s, fb::Phase::source);
  if (status != Status::kOk) return status;
  copy_batch(batch, fb::Phase::source, &s);
  s.filled = Filled::kIds;
  return encode_batch(s);
}

uint32_t Session::source_length(uint32_t source) const {
  const SessionState& s = state(this);
  return linked::kSources && source < s.limits.sources ? s.source_lengths[source] : 0;
}

WordSet Session::shortlist(uint32_t source) const {
  const SessionState& s = state(this);
  if (s.listed == nullptr || source_length(source) == 0) return {};
  const fb::Model& model = root(s.model);
  return {s.listed + size_t{source} * listed_units(model), shortlist_of(model)->words()};
}

uint32_t Session::sequence_count() const { return state(this).sequences; }

EncodedSequence Session::sequence(uint32_t index) const {
  const SessionState& s = state(this);
  EncodedSequence out;
  if (index >= s.sequences) return out;
  out.row_begin = s.offsets[index];
  out.row_count = s.offsets[index + 1] - out.row_begin;
  out.ids = s.ids + out.row_begin;
  out.segments = s.segments + out.row_begin;
  if (linked::kMarks && s.marks != nullptr) out.marks = s.marks + out.row_begin;
  if (s.filled == Filled::kText) {
    if (linked::kOffsets && s.text_offsets != nullptr) {
      out.offsets = s.text_offsets + out.row_begin;
      out.sequences = s.text_sequences + out.row_begin;
    }
    out.result = s.results[index];
  }
  return out;
}

Status Session::output(uint32_t index, OutputView* out) const {
  const SessionState& s = state(this);
  if (out == nullptr) return Status::kInvalidArgument;
  if (index >= s.model.output_count()) return Status::kIndexOutOfRange;
  if (!has_output(s, index)) return Status::kNotRun;
  view_output(s, index, out);
  if (is_scored(s, index)) return Status::kOk;
  if (lacks_rows(s, index)) return Status::kInvalidArgument;
  return linked::kContexts && s.last_rows && out->per_token ? Status::kInvalidArgument : Status::kOk;
}

Status Session::output(uint32_t index, uint32_t sequence, OutputView* out) const {
  const SessionState& s = state(this);
  if (out == nullptr) return Status::kInvalidArgument;
  if (index >= s.model.output_count()) return Status::kIndexOutOfRange;
  if (!has_output(s, index)) return Status::kNotRun;
  if (sequence >= s.sequences) return Status::kIndexOutOfRange;
  view_output(s, index, out);
  if (is_scored(s, index)) {
    view_scored(s, sequence, out);
    return Status::kOk;
  }
  if (lacks_rows(s, index)) return Status::kInvalidArgument;
  const bool last = linked::kContexts && s.last_rows;
  const uint32_t end = s.offsets[sequence + 1];
  const uint32_t first = !out->per_token ? sequence : last ? end - 1 : s.offsets[sequence];
  out->data += size_t{first} * out->stride;
  out->rows = out->per_token ? end - first : 1;
  return Status::kOk;
}

const Model& Session::model() const { return state(this).model; }

const Tokenizer* Session::tokenizer() const {
  const SessionState& s = state(this);
  return s.has_tokenizer ? &s.tokenizer : nullptr;
}

Isa Session::isa() const { return state(this).kernels.isa; }
uint32_t Session::max_tokens() const { return state(this).limits.max_tokens; }
uint32_t Session::max_sequences() const { return state(this).limits.max_sequences; }

uint32_t Session::max_context() const { return state(this).limits.context; }
uint32_t Session::max_source() const { return state(this).limits.source; }
uint32_t Session::max_sources() const { return state(this).limits.sources; }

uint32_t Session::context_length(uint32_t context) const {
  const SessionState& s = state(this);
  const bool known = linked::kContexts && s.limits.context != 0 && context < s.limits.max_sequences;
  return known ? s.store->lengths[context] : 0;
}

const int32_t* Session::context_ids(uint32_t context) const {
  const SessionState& s = state(this);
  const bool known = linked::kContexts && s.limits.context != 0 && context < s.limits.max_sequences;
  return known ? s.store->ids_of(context) : nullptr;
}

Status Session::truncate(uint32_t context, uint32_t length) {
  SessionState& s = state(this);
  if (!linked::kContexts || s.limits.context == 0) return Status::kInvalidArgument;
  if (context >= s.limits.max_sequences || length > s.store->lengths[context]) return Status::kIndexOutOfRange;
  if (!s.store->can_truncate(context, length)) return Status::kUnavailable;
  s.end_steps();
  s.store->truncate(context, length);
  return Status::kOk;
}

Status Session::copy_context(uint32_t from, uint32_t to) {
  SessionState& s = state(this);
  if (!linked::kContexts || s.limits.context == 0) return Status::kInvalidArgument;
  if (from >= s.limits.max_sequences || to >= s.limits.max_sequences) return Status::kIndexOutOfRange;
  if (from == to) return Status::kOk;
  s.end_steps();
  s.store->copy(from, to);
  return Status::kOk;
}

Status Session::reorder_contexts(const uint32_t* from, uint32_t count) {
  SessionState& s = state(this);
  if (!linked::kContexts || s.limits.context == 0 || from == nullptr) return Status::kInvalidArgument;
  if (count > s.limits.max_sequences) return Status::kIndexOutOfRange;
  for (uint32_t i = 0; i < count; ++i) {
    if (from[i] >= s.limits.max_sequences) return Status::kIndexOutOfRange;
  }
  s.end_steps();
  s.store->reorder(from, count);
  return Status::kOk;
}

size_t Session::arena_high_water() const {
  const SessionState& s = state(this);
  return s.fixed_bytes + s.shared_high + s.worker_high;
}

void Session::set_observer(const Observer* observer) {
  if constexpr (linked::kHost) state(this).observer = observer;
}

}  // namespace bantam
