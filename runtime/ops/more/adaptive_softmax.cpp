// AdaptiveSoftmax: log probabilities of words that are divided into a head and clusters.
#include <string.h>

#include "ops/more/logarithm.h"
#include "ops/operands.h"

namespace bantam::ops {
namespace {

/// Positional inputs: scores of the head's words, scores of the clusters, then scores of each cluster's words.
constexpr uint32_t kFront = 0, kClusters = 1, kWords = 2, kMostClusters = 8;

uint32_t columns_of(const fb::Model& model, const fb::Op& op, uint32_t position) {
  return width(tensor(model, operand(op.inputs(), position)));
}
uint32_t clusters_of(const fb::Model& model, const fb::Op& op) { return columns_of(model, op, kClusters); }

Verdict verify_adaptive_softmax(const Site& site) {
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows an adaptive softmax within its op");
  BANTAM_CHECK(check_row_input(site, kFront, 0, false));
  BANTAM_CHECK(check_row_input(site, kClusters, 0, false));
  const uint32_t clusters = clusters_of(site.model, site.op);
  if (clusters == 0 || clusters > kMostClusters) return corrupt("an adaptive softmax has no or too many clusters");
  uint64_t columns = columns_of(site.model, site.op, kFront);
  for (uint32_t i = 0; i < kMostClusters; ++i) {
    if (i >= clusters) {
      if (operand(site.op.inputs(), kWords + i) >= 0) return corrupt("an adaptive softmax has words of no cluster");
      continue;
    }
    if (operand(site.op.inputs(), kWords + i) < 0) return corrupt("an adaptive softmax has a cluster without words");
    BANTAM_CHECK(check_row_input(site, kWords + i, 0, false));
    columns += columns_of(site.model, site.op, kWords + i);
  }
  const int32_t y = operand(site.op.outputs(), 0);
  if (y < 0 || operand(site.op.outputs(), 1) >= 0) return corrupt("an adaptive softmax has one output");
  BANTAM_CHECK(check_step_rows(site, y));
  const fb::Tensor& t = tensor(site.model, y);
  const bool fits = t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows && width(t) == columns;
  return fits ? Verdict{} : corrupt("an adaptive softmax writes f32 rows of a column a word", y);
}

/// Scratch for a row that softmax overwrites: the head's words with the clusters, or the words of a cluster.
uint64_t adaptive_softmax_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed&) {
  uint32_t widest = columns_of(model, op, kFront) + clusters_of(model, op);
  for (uint32_t i = 0; i < clusters_of(model, op); ++i) {
    const uint32_t columns = columns_of(model, op, kWords + i);
    widest = columns > widest ? columns : widest;
  }
  return uint64_t{sizeof(float)} * kernels::pad16(widest);
}

/// Computes the logarithm of the sum of exp(x) over the row, which is overwritten: softmax gives the greatest element
/// exp(0) / sum.
bool log_sum(const TileRun& run, float* row, uint32_t columns, float* sum) {
  float greatest = row[0];
  uint32_t at = 0;
  for (uint32_t i = 1; i < columns; ++i) {
    if (row[i] > greatest) {
      greatest = row[i];
      at = i;
    }
  }
  const bool finite = run.kernels.softmax_rows({row, kernels::pad16(columns), 1, columns});
  *sum = finite ? greatest - natural_log(row[at]) : greatest;
  return finite;
}

Status run_adaptive_softmax(const TileRun& run, const fb::Op& op) {
  const uint32_t front = columns_of(run.model, op, kFront), clusters = clusters_of(run.model, op);
  const Rows front_rows = tile_rows(run, operand(op.inputs(), kFront));
  const Rows cluster_rows = tile_rows(run, operand(op.inputs(), kClusters));
  const Rows y_rows = tile_rows(run, operand(op.outputs(), 0));
  float* scratch = reinterpret_cast<float*>(run.scratch);
  bool finite = true;
  for (uint32_t row = 0; row < run.rows; ++row) {
    const float* x = front_rows.from(row).f32();
    const float* cluster = cluster_rows.from(row).f32();
    float* y = y_rows.from(row).f32();
    float sum = 0.0f;
    memcpy(scratch, x, front * sizeof(float));
    memcpy(scratch + front, cluster, clusters * sizeof(float));
    finite &= log_sum(run, scratch, front + clusters, &sum);
    for (uint32_t i = 0; i < front; ++i) y[i] = x[i] - sum;
    y += front;
    for (uint32_t k = 0; k < clusters; ++k) {
      const uint32_t columns = columns_of(run.model, op, kWords + k);
      const float* words = tile_rows(run, operand(op.inputs(), kWords + k)).from(row).f32();
      float words_sum = 0.0f;
      memcpy(scratch, words, columns * sizeof(float));
      finite &= log_sum(run, scratch, columns, &words_sum);
      const float shift = (cluster[k] - sum) - words_sum;
      for (uint32_t i = 0; i < columns; ++i) y[i] = words[i] + shift;
      y += columns;
    }
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(AdaptiveSoftmax, verify_adaptive_softmax, adaptive_softmax_scratch, run_adaptive_softmax);

}  // namespace bantam::ops
