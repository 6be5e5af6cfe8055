// The operator table: for each operator family its rule for the verifier, its need of scratch memory and
// its run function. One file a family; table.cpp lists them.
#ifndef BANTAM_OPS_OPS_H_
#define BANTAM_OPS_OPS_H_

#include "bantam/session.h"
#include "format/verdict.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::ops {

/// Rows that an op with a tail computes at a time, so that they stay in the first-level cache; SessionOptions::block_rows
/// may ask for fewer.
constexpr uint32_t kBlockRows = 16;
/// Most tables of one embedding.
constexpr uint32_t kMaxEmbedTables = 8;
/// K beyond which int8 dot products may leave int32: 128 * 128 * K < 2^31, whatever the numbers in the file are.
constexpr uint32_t kMaxLinearK = 131071;
/// The same for u8 probabilities times int8 values: 255 * 127 * rows < 2^31.
constexpr uint32_t kMaxAttentionRows = 66311;
/// Largest scratch size of one op that is not attention, and largest width of a tensor.
constexpr uint32_t kMaxWidth = 1u << 22;

/// What the rule of an op sees: tensor indices are in range, tensors are valid on their own.
struct Site {
  const fb::Model& model;
  const fb::Op& op;
  uint32_t rows_symbol;  // of the step: kTokens or kSequences
};

/// What an op sees when it runs on one tile of rows. Everything in the file has been verified.
struct TileRun {
  const fb::Model& model;
  const uint8_t* data;  // the file's data section
  const kernels::Table& kernels;
  const LinearBackend* backend;  // null: native kernels
  const int32_t* ids;            // [tokens], checked
  const int32_t* segments;       // [tokens], checked
  const uint32_t* offsets;       // [sequences + 1]
  uint32_t sequences;
  uint32_t values[kSymbols];  // for addressing: rounded up to the symbols' multiples
  uint8_t* shared;
  uint8_t* f32_heads;       // null, or where shared int8 head tensors lie in f32 (ops/heads.h)
  uint8_t* f32_tile_heads;  // the same for this tile's
  uint8_t* tile;
  uint8_t* scratch;    // of the op that runs; 64-byte aligned (small tiles: 16)
  uint32_t row_begin;  // multiple of 4
  uint32_t rows;
  uint32_t block_rows;     // 1..kBlockRows: what scratch was made for
  uint32_t linear_number;  // of the next Linear, in file order
};

/// What scratch memory depends on beside the op.
struct ScratchNeed {
  uint32_t pages;       // of 16 keys, that the longest sequence lies in
  uint32_t block_rows;  // 1..kBlockRows
};

struct Rule {
  fb::OpAttributes kind;
  /// Bit i: inputs[i] is read beyond the tile's own rows, so no op of the same step may write it.
  uint32_t whole_inputs;
  Verdict (*verify)(const Site&);
  /// Bytes of scratch for one tile. A multiple of 16.
  uint64_t (*scratch)(const fb::Model&, const fb::Op&, const ScratchNeed&);
  Status (*run)(const TileRun&, const fb::Op&);
};

/// The rule of this op: that of its kind; the copying rule when this version does not know the kind and the op allows that
/// (`fallback`); null when this version does not execute it. An op of a known kind is never copied: where a file has been
/// verified, `attributes_type` is what every reader may go by. Where this build leaves the operator out, a rule whose verify gives
/// kOpNotLinked.
const Rule* find_rule(const fb::Op& op);

extern const Rule kEmbed;
extern const Rule kLinear;
extern const Rule kRow;
extern const Rule kCopy;
extern const Rule kSplitHeads;
extern const Rule kAttention;
extern const Rule kPool;
extern const Rule kSlice;

}  // namespace bantam::ops

#endif  // BANTAM_OPS_OPS_H_
