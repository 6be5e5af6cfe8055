// Recurrent: LSTM, GRU and SSRU layers, whose state passes from row to row of each sequence.
#include "ops/more/recurrent.h"

#include <string.h>

#include "ops/heads.h"
#include "ops/more/token_copies.h"
#include "ops/product.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs; each direction has its own three consecutive inputs.
constexpr uint32_t kWeights = 1, kBias = 2, kProjection = 3, kOfReverse = 3, kFirstState = 7, kFirstCells = 8,
                   kMembers = 9;
// In Op.outputs.
constexpr uint32_t kStates = 0, kStatesCopy = 1, kLastState = 2, kLastCells = 3;

/// The sizes of a recurrent layer, from its matrices or, without matrices, from the rows that it writes.
struct Sizes {
  uint32_t directions, gates, cells, state;
  Sizes(const fb::Model& model, const fb::Op& op) {
    const fb::Recurrent& layer = *op.attributes_as_Recurrent();
    directions = layer.direction() == fb::Direction::both ? 2 : 1;
    gates = layer.cell() == fb::Cell::lstm ? 4 : layer.cell() == fb::Cell::gru ? 3 : 2;
    if (!has_weights()) {
      state = cells = width(tensor(model, rows_left(op))) / directions;
      return;
    }
    state = extent(tensor(model, operand(op.inputs(), kWeights)), 1);
    const int32_t projection = operand(op.inputs(), kProjection);
    cells = projection < 0 ? state : extent(tensor(model, projection), 1);
  }
  static int32_t rows_left(const fb::Op& op) {
    const int32_t rows = operand(op.outputs(), kStates);
    return rows >= 0 ? rows : operand(op.outputs(), kLastState);
  }
  bool has_weights() const { return gates != 2; }
  uint32_t block() const { return kernels::pad16(cells); }
  uint32_t columns() const { return gates * block(); }
};

/// Floats of a row in contexts: the state, then the cells.
uint32_t kept_floats(const Sizes& sizes) {
  return kernels::pad16(sizes.state) + (sizes.gates == 4 ? kernels::pad16(sizes.cells) : 0);
}

/// Checks that `index` is -1 or rows of tokens or sequences, of this type and width.
Verdict check_rows(const Site& site, int32_t index, uint32_t symbol, fb::DType type, uint32_t columns) {
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool tile = symbol == kSequences && t.region() == fb::Region::tile;
  const bool fits = rows_symbol(t) == (tile ? uint32_t{kTile} : symbol) && !is_state(t) && !is_fixed(t) &&
                    t.type() == type && t.layout() == fb::Layout::rows && width(t) == columns;
  return fits ? Verdict{} : corrupt("rows of a recurrent layer are of another kind, type or width", index);
}

Verdict verify_recurrent(const Site& site) {
  const fb::Recurrent& layer = *site.op.attributes_as_Recurrent();
  if (site.rows_symbol != kSequences) return corrupt("recurrent layers run over sequences");
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows a recurrent layer within its op");
  if (layer.cell() > fb::Cell::MAX || layer.direction() > fb::Direction::MAX) {
    return corrupt("unknown cell or direction of a recurrent layer");
  }
  const auto input = [&](uint32_t position) { return operand(site.op.inputs(), position); };
  for (const uint32_t at : {kWeights, kProjection}) {
    const bool there = input(at) >= 0;
    if (there && tensor(site.model, input(at)).shape()->size() != 2) {
      return corrupt("a recurrent layer's matrix has not two dimensions", input(at));
    }
  }
  if (layer.cell() != fb::Cell::ssru) {
    if (input(kWeights) < 0) return corrupt("a recurrent layer lacks a matrix");
  } else {
    const int32_t left = Sizes::rows_left(site.op);
    const bool known = left >= 0 && tensor(site.model, left).shape()->size() == 2;
    if (!known) return corrupt("a recurrent layer lacks its output");
  }
  const Sizes sizes(site.model, site.op);
  if (sizes.cells > kMaxWidth / 8 || sizes.state > kMaxWidth / 2) {
    return unsupported("a recurrent layer is too wide", input(kWeights));
  }
  const bool lstm = layer.cell() == fb::Cell::lstm;
  if (!lstm && (input(kProjection) >= 0 || input(kFirstCells) >= 0 || operand(site.op.outputs(), kLastCells) >= 0)) {
    return corrupt("only an LSTM has cells or a projection");
  }
  for (uint32_t d = 0; d < 2; ++d) {
    const uint32_t own = d * kOfReverse;
    const int32_t bias = input(kBias + own), projection = input(kProjection + own);
    if (d == sizes.directions || !sizes.has_weights()) {
      const bool none = input(kWeights + own) < 0 && bias < 0 && projection < 0;
      if (!none) return corrupt("a recurrent layer has weights that its cell or its direction does not have");
      continue;
    }
    BANTAM_CHECK(check_product(site, input(kWeights + own), sizes.columns(), sizes.state));
    BANTAM_CHECK(check_vector(site, bias, sizes.columns(), "the bias is not an f32 vector of the gates' width"));
    if ((projection >= 0) != (input(kProjection) >= 0)) return corrupt("one direction alone has a projection");
    if (projection >= 0) BANTAM_CHECK(check_product(site, projection, sizes.state, sizes.cells));
  }
  const uint32_t states = sizes.directions * sizes.state, cells = sizes.directions * sizes.cells;
  const auto output = [&](uint32_t position) { return operand(site.op.outputs(), position); };
  if (input(kMembers) >= 0) {
    BANTAM_CHECK(check_numbers(site, input(kMembers), fb::DType::i32, (ids_limit(site.model, site.phase) + 31) / 32));
  }
  if (layer.mark() != 0 && layer.mark() >= mark_types(site.model)) {
    return corrupt("a recurrent layer asks for a mark that tokens cannot have");
  }
  const bool leaves = output(kStates) >= 0 || (output(kLastState) >= 0 && output(kStatesCopy) < 0);
  if (input(0) < 0 || !leaves) return corrupt("a recurrent layer lacks its input or output");
  BANTAM_CHECK(check_rows(site, input(0), kTokens, fb::DType::f32, sizes.directions * sizes.columns()));
  BANTAM_CHECK(check_rows(site, input(kFirstState), kSequences, fb::DType::f32, states));
  BANTAM_CHECK(check_rows(site, input(kFirstCells), kSequences, fb::DType::f32, cells));
  BANTAM_CHECK(check_rows(site, output(kStates), kTokens, fb::DType::f32, states));
  BANTAM_CHECK(check_rows(site, output(kStatesCopy), kTokens, fb::DType::i8, states));
  BANTAM_CHECK(check_rows(site, output(kLastState), kSequences, fb::DType::f32, states));
  return check_rows(site, output(kLastCells), kSequences, fb::DType::f32, cells);
}

/// Scratch layout for `lanes` sequences that advance together: state, cells, the products of the state for the gates
/// and, with a projection, its input.
struct ScratchPlaces {
  uint64_t state, cells, sums, wide, products, size;
  ScratchPlaces(const fb::Model& model, const fb::Op& op, uint32_t lanes) {
    const Sizes sizes(model, op);
    const auto floats = [lanes](uint32_t columns) { return scratch_part(uint64_t{lanes} * columns * sizeof(float)); };
    const int32_t projection = operand(op.inputs(), kProjection);
    state = 0;
    cells = state + floats(kernels::pad16(sizes.state));
    sums = cells + (sizes.gates == 4 ? floats(sizes.block()) : 0);
    wide = sums + (sizes.has_weights() ? floats(sizes.columns()) : 0);
    products = wide + (projection < 0 ? 0 : floats(sizes.block()));
    // The matrices of the two directions may have different layouts.
    uint64_t most = 0;
    for (uint32_t d = 0; d < sizes.directions; ++d) {
      const auto of = [&](uint32_t at) -> uint64_t {
        const int32_t index = operand(op.inputs(), at + d * kOfReverse);
        return index < 0 ? 0 : Product::scratch(tensor(model, index), lanes);
      };
      const uint64_t bytes = of(kWeights) + of(kProjection);
      most = bytes > most ? bytes : most;
    }
    size = products + most;
  }
};

/// A template, because the field `lanes` does not exist if no recurrent layer is linked.
template <class Need>
uint64_t scratch_of(const fb::Model& model, const fb::Op& op, const Need& need) {
  if constexpr (linked::op(linked::kOpRecurrent)) return ScratchPlaces(model, op, need.lanes).size;
  return 0;
}
uint64_t recurrent_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return scratch_of(model, op, need);
}

/// Selects the tokens that a layer processes.
class Members {
 public:
  Members(const TileRun& run, const fb::Op& op)
      : ids_(run.ids),
        bits_(constant<int32_t>(run, operand(op.inputs(), kMembers))),
        marks_(linked::kMarks && op.attributes_as_Recurrent()->mark() != 0 ? run.marks : nullptr),
        mark_(static_cast<int32_t>(op.attributes_as_Recurrent()->mark())),
        after_(op.attributes_as_Recurrent()->after()) {}

  /// The first row of [begin, end) that may be selected.
  uint32_t first(uint32_t begin, uint32_t end) const {
    if (after_ < 0) return begin;
    while (begin < end && ids_[begin] != after_) ++begin;
    return begin < end ? begin + 1 : end;
  }
  bool has(uint32_t row) const {
    if (linked::kMarks && marks_ != nullptr && marks_[row] != mark_) return false;
    const auto id = static_cast<uint32_t>(ids_[row]);
    return bits_ == nullptr || (static_cast<uint32_t>(bits_[id / 32]) >> id % 32 & 1u) != 0;
  }

 private:
  const int32_t* ids_;
  const int32_t* bits_;   // null: all
  const int32_t* marks_;  // null: all
  int32_t mark_;
  int32_t after_;
};

/// One direction over the sequences of a tile. As many sequences as there is room for advance together, independently
/// of each other: a matrix is then read once for all of them.
class Layer {
 public:
  Layer(const TileRun& run, const fb::Op& op, uint32_t direction)
      : run_(run),
        sizes_(run.model, op),
        members_(run, op),
        direction_(direction),
        reverse_(direction == 1 || op.attributes_as_Recurrent()->direction() == fb::Direction::reverse),
        x_(all_rows(run, operand(op.inputs(), 0))),
        y_(operand(op.outputs(), kStates) < 0 ? Rows{} : all_rows(run, operand(op.outputs(), kStates))),
        first_state_(rows_of(op.inputs(), kFirstState)),
        first_cells_(rows_of(op.inputs(), kFirstCells)),
        last_state_(rows_of(op.outputs(), kLastState)),
        last_cells_(rows_of(op.outputs(), kLastCells)),
        most_(run.sequences < run.block_rows ? run.sequences : run.block_rows),
        places_(run.model, op, most_),
        kept_(run.contexts == nullptr ? nullptr : page_base(run, operand(op.outputs(), kStates))),
        projects_(operand(op.inputs(), kProjection) >= 0),
        weights_(run, operand(op.inputs(), kWeights + direction * kOfReverse),
                 operand(op.inputs(), kBias + direction * kOfReverse), most_, run.scratch + places_.products),
        projection_(run, operand(op.inputs(), kProjection + direction * kOfReverse), -1, most_,
                    run.scratch + places_.products + weights_bytes(op)) {}

  /// Returns false if a value is not finite.
  bool run() {
    bool finite = true;
    uint32_t next = 0;  // sequence of the tile
    for (;;) {
      while (lanes_ < most_ && next < run_.rows) begin(next++);
      if (lanes_ == 0) return finite;
      finite &= step();
      for (uint32_t lane = lanes_; lane-- > 0;) pass_over(lane);
    }
  }

 private:
  Rows rows_of(const flatbuffers::Vector<int32_t>* tensors, uint32_t position) const {
    const int32_t index = operand(tensors, position);
    return index < 0 ? Rows{} : tile_rows(run_, index);
  }
  uint64_t weights_bytes(const fb::Op& op) const {
    const int32_t index = operand(op.inputs(), kWeights + direction_ * kOfReverse);
    return index < 0 ? 0 : Product::scratch(tensor(run_.model, index), most_);
  }
  float* floats(uint64_t place, uint32_t lane, uint32_t columns) const {
    return reinterpret_cast<float*>(run_.scratch + place) + size_t{lane} * columns;
  }
  float* state(uint32_t lane) const { return floats(places_.state, lane, kernels::pad16(sizes_.state)); }
  float* cells(uint32_t lane) const { return floats(places_.cells, lane, sizes_.block()); }
  bool has_cells() const { return sizes_.gates == 4; }

  /// Helpers that copy between row `sequence` of a tensor of sequences and a lane.
  static float* of_sequence(const Rows& rows, uint32_t sequence, uint32_t column) {
    return rows.data == nullptr ? nullptr : rows.from(sequence).f32() + column;
  }
  static void start(float* lane, const float* from, uint32_t count) {
    memset(lane, 0, kernels::pad16(count) * sizeof(float));
    if (from != nullptr) memcpy(lane, from, count * sizeof(float));
  }
  static void keep(float* to, const float* lane, uint32_t count) {
    if (to != nullptr) memcpy(to, lane, count * sizeof(float));
  }

  /// Returns the state that the layer writes to a row; null if no operator reads it.
  float* states(uint32_t row) const {
    return y_.data == nullptr ? nullptr : y_.from(row).f32() + direction_ * sizes_.state;
  }
  void leave_out(uint32_t row) const {
    if (y_.data != nullptr) memset(states(row), 0, sizes_.state * sizeof(float));
  }

  void begin(uint32_t sequence) {
    const uint32_t lane = lanes_++;
    const uint32_t begin = run_.offsets[run_.row_begin + sequence], end = run_.offsets[run_.row_begin + sequence + 1];
    const uint32_t first = members_.first(begin, end);
    for (uint32_t row = begin; row < first; ++row) leave_out(row);
    sequence_[lane] = sequence;
    left_[lane] = end - first;
    row_[lane] = reverse_ ? end - 1 : first;
    const float* first_state = of_sequence(first_state_, sequence, direction_ * sizes_.state);
    const float* first_cells = of_sequence(first_cells_, sequence, direction_ * sizes_.cells);
    if (run_.contexts != nullptr && place_of(run_, run_.row_begin + sequence, begin) != 0) {
      first_state = kept(sequence, begin - 1);
      first_cells = first_state + kernels::pad16(sizes_.state);
    }
    start(state(lane), first_state, sizes_.state);
    if (has_cells()) start(cells(lane), first_cells, sizes_.cells);
    pass_over(lane);
  }

  /// Returns the state that the sequence's context stores for row `row` of the run. The number before the sequence's
  /// first row selects the token before the run.
  float* kept(uint32_t sequence, uint32_t row) const {
    const uint32_t place = place_of(run_, run_.row_begin + sequence, row + 1) - 1;
    const uint32_t at = page_list(run_, run_.row_begin + sequence)[place / 16] * 16 + place % 16;
    return reinterpret_cast<float*>(kept_) + size_t{at} * kept_floats(sizes_);
  }
  void keep_for_context(uint32_t lane) const {
    float* to = kept(sequence_[lane], row_[lane]);
    memcpy(to, state(lane), kernels::pad16(sizes_.state) * sizeof(float));
    if (has_cells()) memcpy(to + kernels::pad16(sizes_.state), cells(lane), sizes_.block() * sizeof(float));
  }

  void next(uint32_t lane) {
    row_[lane] += reverse_ ? UINT32_MAX : 1u;
    --left_[lane];
  }

  /// Advances the lane to its next selected token, or ends it.
  void pass_over(uint32_t lane) {
    for (; left_[lane] != 0 && !members_.has(row_[lane]); next(lane)) leave_out(row_[lane]);
    if (left_[lane] == 0) end(lane);
  }

  /// Ends a lane's sequence; the last lane takes its place.
  void end(uint32_t lane) {
    keep(of_sequence(last_state_, sequence_[lane], direction_ * sizes_.state), state(lane), sizes_.state);
    keep(of_sequence(last_cells_, sequence_[lane], direction_ * sizes_.cells), cells(lane), sizes_.cells);
    const uint32_t last = --lanes_;
    if (lane == last) return;
    sequence_[lane] = sequence_[last];
    left_[lane] = left_[last];
    row_[lane] = row_[last];
    memcpy(state(lane), state(last), kernels::pad16(sizes_.state) * sizeof(float));
    if (has_cells()) memcpy(cells(lane), cells(last), sizes_.block() * sizeof(float));
  }

  /// Processes one row of each lane's sequence.
  bool step() {
    float* sums = sizes_.has_weights() ? floats(places_.sums, 0, 0) : nullptr;
    bool finite = sums == nullptr || weights_(state(0), lanes_, sums);
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      kernels::RecurrentRow row;
      row.x = x_.from(row_[lane]).f32() + direction_ * sizes_.columns();
      row.s = sums == nullptr ? nullptr : sums + size_t{lane} * sizes_.columns();
      row.width = sizes_.cells;
      row.c = has_cells() ? cells(lane) : nullptr;
      row.h = projects_ ? floats(places_.wide, lane, sizes_.block()) : state(lane);
      finite &= run_.kernels.recurrent_row(row);
    }
    if (projects_) finite &= projection_(floats(places_.wide, 0, 0), lanes_, state(0));
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      keep(states(row_[lane]), state(lane), sizes_.state);
      if (run_.contexts != nullptr) keep_for_context(lane);
      next(lane);
    }
    return finite;
  }

  const TileRun& run_;
  Sizes sizes_;
  Members members_;
  uint32_t direction_;
  bool reverse_;
  Rows x_, y_, first_state_, first_cells_, last_state_, last_cells_;
  uint32_t most_;  // lanes
  ScratchPlaces places_;
  uint8_t* kept_;  // rows in contexts; null without contexts
  bool projects_;
  Product weights_, projection_;
  uint32_t lanes_ = 0;
  uint32_t sequence_[kBlockRows], row_[kBlockRows], left_[kBlockRows];  // per lane; left_: remaining rows
};

Status run_recurrent(const TileRun& run, const fb::Op& op) {
  bool finite = true;
  const uint32_t directions = op.attributes_as_Recurrent()->direction() == fb::Direction::both ? 2 : 1;
  for (uint32_t d = 0; d < directions; ++d) finite &= Layer(run, op, d).run();
  return finite && copy_token_rows(run, operand(op.outputs(), kStates), operand(op.outputs(), kStatesCopy))
             ? Status::kOk
             : Status::kNonFinite;
}

}  // namespace

uint64_t kept_state_bytes(const fb::Model& model, const fb::Op& op) {
  return uint64_t{kept_floats(Sizes(model, op))} * sizeof(float);
}

bool goes_on(const fb::Op& op) {
  const fb::Recurrent& layer = *op.attributes_as_Recurrent();
  return layer.direction() == fb::Direction::forward && operand(op.inputs(), kMembers) < 0 && layer.after() < 0 &&
         layer.mark() == 0 && operand(op.outputs(), kStates) >= 0;
}

BANTAM_RULE(Recurrent, verify_recurrent, recurrent_scratch, run_recurrent);

}  // namespace bantam::ops
