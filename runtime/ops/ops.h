// The operator table: for each operator family its rule for the verifier, its scratch size and its run function. Each
// family has its own file; ops.inc lists them.
#ifndef BANTAM_OPS_OPS_H_
#define BANTAM_OPS_OPS_H_

#include "bantam/session.h"
#include "format/verdict.h"
#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::ops {

/// Rows that an operator with an epilogue computes at a time, so that they stay in the first-level cache;
/// SessionOptions::block_rows may lower it.
constexpr uint32_t kBlockRows = 16;
/// Rows of layers' matrix products that scratch has room for on hosts, unless block_rows is set: see linear_rows
/// (operands.h).
constexpr uint32_t kLinearRows = 128;
/// The most tables of one embedding.
constexpr uint32_t kMaxEmbedTables = 8;
/// Largest K for which int8 dot products stay in int32: 128 * 128 * K < 2^31, whatever numbers the file has.
constexpr uint32_t kMaxLinearK = 131071;
/// The same for sums of u8 probabilities times int8 values: 255 * 127 * rows < 2^31.
constexpr uint32_t kMaxAttentionRows = 66311;
/// Largest scratch size of one operator other than attention, and largest width of a tensor.
constexpr uint32_t kMaxWidth = 1u << 22;

/// The view of an operator that its rule checks: tensor indices are in range, and each tensor is valid by itself.
struct Site {
  const fb::Model& model;
  const fb::Op& op;
  uint32_t rows_symbol;  // of the step: kTokens or kSequences
  fb::Phase phase;       // of the step
};

/// States, which contexts keep once and not for each token; no fields if states are not linked.
template <bool kLinked>
struct Stating {
  uint8_t* states = nullptr;               // slots, each with the states of all operators
  const uint64_t* state_begins = nullptr;  // offset in a slot, by the tensor index under which contexts keep the state
  uint64_t slot_bytes = 0;
  const uint32_t* slots_before = nullptr;  // [sequences]: the slot in front of this run; only of contexts with tokens
  const uint32_t* slots_behind = nullptr;  // [sequences]: the slot that this run writes, another one
};
template <>
struct Stating<false> {};

/// Keys, values and states of the tokens that sequences had before this run (Session, "Contexts").
struct Contexts : Stating<linked::kStates> {
  uint8_t* pages;
  const uint64_t* begins;  // offset in `pages` of each tensor that contexts store, by tensor index
  // [contexts][list_pages]: the page numbers of each context, in order; the same in every tensor
  const uint32_t* lists;
  uint32_t list_pages;
  const uint32_t* numbers;  // [sequences]: the context that each sequence continues
  const uint32_t* past;     // [sequences]: tokens in it before this run
};

/// The contexts of a run. Without contexts it is a constant null pointer, so that the compiler removes the code for
/// them.
template <bool kLinked>
struct Remembering {
  const Contexts* contexts = nullptr;
};
template <>
struct Remembering<false> {
  static constexpr const Contexts* contexts = nullptr;
};

/// The results of source passes (Session, "Sources"): keys and values, or rows, of their tokens, and one row per
/// source.
struct Sources {
  uint8_t* pages;
  const uint64_t* begins;  // offset of each state in `pages`, by tensor index
  uint32_t rows;  // rows of a source, a multiple of 16: source s begins at row s * rows of each state of tokens
  const uint32_t* numbers;  // [sequences]: the source that each sequence writes or attends to
  const uint32_t* lengths;  // [sources]: tokens
  const int32_t* segments;  // [sources][rows]; only if sources are retrieved for chunks
};

template <bool kLinked>
struct Passing {
  fb::Phase phase = fb::Phase::main;
  uint32_t rows_symbol = kTokens;  // rows of the step
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

/// The scores that a run needs with Batch::listed: those of the words in the set of a row's source.
struct ListedScores {
  int32_t tensor;        // the scores
  const uint32_t* sets;  // [sources][units], one bit per word
  uint32_t units;
};
template <bool kLinked>
struct Listing {
  const ListedScores* listed = nullptr;  // null: all scores
};
template <>
struct Listing<false> {
  static constexpr const ListedScores* listed = nullptr;
};

/// Word scores that are computed only for some tokens (SessionOptions::scored_rows); their rows are contiguous.
struct ScoredRows {
  int32_t tensor;
  uint8_t* data;
};
template <bool kLinked>
struct Scoring {
  const ScoredRows* scored = nullptr;  // null: rows of scores lie in the plan, like those of any output
  uint32_t first_scored = 0;           // index among the scored rows of the tile's first row
};
template <>
struct Scoring<false> {
  static constexpr const ScoredRows* scored = nullptr;
  static constexpr uint32_t first_scored = 0;
};

/// The other threads of a session, for a step that is one tile: it has too few rows to distribute, so columns are
/// distributed.
struct Helpers {
  void* session;
  /// Runs task(arg, part) for each part below `parts`, on any thread. Returns false if a part did not run exactly once:
  /// the results are then invalid.
  bool (*run)(void* session, uint32_t parts, void (*task)(void* arg, uint32_t part), void* arg);
  uint32_t parts;  // at most this many
  size_t stride;   // part p has its own copy of the operator's scratch, p * stride bytes after TileRun::scratch
};
template <bool kLinked>
struct Helping {
  const Helpers* helpers = nullptr;  // null: the operator runs on one thread
};
template <>
struct Helping<false> {
  static constexpr const Helpers* helpers = nullptr;
};

/// The data with which an operator runs on one tile of rows. The file has been verified.
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
  uint8_t* f32_heads;       // null, or the base of shared int8 head tensors that are f32 in this run (ops/heads.h)
  uint8_t* f32_tile_heads;  // the same for those of the tile
  uint8_t* tile;
  uint8_t* scratch;    // scratch of the operator; 64-byte aligned (small tiles: 16)
  uint32_t row_begin;  // a multiple of 4, the last row of a sequence, or a row that is scored alone
  uint32_t rows;
  uint32_t block_rows;     // 1..kBlockRows: rows that scratch has room for
  uint32_t linear_rows;    // rows of layers' matrix products that scratch has room for; hosts only
  uint32_t linear_number;  // number of the next Linear, in file order
};

/// The most sequences that a recurrent layer processes together; no field if none is linked.
template <bool kLinked>
struct Together {
  uint32_t lanes;
};
template <>
struct Together<false> {};

/// True if contexts hold the states with which operators work; no field if states are not linked.
template <bool kLinked>
struct Keeping {
  bool keeps_states;
};
template <>
struct Keeping<false> {};

/// The numbers, besides the operator, that determine the size of scratch.
struct ScratchNeed : Together<linked::op(linked::kOpRecurrent)>, Keeping<linked::kStates> {
  uint32_t pages;         // pages of 16 keys of the longest sequence
  uint32_t source_pages;  // the same for sources
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
  /// Null: this build leaves the operator out. Called for operators whose operand counts fit `facts`.
  Verdict (*verify)(const Site&);
  /// Bytes of scratch for one tile. A multiple of 16.
  uint64_t (*scratch)(const fb::Model&, const fb::Op&, const ScratchNeed&);
  Status (*run)(const TileRun&, const fb::Op&);
};

/// Number of rows of ops.inc before `row` that this build links: hosts link all, images those that their models need.
constexpr uint32_t linked_below(uint32_t row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < row; ++i) n += linked::op(i) ? 1u : 0u;
  return n;
}
constexpr uint32_t kLinkedOps = linked_below(linked::kOps);

/// The facts of the linked rows, in order: on hosts element i is row i.
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

/// Returns the index into kFacts for an operator of this kind and numerics; kOps: this build executes none.
constexpr uint32_t find_row(fb::OpAttributes kind, fb::Numerics numerics) {
  for (uint32_t row = 0; row < kLinkedOps && kind != fb::OpAttributes::NONE; ++row) {
    if (kFacts[row].kind == kind && kFacts[row].numerics == numerics) return row;
  }
  return linked::kOps;
}
/// The same for an operator of a file, which may have a version or features that this reader does not know.
uint32_t find_row(const fb::Op& op);

/// Returns true if the schema of this version has operators of this kind; builds that link them execute some form of
/// them.
constexpr bool is_known(fb::OpAttributes kind) {
  return kind != fb::OpAttributes::NONE && kind <= fb::OpAttributes::MAX;
}

/// Returns the rule of this operator: that of its kind; the copying rule if this version does not know the kind and the
/// operator allows it (`fallback`); null if this version does not execute it. An operator of a known kind is never
/// copied: in a verified file every reader may rely on `attributes_type`.
const Rule* find_rule(const fb::Op& op);

/// Returns the kind as which the operator is executed; all code but the verifier uses this. It is NONE for an operator
/// that is replaced by a copy, whatever its attributes are, and for one that this version does not execute.
inline fb::OpAttributes executed_kind(const fb::Op& op) {
  return find_row(op) == linked::kOps ? fb::OpAttributes::NONE : op.attributes_type();
}

/// Returns the tensor at this position of Op.inputs; -1: none.
inline int32_t named_input(const fb::Op& op, int8_t position) {
  return position < 0 ? -1 : op.inputs()->Get(static_cast<flatbuffers::uoffset_t>(position));
}

/// Calls visit(position) for each field of the operator that refers to an input by position, including those that are
/// -1. If no static operators are linked, their fields are skipped, so that inputs that only they refer to count as
/// unused.
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
    for (const int8_t position : {experts->choice_bias(), experts->up_bias(), experts->down_bias()}) visit(position);
  }
  if (const fb::Epilogue* e = op.epilogue()) {
    for (const int8_t position : {e->gate(), e->residual(), e->gamma(), e->beta(), e->smooth()}) visit(position);
  }
  if (const fb::Integer* n = linked::kStatic ? op.integer() : nullptr) {
    for (const int8_t position : {n->multiplier(), n->table(), n->residual_multiplier()}) visit(position);
  }
}

/// How an operator accesses a tensor. kResidual: it reads the tensor row by row after all other inputs, so that the
/// output may be the same tensor. kReadBefore: it reads the row of the preceding token, which a later operator has
/// written.
enum class Access : uint8_t { kRead, kReadWhole, kResidual, kWrite, kReadBefore };

/// Returns true if element `position` of the inputs of the operator in row `row` of kFacts is read before it is
/// written.
constexpr bool reads_before(uint32_t row, uint32_t position) {
  return linked::op(linked::kOpPrevious) && row == linked_below(linked::kOpPrevious) && position == 0;
}

/// The tensors that an operator refers to, including constants and absent ones (-1); inputs first.
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
