// Fourier: the real part of the discrete Fourier transform over a sequence's tokens and over columns, whose part over
// columns is done. outer_sums is the inner loop: a column's numbers of 16 tokens times the cosines or sines of 16 rows.
#include <string.h>

#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

/// Rows that are computed together, and tokens that are summed at a time, counted from the first token of a sequence.
/// The latter affects the result; it is the same for all sessions.
constexpr uint32_t kTogether = 16;

uint32_t transformed_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0)));
}

/// Columns of sums with cosines, which are the first ones; the others are those of sums with sines.
constexpr uint32_t cosine_columns(uint32_t columns) { return columns / 2 + 1; }

Verdict verify_fourier(const Site& site) {
  if (site.rows_symbol != kTokens) return corrupt("a Fourier transform runs over tokens");
  const int32_t x = operand(site.op.inputs(), 0);
  if (!is_token_rows(tensor(site.model, x))) return corrupt("a transform reads shared f32 rows of tokens", x);
  return check_epilogue(site, transformed_width(site.model, site.op));
}

/// Scratch for the epilogue and, after it, cosines, sines, and sums of kTogether rows.
uint64_t fourier_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const uint32_t columns = transformed_width(model, op);
  return sink_scratch(op, columns, need.block_rows) + (2 * uint64_t{kTogether} + columns) * kTogether * sizeof(float);
}

struct Wave {
  float cosine, sine;
};

/// Returns the cosine and sine of place / tokens turns: absolute error <= 2e-7. place < tokens.
Wave wave_of(uint32_t place, uint32_t tokens) {
  // Within an eighth of a turn, by Taylor's series.
  const uint64_t eighths = uint64_t{8} * place;
  const auto part = static_cast<uint32_t>(eighths / tokens);
  const auto rest = static_cast<uint32_t>(eighths % tokens);
  const uint32_t within = (part & 1) != 0 ? tokens - rest : rest;
  const float x = static_cast<float>(within) / static_cast<float>(tokens) * 0.785398163f, xx = x * x;
  const float c = 1.0f - xx * (0.5f - xx * (0.0416666667f - xx * (0.00138888889f - xx * 2.48015873e-5f)));
  const float s =
      x * (1.0f - xx * (0.166666667f - xx * (0.00833333333f - xx * (1.98412698e-4f - xx * 2.75573192e-6f))));
  const bool swaps = ((part + 1) & 2) != 0;
  const float across = swaps ? s : c, up = swaps ? c : s;
  return {part >= 2 && part < 6 ? -across : across, part >= 4 ? -up : up};
}

class Transform {
 public:
  Transform(const TileRun& run, const fb::Op& op)
      : run_(run),
        x_(all_rows(run, operand(op.inputs(), 0))),
        columns_(transformed_width(run.model, op)),
        cosines_(reinterpret_cast<float*>(run.scratch + sink_scratch(op, columns_, run.block_rows))),
        sines_(cosines_ + kTogether * kTogether),
        sums_(sines_ + kTogether * kTogether) {}

  uint32_t columns() const { return columns_; }

  /// Computes `count` rows, at most kTogether, from place `first` of the sequence on. Returns false if a number is not
  /// finite.
  bool rows(uint32_t sequence, uint32_t first, uint32_t count, float* y, size_t stride) {
    const uint32_t begin = run_.offsets[sequence], tokens = run_.offsets[sequence + 1] - begin;
    const uint32_t front = cosine_columns(columns_);
    uint32_t places[kTogether] = {};
    bool finite = true;
    memset(sums_, 0, size_t{columns_} * kTogether * sizeof(float));
    for (uint32_t token = 0, n = 0; token < tokens; token += n) {
      n = tokens - token < kTogether ? tokens - token : kTogether;
      fill_waves(first, count, tokens, n, places);
      const float* x = x_.from(begin + token).f32();
      finite &= run_.kernels.outer_sums({x, x_.stride, cosines_, kTogether, n, front, kTogether, 1.0f, sums_});
      if (front == columns_) continue;
      finite &= run_.kernels.outer_sums({x + front, x_.stride, sines_, kTogether, n, columns_ - front, kTogether, 1.0f,
                                         sums_ + size_t{front} * kTogether});
    }
    for (uint32_t i = 0; i < count; ++i) write_row(i, front, y + i * stride);
    return finite;
  }

 private:
  /// Writes the cosines and sines of the next `n` tokens for `count` rows from place `first` on. `places`: for each row
  /// its place times the number of the next token, modulo the number of tokens.
  void fill_waves(uint32_t first, uint32_t count, uint32_t tokens, uint32_t n, uint32_t* places) {
    memset(cosines_, 0, size_t{2} * kTogether * kTogether * sizeof(float));
    for (uint32_t token = 0; token < n; ++token) {
      for (uint32_t i = 0; i < count; ++i) {
        const Wave wave = wave_of(places[i], tokens);
        cosines_[token * kTogether + i] = wave.cosine;
        sines_[token * kTogether + i] = wave.sine;
        const uint32_t step = first + i;
        places[i] = places[i] < tokens - step ? places[i] + step : places[i] - (tokens - step);
      }
    }
  }

  /// Column c has the difference of the sums with cosines and with sines of column c, and the one as far from the end as
  /// c is from the beginning has their sum.
  void write_row(uint32_t i, uint32_t front, float* y) const {
    const float* sines = sums_ + size_t{front} * kTogether;
    for (uint32_t c = 0; c < front; ++c) {
      const float cosine = sums_[size_t{c} * kTogether + i];
      const bool paired = c != 0 && 2 * c != columns_;
      const float sine = paired ? sines[size_t{c - 1} * kTogether + i] : 0.0f;
      y[c] = cosine - sine;
      if (paired) y[columns_ - c] = cosine + sine;
    }
  }

  const TileRun& run_;
  const Rows x_;
  const uint32_t columns_;
  float *const cosines_, *const sines_;  // [tokens][rows]
  float* const sums_;                    // [columns][rows]
};

Status run_fourier(const TileRun& run, const fb::Op& op) {
  Transform transform(run, op);
  const RowSink sink(run, op, transform.columns(), false);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0, count = 0; i < n; i += count) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      const uint32_t left = run.offsets[sequence + 1] - row;
      count = left < n - i ? left : n - i;
      if (count > kTogether) count = kTogether;
      finite &= transform.rows(sequence, row - run.offsets[sequence], count,
                               sink.rows(first) + size_t{i} * sink.stride(), sink.stride());
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Fourier, verify_fourier, fourier_scratch, run_fourier);

}  // namespace bantam::ops
