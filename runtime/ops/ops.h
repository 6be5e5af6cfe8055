// The operator table: for each operator family its rule for the verifier, its need of scratch memory and
// its run function. One file a family; ops.inc lists them.
#ifndef BANTAM_OPS_OPS_H_
#define BANTAM_OPS_OPS_H_

#include "bantam/session.h"
#include "format/verdict.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::ops {

/// Rows that an op with an epilogue computes at a time, so that they stay in the first-level cache; SessionOptions::block_rows
/// may ask for fewer.
constexpr uint32_t kBlockRows = 16;
/// Rows of layers' matrix products that there is room for on hosts, unless that asks for less: see linear_rows (operands.h).
constexpr uint32_t kLinearRows = 128;
/// Most tables of one embedding.
constexpr uint32_t kMaxEmbedTables = 8;
/// K beyond which int8 dot products may leave int32: 128 * 128 * K < 2^31, whatever the numbers in the file are.
constexpr uint32_t kMaxLinearK = 131071;
/// The same for u8 probabilities times int8 values: 255 * 127 * rows < 2^31.
constexpr uint32_t kMaxAttentionRows = 66311;
/// Largest scratch size of one op that is not attention, and largest width of a tensor.
constexpr uint32_t kMaxWidth = 1u << 22;

/// The view of an op that its rule checks: tensor indices are in range, and each tensor is valid in itself.
struct Site {
  const fb::Model& model;
  const fb::Op& op;
  uint32_t rows_symbol;  // of the step: kTokens or kSequences
  fb::Phase phase;       // of the step
};

/// Keys, values and states of the tokens that sequences had before a run (Session, "Contexts").
struct Contexts {
  uint8_t* pages;
  const uint64_t* begins;  // of each tensor that contexts keep in `pages`, by the tensor's number
  const uint32_t* lists;   // [contexts][list_pages]: where in each tensor the pages of a context lie, in order
  uint32_t list_pages;
  const uint32_t* numbers;  // [sequences]: the context that each goes on with
  const uint32_t* past;     // [sequences]: tokens in it before this run
};

/// The contexts of a run. Without contexts it is a constant null, so that the compiler removes the code for them.
template <bool kLinked>
struct Remembering {
  const Contexts* contexts = nullptr;
};
template <>
struct Remembering<false> {
  static constexpr const Contexts* contexts = nullptr;
};

/// The results of passes over sources (Session, "Sources"): keys and values, or rows, of their tokens, and a row a
/// source.
struct Sources {
  uint8_t* pages;
  const uint64_t* begins;   // of each state in `pages`, by the tensor's number
  uint32_t rows;            // of a source, a multiple of 16: source s begins with row s * rows of each state of tokens
  const uint32_t* numbers;  // [sequences]: the source that each writes, or goes with
  const uint32_t* lengths;  // [sources]: tokens
  const int32_t* segments;  // [sources][rows], where sources are retrieved for chunks
};

template <bool kLinked>
struct Passing {
  fb::Phase phase = fb::Phase::main;
  uint32_t rows_symbol = kTokens;  // of the step
  const Sources* sources = nullptr;
};
template <>
struct Passing<false> {
  static constexpr fb::Phase phase = fb::Phase::main;
  static constexpr uint32_t rows_symbol = kTokens;
  static constexpr const Sources* sources = nullptr;
};

template <bool kLinked>
struct Marking {
  const int32_t* marks = nullptr;  // [tokens], checked; null: the model takes none
};
template <>
struct Marking<false> {
  static constexpr const int32_t* marks = nullptr;
};

template <bool kLinked>
struct Featuring {
  const float* features = nullptr;  // [tokens][feature_width(model)]; null: the model takes none
};
template <>
struct Featuring<false> {
  static constexpr const float* features = nullptr;
};

/// The scores that a run wants (Batch::listed): those of words in the set of a row's source.
struct ListedScores {
  int32_t tensor;        // of the scores
  const uint32_t* sets;  // [sources][units], a bit a word
  uint32_t units;
};
template <bool kLinked>
struct Listing {
  const ListedScores* listed = nullptr;  // null: all
};
template <>
struct Listing<false> {
  static constexpr const ListedScores* listed = nullptr;
};

/// Scores of words that are made for some tokens alone (SessionOptions::scored_rows), one behind the other.
struct ScoredRows {
  int32_t tensor;
  uint8_t* data;
};
template <bool kLinked>
struct Scoring {
  const ScoredRows* scored = nullptr;  // null: rows of scores lie in the plan, as those of any output
  uint32_t first_scored = 0;           // place among them of the tile's first row
};
template <>
struct Scoring<false> {
  static constexpr const ScoredRows* scored = nullptr;
  static constexpr uint32_t first_scored = 0;
};

/// The other threads of a session, for the ops of a step that is one tile: its rows are too few to share, columns are not.
struct Helpers {
  void* session;
  /// task(arg, part) for each part below `parts`, by any thread. False: not each once, so that results are void.
  bool (*run)(void* session, uint32_t parts, void (*task)(void* arg, uint32_t part), void* arg);
  uint32_t parts;  // at most
  size_t stride;   // what an op has for itself in TileRun::scratch there is for part p, too, p * stride bytes behind it
};
template <bool kLinked>
struct Helping {
  const Helpers* helpers = nullptr;  // null: the op has its thread alone
};
template <>
struct Helping<false> {
  static constexpr const Helpers* helpers = nullptr;
};

/// The data that an op gets when it runs on one tile of rows. The file has been verified.
struct TileRun : Remembering<linked::kContexts>,
                 Passing<linked::kSources>,
                 Marking<linked::kMarks>,
                 Featuring<linked::kFeatures>,
                 Listing<linked::kShortlist>,
                 Scoring<linked::kScoredRows>,
                 Helping<linked::kHost> {
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
  uint32_t row_begin;  // multiple of 4, the last row of a sequence, or of rows that are scored alone
  uint32_t rows;
  uint32_t block_rows;     // 1..kBlockRows: what scratch was made for
  uint32_t linear_rows;    // what scratch was made for, of layers' matrix products; hosts only
  uint32_t linear_number;  // of the next Linear, in file order
};

/// Sequences that a recurrent layer takes together, at most; no field where none is linked.
template <bool kLinked>
struct Together {
  uint32_t lanes;
};
template <>
struct Together<false> {};

/// The numbers that the size of scratch memory depends on, beside the op.
struct ScratchNeed : Together<linked::op(linked::kOpRecurrent)> {
  uint32_t pages;         // of 16 keys, that the longest sequence lies in
  uint32_t source_pages;  // the same of sources
  uint32_t block_rows;    // 1..kBlockRows
  uint32_t linear_rows;
};

/// A row of ops.inc.
struct OpFacts {
  fb::OpAttributes kind : 7;
  fb::Numerics numerics : 1;
  uint8_t inputs;
  uint8_t required : 4, outputs : 4;
  uint8_t whole;
};
static_assert(sizeof(OpFacts) == 4, "what every image has is small");

struct Rule {
  const OpFacts* facts;
  /// Null: this build leaves the operator out. Asked for ops whose numbers of operands fit `facts`.
  Verdict (*verify)(const Site&);
  /// Bytes of scratch for one tile. A multiple of 16.
  uint64_t (*scratch)(const fb::Model&, const fb::Op&, const ScratchNeed&);
  Status (*run)(const TileRun&, const fb::Op&);
};

/// How many of the rows of ops.inc before `row` this build links: hosts all, images those of their models.
constexpr uint32_t linked_below(uint32_t row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < row; ++i) n += linked::op(i) ? 1u : 0u;
  return n;
}
constexpr uint32_t kLinkedOps = linked_below(linked::kOps);

/// The facts of the linked rows, in their order: on hosts element i is row i.
struct Facts {
  OpFacts rows[kLinkedOps == 0 ? 1 : kLinkedOps];
  constexpr const OpFacts& operator[](uint32_t i) const { return rows[i]; }
};
constexpr Facts linked_facts() {
  constexpr OpFacts all[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, ...) \
  {fb::OpAttributes::kind, fb::Numerics::numerics, inputs, required, outputs, whole},
#include "ops/ops.inc"
#undef BANTAM_OP
  };
  Facts facts = {};
  for (uint32_t row = 0; row < linked::kOps; ++row) {
    if (linked::op(row)) facts.rows[linked_below(row)] = all[row];
  }
  return facts;
}
inline constexpr Facts kFacts = linked_facts();

#define BANTAM_OP(name, ...) extern const Rule k##name;
#include "ops/ops.inc"
#undef BANTAM_OP
/// Defines the rule of row `name`.
#define BANTAM_RULE(name, verify, scratch, run) \
  const Rule k##name = {kFacts.rows + linked_below(linked::kOp##name), verify, scratch, run}

/// Element of kFacts for an op of this kind and numerics; kOps: this build executes none.
constexpr uint32_t find_row(fb::OpAttributes kind, fb::Numerics numerics) {
  for (uint32_t row = 0; row < kLinkedOps && kind != fb::OpAttributes::NONE; ++row) {
    if (kFacts[row].kind == kind && kFacts[row].numerics == numerics) return row;
  }
  return linked::kOps;
}
/// That of this op, which may be of a version or ask for features that this reader does not know.
uint32_t find_row(const fb::Op& op);

/// An operator of this kind is executed, in one form or another, by builds that link it: the schema has no others.
constexpr bool is_known(fb::OpAttributes kind) {
  return kind != fb::OpAttributes::NONE && kind <= fb::OpAttributes::MAX;
}

/// The rule of this op: that of its kind; the copying rule when this version does not know the kind and the op allows that
/// (`fallback`); null when this version does not execute it. An op of a known kind is never copied: where a file has been
/// verified, `attributes_type` is what every reader may go by.
const Rule* find_rule(const fb::Op& op);

/// Returns the kind of the op as it is executed; all code but the verifier asks this. It is NONE for an op that is left
/// out and copied instead, whatever its attributes say, and for one that this version does not execute.
inline fb::OpAttributes executed_kind(const fb::Op& op) {
  return find_row(op) == linked::kOps ? fb::OpAttributes::NONE : op.attributes_type();
}

/// Returns the tensor that a part of the op names by its position in Op.inputs; -1: none.
inline int32_t named_input(const fb::Op& op, int8_t position) {
  return position < 0 ? -1 : op.inputs()->Get(static_cast<flatbuffers::uoffset_t>(position));
}

/// Calls visit(position) for each field of the op that names an input by position, those that are -1 among them.
/// Where nothing static is linked, its fields are left out: what only they name is then named by none.
template <class Visit>
void for_each_position(const fb::Op& op, const Visit& visit) {
  if (const fb::Embed* embed = op.attributes_as_Embed()) {
    for (uint32_t i = 0; i < count(embed->tables()); ++i) {
      visit(embed->tables()->Get(i)->tensor());
      if (linked::kStatic) visit(embed->tables()->Get(i)->multiplier());
    }
  }
  constexpr bool kTurns = linked::kRotary || linked::kHeadNorms;
  if (const fb::SplitHeads* split = kTurns ? op.attributes_as_SplitHeads() : nullptr) {
    if (linked::kRotary) visit(split->rotary());
    if (linked::kHeadNorms) visit(split->norms());
  }
  if (const fb::Attention* attention = linked::kBias ? op.attributes_as_Attention() : nullptr) {
    visit(attention->distance_bias());
    visit(attention->slopes());
    if (linked::kPlaceScores) {
      visit(attention->place_rows());
      visit(attention->place_keys());
      visit(attention->place_queries());
    }
    if (linked::kSegmentKeys) visit(attention->segment_keys());
    if (linked::kBlocks) visit(attention->random_blocks());
  }
  if (const fb::Attention* attention = linked::kSinks ? op.attributes_as_Attention() : nullptr) {
    visit(attention->sinks());
  }
  if (const fb::Experts* experts = linked::op(linked::kOpExperts) ? op.attributes_as_Experts() : nullptr) {
    visit(experts->choice_bias());
  }
  if (const fb::Epilogue* e = op.epilogue()) {
    for (const int8_t position : {e->gate(), e->residual(), e->gamma(), e->beta(), e->smooth()}) visit(position);
  }
  if (const fb::Integer* n = linked::kStatic ? op.integer() : nullptr) {
    for (const int8_t position : {n->multiplier(), n->table(), n->residual_multiplier()}) visit(position);
  }
}

/// How an op touches a tensor. kResidual: read row by row after everything else, so that outputs may be that tensor. kReadBefore: the row
/// of the token before, which an op behind this one has written.
enum class Access : uint8_t { kRead, kReadWhole, kResidual, kWrite, kReadBefore };

/// Element `position` of the inputs of the operator in row `row` of kFacts is read before it is written.
constexpr bool reads_before(uint32_t row, uint32_t position) {
  return linked::op(linked::kOpPrevious) && row == linked_below(linked::kOpPrevious) && position == 0;
}

/// The tensors that an op refers to, constants and absent ones (-1) among them: reads first.
class Operands {
 public:
  explicit Operands(const fb::Op& op)
      : op_(op), inputs_(count(op.inputs())), size_(inputs_ + count(op.outputs())), row_(find_row(op)) {}

  uint32_t size() const { return size_; }
  int32_t tensor(uint32_t i) const { return i < inputs_ ? op_.inputs()->Get(i) : op_.outputs()->Get(i - inputs_); }
  Access access(uint32_t i) const {
    if (i >= inputs_) return Access::kWrite;
    if (op_.epilogue() != nullptr && op_.epilogue()->residual() == static_cast<int32_t>(i)) return Access::kResidual;
    if (reads_before(row_, i)) return Access::kReadBefore;
    const bool whole = row_ != linked::kOps && (kFacts[row_].whole >> i & 1u) != 0;
    return whole ? Access::kReadWhole : Access::kRead;
  }

 private:
  const fb::Op& op_;
  uint32_t inputs_, size_, row_;
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_OPS_H_
