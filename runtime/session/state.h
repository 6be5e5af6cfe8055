// The state of a session, which lies at the start of its arena.
#ifndef BANTAM_SESSION_STATE_H_
#define BANTAM_SESSION_STATE_H_

#include "bantam/steps.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "session/layout.h"
#include "session/parts/contexts.h"

namespace bantam {

/// One worker's memory and what its tiles reported.
struct Worker {
  uint8_t* tile;   // its memory: tile region and scratch
  uint8_t* heads;  // the tile's heads in f32
  Status status;
  uint64_t marks;  // of the tasks of this step that it has run, added up
};

/// Who filled the batch arrays; kSteps: a run in steps, until it has ended.
enum class Filled : uint8_t { kNothing, kIds, kText, kSteps };

/// The marks of the batch; no field where they are not linked.
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

/// The features of the batch, which stay the caller's; no field where they are not linked.
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

/// The words that texts made from each source may have; no field where shortlists are not linked.
template <bool kLinked>
struct SourceWords {
  uint32_t* listed = nullptr;  // [limits.sources][listed_units]; null: the file has no shortlist
  bool listed_only = false;    // Batch::listed of the batch, where there is one
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

/// The tokens that word scores are made for, where limits.scored_rows is not 0; no fields where they are not linked.
template <bool kLinked>
struct ScoredTokens {
  ops::ScoredRows scored = {-1, nullptr};
  uint32_t* scored_numbers = nullptr;  // [scored_count], ascending
  uint32_t* scored_begins =
      nullptr;  // [scored_tiles + 1]: which of them follow each other, no more than a tile has rows
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

/// The segments of the texts that are retrieved for chunks; no field where chunks are not linked.
template <bool kLinked>
struct SourceSegments {
  int32_t* source_segments = nullptr;  // Sources.segments; null: nothing is
  void keep_segments(int32_t* at) { source_segments = at; }
};
template <>
struct SourceSegments<false> {
  static constexpr int32_t* source_segments = nullptr;
  void keep_segments(const int32_t*) {}
};

/// The numbers of a batch with which the arena memory of a pass grows.
struct PassSize {
  uint32_t tokens, sequences, scored;  // that choose tiles, too
  uint32_t longest, source;            // of a sequence with its context, of a source

  bool holds(const PassSize& other) const {
    return other.tokens <= tokens && other.sequences <= sequences && other.scored <= scored &&
           other.longest <= longest && other.source <= source;
  }
  bool has_tiles_of(const PassSize& other) const {
    return other.tokens == tokens && other.sequences == sequences && other.scored == scored;
  }
};

/// A pass of each phase whose memory the marks hold, so that smaller ones need not be measured: that would ask every operator. Where
/// memory is short, so is this: nothing.
template <bool kLinked>
struct MeasuredPasses {
  PassSize measured[2] = {};
  bool has_measured(fb::Phase phase, const PassSize& size, uint32_t workers) const {
    const PassSize& known = measured[static_cast<uint32_t>(phase)];
    // Tiles of several workers may be larger where there are fewer rows.
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

  // The batch: arrays of max_tokens, max_sequences (+ 1) elements; text arrays are null without a tokenizer.
  int32_t* ids = nullptr;
  int32_t* segments = nullptr;
  uint32_t* offsets = nullptr;
  EncodeResult* results = nullptr;
  Offset* text_offsets = nullptr;
  uint8_t* text_sequences = nullptr;
  uint32_t tokens = 0;
  uint32_t sequences = 0;
  Filled filled = Filled::kNothing;
  uint8_t step_runs = 0;  // begun so far, modulo 256
  bool has_run = false;
  fb::Phase phase = fb::Phase::main;  // that ran last
  bool last_rows = false;             // Batch::last_rows of the batch
  uint32_t values[kSymbols] = {};     // of the last run

  ContextStore* store = nullptr;  // behind the session; only where limits.context is not 0

  // Only where limits.source is not 0.
  ops::Sources sources = {};
  uint32_t* source_numbers = nullptr;  // [sequences]: sources.numbers
  uint32_t* source_lengths = nullptr;  // [limits.sources]: sources.lengths
  int32_t* shifted_ids = nullptr;      // as ids: what the main pass reads of sources, where it does

  /// Ends a run in steps: its view of the contexts is no longer valid.
  void end_steps() {
    if (filled == Filled::kSteps) filled = Filled::kNothing;
  }

  // High-water marks of the parts of the arena that depend on a run's lengths, in bytes.
  size_t fixed_bytes = 0;
  size_t shared_high = 0;
  size_t worker_high = 0;
};

/// The session object with its contexts, where this build has them.
constexpr uint64_t kStateBytes = round_up(sizeof(SessionState), 16) + (linked::kContexts ? sizeof(ContextStore) : 0);
/// Bytes at the beginning of a one-worker arena that hold pointers, so that machines differ in them; the rest of an arena
/// is the same everywhere.
constexpr uint64_t kSessionBytes = round_up(kStateBytes, 64) + round_up(sizeof(Worker), 64);

inline SessionState& state(Session* session) { return *static_cast<SessionState*>(session); }
inline const SessionState& state(const Session* session) { return *static_cast<const SessionState*>(session); }

/// Which rows of the batch arrays are scored in the next pass, where limits.scored_rows is not 0: `rows` of them, or null: the last of each
/// sequence, or all. runtime/session/session.cpp.
Status want_scored(SessionState& session, const uint32_t* rows, uint32_t count, bool last_rows);

/// The last pass made only some rows of this output, which are then not to be had.
bool lacks_rows(const SessionState& session, uint32_t output);

/// One pass over the batch arrays, which have been checked. runtime/session/run.cpp.
Status execute(SessionState& session, fb::Phase phase);

/// A pass in steps (bantam/steps.h) over the batch arrays, which have been checked: how many units it is, from the beginning; and the next
/// `units` of them. *done: there are no more, and outputs have been checked. runtime/session/run.cpp.
uint32_t begin_steps(SessionState& session, SteppedRun::Place* at);
Status execute_some(SessionState& session, uint32_t units, SteppedRun::Place* at, bool* done);

/// Checks a batch of ids for the main pass and takes it. runtime/session/session.cpp.
Status take_batch(SessionState& session, const Batch& batch);
/// Texts as the main pass's batch, sources aside; rows[count] as want_scored takes them. runtime/session/text.cpp.
Status take_texts(SessionState& session, const uint32_t* rows, uint32_t count);

/// The pass over the sources in the batch arrays, which have been checked. runtime/session/session.cpp.
Status encode_batch(SessionState& session);

}  // namespace bantam

#endif  // BANTAM_SESSION_STATE_H_
