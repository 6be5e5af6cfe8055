// Session: one arena, one thread at a time, any number of runs.
#ifndef BANTAM_SESSION_H_
#define BANTAM_SESSION_H_

#include "bantam/export.h"
#include "bantam/model.h"
#include "bantam/tokenizer.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Instruction sets. kAuto picks the best that this machine and build have. Values are append-only.
enum class Isa : uint8_t {
  kAuto = 0,
  kReference = 1,
  kAvx2 = 2,
  kAvxVnni = 3 /* VEX, 256 bit */,
  kAvx512Vnni256 = 4 /* EVEX, 256 bit */,
  kAvx512Vnni = 5,
  kNeon = 6 /* aarch64 */,
  kNeonDot = 7 /* sdot */,
  kNeonI8mm = 8 /* smmla */,
  kArmv7Neon = 9,
  kScalar = 10 /* portable C for microcontrollers */,
  kDsp = 11 /* Armv7E-M: SMLAD */,
  kMve = 12 /* Armv8.1-M: Helium */,
  kAmx = 13 /* tiles of int8 beside AVX-512 VNNI */,
  kWasm = 14 /* WebAssembly's SIMD128 */,
  kWasmRelaxed = 15 /* its relaxed SIMD */
};

const char* isa_name(Isa isa);        // "reference", "avx2", ...
bool isa_available(Isa isa);          // in this build and on this machine
bool isa_parse(Text name, Isa* out);  // false: no such name

/// Parallel-for. Returns when task(arg, i, worker) is done for every i in [0, count); worker < the
/// session's `workers`; no worker id runs twice at once; serial is legal; never nested. A task left out, run twice or with
/// another worker id, and an index of `count` or more, make run() return kInvalidArgument.
struct Parallel {
  void* context = nullptr;
  void (*run)(void* context, uint32_t count, void (*task)(void* arg, uint32_t index, uint32_t worker),
              void* arg) = nullptr;
};

/// Runs f32 linear layers of all-f32/f16 files somewhere else (runtime/host/xnnpack.h). All hooks are
/// called with one thread at a time per session.
struct LinearBackend {
  void* context = nullptr;
  /// y[rows][n] = x[rows][k] * w[n]t + bias for linear op number `op` (dense order in the file).
  Status (*linear)(void* context, uint32_t op, const float* x, size_t x_stride, uint32_t rows, float* y,
                   size_t y_stride) = nullptr;
};

struct SessionOptions {
  /// Rows of all sequences of one run together; 0: the model's max_sequence (or 512) * max_sequences, with contexts at most 128.
  uint32_t max_tokens = 0;
  uint32_t max_sequences = 1;
  /// Tokens that each of max_sequences contexts holds; 0: there are none, and every run is of whole sequences. See "Contexts" below.
  uint32_t max_context = 0;
  /// Encoder-decoders: tokens of a source, and of all sources of one encode(), and how many sources are kept; 0: the model's
  /// longest source (or 512), and max_sequences. See "Sources" below. Of other models 0.
  uint32_t max_source = 0;
  uint32_t max_sources = 0;
  uint32_t workers = 1;  // worker ids that `parallel` may use
  /// Most rows of a tile, a multiple of 4; 0: 128. See "Small devices" below.
  uint32_t tile_rows = 0;
  uint32_t text_bytes = 0;  // reserved for tokenizers that need the whole normalised text
  Isa isa = Isa::kAuto;
  // Firmware refuses these three with kUnavailable.
  const Parallel* parallel = nullptr;      // null: serial. Outlives the session.
  const LinearBackend* backend = nullptr;  // null: native kernels. Outlives the session.
  /// f32 attention instead of int8 in a quantised file: for comparison only.
  bool f32_attention = false;
  /// Rows that an operator holds in f32 at a time, and queries that attend at a time: 1 to 16; 0: 16, of linear layers on hosts
  /// 128 where the instruction set has use for them (amx). Never more than tile_rows.
  uint32_t block_rows = 0;
  /// Keep each token's byte offsets and text of origin: tag, answer and the slots of a joint file need them. Without, add()
  /// takes 9 bytes a token less.
  bool text_offsets = true;
  /// For models that fill in masks. Not 0: a run computes word scores for at most so many tokens, the ones that
  /// Batch::rows or run(rows) name, one behind the other; the arena has room for no more (BERT: 0.12 MB a token). 0:
  /// for all tokens.
  uint32_t scored_rows = 0;
};

/// Small devices: results never depend on tile_rows and block_rows, memory and speed do. A tile's activations take their
/// row's bytes times tile_rows; scratch takes the widest layer's f32 row times block_rows, or 4 bytes a key times
/// block_rows. Good on microcontrollers: tile_rows 4 (counts of rows are then rounded up to 4 instead of 16, and the
/// tensors in the arena are 16-byte aligned instead of 64) with block_rows 4, as many as their kernels take at a time, or
/// 1 where memory is short: each block reads the layer's weights anew.

/// Contexts: a context holds the keys and values of a decoder's tokens (int8 where the file's attention is), so that a
/// sequence can come in several runs: a prompt in pieces, then token by token. Every run continues one context a
/// sequence, and its results have the bits that one run of the whole sequence gives. Contexts lie in the arena: 16-row
/// pages, max_context rows rounded up to 16 each, beside the ids. Models whose tokens see the tokens behind them have
/// no contexts: create() returns kInvalidArgument.

/// Sources: a source holds the keys and values that the encoder of an encoder-decoder makes of a text, and that each
/// layer of the decoder attends to. encode() keeps them in the arena, and every run() takes one source a sequence;
/// several sequences (beams) may share one. The decoder's own sequences come whole, or in pieces with contexts, as
/// those of any decoder.

/// Chunks: a model with Model::chunk_tokens() (RETRO) is a decoder whose tokens may attend to the texts that were
/// retrieved for the chunk in front of them. A source is then such a chunk, its rows of output "chunk_state" as
/// features, and the texts retrieved for it; the schema says which tokens go with which chunk. All tokens of a run with
/// a source go with the same chunk. Texts that add() takes are the decoder's.
constexpr uint32_t kNoSource = UINT32_MAX;

/// Sequences one after the other, without padding.
struct Batch {
  const int32_t* ids = nullptr;
  const int32_t* segments = nullptr;  // null: all 0
  const uint32_t* offsets = nullptr;  // sequences + 1 row offsets, offsets[0] == 0; null: one sequence
  uint32_t sequences = 1;
  uint32_t tokens = 0;  // rows in all
  /// The context that each sequence continues, ascending; null: the first ones. Only with contexts.
  const uint32_t* contexts = nullptr;
  /// The source that each sequence attends to, or that encode() makes of it; null: the first ones. Only for
  /// encoder-decoders and for models with chunks; sequences of the latter may have kNoSource, which null means for
  /// their run().
  const uint32_t* sources = nullptr;
  /// Per-token outputs are made for the last token of each sequence only; the operators before them then also compute
  /// fewer rows.
  bool last_rows = false;
  /// Marks of the tokens, for models that take them (Model::mark_types); null: all 0.
  const int32_t* marks = nullptr;
  /// Features of the tokens, for models that take them (Model::feature_width); other models refuse them. They are
  /// [tokens][feature_width] numbers, which stay in place until run() has returned. Ids may then be null: all 0. With
  /// chunks encode() takes features and run() does not.
  const float* features = nullptr;
  /// For files with a shortlist: words that are not on the list of a sequence's source get the score -3e38, and panels
  /// of 16 words of which none is on it are not computed. Choices that keep to the shortlist are the same with and
  /// without.
  bool listed = false;
  /// With SessionOptions::scored_rows: the rows that word scores are made for, ascending, row_count of them; the
  /// operators before the scores then also compute fewer rows. Null: all rows, or with last_rows the last ones.
  /// kTooManyTokens: more than there is room for.
  const uint32_t* rows = nullptr;
  uint32_t row_count = 0;
};

/// Some of the words 0 to `words` - 1.
struct WordSet {
  const uint32_t* bits = nullptr;  // word w: bit w % 32 of bits[w / 32]; null: all tokens
  uint32_t words = 0;

  bool has(uint32_t word) const {
    return bits == nullptr || (word < words && (bits[word / 32] >> word % 32 & 1u) != 0);
  }
};

/// An output of the last run: rows x width f32, `stride` floats from row to row.
struct OutputView {
  Text name;
  const float* data = nullptr;
  uint32_t rows = 0;
  uint32_t width = 0;
  size_t stride = 0;
  bool per_token = false;  // rows are tokens (else sequences)
  bool squeeze = false;    // transformers shows [.., T] instead of [.., T, 1]
  const uint32_t* numbers =
      nullptr;  // of each row, its number in the batch, where only some were made (Batch::rows); null: all
};

/// The tokens of one sequence of the batch, and the result of its encoding.
struct EncodedSequence {
  uint32_t row_begin = 0;
  uint32_t row_count = 0;
  const int32_t* ids = nullptr;  // row_count elements each
  const int32_t* segments = nullptr;
  const Offset* offsets = nullptr;  // null after run(batch) and without SessionOptions::text_offsets, as is the next
  const uint8_t* sequences = nullptr;
  EncodeResult result;
  const int32_t* marks = nullptr;  // null: the model takes none
};

class Session {
 public:
  /// Builds a session at the start of `arena`. `size` must be >= arena_bytes(model, options).
  static Status create(const Model& model, const SessionOptions& options, void* arena, size_t size, Session** out,
                       Fault* fault = nullptr);

  /// Runs one forward pass over `batch`; outputs stay valid until the next call on this session. A failure leaves
  /// contexts unchanged.
  Status run(const Batch& batch);

  /// Encoder-decoders: runs the pass over sources, which mostly has no outputs. A failure before anything ran leaves
  /// sources unchanged; a later failure loses those of the batch. kNoSuchTask: the model has no sources.
  Status encode(const Batch& batch);
  /// Tokens of a source; 0: there is none yet.
  uint32_t source_length(uint32_t source) const;
  /// The words that a text made from this source may have, in files with a shortlist; valid until encode() overwrites
  /// the source. All tokens where there is no shortlist, or no such source yet. Choices (next_token, BeamSearch) are
  /// among them; run() gives the scores of all words, unless Batch::listed is set.
  WordSet shortlist(uint32_t source) const;

  /// Tokens in a context; 0 where there is no such context. run(batch) adds to them; run() of texts empties the first
  /// contexts and begins them anew.
  uint32_t context_length(uint32_t context) const;
  /// The ids of these tokens, until the context changes; null where there is no such context.
  const int32_t* context_ids(uint32_t context) const;
  /// Forgets all but the first `length` tokens of a context. kIndexOutOfRange where there are fewer, or no such context.
  Status truncate(uint32_t context, uint32_t length);
  /// Makes context `to` a copy of `from`. They share pages until one of them writes to its own. O(tokens / 16 + ids).
  Status copy_context(uint32_t from, uint32_t to);
  /// Makes context i a copy of context from[i], for all i < count at once: for beams. O(tokens / 16 + ids) each.
  Status reorder_contexts(const uint32_t* from, uint32_t count);

  /// Text batch: clear(), add() each input (second.data null: no pair), then run().
  void clear();
  /// The texts of encoder-decoders are sources: encode() makes the first sources from them. So does run() before the
  /// main pass of models whose decoders read the source's own tokens; these take at most max_sequences texts. For other
  /// encoder-decoders run() returns kInvalidArgument: their decoders read tokens of the caller.
  Status add(Text first, Text second, const EncodeOptions& options);
  /// Adds texts whose tokens are known, without reading the texts again: for windows of long texts
  /// (EncodeOptions::skip), for each of which the other add() would encode the whole text. `second` null: no pair. Not
  /// in firmware. O(tokens added).
  Status add(const TextTokens& first, const TextTokens* second, const EncodeOptions& options);
  Status encode();
  Status run();
  /// Runs with Batch::rows: `rows` are row numbers of the batch of texts (from EncodedSequence::row_begin on), which
  /// need not outlive the call.
  Status run(const uint32_t* rows, uint32_t count);
  /// With scored_rows: runs with the rows of those tokens of the texts that are masks, for fill(); if no text has one,
  /// with the row of the first token, so that other outputs are made. kTooManyTokens: more rows than there is room for.
  /// Without scored_rows: run().
  Status run_masks();
  /// Adds a text, and the caller's labels to find spans for (tasks.h, find()), for models that find spans. Cuts texts
  /// that are too long at their end; ignores options.skip, add_special and truncation. kIndexOutOfRange: more labels
  /// than the file takes at a time; kTooManyTokens: no room behind the labels; kNoSuchTask: other models.
  Status add_labelled(Text text, const Text* labels, uint32_t count, const EncodeOptions& options = {});

  /// Marks a mention of entity `mark` (Model::mark_types), for models with a table of entities: `bytes` are those of
  /// the mention in a text of the sequence that add() added, the first of two, or the second. The first token that
  /// overlaps them gets the mark; *found, which may be null, is true if there is one (the text may have been cut before
  /// it). kUnavailable without SessionOptions::text_offsets; kNoSuchTask: the model takes no marks, or those of labels;
  /// kNotRun: there is no such sequence, or none of its text is known.
  Status mark(uint32_t sequence, bool second, Offset bytes, int32_t mark, bool* found = nullptr);

  uint32_t sequence_count() const;  // sequences added or run
  EncodedSequence sequence(uint32_t index) const;
  /// kNotRun also for an output that another pass makes than ran last.
  Status output(uint32_t index, OutputView* out) const;  // all rows; not after Batch::last_rows, and of other
                                                         // outputs a token not after Batch::rows
  Status output(uint32_t index, uint32_t sequence, OutputView* out) const;  // rows of one sequence

  const Model& model() const;
  const Tokenizer* tokenizer() const;  // null: the file has none
  Isa isa() const;
  uint32_t max_tokens() const;
  uint32_t max_sequences() const;
  uint32_t max_context() const;  // tokens; 0: there are no contexts
  uint32_t max_source() const;   // tokens; 0: there are no sources
  uint32_t max_sources() const;
  /// Bytes of the arena that create() and every run so far have touched at most.
  size_t arena_high_water() const;

  /// Observer for profiling and calibration: called after each op of each tile. Null: none.
  struct Observer {
    void* context = nullptr;
    void (*before)(void* context, uint32_t op, uint32_t row_begin, uint32_t rows, uint32_t worker) = nullptr;
    void (*after)(void* context, uint32_t op, uint32_t row_begin, uint32_t rows, uint32_t worker) = nullptr;
  };
  void set_observer(const Observer* observer);  // outlives the session or is reset; firmware ignores it

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 protected:
  Session() = default;
  ~Session() = default;  // a session is abandoned, never destroyed: it owns nothing
};

/// Exact size of the arena: the same on every ISA; counts session object, tensors, scratch of all
/// workers, text workspace. 0 when the options cannot be served (see create for the reason).
size_t arena_bytes(const Model& model, const SessionOptions& options);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SESSION_H_
