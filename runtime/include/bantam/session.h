// Session: one arena, one thread at a time, any number of runs.
#ifndef BANTAM_SESSION_H_
#define BANTAM_SESSION_H_

#include "bantam/export.h"
#include "bantam/model.h"
#include "bantam/tokenizer.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Instruction sets. kAuto selects the best one that this machine and this build support. Values are append-only.
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
  kAmx = 13 /* int8 tiles, in addition to AVX-512 VNNI */,
  kWasm = 14 /* WebAssembly's SIMD128 */,
  kWasmRelaxed = 15 /* WebAssembly's relaxed SIMD */
};

const char* isa_name(Isa isa);        // "reference", "avx2", ...
bool isa_available(Isa isa);          // true if this build contains it and this machine supports it
bool isa_parse(Text name, Isa* out);  // false: no such name

/// Parallel-for. run() returns after task(arg, i, worker) has finished for every i in [0, count). `worker` is less than
/// SessionOptions::workers, and no two tasks run with the same worker id at the same time. Calls are never nested, and
/// a serial implementation is valid. Session::run() returns kInvalidArgument if a task is skipped, runs twice or runs
/// with another worker id, or if an index is `count` or more.
struct Parallel {
  void* context = nullptr;
  void (*run)(void* context, uint32_t count, void (*task)(void* arg, uint32_t index, uint32_t worker),
              void* arg) = nullptr;
};

/// Runs the f32 linear layers of files whose weights are all f32 or f16 in another library (bantam/host.h has XNNPACK).
/// At most one thread per session calls a hook at a time.
struct LinearBackend {
  void* context = nullptr;
  /// Computes y[rows][n] = x[rows][k] * transpose(w[n][k]) + bias for linear operator number `op` (counted among the
  /// linear operators, in file order).
  Status (*linear)(void* context, uint32_t op, const float* x, size_t x_stride, uint32_t rows, float* y,
                   size_t y_stride) = nullptr;
};

struct SessionOptions {
  /// Rows of all sequences of one run together. 0: the model's max_sequence (or 512) times max_sequences; with contexts
  /// at most 128.
  uint32_t max_tokens = 0;
  uint32_t max_sequences = 1;
  /// Tokens that each of the max_sequences contexts holds; 0: no contexts, so every run takes whole sequences. See
  /// "Contexts" below.
  uint32_t max_context = 0;
  /// Encoder-decoders only: max_source is the most tokens of one source, and of all sources of one encode();
  /// max_sources is the number of sources kept. 0: the model's longest source (or 512), and max_sequences. For other
  /// models both are 0. See "Sources" below.
  uint32_t max_source = 0;
  uint32_t max_sources = 0;
  uint32_t workers = 1;  // worker ids that `parallel` may use
  /// Most rows of a tile, a multiple of 4; 0: 128. See "Small devices" below.
  uint32_t tile_rows = 0;
  uint32_t text_bytes = 0;  // reserved for tokenizers that need the whole normalized text
  Isa isa = Isa::kAuto;
  // Firmware refuses these three with kUnavailable.
  const Parallel* parallel = nullptr;      // null: serial. Outlives the session.
  const LinearBackend* backend = nullptr;  // null: native kernels. Outlives the session.
  /// Uses f32 attention instead of int8 attention in a quantized file. For comparison only.
  bool f32_attention = false;
  /// Rows that an operator holds in f32 at a time, and queries that attention processes at a time: 1 to 16. 0: 16;
  /// linear layers on hosts use 128 if the instruction set benefits from it (amx). Never more than tile_rows.
  uint32_t block_rows = 0;
  /// Keeps each token's byte offsets and the number of its text; tag, answer and the slots of a joint file need them.
  /// If false, add() needs 9 bytes less per token.
  bool text_offsets = true;
  /// For models that fill in masks. Not 0: a run computes word scores for at most this many tokens, which Batch::rows
  /// or run(rows) selects; their rows are contiguous in the output, and the arena has room for no more (BERT: 0.12 MB a
  /// token). 0: a run computes them for all tokens.
  uint32_t scored_rows = 0;
};

/// Small devices: results never depend on tile_rows and block_rows; memory and speed do. The activations of a tile need
/// tile_rows times the bytes of a row; scratch needs block_rows times the widest layer's f32 row, or block_rows times 4
/// bytes per key. On microcontrollers use tile_rows 4: row counts are then rounded up to 4 instead of 16, and the
/// tensors in the arena are aligned to 16 bytes instead of 64. Use block_rows 4, the number of rows that their kernels
/// take at a time, or 1 if memory is short: each block reads the layer's weights again.

/// Contexts: a context holds the keys and values of a decoder's tokens (int8 if the file's attention is int8), so that
/// a sequence can be run in several parts: a prompt in pieces, then token by token. Every run continues one context per
/// sequence, and its results equal those of one run of the whole sequence bit by bit. Contexts lie in the arena: 16-row
/// pages, max_context rows rounded up to 16 for each, plus the ids. Models whose tokens attend to later tokens have no
/// contexts: create() returns kInvalidArgument.

/// Sources: a source holds the keys and values that the encoder of an encoder-decoder computes from a text; each layer
/// of the decoder attends to them. encode() stores them in the arena, and every run() uses one source per sequence;
/// several sequences (beams) may share one. The decoder's own sequences are run whole, or in parts with contexts, as
/// for any decoder.

/// Chunks: a model with Model::chunk_tokens() (RETRO) is a decoder whose tokens may attend to the texts that were
/// retrieved for the preceding chunk. A source then consists of that chunk, whose rows of output "chunk_state" are the
/// features, and the texts retrieved for it; the schema defines which tokens belong to which chunk. All tokens of a run
/// with a source belong to the same chunk. Texts that add() takes are input of the decoder.
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
  /// run(): the source that each sequence attends to; encode(): the source that it becomes. Null: the first ones. Only
  /// for encoder-decoders and for models with chunks; sequences of the latter may have kNoSource, which null means for
  /// their run().
  const uint32_t* sources = nullptr;
  /// Per-token outputs are computed only for the last token of each sequence; the operators before them then also
  /// compute fewer rows.
  bool last_rows = false;
  /// Marks of the tokens, for models that take them (Model::mark_types); null: all 0.
  const int32_t* marks = nullptr;
  /// Features of the tokens, for models that take them (Model::feature_width); other models refuse them. An array of
  /// [tokens][feature_width] numbers that must stay valid until run() returns. `ids` may then be null: all 0. With
  /// chunks, encode() takes features and run() does not.
  const float* features = nullptr;
  /// For files with a shortlist: words that are not on the list of a sequence's source get the score -3e38, and panels
  /// of 16 words without a listed word are not computed. Choices that are limited to the shortlist are the same with
  /// and without this flag.
  bool listed = false;
  /// With SessionOptions::scored_rows: the rows to compute word scores for, ascending, row_count of them; the operators
  /// before the scores then also compute fewer rows. Null: all rows, or with last_rows the last ones. kTooManyTokens:
  /// row_count exceeds scored_rows.
  const uint32_t* rows = nullptr;
  uint32_t row_count = 0;
};

/// A subset of the words 0 to `words` - 1.
struct WordSet {
  const uint32_t* bits = nullptr;  // word w: bit w % 32 of bits[w / 32]; null: all words
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
  bool squeeze = false;    // true: transformers returns shape [.., T] instead of [.., T, 1]
  // The batch row of each output row, if only some rows were computed (Batch::rows); null: all.
  const uint32_t* numbers = nullptr;
};

/// The tokens of one sequence of the batch, and the result of its encoding.
struct EncodedSequence {
  uint32_t row_begin = 0;
  uint32_t row_count = 0;
  const int32_t* ids = nullptr;  // row_count elements each
  const int32_t* segments = nullptr;
  const Offset* offsets = nullptr;  // null after run(batch) and without SessionOptions::text_offsets, like `sequences`
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

  /// Encoder-decoders: runs the encoder over the sources; most models have no outputs of this pass. A failure before
  /// the first operator leaves the sources unchanged; a later failure invalidates those of the batch. kNoSuchTask: the
  /// model has no sources.
  Status encode(const Batch& batch);
  /// Tokens of a source; 0: there is none yet.
  uint32_t source_length(uint32_t source) const;
  /// Returns the words that a text generated from this source may contain, in files with a shortlist; valid until
  /// encode() overwrites the source. Returns all words if there is no shortlist or no such source yet. next_token and
  /// BeamSearch choose from this set; run() computes the scores of all words, unless Batch::listed is set.
  WordSet shortlist(uint32_t source) const;

  /// Tokens in a context; 0 if there is no such context. run(batch) appends to contexts; run() of texts first empties
  /// the contexts that it uses, which are the first ones.
  uint32_t context_length(uint32_t context) const;
  /// Ids of these tokens, valid until the context changes; null if there is no such context.
  const int32_t* context_ids(uint32_t context) const;
  /// Removes all but the first `length` tokens of a context. kIndexOutOfRange: the context has fewer, or does not
  /// exist. kUnavailable: the model has states (Mamba, short convolutions), which belong to all tokens of a context:
  /// `length` is then 0 or the number of its tokens. The context is unchanged; run its tokens again instead, or
  /// continue from a copy of it that was made earlier (copy_context).
  Status truncate(uint32_t context, uint32_t length);
  /// Makes context `to` a copy of `from`. They share pages until one of them writes to a page. O(tokens / 16 + ids).
  Status copy_context(uint32_t from, uint32_t to);
  /// Makes context i a copy of context from[i], for all i < count at once. For beam search. O(tokens / 16 + ids) each.
  Status reorder_contexts(const uint32_t* from, uint32_t count);

  /// Text batch: clear(), add() each input (second.data null: no pair), then run().
  void clear();
  /// For encoder-decoders, texts are sources: encode() reads them into the first sources. For models whose decoder
  /// reads the source's own tokens, run() does so too before the main pass; these models take at most max_sequences
  /// texts. For other encoder-decoders run() returns kInvalidArgument: the caller provides the decoder's tokens.
  Status add(Text first, Text second, const EncodeOptions& options);
  /// Adds texts whose tokens are known, without encoding the texts again. For windows of long texts
  /// (EncodeOptions::skip): the other add() would encode the whole text for each window. `second` null: no pair. Not in
  /// firmware. O(tokens added).
  Status add(const TextTokens& first, const TextTokens* second, const EncodeOptions& options);
  Status encode();
  Status run();
  /// Runs with Batch::rows: `rows` are row numbers of the batch of texts (counted as EncodedSequence::row_begin is).
  /// The array need not outlive the call.
  Status run(const uint32_t* rows, uint32_t count);
  /// With scored_rows: computes word scores for the mask tokens of the texts, for fill(). If no text has a mask,
  /// computes them for the first token, so that the other outputs exist. kTooManyTokens: more masks than scored_rows.
  /// Without scored_rows: the same as run().
  Status run_masks();
  /// Adds a text and the labels to find spans for (tasks.h, find()), for models that find spans. Truncates a text that
  /// is too long at its end; ignores options.skip, add_special and truncation. kIndexOutOfRange: more labels than the
  /// file accepts at a time; kTooManyTokens: no room for text after the labels; kNoSuchTask: another kind of model.
  Status add_labelled(Text text, const Text* labels, uint32_t count, const EncodeOptions& options = {});

  /// Marks a mention of entity `mark` (Model::mark_types), for models with a table of entities. `bytes` is the range of
  /// the mention in the first text of the sequence, or in the second if `second` is true; add() must have added it. The
  /// first token that overlaps the range gets the mark; *found (may be null) is false if there is none, for instance
  /// because the text was truncated. kUnavailable without SessionOptions::text_offsets; kNoSuchTask: the model takes no
  /// marks, or its marks stand for labels; kNotRun: there is no such sequence, or its text is unknown.
  Status mark(uint32_t sequence, bool second, Offset bytes, int32_t mark, bool* found = nullptr);

  uint32_t sequence_count() const;  // sequences added or run
  EncodedSequence sequence(uint32_t index) const;
  /// kNotRun is also returned for an output of another pass than the one that ran last.
  // All rows. Not valid after Batch::last_rows; for other per-token outputs not after Batch::rows.
  Status output(uint32_t index, OutputView* out) const;
  Status output(uint32_t index, uint32_t sequence, OutputView* out) const;  // rows of one sequence

  const Model& model() const;
  const Tokenizer* tokenizer() const;  // null: the file has none
  Isa isa() const;
  uint32_t max_tokens() const;
  uint32_t max_sequences() const;
  uint32_t max_context() const;  // tokens; 0: there are no contexts
  uint32_t max_source() const;   // tokens; 0: there are no sources
  uint32_t max_sources() const;
  /// The most bytes of the arena that create() and all runs so far have touched.
  size_t arena_high_water() const;

  /// Observer for profiling and calibration: called before and after each operator of each tile. Null: none.
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

/// Returns the exact size of the arena in bytes, the same for every ISA: session object, tensors, scratch of all
/// workers and text workspace. 0: the options are invalid (create() says why).
size_t arena_bytes(const Model& model, const SessionOptions& options);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SESSION_H_
