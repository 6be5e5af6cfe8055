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

// Operators (fb::OpAttributes).
#ifndef BANTAM_LINK_EMBED
#define BANTAM_LINK_EMBED BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_LINEAR
#define BANTAM_LINK_LINEAR BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_ROW
#define BANTAM_LINK_ROW BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_SPLIT_HEADS
#define BANTAM_LINK_SPLIT_HEADS BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_ATTENTION
#define BANTAM_LINK_ATTENTION BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_POOL
#define BANTAM_LINK_POOL BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_SLICE
#define BANTAM_LINK_SLICE BANTAM_LINK_DEFAULT
#endif
// What copies its input in place of an operator that this version does not know (Op.fallback).
#ifndef BANTAM_LINK_COPY
#define BANTAM_LINK_COPY BANTAM_LINK_DEFAULT
#endif
// Numbers: f32 and f16 weights of linear layers, embedding tables, attention; int8 with a scale a row found at run time;
// integer-only with calibrated scales.
#ifndef BANTAM_LINK_FLOAT
#define BANTAM_LINK_FLOAT BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_FLOAT_TABLES
#define BANTAM_LINK_FLOAT_TABLES BANTAM_LINK_DEFAULT
#endif
// f16 among those.
#ifndef BANTAM_LINK_HALF
#define BANTAM_LINK_HALF BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_FLOAT_ATTENTION
#define BANTAM_LINK_FLOAT_ATTENTION BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_DYNAMIC
#define BANTAM_LINK_DYNAMIC BANTAM_LINK_DEFAULT
#endif
// Weights of 4 bits, beside BANTAM_LINK_DYNAMIC.
#ifndef BANTAM_LINK_INT4
#define BANTAM_LINK_INT4 BANTAM_LINK_DEFAULT
#endif
// Sparse weights, beside BANTAM_LINK_DYNAMIC.
#ifndef BANTAM_LINK_SPARSE
#define BANTAM_LINK_SPARSE BANTAM_LINK_DEFAULT
#endif
// Weights stored as a bitmask and what is not 0, beside BANTAM_LINK_DYNAMIC.
#ifndef BANTAM_LINK_BITMASK
#define BANTAM_LINK_BITMASK BANTAM_LINK_DEFAULT
#endif
#ifndef BANTAM_LINK_STATIC
#define BANTAM_LINK_STATIC BANTAM_LINK_DEFAULT
#endif
// Bit i: the activation of number i (fb::ActivationKind), the norm of number i (fb::NormKind). Number 0, none, is always
// there.
#ifndef BANTAM_LINK_ACTIVATIONS
#define BANTAM_LINK_ACTIVATIONS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_NORMS
#define BANTAM_LINK_NORMS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
// Rows that kernels take at a time, at most, where they can choose; more rows are several blocks. Only they look at it.
#ifndef BANTAM_LINK_ROWS
#define BANTAM_LINK_ROWS 16
#endif
// Bit i: the pooling of number i (fb::PoolKind). Rows divided by their length (Pool.l2).
#ifndef BANTAM_LINK_POOLS
#define BANTAM_LINK_POOLS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_UNIT_LENGTH
#define BANTAM_LINK_UNIT_LENGTH BANTAM_LINK_DEFAULT
#endif
// Bit i: what answers for the task of number i (fb::TaskKind).
#ifndef BANTAM_LINK_TASKS
#define BANTAM_LINK_TASKS (BANTAM_LINK_DEFAULT ? ~0u : 0u)
#endif
#ifndef BANTAM_LINK_TOKENIZER
#define BANTAM_LINK_TOKENIZER BANTAM_LINK_DEFAULT
#endif
// What only programs on an operating system use: several workers, linear back ends, observers, f32 attention for
// comparison, the choice among instruction sets. A session of an image refuses such options with kUnavailable.
#if defined(BANTAM_FIRMWARE)
#define BANTAM_LINK_HOST 0
#else
#define BANTAM_LINK_HOST 1
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
// The sentences of Fault::what. Without them a fault still has its status and the name of the tensor or op.
#ifndef BANTAM_LINK_FAULT_TEXT
#define BANTAM_LINK_FAULT_TEXT BANTAM_LINK_DEFAULT
#endif

namespace bantam::linked {

constexpr bool kEmbed = BANTAM_LINK_EMBED != 0;
constexpr bool kLinear = BANTAM_LINK_LINEAR != 0;
constexpr bool kRow = BANTAM_LINK_ROW != 0;
constexpr bool kSplitHeads = BANTAM_LINK_SPLIT_HEADS != 0;
constexpr bool kAttention = BANTAM_LINK_ATTENTION != 0;
constexpr bool kPool = BANTAM_LINK_POOL != 0;
constexpr bool kSlice = BANTAM_LINK_SLICE != 0;
constexpr bool kCopy = BANTAM_LINK_COPY != 0;
constexpr bool kFloat = BANTAM_LINK_FLOAT != 0;
constexpr bool kHalf = BANTAM_LINK_HALF != 0;
constexpr bool kFloatTables = BANTAM_LINK_FLOAT_TABLES != 0;
constexpr bool kFloatAttention = BANTAM_LINK_FLOAT_ATTENTION != 0;
constexpr bool kDynamic = BANTAM_LINK_DYNAMIC != 0;
constexpr bool kInt4 = BANTAM_LINK_INT4 != 0;
constexpr bool kSparse = BANTAM_LINK_SPARSE != 0;
constexpr bool kBitmask = BANTAM_LINK_BITMASK != 0;
constexpr bool kStatic = BANTAM_LINK_STATIC != 0;
/// Something computes with floats, as version 1 of the operators does.
constexpr bool kFloats = kFloat || kFloatTables || kFloatAttention || kDynamic;
constexpr bool kUnitLength = BANTAM_LINK_UNIT_LENGTH != 0;
constexpr bool kTokenizer = BANTAM_LINK_TOKENIZER != 0;
constexpr bool kHost = BANTAM_LINK_HOST != 0;
constexpr bool kOffsets = BANTAM_LINK_OFFSETS != 0;
constexpr bool kNormalizedTokens = BANTAM_LINK_NORMALIZED_TOKENS != 0;
constexpr bool kTokenEdges = BANTAM_LINK_TOKEN_EDGES != 0;
constexpr bool kFaultText = BANTAM_LINK_FAULT_TEXT != 0;
constexpr bool activation(uint32_t kind) { return ((1u | (BANTAM_LINK_ACTIVATIONS)) >> kind & 1u) != 0; }
constexpr bool norm(uint32_t kind) { return ((1u | (BANTAM_LINK_NORMS)) >> kind & 1u) != 0; }
constexpr bool pool(uint32_t kind) { return ((BANTAM_LINK_POOLS) >> kind & 1u) != 0; }
constexpr bool task(uint32_t kind) { return ((BANTAM_LINK_TASKS) >> kind & 1u) != 0; }

}  // namespace bantam::linked

#endif  // BANTAM_LINKED_H_
