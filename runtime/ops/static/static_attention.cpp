// SplitHeads and Attention in integer arithmetic.
#include "ops/score_bias.h"
#include "ops/static/static.h"

namespace bantam::ops {
namespace {

Verdict check_pages(const Site& site, int32_t index, const HeadShape& shape, fb::Layout layout) {
  BANTAM_CHECK(check_step_rows(site, index));
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = t.region() == fb::Region::shared && t.type() == fb::DType::i8 && t.layout() == layout &&
                    t.heads() == shape.kv_heads && width(t) == shape.kv_heads * shape.head_width;
  return fits ? Verdict{} : corrupt("keys or values are not shared pages of i8 of the right shape", index);
}

Verdict verify_static_split(const Site& site) {
  const fb::SplitHeads& split = *site.op.attributes_as_SplitHeads();
  const HeadShape shape = {split.heads(), split.kv_heads(), split.head_width()};
  BANTAM_CHECK(check_integer(site, 0, false));
  BANTAM_CHECK(check_split_shape(shape));
  if (linked::kRotary && split.rotary() >= 0) return unsupported("static rotary positions are not executed");
  if (linked::kHeadNorms && split.norms() >= 0) return unsupported("static norms of heads are not executed");
  if (site.rows_symbol != kTokens) return corrupt("heads are split over tokens");
  BANTAM_CHECK(
      check_fixed_rows(site, operand(site.op.inputs(), 0), (shape.heads + 2 * shape.kv_heads) * shape.head_width));
  BANTAM_CHECK(check_present(shape, operand(site.op.outputs(), 0), operand(site.op.outputs(), 1),
                             operand(site.op.outputs(), 2)));
  if (shape.heads != 0) {
    BANTAM_CHECK(check_fixed_rows(site, operand(site.op.outputs(), 0), shape.heads * shape.head_width));
  }
  if (shape.kv_heads == 0) return {};
  BANTAM_CHECK(check_pages(site, operand(site.op.outputs(), 1), shape, fb::Layout::key_pages));
  return check_pages(site, operand(site.op.outputs(), 2), shape, fb::Layout::value_pages);
}

Status run_static_split(const TileRun& run, const fb::Op& op) {
  const fb::SplitHeads& split = *op.attributes_as_SplitHeads();
  const FixedRows x = fixed_tile_rows(run, operand(op.inputs(), 0));
  kernels::StaticSplit args = {};
  args.x = x.data;
  args.x_stride = x.stride;
  bind_split(run, split, &args);
  if (args.heads != 0) {
    const FixedRows q = fixed_tile_rows(run, operand(op.outputs(), 0));
    args.q = q.data;
    args.q_stride = q.stride;
  }
  if (args.kv_heads != 0) {
    args.key_pages = base(run, tensor(run.model, operand(op.outputs(), 1)));
    args.value_pages = base(run, tensor(run.model, operand(op.outputs(), 2)));
  }
  run.kernels.static_split(args);
  return Status::kOk;
}

Verdict verify_static_attention(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const HeadShape shape = {a.heads(), a.kv_heads(), a.head_width()};
  BANTAM_CHECK(check_integer(site, 0, false));
  BANTAM_CHECK(check_head_shape(shape));
  if (shape.head_width > kernels::kMaxStaticWidth) return unsupported("a head in integers is at most 32,768 wide");
  if (site.rows_symbol != kTokens) return corrupt("attention runs over tokens");
  if (a.mask() > fb::MaskKind::causal_window) return unsupported("attention with this mask is not executed");
  if (!linked::mask(static_cast<uint32_t>(a.mask()))) return not_linked("this build leaves the mask out");
  if (has_bias(a) || a.soft_cap() != 0.0f || a.sinks() >= 0 || (linked::kSources && a.cross())) {
    return unsupported("static attention with a bias or a cap, or to a source, is not executed");
  }
  BANTAM_CHECK(check_fixed_rows(site, operand(site.op.inputs(), 0), attention_width(site.op)));
  BANTAM_CHECK(check_pages(site, operand(site.op.inputs(), 1), shape, fb::Layout::key_pages));
  BANTAM_CHECK(check_pages(site, operand(site.op.inputs(), 2), shape, fb::Layout::value_pages));
  BANTAM_CHECK(check_numbers(site, named_input(site.op, site.op.integer()->multiplier()), fb::DType::i32, shape.heads));
  return check_static_output(site, attention_width(site.op), false);
}

uint64_t static_attention_scratch(const fb::Model&, const fb::Op& op, const ScratchNeed& need) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const uint32_t pages = kernels::most_visible_pages(need.pages, need.block_rows, mask_of(a), a.window());
  return round_up(kernels::static_attention_scratch_bytes(pages, need.block_rows, a.head_width()), 16);
}

/// Computes all heads of query rows [begin, end) of the run, which belong to one sequence.
void attend(const TileRun& run, const fb::Op& op, uint32_t begin, uint32_t end, uint32_t sequence) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const FixedRows q = fixed_tile_rows(run, operand(op.inputs(), 0)).from(begin - run.row_begin);
  const FixedRows y = fixed_tile_rows(run, operand(op.outputs(), 0)).from(begin - run.row_begin);
  const auto* multipliers = constant<uint32_t>(run, named_input(op, op.integer()->multiplier()));
  const size_t key_page = kernels::static_key_page_bytes(a.head_width());
  const size_t value_page = kernels::static_value_page_bytes(a.head_width());
  kernels::StaticAttention args = {};
  args.q_stride = q.stride;
  args.query_begin = begin;
  args.queries = end - begin;
  args.key_page_stride = key_page * a.kv_heads();
  args.value_page_stride = value_page * a.kv_heads();
  args.kv_begin = run.offsets[sequence];
  args.kv_end = run.offsets[sequence + 1];
  args.head_width = a.head_width();
  args.mask = mask_of(a);
  args.window = a.window();
  args.y_stride = y.stride;
  args.scratch = run.scratch;
  const uint8_t* keys = base(run, tensor(run.model, operand(op.inputs(), 1)));
  const uint8_t* values = base(run, tensor(run.model, operand(op.inputs(), 2)));
  const uint32_t group = a.heads() / a.kv_heads();
  for (uint32_t head = 0; head < a.heads(); ++head) {
    const size_t column = size_t{head} * a.head_width();
    args.q = q.data + column;
    args.key_pages = keys + head / group * key_page;
    args.value_pages = values + head / group * value_page;
    args.multiplier = multipliers[head];
    args.y = y.data + column;
    run.kernels.static_attention(args);
  }
}

Status run_static_attention(const TileRun& run, const fb::Op& op) {
  uint32_t sequence = find_sequence(run, run.row_begin);
  const uint32_t end = run.row_begin + run.rows;
  for (uint32_t row = run.row_begin; row < end; ++sequence) {
    const uint32_t sequence_end = run.offsets[sequence + 1] < end ? run.offsets[sequence + 1] : end;
    for (uint32_t block_end = 0; row < sequence_end; row = block_end) {
      block_end = sequence_end - row < run.block_rows ? sequence_end : row + run.block_rows;
      attend(run, op, row, block_end, sequence);
    }
  }
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(StaticSplitHeads, verify_static_split, no_scratch, run_static_split);
BANTAM_RULE(StaticAttention, verify_static_attention, static_attention_scratch, run_static_attention);

}  // namespace bantam::ops
