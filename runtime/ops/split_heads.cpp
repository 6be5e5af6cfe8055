// SplitHeads: converts f32 rows [q | k | v] to the layouts that attention reads.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"

namespace bantam::ops {
namespace {

/// Checks that the table has a row for every token position, with as many angles as a head needs.
[[maybe_unused]] Verdict check_rotary(const Site& site, uint32_t head_width) {
  const int32_t index = named_input(site.op, site.op.attributes_as_SplitHeads()->rotary());
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && width(t) % 2 == 0 && width(t) <= head_width;
  if (!fits) return corrupt("rotary positions are not an f32 matrix of an even width that fits a head", index);
  const uint32_t places = longest_sequence(site.model, site.phase);
  return places != 0 && places <= extent(t, 0) ? Verdict{}
                                               : corrupt("a place can reach beyond the rotary positions", index);
}

/// Columns of queries and of keys.
struct Columns {
  uint32_t q, k;
  uint32_t wider() const { return q > k ? q : k; }
  uint32_t all() const { return q + 2 * k; }
};
Columns columns_of(const fb::SplitHeads& split) {
  return {split.heads() * split.head_width(), split.kv_heads() * split.head_width()};
}

/// Returns the stride of rows in the norms' table, in floats.
[[maybe_unused]] uint32_t norm_stride(const fb::SplitHeads& split) {
  return kernels::pad16(split.each_head() ? split.head_width() : columns_of(split).wider());
}

[[maybe_unused]] Verdict check_norms(const Site& site) {
  const fb::SplitHeads& split = *site.op.attributes_as_SplitHeads();
  const int32_t index = named_input(site.op, split.norms());
  if (split.norms_behind() && (index < 0 || split.rotary() < 0)) {
    return corrupt("norms behind a rotation lack one of the two");
  }
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && extent(t, 0) == 4 && width(t) == norm_stride(split);
  if (!fits) return corrupt("norms of queries and keys are not four rows of an f32 matrix of their width", index);
  if (split.norm() != fb::NormKind::layer && split.norm() != fb::NormKind::rms) {
    return corrupt("norms of queries and keys are neither layer norms nor rms norms", index);
  }
  if (!linked::norm(static_cast<uint32_t>(split.norm()))) return not_linked("this build leaves the norm out");
  return split.epsilon() >= 0.0f && split.epsilon() <= 1.0f ? Verdict{}
                                                            : corrupt("the norms' epsilon is not in [0, 1]", index);
}

Verdict verify_split(const Site& site) {
  const fb::SplitHeads& split = *site.op.attributes_as_SplitHeads();
  BANTAM_CHECK(check_no_epilogue(site));
  const HeadShape shape = {split.heads(), split.kv_heads(), split.head_width()};
  BANTAM_CHECK(check_split_shape(shape));
  if (site.rows_symbol != kTokens) return corrupt("heads are split over tokens");
  BANTAM_CHECK(check_row_input(site, 0, (shape.heads + 2 * shape.kv_heads) * shape.head_width, false));
  const int32_t q = operand(site.op.outputs(), 0);
  const int32_t k = operand(site.op.outputs(), 1);
  const int32_t v = operand(site.op.outputs(), 2);
  BANTAM_CHECK(check_head_tensors(site, shape, q, k, v));
  // Only the main pass reads states, so a split that stores them belongs to the source pass and has no queries.
  const bool leaves = k >= 0 && is_state(tensor(site.model, k));
  if (leaves && (q >= 0 || site.phase != fb::Phase::source)) {
    return corrupt("states are split alone, by the pass over a source", k);
  }
  if constexpr (linked::kRotary) BANTAM_CHECK(check_rotary(site, shape.head_width));
  if constexpr (linked::kHeadNorms) BANTAM_CHECK(check_norms(site));
  if (q >= 0 && k >= 0 && tensor(site.model, q).region() == fb::Region::tile) {
    return corrupt("queries of a tile are split alone", q);
  }
  return {};
}

size_t rotary_bytes(const fb::SplitHeads& split) {
  return linked::kRotary && split.rotary() >= 0 ? kernels::rotary_scratch_bytes(split.head_width()) : 0;
}

/// Scratch for rotary positions and, after it, a row and its normalized queries or keys.
uint64_t split_scratch(const fb::Model&, const fb::Op& op, const ScratchNeed&) {
  const fb::SplitHeads& split = *op.attributes_as_SplitHeads();
  uint64_t bytes = rotary_bytes(split);
  if (linked::kHeadNorms && split.norms() >= 0) {
    bytes += (uint64_t{kernels::pad16(columns_of(split).all())} + norm_stride(split)) * 4;
  }
  return bytes;
}

/// Splits rows of one sequence into queries, keys and values. With contexts, keys and values go to their pages.
bool split_sequence(const TileRun& run, kernels::SplitHeads args, bool state, uint32_t sequence, uint32_t row) {
  if (linked::kSources && state) args.row_begin = source_row(run, sequence) + (row - run.offsets[sequence]);
  if (state || run.contexts == nullptr) return run.kernels.split_heads(args);
  const uint32_t heads = args.heads, kv_heads = args.kv_heads;
  bool finite = true;
  if (heads != 0) {
    args.kv_heads = 0;
    finite = run.kernels.split_heads(args);
  }
  if (kv_heads == 0) return finite;
  args.x += heads * args.head_width;
  args.heads = 0;
  args.kv_heads = kv_heads;
  const uint32_t* pages = page_list(run, sequence);
  uint32_t place = key_row(run, sequence, row);
  for (uint32_t left = args.rows; left != 0; left -= args.rows) {
    const uint32_t lane = place % 16;
    args.rows = left < 16 - lane ? left : 16 - lane;
    args.row_begin = pages[place / 16] * 16 + lane;
    finite &= run.kernels.split_heads(args);
    args.x += args.rows * args.x_stride;
    args.skip_rotary(args.rows);
    place += args.rows;
  }
  return finite;
}

/// Returns true if keys and values are states, which outlive the source pass.
bool leaves_state(const TileRun& run, const fb::Op& op) {
  const int32_t k = linked::kSources ? operand(op.outputs(), 1) : -1;
  return k >= 0 && is_state(tensor(run.model, k));
}

/// Splits sequence by sequence, because tokens' positions select rows of the table. args.x: row `first` of the tile.
Status split_by_sequence(const TileRun& run, const fb::Op& op, kernels::SplitHeads args, uint32_t first) {
  const int32_t index = named_input(op, op.attributes_as_SplitHeads()->rotary());
  uint32_t row = run.row_begin + first;
  uint32_t sequence = find_sequence(run, row);
  const uint32_t end = row + args.rows;
  bool finite = true;
  for (; row < end; ++sequence) {
    const uint32_t sequence_end = run.offsets[sequence + 1] < end ? run.offsets[sequence + 1] : end;
    args.rows = sequence_end - row;
    if (linked::kRotary && index >= 0 && !(linked::kHeadNorms && op.attributes_as_SplitHeads()->norms_behind())) {
      const auto* table = constant<float>(run, index);
      const uint32_t columns = width(tensor(run.model, index));
      args.rotate_by(table + size_t{place_of(run, sequence, row)} * columns, columns / 2, run.scratch);
    }
    finite &= split_sequence(run, args, leaves_state(run, op), sequence, row);
    args.x += args.rows * args.x_stride;
    args.row_begin += args.rows;
    row = sequence_end;
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

Status split_rows(const TileRun& run, const fb::Op& op, const kernels::SplitHeads& args, uint32_t first) {
  const bool rotary = linked::kRotary && op.attributes_as_SplitHeads()->rotary() >= 0;
  if (rotary || run.contexts != nullptr || leaves_state(run, op)) return split_by_sequence(run, op, args, first);
  return run.kernels.split_heads(args) ? Status::kOk : Status::kNonFinite;
}

/// Rotates `heads` heads of a row in place.
[[maybe_unused]] void turn_heads(const float* cosines, uint32_t half, uint32_t heads, uint32_t head_width, float* x) {
  const float* sines = cosines + half;
  for (uint32_t head = 0; head < heads; ++head, x += head_width) {
    for (uint32_t i = 0; i < half; ++i) {
      const float low = x[i], high = x[half + i];
      x[i] = low * cosines[i] - high * sines[i];
      x[half + i] = high * cosines[i] + low * sines[i];
    }
  }
}

/// Splits row by row; queries and keys are normalized in scratch, and rotated before that if the operator says so.
[[maybe_unused]] Status run_normed(const TileRun& run, const fb::Op& op, kernels::SplitHeads args) {
  const fb::SplitHeads& split = *op.attributes_as_SplitHeads();
  const auto* table = constant<float>(run, named_input(op, split.norms()));
  const Columns columns = columns_of(split);
  auto* row = reinterpret_cast<float*>(run.scratch + rotary_bytes(split));
  float* part = row + kernels::pad16(columns.all());
  kernels::EpilogueRows norm = {};
  norm.x = norm.y = part;
  norm.x_stride = norm.y_stride = norm_stride(split);
  norm.rows = 1;
  norm.norm = static_cast<kernels::Norm>(split.norm());
  norm.epsilon = split.epsilon();
  // Normalizes parts of one head each, or all heads as one part.
  const auto apply = [&](float* values, uint32_t width_of_part, uint32_t first_row) {
    norm.width = split.each_head() ? split.head_width() : width_of_part;
    norm.gamma = table + first_row * norm.x_stride;
    norm.beta = split.norm() == fb::NormKind::rms ? nullptr : norm.gamma + norm.x_stride;
    bool finite = true;
    for (uint32_t done = 0; done < width_of_part; done += norm.width) {
      memcpy(part, values + done, norm.width * sizeof(float));
      finite &= run.kernels.epilogue_rows(norm);
      memcpy(values + done, part, norm.width * sizeof(float));
    }
    return finite;
  };
  const float* x = args.x;
  args.x = row;
  args.rows = 1;
  bool finite = true;
  uint32_t sequence = find_sequence(run, run.row_begin);
  for (uint32_t i = 0; i < run.rows; ++i, x += args.x_stride, ++args.row_begin) {
    memcpy(row, x, columns.all() * sizeof(float));
    if (linked::kRotary && split.norms_behind()) {
      while (run.row_begin + i >= run.offsets[sequence + 1]) ++sequence;
      const int32_t index = named_input(op, split.rotary());
      const uint32_t angles = width(tensor(run.model, index));
      const auto* cosines = constant<float>(run, index) + size_t{place_of(run, sequence, run.row_begin + i)} * angles;
      turn_heads(cosines, angles / 2, split.heads() + split.kv_heads(), split.head_width(), row);
    }
    finite &= apply(row, columns.q, 0);
    finite &= apply(row + columns.q, columns.k, 2);
    finite &= split_rows(run, op, args, i) == Status::kOk;
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

Status run_split(const TileRun& run, const fb::Op& op) {
  const fb::SplitHeads& split = *op.attributes_as_SplitHeads();
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const int32_t q = operand(op.outputs(), 0);
  const int32_t k = operand(op.outputs(), 1);
  kernels::SplitHeads args = {};
  args.x = x.f32();
  args.x_stride = x.stride;
  bind_split(run, split, &args);
  args.q8 = is_q8(run, tensor(run.model, q >= 0 ? q : k));
  if (q >= 0) {
    const QueryRows queries = query_rows(run, q);
    args.row_begin = queries.row_begin;
    args.q = queries.data;
    args.q_stride = queries.stride;
    args.q_scale = queries.scales;
  }
  if (k >= 0) {
    args.key_pages = page_base(run, k);
    args.value_pages = page_base(run, operand(op.outputs(), 2));
  }
  if constexpr (linked::kHeadNorms) {
    if (split.norms() >= 0) return run_normed(run, op, args);
  }
  return split_rows(run, op, args, 0);
}

}  // namespace

BANTAM_RULE(SplitHeads, verify_split, split_scratch, run_split);

}  // namespace bantam::ops
