// What this build links. A host links everything. A firmware image names a header in BANTAM_LINKED_HEADER, which
// `bantam firmware` writes: it defines each BANTAM_LINK_... below that its model needs as 1; what it leaves out is 0, and
// a file that asks for it gets kOpNotLinked.
#ifndef BANTAM_LINKED_H_
#define BANTAM_LINKED_H_

#include <stdint.h>

#if defined(BANTAM_LINKED_HEADER)
#include BANTAM_LINKED_HEADER
#define BANTAM_LINK_DEFAULT 0
#else
#define BANTAM_LINK_DEFAULT 1
#endif

// Bit i: the operator of row i of ops/ops.inc.
#ifndef BANTAM_LINK_OPS
#define BANTAM_LINK_OPS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i: numbers of this kind in the operators of dynamic numerics. Float: f32 weights of linear layers; Half: f16 wherever floats
// are linked; FloatTables: embedding tables; FloatAttention: queries, keys and values; Dynamic: int8 with a scale a row
// found at run time; beside it Int4: weights of 4 bits, Sparse: sparse weights, Bitmask: a bitmask and what is not 0.
#define BANTAM_NUMBERS(X) X(Float) X(Half) X(FloatTables) X(FloatAttention) X(Dynamic) X(Int4) X(Sparse) X(Bitmask)
#ifndef BANTAM_LINK_NUMBERS
#define BANTAM_LINK_NUMBERS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i: the activation of number i (fb::ActivationKind), the norm of number i (fb::NormKind). Number 0, none, is always
// there.
#ifndef BANTAM_LINK_ACTIVATIONS
#define BANTAM_LINK_ACTIVATIONS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_NORMS
#define BANTAM_LINK_NORMS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i: the mask of attention of number i (fb::MaskKind). Number 0, none, is always there. 7 is also for embeddings of whether
// tokens have marks.
#ifndef BANTAM_LINK_MASKS
#define BANTAM_LINK_MASKS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i of what else attention knows of places: 0 biases by distance, 1 biases by slopes, 2 rotary queries and keys,
// 3 embeddings of neighbours or of parts of the ids, 4 scores of places (which need BANTAM_NUMBERS' Float), 5 norms of queries and keys,
// 6 keys of segments, 7 scores that are capped.
#ifndef BANTAM_LINK_PLACES
#define BANTAM_LINK_PLACES (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i of what an epilogue may do beside activation, residual and norm: 0 a gate, 1 storing the row before the norm.
#ifndef BANTAM_LINK_EPILOGUE
#define BANTAM_LINK_EPILOGUE (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Rows that kernels take at a time, at most, where they can choose; more rows are several blocks. Only they look at it.
#ifndef BANTAM_LINK_ROWS
#define BANTAM_LINK_ROWS 16
#endif
// Bit i: the pooling of number i (fb::PoolKind). Bit 30: parts of columns, each from rows of its own (Pool.skip_last);
// 31: rows divided by their length (Pool.l2).
#ifndef BANTAM_LINK_POOLS
#define BANTAM_LINK_POOLS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i: what answers for the task of number i (fb::TaskKind).
#ifndef BANTAM_LINK_TASKS
#define BANTAM_LINK_TASKS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit 0: label sets beyond those of the task; 1: labels above others.
#ifndef BANTAM_LINK_LABELS
#define BANTAM_LINK_LABELS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_TOKENIZER
#define BANTAM_LINK_TOKENIZER BANTAM_LINK_DEFAULT
#endif
// Bit i: the normaliser of number i (fb::NormalizerKind). Number 0, BERT's, is always there.
#ifndef BANTAM_LINK_NORMALIZERS
#define BANTAM_LINK_NORMALIZERS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Bit i: the splitter of number i (fb::SplitterKind), the token model of number i (fb::TokenModelKind).
#ifndef BANTAM_LINK_SPLITTERS
#define BANTAM_LINK_SPLITTERS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_TOKEN_MODELS
#define BANTAM_LINK_TOKEN_MODELS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Of byte pair encoding, bit 0: words of which parts may be unknown, of code points or of bytes; 1: marks where words begin or end; 2: words that are one token, or
// unknown; 3: splits that leave text out or go over it several times; 4: merges in any order; 5: of those splits, words that end
// before what shows where they do.
#ifndef BANTAM_LINK_BPE
#define BANTAM_LINK_BPE (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Token ids to text.
#ifndef BANTAM_LINK_DECODE
#define BANTAM_LINK_DECODE BANTAM_LINK_DEFAULT
#endif
// What only programs on an operating system use: several workers, linear back ends, observers, f32 attention for
// comparison, the choice among instruction sets. A session of an image refuses such options with kUnavailable.
#if defined(BANTAM_FIRMWARE)
#define BANTAM_LINK_HOST 0
#else
#define BANTAM_LINK_HOST 1
#endif
// Kernels of one lane beside those of the instruction set: where they are left out, whatever asks for them gets the others.
#ifndef BANTAM_LINK_REFERENCE
#define BANTAM_LINK_REFERENCE BANTAM_LINK_DEFAULT
#endif
// Byte offsets of tokens in their text: for tasks that answer with places.
#ifndef BANTAM_LINK_OFFSETS
#define BANTAM_LINK_OFFSETS BANTAM_LINK_DEFAULT
#endif
// Added tokens that are matched in the normalised text; those that mind what stands beside them (single_word, lstrip,
// rstrip).
#ifndef BANTAM_LINK_NORMALIZED_TOKENS
#define BANTAM_LINK_NORMALIZED_TOKENS BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_TOKEN_EDGES
#define BANTAM_LINK_TOKEN_EDGES BANTAM_LINK_DEFAULT
#endif
// Marks of tokens (InputKind.marks): what is said of each beside its id and segment.
#ifndef BANTAM_LINK_MARKS
#define BANTAM_LINK_MARKS BANTAM_LINK_DEFAULT
#endif
// Sessions that keep contexts.
#ifndef BANTAM_LINK_CONTEXTS
#define BANTAM_LINK_CONTEXTS BANTAM_LINK_DEFAULT
#endif
// Encoder-decoders: a pass over a source, and attention to what it leaves.
#ifndef BANTAM_LINK_SOURCES
#define BANTAM_LINK_SOURCES BANTAM_LINK_DEFAULT
#endif
// Sources that are retrieved for chunks of texts (Model.chunk).
#ifndef BANTAM_LINK_CHUNKS
#define BANTAM_LINK_CHUNKS BANTAM_LINK_DEFAULT
#endif
// Tokens that only a tokenizer's model knows (TokenModel.hidden_from).
#ifndef BANTAM_LINK_HIDDEN_TOKENS
#define BANTAM_LINK_HIDDEN_TOKENS BANTAM_LINK_DEFAULT
#endif
// Templates that fill texts up to their limit (TemplatePiece of sequence 2).
#ifndef BANTAM_LINK_FILL
#define BANTAM_LINK_FILL BANTAM_LINK_DEFAULT
#endif
// Words that what is made of a source may have (Task.shortlist).
#ifndef BANTAM_LINK_SHORTLIST
#define BANTAM_LINK_SHORTLIST BANTAM_LINK_DEFAULT
#endif
// The sentences of Fault::what and of statuses. Without them a fault still has its status, which has a term, and the name of the
// tensor or op.
#ifndef BANTAM_LINK_FAULT_TEXT
#define BANTAM_LINK_FAULT_TEXT BANTAM_LINK_DEFAULT
#endif

namespace bantam::linked {

/// Rows of ops/ops.inc.
enum Op : uint32_t {
#define BANTAM_OP(name, ...) kOp##name,
#include "ops/ops.inc"
#undef BANTAM_OP
  kOps
};
/// fb::Numerics, which this header does without.
enum Numerics : uint32_t { dynamic = 0, static_int = 1 };
/// Bits of the rows that are operators of these numerics.
constexpr uint32_t ops_of(Numerics of) {
  uint32_t bits = 0;
#define BANTAM_OP(name, kind, numerics, ...) bits |= numerics == of ? 1u << kOp##name : 0u;
#include "ops/ops.inc"
#undef BANTAM_OP
  return bits;
}
constexpr bool op(uint32_t row) { return ((BANTAM_LINK_OPS) >> row & 1u) != 0; }
constexpr bool kEveryOp = (BANTAM_LINK_OPS) == ~0u;
constexpr bool kStatic = ((BANTAM_LINK_OPS)&ops_of(Numerics::static_int)) != 0;

enum Numbers : uint32_t {
#define BANTAM_NUMBER(name) kNumber##name,
  BANTAM_NUMBERS(BANTAM_NUMBER)
#undef BANTAM_NUMBER
};
constexpr bool numbers(Numbers kind) { return ((BANTAM_LINK_NUMBERS) >> kind & 1u) != 0; }
/// Whether this build knows the layouts of weights that need this number. The dense ones of int8 always: static
/// quantization and tables of embeddings have them, too.
constexpr bool weights(Numbers kind) { return kind == kNumberDynamic || numbers(kind); }
constexpr bool kFloat = numbers(kNumberFloat);
constexpr bool kHalf = numbers(kNumberHalf);
constexpr bool kFloatTables = numbers(kNumberFloatTables);
constexpr bool kFloatAttention = numbers(kNumberFloatAttention);
constexpr bool kDynamic = numbers(kNumberDynamic);
constexpr bool kInt4 = numbers(kNumberInt4);
constexpr bool kSparse = numbers(kNumberSparse);
constexpr bool kBitmask = numbers(kNumberBitmask);
constexpr bool kGate = ((BANTAM_LINK_EPILOGUE)&1u) != 0;
constexpr bool kStoreSum = ((BANTAM_LINK_EPILOGUE)&2u) != 0;
constexpr bool kMasks = ((BANTAM_LINK_MASKS) >> 1) != 0;
constexpr bool mask(uint32_t kind) { return ((1u | (BANTAM_LINK_MASKS)) >> kind & 1u) != 0; }
constexpr bool kFillers = ((BANTAM_LINK_MASKS) >> 4 & 3u) != 0;
constexpr bool kPrefix = ((BANTAM_LINK_MASKS) >> 6 & 1u) != 0;
/// The mask of marks, and what tells tokens with a mark from others (fb::IndexSource.marked).
constexpr bool kMarked = ((BANTAM_LINK_MASKS) >> 7 & 1u) != 0 && BANTAM_LINK_MARKS != 0;
/// Global tokens, and layers of them alone.
constexpr bool kGlobals = ((BANTAM_LINK_MASKS) >> 8 & 5u) != 0;
constexpr bool kBlocks = ((BANTAM_LINK_MASKS) >> 9 & 1u) != 0;
/// Masks of tokens of one segment, and of a sequence's first one.
constexpr bool kSegmentMasks = ((BANTAM_LINK_MASKS) >> 11 & 3u) != 0;
/// Attention that lists the pages of keys that some query sees.
constexpr bool kKeyLists = kGlobals || kBlocks;
constexpr bool kDistanceBias = ((BANTAM_LINK_PLACES)&1u) != 0;
constexpr bool kSlopes = ((BANTAM_LINK_PLACES)&2u) != 0;
constexpr bool kPlaceScores = ((BANTAM_LINK_PLACES)&16u) != 0 && kFloat;
constexpr bool kSegmentKeys = ((BANTAM_LINK_PLACES)&64u) != 0;
constexpr bool kSoftCap = ((BANTAM_LINK_PLACES)&128u) != 0;
/// What is added to scores, or needs them as if something were.
constexpr bool kBias = kDistanceBias || kSlopes || kPlaceScores || kSegmentKeys || kSoftCap || kMarked || kKeyLists;
constexpr bool kRotary = ((BANTAM_LINK_PLACES)&4u) != 0;
constexpr bool kHeadNorms = ((BANTAM_LINK_PLACES)&32u) != 0;
constexpr bool kNeighbours = ((BANTAM_LINK_PLACES)&8u) != 0;
constexpr uint32_t kPoolPartsBit = 30, kUnitLengthBit = 31;
constexpr bool kPoolParts = ((BANTAM_LINK_POOLS) >> kPoolPartsBit & 1u) != 0;
constexpr bool kUnitLength = ((BANTAM_LINK_POOLS) >> kUnitLengthBit & 1u) != 0;
constexpr bool kFurtherSets = ((BANTAM_LINK_LABELS)&1u) != 0;
constexpr bool kParents = ((BANTAM_LINK_LABELS)&2u) != 0;
constexpr bool kTokenizer = BANTAM_LINK_TOKENIZER != 0;
constexpr bool normalizer(uint32_t kind) { return ((1u | (BANTAM_LINK_NORMALIZERS)) >> kind & 1u) != 0; }
/// Whether there is any but BERT's.
constexpr bool kNormalSequence = ((BANTAM_LINK_NORMALIZERS) >> 1) != 0;
constexpr bool splitter(uint32_t kind) { return ((BANTAM_LINK_SPLITTERS) >> kind & 1u) != 0; }
constexpr bool token_model(uint32_t kind) { return ((BANTAM_LINK_TOKEN_MODELS) >> kind & 1u) != 0; }
constexpr bool kBpeWithUnknown = ((BANTAM_LINK_BPE)&1u) != 0;
constexpr bool kWordMarks = ((BANTAM_LINK_BPE)&2u) != 0;
constexpr bool kWordLevel = ((BANTAM_LINK_BPE)&4u) != 0;
constexpr bool kSplitPasses = ((BANTAM_LINK_BPE)&8u) != 0;
constexpr bool kSplitEnds = ((BANTAM_LINK_BPE)&32u) != 0;
constexpr bool kMergesInAnyOrder = ((BANTAM_LINK_BPE)&16u) != 0;
constexpr bool kBpeTraits = ((BANTAM_LINK_BPE)&23u) != 0;
constexpr bool kDecode = BANTAM_LINK_DECODE != 0;
constexpr bool kHost = BANTAM_LINK_HOST != 0;
constexpr bool kReference = BANTAM_LINK_REFERENCE != 0;
constexpr bool kOffsets = BANTAM_LINK_OFFSETS != 0;
constexpr bool kNormalizedTokens = BANTAM_LINK_NORMALIZED_TOKENS != 0;
constexpr bool kTokenEdges = BANTAM_LINK_TOKEN_EDGES != 0;
/// fb::TaskKind.find.
constexpr bool kFind = ((BANTAM_LINK_TASKS) >> 14 & 1u) != 0 && kTokenizer;
/// fb::TaskKind.sparse_embed.
constexpr bool kTerms = ((BANTAM_LINK_TASKS) >> 15 & 1u) != 0;
/// Scores of words for some tokens alone (SessionOptions::scored_rows): fb::TaskKind.fill and pretraining.
constexpr bool kScoredRows = ((BANTAM_LINK_TASKS) >> 9 & 5u) != 0;
constexpr bool kMarks = BANTAM_LINK_MARKS != 0;
/// Rows of numbers beside ids (InputKind.features).
constexpr bool kFeatures = op(kOpFeatures);
constexpr bool kContexts = BANTAM_LINK_CONTEXTS != 0;
/// Pages of keys and values need not lie one after the other.
constexpr bool kPageLists = kContexts || kKeyLists;
constexpr bool kSources = BANTAM_LINK_SOURCES != 0;
constexpr bool kFill = BANTAM_LINK_FILL != 0;
constexpr bool kHiddenTokens = BANTAM_LINK_HIDDEN_TOKENS != 0;
constexpr bool kChunks = kSources && BANTAM_LINK_CHUNKS != 0;
constexpr bool kShortlist = kSources && BANTAM_LINK_SHORTLIST != 0;
constexpr bool kFaultText = BANTAM_LINK_FAULT_TEXT != 0;
constexpr bool activation(uint32_t kind) { return ((1u | (BANTAM_LINK_ACTIVATIONS)) >> kind & 1u) != 0; }
constexpr bool norm(uint32_t kind) { return ((1u | (BANTAM_LINK_NORMS)) >> kind & 1u) != 0; }
constexpr bool pool(uint32_t kind) { return ((BANTAM_LINK_POOLS) >> kind & 1u) != 0; }

}  // namespace bantam::linked

#endif  // BANTAM_LINKED_H_
