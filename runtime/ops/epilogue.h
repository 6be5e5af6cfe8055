// The epilogue that ends every row operator: activation, gate, residual, norm, store as f32 and as i8.
#ifndef BANTAM_OPS_EPILOGUE_H_
#define BANTAM_OPS_EPILOGUE_H_

#include "ops/operands.h"

namespace bantam::ops {

/// outputs[0] (f32) and outputs[1] (i8) are [step rows, width]; the epilogue's operands fit them.
Verdict check_epilogue(const Site& site, uint32_t width);

/// The op has no epilogue, or one that does nothing.
bool has_no_epilogue(const fb::Op& op);
Verdict check_no_epilogue(const Site& site);

/// Bytes of scratch that RowSink needs at the start of the op's scratch, a multiple of 64.
uint64_t sink_scratch(const fb::Op& op, uint32_t width, uint32_t block_rows);

/// After its activation the op does nothing but store whole vectors as i8.
bool stores_q8_only(const fb::Op& op, uint32_t width);

/// Takes the f32 rows that an op computes and puts them through its epilogue, a block of rows at a time:
///
///   for (first = 0; first < run.rows; first += n) {
///     n = sink.block(first);                      // rows to compute now
///     ... write [n, width] f32 rows to sink.rows(first), `sink.stride()` floats apart ...
///     ok &= sink.finish(first, n);
///   }
///
/// Rows go straight into outputs[0] wherever nothing still needs what lies there; else to scratch.
class RowSink {
 public:
  /// `activated`: the producer applies the epilogue's activation itself. `block_rows`: of a block, which scratch has room for;
  /// 0, and in images: the run's.
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
  /// `row_maximum`: see kernels::EpilogueRows; only where stores_q8_only(op, width).
  bool finish(uint32_t first, uint32_t n, const int32_t* row_maximum = nullptr) const {
    return straight_ || apply(first, n, rows(first), stride(), row_maximum);
  }

  /// Puts rows that lie elsewhere through the epilogue; they may be outputs[0]'s own.
  bool apply(uint32_t first, uint32_t n, const float* x, size_t x_stride, const int32_t* row_maximum = nullptr) const;

 private:
  const TileRun& run_;
  kernels::EpilogueRows args_ = {};  // as of the tile's first row, without x
  bool in_output_;                   // rows are computed in outputs[0]
  bool straight_;                    // and nothing remains to be done to them
  uint32_t rows_;                    // of a block
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_EPILOGUE_H_
