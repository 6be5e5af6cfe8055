// The arena: [session][workers][shared region][f32 heads][each worker's memory][batch arrays][contexts]. A worker's
// memory is the tile region, with each operator's scratch at its place in the plan, then the f32 form of the tile's
// heads.
#ifndef BANTAM_SESSION_LAYOUT_H_
#define BANTAM_SESSION_LAYOUT_H_

#include "bantam/session.h"
#include "format/view.h"
#include "ops/more/neighbours.h"
#include "ops/more/previous.h"
#include "ops/more/recurrent.h"
#include "ops/more/scan.h"
#include "ops/ops.h"

namespace bantam {

/// Alignment of the arena and of its parts. Part sizes are multiples of 64 on every target.
#if defined(BANTAM_ARENA_ALIGNMENT)
constexpr size_t kArenaAlignment = BANTAM_ARENA_ALIGNMENT;
#else
constexpr size_t kArenaAlignment = 64;
#endif

/// Tokens of the chunks for which sources are retrieved; no field if chunks are not linked.
template <bool kLinked>
struct ChunkLimit {
  uint32_t chunk = 0;  // 0: no sources are retrieved
  void keep_chunk(uint32_t tokens) { chunk = tokens; }
};
template <>
struct ChunkLimit<false> {
  static constexpr uint32_t chunk = 0;
  void keep_chunk(uint32_t) {}
};

/// SessionOptions::scored_rows, and the tensor of the word scores that it limits; no fields if scored rows are not
/// linked.
template <bool kLinked>
struct ScoredLimit {
  uint32_t scored_rows = 0;
  int32_t scored = -1;
  void keep_scored(uint32_t rows, int32_t tensor) {
    scored_rows = rows;
    scored = tensor;
  }
};
template <>
struct ScoredLimit<false> {
  static constexpr uint32_t scored_rows = 0;
  static constexpr int32_t scored = -1;
  void keep_scored(uint32_t, int32_t) {}
};

/// The limits that follow from the options for this model.
struct Limits : ChunkLimit<linked::kChunks>, ScoredLimit<linked::kScoredRows> {
  uint32_t max_tokens = 0;
  uint32_t max_sequences = 0;
  uint32_t longest = 0;  // rows of one sequence
  uint32_t context = 0;  // tokens of a context; 0: no contexts
  uint32_t source = 0;   // tokens of a source, and of a run over sources; 0: no sources
  uint32_t sources = 0;
  bool shifts = false;     // the main pass reads the source's tokens
  uint32_t workers = 0;    // 1 without `parallel`
  uint32_t tile_rows = 0;  // largest tile
  // row counts of tiles and sequences are multiples of this, and of the file's own multiples
  uint32_t row_alignment = 16;
  uint32_t block_rows = 0;
  uint32_t linear_rows = 0;    // rows of layers' matrix products that scratch has room for
  bool offsets = false;        // offsets of tokens in their texts are kept
  bool f32_heads = false;      // an int8 file's attention runs in f32
  bool each_sequence = false;  // each sequence's rows are aligned, however many sequences there are
  bool without_pages = false;  // the plan has no keys and values: token rows need not be a multiple of 16
  bool backend = false;        // linear layers run in the options' back end
};

/// Checks the options against the model. kInvalidArgument.
Status resolve(const Model& model, const SessionOptions& options, Limits* out, Fault* fault);

/// Returns the rows of a tile for a step of `rows` rows, at most limits.tile_rows. With several workers, tiles have
/// almost the same size and each worker gets the same number of them, or there is one tile with few rows that all
/// workers share. The result for max_tokens rows becomes limits.tile_rows; the function then returns the same value
/// again.
uint32_t choose_tile(const fb::Model& model, const Limits& limits, uint32_t rows);

/// The most tokens and sequences of a run of this pass.
uint32_t most_tokens(const Limits& limits, fb::Phase phase);
uint32_t most_sequences(const Limits& limits, fb::Phase phase);

/// Computes symbol values for addressing: rounded up to their multiples; sequences and tile to the limits'
/// row_alignment if that is less.
void round_symbols(const fb::Model& model, const Limits& limits, uint32_t tokens, uint32_t sequences, uint32_t tile,
                   uint32_t (&values)[kSymbols]);

/// Bytes of the shared region of a pass for these symbol values (without the f32 heads after it and rows that are
/// scored alone), and bytes that the int8 heads of a region need in f32 (0 without f32 heads); multiples of 64.
uint64_t shared_bytes(const fb::Model& model, const Limits& limits, fb::Phase phase,
                      const uint32_t (&values)[kSymbols]);
uint64_t heads_bytes(const fb::Model& model, const Limits& limits, fb::Region region,
                     const uint32_t (&values)[kSymbols]);

/// Offset of the scratch of `op` in a worker's memory.
uint64_t scratch_begin(const fb::Model& model, fb::Phase phase, const fb::Op& op, const uint32_t (&values)[kSymbols]);

/// Bytes of one worker's tile region and scratch in a step whose tile `values` holds, if no sequence has more than
/// `longest` rows or attends to a source of more than `source` (with a back end linear layers take whole tiles); a
/// multiple of 64.
uint64_t step_bytes(const fb::Model& model, const Limits& limits, const fb::Step& step, uint32_t longest,
                    uint32_t source, const uint32_t (&values)[kSymbols]);

/// Byte offsets from the start of the arena.
struct Layout {
  uint64_t workers;
  uint64_t shared;
  uint64_t f32_heads;      // empty unless limits.f32_heads
  uint64_t worker_memory;  // worker w: at worker_memory + w * worker_size
  uint64_t worker_size;
  uint64_t tile_heads;  // in a worker's memory; equals its end unless limits.f32_heads
  uint64_t ids;
  uint64_t segments;
  uint64_t marks;  // only in models that take marks
  uint64_t offsets;
  uint64_t results;  // this and the next two: only in models with a tokenizer
  uint64_t text_offsets;
  uint64_t text_sequences;
  uint64_t contexts;  // what contexts keep of tokens; this and the next three are empty without contexts
  uint64_t context_begins;
  uint64_t context_numbers;  // session/parts/contexts.h describes these two
  uint64_t context_ids;
  uint64_t states;  // slots of states; this and the next two exist only in models with states
  uint64_t state_begins;
  uint64_t state_numbers;
  uint64_t sources;  // states of sources; this and the next two are empty without sources
  uint64_t source_begins;
  uint64_t source_numbers;   // of the batch; then the token count of each source
  uint64_t source_segments;  // only where limits.chunk is not 0
  uint64_t shifted_ids;      // only where limits.shifts
  uint64_t listed;           // sets of words, one per source; only in files with a shortlist
  uint64_t scored;           // word scores; this and the next one exist only if limits.scored_rows is not 0
  uint64_t scored_numbers;   // numbers of the scored rows, then the beginnings of their tiles
  uint64_t size;
};

/// Pages of a context. All pages of a tensor are contiguous, one tensor after the other.
inline uint32_t context_pages(const Limits& limits) { return (limits.context + 15) / 16; }
/// Bytes of a row of keys or values in pages.
uint64_t page_row_bytes(const fb::Tensor& t, const Limits& limits);
/// Bytes of all sources together in a tensor; 0 for a tensor that is not a state.
uint64_t source_bytes(const fb::Tensor& t, const Limits& limits);
/// Returns true if texts are read as sources.
inline bool reads_sources(const Limits& limits) {
  return linked::kSources && limits.source != 0 && (!linked::kChunks || limits.chunk == 0);
}
inline uint32_t source_rows(const Limits& limits) { return static_cast<uint32_t>(round_up(limits.source, 16)); }

/// Calls f(tensor index, bytes of a row) for each tensor of which contexts store one row per token, all in the main
/// pass: keys and values of attention within a sequence; the states of recurrent layers after a token, by the tensor of
/// the rows that they write or that are read for the preceding token; and rows that are used with those of later
/// tokens.
template <class F>
void for_each_kept(const fb::Model& model, const Limits& limits, const F& f) {
  for (const fb::Step* step : *graph(model).steps()) {
    if (linked::kSources && step->phase() != fb::Phase::main) continue;
    for (uint32_t i = 0; i < step->op_count(); ++i) {
      const fb::Op& op = *graph(model).ops()->Get(step->first_op() + i);
      const fb::OpAttributes kind = ops::executed_kind(op);
      if constexpr (linked::op(linked::kOpRecurrent)) {
        if (kind == fb::OpAttributes::Recurrent) {
          f(static_cast<uint32_t>(operand(op.outputs(), 0)), ops::kept_state_bytes(model, op));
        }
      }
      if constexpr (linked::op(linked::kOpPrevious)) {
        if (ops::is_previous(op)) f(static_cast<uint32_t>(operand(op.inputs(), 0)), ops::kept_row_bytes(model, op));
      }
      if (ops::reads_neighbours(kind) && ops::reach_of(op).before != 0 && !ops::keeps_latest(op)) {
        f(static_cast<uint32_t>(ops::kept_number(op)), ops::kept_neighbour_bytes(model, op));
      }
      if (kind != fb::OpAttributes::SplitHeads) continue;
      for (uint32_t k = 1; k < 3; ++k) {
        const int32_t t = operand(op.outputs(), k);
        if (t >= 0) f(static_cast<uint32_t>(t), page_row_bytes(tensor(model, t), limits));
      }
    }
  }
}

/// Calls f(tensor index, bytes) for each tensor under which contexts keep a state: the numbers of scans, and the latest
/// rows in front of depthwise convolutions. Two operators that write one tensor share it, which no converter makes;
/// slots have room for both.
template <class F>
void for_each_state([[maybe_unused]] const fb::Model& model, [[maybe_unused]] const F& f) {
  if constexpr (linked::kStates) {
    for (const fb::Step* step : *graph(model).steps()) {
      if (linked::kSources && step->phase() != fb::Phase::main) continue;
      for (uint32_t i = 0; i < step->op_count(); ++i) {
        const fb::Op& op = *graph(model).ops()->Get(step->first_op() + i);
        const fb::OpAttributes kind = ops::executed_kind(op);
        if constexpr (linked::op(linked::kOpScan)) {
          if (kind == fb::OpAttributes::Scan) {
            f(static_cast<uint32_t>(operand(op.outputs(), 0)), ops::scan_state_bytes(model, op));
          }
        }
        if (ops::reads_neighbours(kind) && ops::keeps_latest(op)) {
          const uint64_t rows = ops::reach_of(op).before;
          f(static_cast<uint32_t>(ops::kept_number(op)), rows * ops::kept_neighbour_bytes(model, op));
        }
      }
    }
  }
}
/// Sessions refuse larger slots.
constexpr uint64_t kMostSlotBytes = uint64_t{1} << 40;
/// Bytes of a slot, at most 2 * kMostSlotBytes; 0: the model has no states.
inline uint64_t slot_bytes(const fb::Model& model) {
  uint64_t bytes = 0;
  for_each_state(model, [&](uint32_t, uint64_t more) {
    bytes += more < kMostSlotBytes ? more : kMostSlotBytes;
    bytes = bytes < 2 * kMostSlotBytes ? bytes : 2 * kMostSlotBytes;
  });
  return bytes;
}

/// Computes the layout for these limits. Returns false if its size does not fit size_t.
bool lay_out(const fb::Model& model, const Limits& limits, Layout* out);

}  // namespace bantam

#endif  // BANTAM_SESSION_LAYOUT_H_
