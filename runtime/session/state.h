// The state of a session, which lies at the start of its arena.
#ifndef BANTAM_SESSION_STATE_H_
#define BANTAM_SESSION_STATE_H_

#include "bantam/steps.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "session/layout.h"
#include "session/parts/contexts.h"

namespace bantam {

/// One worker's memory and the results of its tiles.
struct Worker {
  uint8_t* tile;   // its memory: tile region and scratch
  uint8_t* heads;  // the tile's heads in f32
  Status status;
  uint64_t marks;  // sum of the marks of the tasks that it has run in this step
};

/// The origin of the batch arrays; kSteps: a stepped run, until it has ended.
enum class Filled : uint8_t { kNothing, kIds, kText, kSteps };

/// The marks of the batch; no field if marks are not linked.
template <bool kLinked>
struct BatchMarks {
  int32_t* marks = nullptr;  // [max_tokens]; null: the model takes none
  void keep_marks(int32_t* at) { marks = at; }
};
template <>
struct BatchMarks<false> {
  static constexpr int32_t* marks = nullptr;
  void keep_marks(const int32_t*) {}
};

/// The features of the batch, which the caller owns; no field if features are not linked.
template <bool kLinked>
struct BatchFeatures {
  const float* features = nullptr;
  void keep_features(const float* given) { features = given; }
};
template <>
struct BatchFeatures<false> {
  static constexpr const float* features = nullptr;
  void keep_features(const float*) {}
};

/// The words that texts generated from each source may contain; no field if shortlists are not linked.
template <bool kLinked>
struct SourceWords {
  uint32_t* listed = nullptr;  // [limits.sources][listed_units]; null: the file has no shortlist
  bool listed_only = false;    // Batch::listed of the current batch
  void keep_listed(uint32_t* at) { listed = at; }
  void want_listed(bool only) { listed_only = only && listed != nullptr; }
};
template <>
struct SourceWords<false> {
  static constexpr uint32_t* listed = nullptr;
  static constexpr bool listed_only = false;
  void keep_listed(const uint32_t*) {}
  void want_listed(bool) {}
};

/// The tokens to compute word scores for, if limits.scored_rows is not 0; no fields if scored rows are not linked.
template <bool kLinked>
struct ScoredTokens {
  ops::ScoredRows scored = {-1, nullptr};
  uint32_t* scored_numbers = nullptr;  // [scored_count], ascending
  // [scored_tiles + 1]: where each run of adjacent ones begins; a run has at most as many rows as a tile.
  uint32_t* scored_begins = nullptr;
  uint32_t scored_count = 0;
  uint32_t scored_tiles = 0;
  void keep_scores(ops::ScoredRows rows, uint32_t* numbers, uint32_t* begins) {
    scored = rows;
    scored_numbers = numbers;
    scored_begins = begins;
  }
  void keep_scored(uint32_t count, uint32_t tiles) {
    scored_count = count;
    scored_tiles = tiles;
  }
};
template <>
struct ScoredTokens<false> {
  static constexpr ops::ScoredRows scored = {-1, nullptr};
  static constexpr uint32_t* scored_numbers = nullptr;
  static constexpr uint32_t* scored_begins = nullptr;
  static constexpr uint32_t scored_count = 0;
  static constexpr uint32_t scored_tiles = 0;
  void keep_scores(ops::ScoredRows, const uint32_t*, const uint32_t*) {}
  void keep_scored(uint32_t, uint32_t) {}
};

/// The segments of the texts that were retrieved for chunks; no field if chunks are not linked.
template <bool kLinked>
struct SourceSegments {
  int32_t* source_segments = nullptr;  // Sources.segments; null: no texts are retrieved
  void keep_segments(int32_t* at) { source_segments = at; }
};
template <>
struct SourceSegments<false> {
  static constexpr int32_t* source_segments = nullptr;
  void keep_segments(const int32_t*) {}
};

/// The properties of a batch that increase the arena memory of a pass.
struct PassSize {
  uint32_t tokens, sequences, scored;  // these also determine the tiles
  uint32_t longest, source;            // rows of the longest sequence with its context, and of the longest source

  bool holds(const PassSize& other) const {
    return other.tokens <= tokens && other.sequences <= sequences && other.scored <= scored &&
           other.longest <= longest && other.source <= source;
  }
  bool has_tiles_of(const PassSize& other) const {
    return other.tokens == tokens && other.sequences == sequences && other.scored == scored;
  }
};

/// The largest measured pass of each phase. The high-water marks cover its memory, so that smaller passes need not be
/// measured, which would ask every operator. Builds for small memory have no such record.
template <bool kLinked>
struct MeasuredPasses {
  PassSize measured[2] = {};
  bool has_measured(fb::Phase phase, const PassSize& size, uint32_t workers) const {
    const PassSize& known = measured[static_cast<uint32_t>(phase)];
    // With several workers, tiles may be larger if there are fewer rows.
    return known.holds(size) && (workers == 1 || known.has_tiles_of(size));
  }
  void keep_measured(fb::Phase phase, const PassSize& size, uint32_t workers) {
    PassSize& known = measured[static_cast<uint32_t>(phase)];
    if (size.holds(known) || workers != 1) known = size;
  }
};
template <>
struct MeasuredPasses<false> {
  bool has_measured(fb::Phase, const PassSize&, uint32_t) const { return false; }
  void keep_measured(fb::Phase, const PassSize&, uint32_t) {}
};

struct SessionState final : Session,
                            BatchMarks<linked::kMarks>,
                            BatchFeatures<linked::kFeatures>,
                            SourceWords<linked::kShortlist>,
                            ScoredTokens<linked::kScoredRows>,
                            SourceSegments<linked::kChunks>,
                            MeasuredPasses<linked::kHost> {
  SessionState(const Model& m, const Limits& l, const kernels::Table& k) : model(m), limits(l), kernels(k) {}

  Model model;
  Limits limits;
  const kernels::Table& kernels;
  const Parallel* parallel = nullptr;
  const LinearBackend* backend = nullptr;  // only for files whose weights are all float
  const Observer* observer = nullptr;
  Tokenizer tokenizer;
  bool has_tokenizer = false;

  uint8_t* shared = nullptr;
  uint8_t* f32_heads = nullptr;  // only where limits.f32_heads
  Worker* workers = nullptr;

  // The batch: arrays of max_tokens or max_sequences (+ 1) elements; text arrays are null without a tokenizer.
  int32_t* ids = nullptr;
  int32_t* segments = nullptr;
  uint32_t* offsets = nullptr;
  EncodeResult* results = nullptr;
  Offset* text_offsets = nullptr;
  uint8_t* text_sequences = nullptr;
  uint32_t tokens = 0;
  uint32_t sequences = 0;
  Filled filled = Filled::kNothing;
  uint8_t step_runs = 0;  // number of stepped runs begun so far, modulo 256
  bool has_run = false;
  fb::Phase phase = fb::Phase::main;  // phase of the last pass
  bool last_rows = false;             // Batch::last_rows of the batch
  uint32_t values[kSymbols] = {};     // values of the last run

  ContextStore* store = nullptr;  // located after the session object; only if limits.context is not 0

  // Only if limits.source is not 0.
  ops::Sources sources = {};
  uint32_t* source_numbers = nullptr;  // [sequences]: sources.numbers
  uint32_t* source_lengths = nullptr;  // [limits.sources]: sources.lengths
  int32_t* shifted_ids = nullptr;      // like ids: the source's tokens as the main pass reads them, in models that do

  /// Ends a stepped run: its view of the contexts is no longer valid.
  void end_steps() {
    if (filled == Filled::kSteps) filled = Filled::kNothing;
  }

  // High-water marks, in bytes, of the parts of the arena whose size depends on a run's lengths.
  size_t fixed_bytes = 0;
  size_t shared_high = 0;
  size_t worker_high = 0;
};

/// Size of the session object, and of its contexts if this build has them.
constexpr uint64_t kStateBytes = round_up(sizeof(SessionState), 16) + (linked::kContexts ? sizeof(ContextStore) : 0);
/// Bytes at the beginning of a one-worker arena that hold pointers and therefore differ between machines; the rest of
/// an arena is the same everywhere.
constexpr uint64_t kSessionBytes = round_up(kStateBytes, 64) + round_up(sizeof(Worker), 64);

inline SessionState& state(Session* session) { return *static_cast<SessionState*>(session); }
inline const SessionState& state(const Session* session) { return *static_cast<const SessionState*>(session); }

/// Selects the rows of the batch arrays to score in the next pass, if limits.scored_rows is not 0: the `count` ones in
/// `rows`, or if that is null the last row of each sequence, or all rows. runtime/session/session.cpp.
Status want_scored(SessionState& session, const uint32_t* rows, uint32_t count, bool last_rows);

/// Returns true if the last pass computed only some rows of this output, which then cannot be returned as a whole.
bool lacks_rows(const SessionState& session, uint32_t output);

/// Runs one pass over the batch arrays, which have been checked. runtime/session/run.cpp.
Status execute(SessionState& session, fb::Phase phase);

/// A stepped pass (bantam/steps.h) over the batch arrays, which have been checked. begin_steps returns the number of
/// its units; execute_some executes the next `units` of them. *done: all are executed, and the outputs have been
/// checked. runtime/session/run.cpp.
uint32_t begin_steps(SessionState& session, SteppedRun::Place* at);
Status execute_some(SessionState& session, uint32_t units, SteppedRun::Place* at, bool* done);

/// Checks and takes a batch of ids for the main pass. runtime/session/session.cpp.
Status take_batch(SessionState& session, const Batch& batch);
/// Takes the added texts as the main pass's batch (not as sources); rows[count] as in want_scored.
/// runtime/session/text.cpp.
Status take_texts(SessionState& session, const uint32_t* rows, uint32_t count);

/// Runs the source pass over the batch arrays, which have been checked. runtime/session/session.cpp.
Status encode_batch(SessionState& session);

}  // namespace bantam

#endif  // BANTAM_SESSION_STATE_H_
