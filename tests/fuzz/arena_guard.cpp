#include "tests/fuzz/arena_guard.h"

#include <algorithm>

#include "ops/heads.h"
#include "session/state.h"
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BANTAM_GUARDS_ARENAS
#endif
#endif
#if defined(BANTAM_GUARDS_ARENAS) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) (static_cast<void>(begin), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) (static_cast<void>(begin), static_cast<void>(size))
#endif

namespace bantam::fuzz {
namespace {

const fb::Step& step_of(const fb::Model& model, uint32_t op) {
  const fb::Step* found = nullptr;
  for (const fb::Step* step : *graph(model).steps()) {
    if (step->first_op() <= op) found = step;
  }
  return *found;
}

/// Returns the scratch bytes of an operator in this pass under the session's options, computed as in layout.cpp.
uint64_t scratch_of(const SessionState& s, const fb::Op& op, fb::Phase phase) {
  const Limits& limits = s.limits;
  const bool source = phase == fb::Phase::source;
  const uint32_t longest = source ? limits.source : limits.context != 0 ? limits.context : limits.longest;
  const bool aligned = limits.max_sequences == 1 || limits.context != 0;
  ops::ScratchNeed need = {};
  need.keeps_states = limits.context != 0 && !source;
  need.lanes = std::min(most_sequences(limits, phase), limits.block_rows);
  need.pages = kernels::attention_pages(0, longest + (aligned ? 0 : 15));
  need.source_pages = kernels::attention_pages(0, limits.source);
  need.block_rows = limits.block_rows;
  need.linear_rows = limits.linear_rows;
  return ops::find_rule(op)->scratch(root(s.model), op, need);
}

}  // namespace

ArenaGuard::ArenaGuard(Session* session) : session_(session) {
  observer_.context = this;
  observer_.before = [](void* context, uint32_t op, uint32_t, uint32_t, uint32_t) {
    static_cast<const ArenaGuard*>(context)->close(op);
  };
  observer_.after = [](void* context, uint32_t, uint32_t, uint32_t, uint32_t) {
    static_cast<const ArenaGuard*>(context)->lift();
  };
  session_->set_observer(&observer_);
}

ArenaGuard::~ArenaGuard() {
  lift();
  session_->set_observer(nullptr);
}

void ArenaGuard::lift() const {
  const SessionState& s = state(session_);
  ASAN_UNPOISON_MEMORY_REGION(s.shared, static_cast<size_t>(reinterpret_cast<uint8_t*>(s.ids) - s.shared));
}

void ArenaGuard::close(uint32_t number) const {
  const SessionState& s = state(session_);
  const fb::Model& model = root(s.model);
  const fb::Op& op = *graph(model).ops()->Get(number);
  const fb::Step& step = step_of(model, number);
  const bool last = &step == graph(model).steps()->Get(graph(model).steps()->size() - 1);
  uint32_t rows = step.rows() == static_cast<int32_t>(kTokens) ? s.tokens : s.sequences;
  if (last && s.limits.scored_rows != 0 && step.phase() == fb::Phase::main) rows = s.scored_count;
  uint32_t values[kSymbols];
  round_symbols(model, s.limits, s.tokens, s.sequences, choose_tile(model, s.limits, rows), values);
  ASAN_POISON_MEMORY_REGION(s.shared, static_cast<size_t>(reinterpret_cast<uint8_t*>(s.ids) - s.shared));
  uint8_t* const tile = s.workers[0].tile;
  const auto open = [&](int32_t index) {
    if (index < 0) return;
    const fb::Tensor& t = tensor(model, index);
    if (is_constant(t) || is_state(t)) return;
    const bool in_tile = t.region() == fb::Region::tile;
    const uint64_t offset = evaluate(t.offset(), values), bytes = row_bytes(t) * values[rows_symbol(t)];
    ASAN_UNPOISON_MEMORY_REGION((in_tile ? tile : s.shared) + offset, bytes);
    if (s.f32_heads == nullptr || t.type() != fb::DType::i8 || t.layout() == fb::Layout::rows) return;
    ASAN_UNPOISON_MEMORY_REGION((in_tile ? s.workers[0].heads : s.f32_heads) + 4 * offset, 4 * bytes);
  };
  for (uint32_t i = 0; i < count(op.inputs()); ++i) open(op.inputs()->Get(i));
  for (uint32_t i = 0; i < count(op.outputs()); ++i) open(op.outputs()->Get(i));
  const uint64_t scratch = scratch_of(s, op, step.phase());
  if (scratch != 0) ASAN_UNPOISON_MEMORY_REGION(tile + scratch_begin(model, step.phase(), op, values), scratch);
}

}  // namespace bantam::fuzz
