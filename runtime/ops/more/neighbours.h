// Operators that read the rows of neighboring tokens: access to these rows, and what contexts store of them.
#ifndef BANTAM_OPS_MORE_NEIGHBOURS_H_
#define BANTAM_OPS_MORE_NEIGHBOURS_H_

#include <string.h>

#include "ops/heads.h"

namespace bantam::ops {

/// Number of rows before and after a token's own row that an operator reads.
struct Reach {
  uint32_t before = 0, after = 0;
  /// Counts all rows, the token's own included.
  uint64_t rows() const { return uint64_t{before} + 1 + after; }
};

/// Returns the reach of an operator; zero if it reads no neighbors.
inline Reach reach_of(const fb::Op& op) {
  if (const fb::Unfold* unfold = op.attributes_as_Unfold()) return {unfold->before(), unfold->after()};
  if (const fb::Depthwise* depthwise = op.attributes_as_Depthwise()) return {depthwise->before(), depthwise->after()};
  return {};
}

/// Returns true if contexts keep only the rows in front of the next token, as a state.
inline bool keeps_latest(const fb::Op& op) {
  const fb::Depthwise* depthwise = linked::kStates ? op.attributes_as_Depthwise() : nullptr;
  return depthwise != nullptr && depthwise->latest();
}

inline bool reads_neighbours(fb::OpAttributes kind) {
  return (linked::op(linked::kOpUnfold) && kind == fb::OpAttributes::Unfold) ||
         (linked::op(linked::kOpDepthwise) && kind == fb::OpAttributes::Depthwise);
}

/// The tensor under whose number contexts store the rows: the operator's output.
inline int32_t kept_number(const fb::Op& op) {
  const int32_t rows = operand(op.outputs(), 0);
  return rows >= 0 ? rows : operand(op.outputs(), 1);
}

/// Bytes that contexts store per token for the operator: the f32 row that it reads.
inline uint64_t kept_neighbour_bytes(const fb::Model& model, const fb::Op& op) {
  return uint64_t{kernels::pad16(width(tensor(model, operand(op.inputs(), 0))))} * sizeof(float);
}

/// Checks that the operator runs over tokens and that inputs[0] holds shared f32 rows of tokens.
inline Verdict check_neighbours(const Site& site) {
  if (site.rows_symbol != kTokens) return corrupt("neighbours are those of tokens");
  const int32_t x = operand(site.op.inputs(), 0);
  return is_token_rows(tensor(site.model, x))
             ? Verdict{}
             : corrupt("rows beside their neighbours are read from shared f32 rows of tokens", x);
}

/// The rows of inputs[0] in a sequence, for an operator that runs on a tile.
class Neighbours {
 public:
  Neighbours(const TileRun& run, const fb::Op& op)
      : run_(run),
        op_(op),
        x_(all_rows(run, operand(op.inputs(), 0))),
        columns_(width(tensor(run.model, operand(op.inputs(), 0)))),
        latest_(keeps_latest(op)) {}

  uint32_t columns() const { return columns_; }

  /// Returns the row at `at`, counted like the run's rows; null: the sequence has no such row. Rows before the run come
  /// from the sequence's context.
  const float* at(uint32_t sequence, int64_t at) const {
    const int64_t begin = run_.offsets[sequence], end = run_.offsets[sequence + 1];
    if (at >= begin && at < end) return x_.from(static_cast<uint32_t>(at)).f32();
    if constexpr (linked::kContexts) {
      const int64_t past = place_of(run_, sequence, run_.offsets[sequence]);
      if (at < begin && begin - at <= past) {
        if constexpr (linked::kStates) {
          if (latest_) return latest_row(state_before(run_, kept_number(op_), sequence), begin - at);
        }
        return kept_row(run_, kept_number(op_), columns_, sequence, static_cast<uint32_t>(past - (begin - at)));
      }
    }
    return nullptr;
  }

  /// Returns how many of the `most` rows from `at` on are known to be contiguous; at least 1.
  uint32_t together(uint32_t sequence, int64_t at, uint32_t most) const {
    const int64_t begin = run_.offsets[sequence], end = run_.offsets[sequence + 1];
    if (at < begin || at >= end) return 1;
    return end - at < int64_t{most} ? static_cast<uint32_t>(end - at) : most;
  }

  /// Copies the run's rows of the sequence into its context if `row` is its last row; else does nothing. The caller
  /// that computes the last row copies all of them, because the step may run on that row alone.
  void keep(uint32_t sequence, uint32_t row) const {
    if constexpr (linked::kContexts) {
      const bool last = row + 1 == run_.offsets[sequence + 1];
      if (run_.contexts == nullptr || !last || reach_of(op_).before == 0) return;
      if constexpr (linked::kStates) {
        if (latest_) return keep_latest(sequence, row + 1);
      }
      for (uint32_t i = run_.offsets[sequence]; i <= row; ++i) {
        float* kept = kept_row(run_, kept_number(op_), columns_, sequence, place_of(run_, sequence, i));
        memcpy(kept, x_.from(i).f32(), columns_ * sizeof(float));
      }
    }
  }

 private:
  /// The row `back` tokens before the first one behind a state of rows, 1 to the number of rows in front that the
  /// operator reads.
  template <class Float>
  Float* latest_row(Float* state, int64_t back) const {
    return state + static_cast<size_t>(int64_t{reach_of(op_).before} - back) * kernels::pad16(columns_);
  }

  /// Writes the rows in front of `end` into the state behind the run; rows that a text does not have stay as they are,
  /// for at() does not read them.
  void keep_latest(uint32_t sequence, uint32_t end) const {
    float* const state = state_behind(run_, kept_number(op_), sequence);
    for (int64_t back = 1; back <= int64_t{reach_of(op_).before}; ++back) {
      const float* from = at(sequence, int64_t{end} - back);
      if (from != nullptr) memcpy(latest_row(state, back), from, columns_ * sizeof(float));
    }
  }

  const TileRun& run_;
  const fb::Op& op_;
  Rows x_;
  uint32_t columns_;
  bool latest_;
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_NEIGHBOURS_H_
