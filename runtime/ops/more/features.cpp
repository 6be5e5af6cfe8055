// Features: copies the caller's rows of features.
#include <string.h>

#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

Verdict verify_features(const Site& site) {
  if (site.rows_symbol != kTokens) return corrupt("features are those of tokens");
  if (linked::kChunks && (chunk_tokens(site.model) != 0) != (site.phase == fb::Phase::source)) {
    return corrupt("features of a chunk are taken by the pass over what is retrieved for it, others by the main pass");
  }
  const uint32_t columns = feature_width(site.model);
  if (columns == 0) return corrupt("features in a model that takes none");
  return check_epilogue(site, columns);
}

uint64_t features_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, feature_width(model), need.block_rows);
}

Status run_features(const TileRun& run, const fb::Op& op) {
  const uint32_t columns = feature_width(run.model);
  const RowSink sink(run, op, columns, false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const size_t row = size_t{run.row_begin} + first + i;
      memcpy(sink.rows(first) + size_t{i} * sink.stride(), run.features + row * columns, columns * sizeof(float));
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Features, verify_features, features_scratch, run_features);

}  // namespace bantam::ops
