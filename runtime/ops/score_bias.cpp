#include "ops/score_bias.h"

#include <string.h>

#include "linked.h"
#include "ops/more/segments.h"

#if BANTAM_IF_LINKED(DistanceBias) || BANTAM_IF_LINKED(Slopes) || BANTAM_IF_LINKED(PlaceScores) || \
    BANTAM_IF_LINKED(SegmentKeys) || BANTAM_IF_LINKED(SoftCap) || BANTAM_IF_LINKED(mask_marked) || \
    BANTAM_IF_LINKED(mask_globals) || BANTAM_IF_LINKED(mask_of_globals) || BANTAM_IF_LINKED(mask_blocks)

namespace bantam::ops {
namespace {

/// Keys [first, first + count) of one query's row of biases; positions are signed, so that their differences are.
struct BiasRow {
  float* y;
  int32_t query, first, count;

  /// Element of the key at `distance` after the query, clamped to the row.
  int32_t at(int32_t distance) const {
    const int64_t element = int64_t{query} + distance - first;
    return element < 0 ? 0 : element > count ? count : static_cast<int32_t>(element);
  }
};

/// `table`: biases for distances -most to most.
void store_by_distance(const BiasRow& row, const float* table, int32_t most) {
  const int32_t low = row.at(-most);
  const int32_t high = row.at(most + 1);
  for (int32_t i = 0; i < low; ++i) row.y[i] = table[0];
  if (low < high) {
    const float* from = table + (most + row.first + low - row.query);
    memcpy(row.y + low, from, static_cast<size_t>(high - low) * sizeof(float));
  }
  for (int32_t i = high; i < row.count; ++i) row.y[i] = table[2 * most];
}

/// The same for segments of retrieved texts: each begins at the position from which the queries' positions are counted.
void store_beside_runs(const TileRun& run, const BiasRow& row, const float* table, int32_t most) {
  if constexpr (linked::kChunks) {
    const auto behind = static_cast<uint32_t>(row.first + row.count);
    for (auto at = static_cast<uint32_t>(row.first); at < behind;) {
      const uint32_t end = run_of_segment(run.sources->segments, at, at, behind).end;
      const auto first = static_cast<int32_t>(at);
      store_by_distance({row.y + (first - row.first), first + row.query, first, static_cast<int32_t>(end - at)}, table,
                        most);
      at = end;
    }
  }
}

/// `add`: adds to the row instead of overwriting it.
void slope(const BiasRow& row, float slope, bool add) {
  for (int32_t i = 0; i < row.count; ++i) {
    const int32_t distance = row.first + i - row.query;
    const float v = static_cast<float>(distance < 0 ? distance : -distance) * slope;
    row.y[i] = add ? row.y[i] + v : v;
  }
}

/// Returns the dot product of query r and `keys`, from sums of every eighth element.
float multiply(const kernels::Attention& call, uint32_t r, const float* keys) {
  constexpr uint32_t kLanes = 8;
  float sums[kLanes] = {};
  const size_t from = r * call.q_stride;
  const auto* integers = static_cast<const int8_t*>(call.q) + (call.q8 ? from : 0);
  const auto* floats = static_cast<const float*>(call.q) + (call.q8 ? 0 : from);
  for (uint32_t i = 0; i < call.head_width; ++i) {
    sums[i % kLanes] += (call.q8 ? static_cast<float>(integers[i]) : floats[i]) * keys[i];
  }
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return call.q8 ? sum * call.q_scale[r * call.q_scale_stride] : sum;
}

/// Adds the scores for keys of another segment. `keys`: the head's vector, followed by the number added to its
/// products. `add`: adds to the rows instead of overwriting them.
void add_segments(const TileRun& run, const kernels::Attention& call, const float* keys, BiasRow row, bool add) {
  const auto begin = static_cast<uint32_t>(row.first), end = static_cast<uint32_t>(row.first + row.count);
  for (uint32_t r = 0; r < call.queries; ++r, row.y += row.count) {
    if (!add) memset(row.y, 0, static_cast<size_t>(row.count) * sizeof(float));
    const float score = multiply(call, r, keys) + keys[call.head_width];
    const int32_t own = run.segments[call.query_begin + r];
    for (uint32_t key = begin < call.kv_begin ? call.kv_begin : begin; key < end && key < call.kv_end; ++key) {
      if (run.segments[key] != own) row.y[key - begin] += score;
    }
  }
}

/// Subtracted from the scores of tokens without a mark: their weight is then 0 in f32, as in the published code.
constexpr float kUnmarked = 10000.0f;

/// Subtracts kUnmarked in the rows of all queries.
[[maybe_unused]] void hide_unmarked(const TileRun& run, const kernels::Attention& call, BiasRow row, bool add) {
  for (uint32_t r = 0; r < call.queries; ++r, row.y += row.count) {
    if (!add) memset(row.y, 0, static_cast<size_t>(row.count) * sizeof(float));
    for (int32_t i = 0; i < row.count; ++i) {
      const auto key = static_cast<uint32_t>(row.first + i);
      if (key > call.kv_begin && key < call.kv_end && run.marks[key] == 0) row.y[i] -= kUnmarked;
    }
  }
}

}  // namespace

Verdict check_bias(const Site& site, uint32_t heads) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const int32_t table = named_input(site.op, a.distance_bias());
  if (table >= 0) {
    if (!linked::kDistanceBias) return not_linked("this build leaves out biases by distance");
    const fb::Tensor& t = tensor(site.model, table);
    const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                      t.shape()->size() == 2 && extent(t, 0) == heads && extent(t, 1) % 2 == 1;
    if (!fits) return corrupt("biases by distance are not an f32 matrix of a row a head and odd width", table);
    if (extent(t, 1) > kMaxWidth) return unsupported("biases of too many distances", table);
  }
  if (a.slopes() >= 0 && !linked::kSlopes) return not_linked("this build leaves out biases by slopes");
  BANTAM_CHECK(
      check_vector(site, named_input(site.op, a.slopes()), heads, "slopes are not an f32 vector of a number a head"));
  const int32_t segments = named_input(site.op, a.segment_keys());
  if (segments >= 0) {
    if (!linked::kSegmentKeys) return not_linked("this build leaves out keys of segments");
    const fb::Tensor& t = tensor(site.model, segments);
    const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                      t.shape()->size() == 2 && extent(t, 0) == heads && extent(t, 1) == a.head_width() + 1;
    if (!fits) return corrupt("keys of segments are not an f32 matrix of a row a head, one wider than it", segments);
  }
  if (!(a.soft_cap() >= 0.0f && a.soft_cap() <= 1e6f)) return corrupt("attention's cap is not a number of at least 0");
  if constexpr (linked::kPlaceScores) return check_place_scores(site);
  const bool places = a.place_rows() >= 0 || a.place_keys() >= 0 || a.place_queries() >= 0;
  return places ? not_linked("this build leaves out scores of places") : Verdict();
}

void fill_bias(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head, void* scratch) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const kernels::Range pages = kernels::visible_pages(call);
  BiasRow row = {};
  row.first = static_cast<int32_t>(pages.begin * 16);
  row.count = static_cast<int32_t>((pages.end - pages.begin) * 16);
  row.y = static_cast<float*>(call.scratch);
  const int32_t table = linked::kDistanceBias ? named_input(op, a.distance_bias()) : -1;
  const auto* slopes = linked::kSlopes ? constant<float>(run, named_input(op, a.slopes())) : nullptr;
  for (uint32_t r = 0; r < call.queries; ++r, row.y += row.count) {
    row.query = static_cast<int32_t>(call.query_begin + r);
    if (table >= 0) {
      const uint32_t width_of_row = extent(tensor(run.model, table), 1);
      const float* values = constant<float>(run, table) + size_t{head} * width_of_row;
      const auto most = static_cast<int32_t>(width_of_row / 2);
      if (sees_retrieved(run.model, a)) {
        store_beside_runs(run, row, values, most);
      } else {
        store_by_distance(row, values, most);
      }
    }
    if (slopes != nullptr) slope(row, slopes[head], table >= 0);
    if (!has_bias(a)) memset(row.y, 0, static_cast<size_t>(row.count) * sizeof(float));
  }
  bool filled = table >= 0 || slopes != nullptr;
  if constexpr (linked::kPlaceScores) {
    if (has_place_scores(a)) {
      add_place_scores(run, op, call, head, scratch, filled);
      filled = true;
    }
  }
  if constexpr (linked::kMarked) {
    if (looks_at_marks(a)) {
      row.y = static_cast<float*>(call.scratch);
      hide_unmarked(run, call, row, filled);
      filled = true;
    }
  }
  const auto* keys = linked::kSegmentKeys ? constant<float>(run, named_input(op, a.segment_keys())) : nullptr;
  if (keys == nullptr) return;
  row.y = static_cast<float*>(call.scratch);
  const uint32_t width_of_row = extent(tensor(run.model, named_input(op, a.segment_keys())), 1);
  add_segments(run, call, keys + size_t{head} * width_of_row, row, filled);
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(DistanceBias) || ...
