// The epilogue that ends every row operator: activation, gate, residual, norm, store as f32 and as i8.
#ifndef BANTAM_OPS_EPILOGUE_H_
#define BANTAM_OPS_EPILOGUE_H_

#include "ops/operands.h"

namespace bantam::ops {

/// Checks that outputs[0] (f32) and outputs[1] (i8) are [step rows, width] and that the operands of the epilogue fit
/// them.
Verdict check_epilogue(const Site& site, uint32_t width);

/// Returns true if the operator has no epilogue, or one that does nothing.
bool has_no_epilogue(const fb::Op& op);
Verdict check_no_epilogue(const Site& site);

/// Bytes of scratch that RowSink needs at the start of the op's scratch, a multiple of 64.
uint64_t sink_scratch(const fb::Op& op, uint32_t width, uint32_t block_rows);

/// Returns true if the operator, after its activation, only stores whole vectors as i8.
bool stores_q8_only(const fb::Op& op, uint32_t width);

/// Takes the f32 rows that an operator computes and applies its epilogue to them, a block of rows at a time:
///
///   for (first = 0; first < run.rows; first += n) {
///     n = sink.block(first);                      // rows to compute now
///     ... write [n, width] f32 rows to sink.rows(first), `sink.stride()` floats apart ...
///     ok &= sink.finish(first, n);
///   }
///
/// Rows are computed directly in outputs[0] if nothing still needs the bytes there; else in scratch.
class RowSink {
 public:
  /// `activated`: the producer applies the epilogue's activation itself. `block_rows`: rows of a block, for which
  /// scratch has room; 0, and in images: the run's block_rows.
  RowSink(const TileRun& run, const fb::Op& op, uint32_t width, bool activated, uint32_t block_rows = 0);

  uint32_t block(uint32_t first) const {
    const uint32_t left = run_.rows - first;
    const uint32_t most = linked::kHost ? rows_ : run_.block_rows;
    return straight_ || left < most ? left : most;
  }
  float* rows(uint32_t first) const {
    return in_output_ ? args_.y + size_t{first} * stride() : reinterpret_cast<float*>(run_.scratch);
  }
  size_t stride() const { return args_.y_stride; }
  /// `row_maximum`: see kernels::EpilogueRows; only if stores_q8_only(op, width).
  bool finish(uint32_t first, uint32_t n, const int32_t* row_maximum = nullptr) const {
    return straight_ || apply(first, n, rows(first), stride(), row_maximum);
  }

  /// Applies the epilogue to rows that lie elsewhere; they may also be outputs[0]'s own.
  bool apply(uint32_t first, uint32_t n, const float* x, size_t x_stride, const int32_t* row_maximum = nullptr) const;

 private:
  const TileRun& run_;
  kernels::EpilogueRows args_ = {};  // for the first row of the tile, without x
  bool in_output_;                   // rows are computed in outputs[0]
  bool straight_;                    // and the epilogue has nothing left to do
  uint32_t rows_;                    // rows of a block
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_EPILOGUE_H_
