// Attention: y = epilogue(softmax(scale * q transpose(k)) v), per head, within each sequence.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"
#include "ops/more/key_lists.h"
#include "ops/more/segments.h"
#include "ops/parts.h"
#include "ops/score_bias.h"

namespace bantam::ops {
namespace {

static_assert(static_cast<int>(kernels::Mask::kCausalWindow) == static_cast<int>(fb::MaskKind::causal_window));

bool is_cross(const fb::Attention& a) { return linked::kSources && a.cross(); }

HeadShape shape_of(const fb::Attention& a) { return {a.heads(), a.kv_heads(), a.head_width()}; }

Verdict verify_attention(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  BANTAM_CHECK(check_head_shape(shape_of(a)));
  if (site.rows_symbol != kTokens) return corrupt("attention runs over tokens");
  if (!(a.scale() > 0.0f && a.scale() <= 1e6f)) return corrupt("attention's scale is not a positive number");
  if (a.mask() > fb::MaskKind::MAX) return unsupported("attention with this mask is not executed");
  if (!linked::mask(static_cast<uint32_t>(a.mask()))) return not_linked("this build leaves the mask out");
  if (looks_at_marks(a) && mark_types(site.model) == 1) {
    return corrupt("attention by marks in a model that takes none");
  }
  if (!linked::kSoftCap && a.soft_cap() != 0.0f) return not_linked("this build leaves out scores that are capped");
  if constexpr (linked::kFillers) {
    if (hides_fillers(a) != (a.filler() >= 0)) return corrupt("attention's mask and its filler do not belong together");
  }
  BANTAM_CHECK(check_head_tensors(site, shape_of(a), operand(site.op.inputs(), 0), operand(site.op.inputs(), 1),
                                  operand(site.op.inputs(), 2)));
  if constexpr (linked::kBias) BANTAM_CHECK(check_bias(site, a.heads()));
  if constexpr (linked::kKeyLists) BANTAM_CHECK(check_key_lists(site));
  if constexpr (linked::kSinks) {
    BANTAM_CHECK(check_vector(site, named_input(site.op, a.sinks()), a.heads(),
                              "sinks are not an f32 vector of a number a head"));
  }
  if (a.cross() && !linked::kSources) return not_linked("this build leaves out attention to sources");
  const int32_t keys = operand(site.op.inputs(), 1);
  if (a.cross() != is_state(tensor(site.model, keys))) return corrupt("attention to a source reads states", keys);
  const bool biased = sees_retrieved(site.model, a) ? has_bias_beside_distance(a) : has_bias(a);
  if (a.cross() && (site.phase != fb::Phase::main || a.mask() != fb::MaskKind::none || biased)) {
    return corrupt("attention to a source has a mask or a bias, or is in the source's own pass");
  }
  if (sees_a_segment(a) && linked::kSegmentKeys && a.segment_keys() >= 0) {
    return corrupt("attention within segments has keys of segments");
  }
  return check_epilogue(site, attention_width(site.op));
}

uint64_t attention_scratch([[maybe_unused]] const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const uint32_t all_pages = is_cross(a) ? need.source_pages : need.pages;
  const uint32_t pages = kernels::most_visible_pages(all_pages, need.block_rows, mask_of(a), a.window());
  const uint64_t all =
      sink_scratch(op, attention_width(op), need.block_rows) + kernels::attention_scratch_bytes(pages, need.block_rows);
  if (linked::kKeyLists && has_key_lists(a)) return all + key_list_bytes(a, pages);
  return linked::kPlaceScores ? all + place_scratch(model, op, need.block_rows) : all;
}

/// A template, because the field `biased` does not exist if no bias is linked.
template <class Call>
void add_bias(const TileRun& run, const fb::Op& op, Call& call, uint32_t head, [[maybe_unused]] void* scratch) {
  if constexpr (linked::kBias) {
    const fb::Attention& a = *op.attributes_as_Attention();
    call.biased = has_bias(a) || has_soft_cap(a);
    call.soft_cap = a.soft_cap();
    if (call.biased) fill_bias(run, op, call, head, scratch);
  }
}

/// A template, because the field `sink` does not exist if sinks are not linked.
template <class Call>
void add_sink([[maybe_unused]] const TileRun& run, [[maybe_unused]] const fb::Op& op, [[maybe_unused]] Call& call,
              [[maybe_unused]] uint32_t head) {
  if constexpr (linked::kSinks) {
    const auto* sinks = constant<float>(run, named_input(op, op.attributes_as_Attention()->sinks()));
    call.sunk = sinks != nullptr;
    call.sink = sinks != nullptr ? sinks[head] : 0;
  }
}

/// A template, because the field `page_list` does not exist if contexts are not linked.
template <class Call>
void find_pages(const TileRun& run, [[maybe_unused]] Call& call, [[maybe_unused]] uint32_t sequence) {
  if constexpr (linked::kContexts) call.page_list = page_list(run, sequence);
}

/// Returns the end of the rows of a sequence whose keys are visible: fillers at its end may be hidden.
uint32_t end_of_keys(const TileRun& run, [[maybe_unused]] const fb::Attention& a, uint32_t sequence) {
  uint32_t end = run.offsets[sequence + 1];
  if constexpr (linked::kFillers) {
    if (!hides_fillers(a)) return end;
    while (end > run.offsets[sequence] + 1 && run.ids[end - 1] == a.filler()) --end;
  }
  return end;
}

/// Returns the end of a sequence's first segment if it is a prefix, else the first row of the sequence.
uint32_t end_of_prefix(const TileRun& run, const fb::Attention& a, uint32_t sequence) {
  const uint32_t begin = run.offsets[sequence];
  return has_prefix(a) ? behind_front(run.segments, begin, run.offsets[sequence + 1]) : begin;
}

/// Sets the keys of queries of one segment, which begin at row `begin` of the run. Distances to keys of the first
/// segment are computed as if that segment began at the same row as the queries' segment.
void see_segment(const TileRun& run, const fb::Attention& a, uint32_t sequence, uint32_t begin,
                 kernels::Attention& call) {
  const RowSpan own = own_segment(run, sequence, begin);
  call.kv_begin = own.begin;
  call.kv_end = own.end;
  if (!sees_first_segment(a)) return;
  call.kv_begin = run.offsets[sequence];
  call.kv_end = behind_front(run.segments, call.kv_begin, run.offsets[sequence + 1]);
  call.query_begin = call.kv_begin + (begin - own.begin);
}

/// Sets the keys to those of a source.
void see_source(const TileRun& run, const fb::Attention& a, uint32_t sequence, uint32_t begin,
                kernels::Attention& call) {
  if (sees_retrieved(run.model, a)) {
    const RowSpan rows = retrieved_rows(run, sequence);
    call.kv_begin = rows.begin;
    call.kv_end = rows.end;
    call.query_begin = place_beside_chunk(run, sequence, begin);
    return;
  }
  call.query_begin = call.kv_begin = source_row(run, sequence);
  call.kv_end = call.kv_begin + run.sources->lengths[run.sources->numbers[sequence]];
}

/// Returns true if the queries of a sequence have no visible key: their rows are then 0.
bool sees_no_key(const TileRun& run, const fb::Attention& a, uint32_t sequence) {
  if (sees_first_segment(a)) return run.segments[run.offsets[sequence]] != 0;
  if (!sees_retrieved(run.model, a)) return false;
  const RowSpan rows = retrieved_rows(run, sequence);
  return rows.begin == rows.end;
}

/// Computes all heads of a call whose queries, rows [begin, end) of the run, attend to the keys of a list. A template,
/// because the field `page_list` does not exist if lists are not linked. `at_head(head)` sets the call's pointers to a
/// head.
template <class Call, class AtHead>
bool attend_by_list(const TileRun& run, const fb::Op& op, uint32_t begin, uint32_t end, uint32_t sequence, Call& call,
                    const AtHead& at_head) {
  bool finite = true;
  if constexpr (linked::kKeyLists) {
    const fb::Attention& a = *op.attributes_as_Attention();
    auto* pages = static_cast<uint32_t*>(call.scratch);
    const uint32_t most = kernels::attention_pages(run.offsets[sequence], run.offsets[sequence + 1]);
    call.scratch = reinterpret_cast<uint8_t*>(pages) + key_list_bytes(a, most);
    call.biased = true;
    const bool by_head = KeyList::differs_by_head(run, op);
    for (uint32_t first = 0, behind = 0; first < a.heads(); first = behind) {
      const KeyList list(run, op, sequence, begin, end, first, pages);
      list.bind(call);
      behind = by_head ? first + 1 : a.heads();
      for (uint32_t head = first; head < behind; ++head) {
        at_head(head);
        list.fill_bias(call);
        finite &= run.kernels.attention(call);
      }
    }
  }
  return finite;
}

/// Heads times pages of 16 keys times queries below which one thread computes them in less time than a hand-over takes.
constexpr uint64_t kLeastAttended = 384;

/// Number of threads that share the heads of a call.
template <class Call>
uint32_t head_parts(const TileRun& run, const fb::Attention& a, const Call& call) {
  if (!linked::kHost || run.helpers == nullptr) return 1;
  const uint64_t pages = (call.kv_end - call.kv_begin + 15) / 16;
  return pages * call.queries * a.heads() < kLeastAttended ? 1 : parts_of(*run.helpers, a.heads() / 2);
}

/// Computes all heads of query rows [begin, end) of the run, which belong to one sequence, either to its prefix or to
/// the rest and, if masks depend on segments, to one segment. `listed`: they attend to the keys of a list. *all_run:
/// see Helpers.
bool attend(const TileRun& run, const fb::Op& op, uint32_t begin, uint32_t end, uint32_t sequence, float* y,
            size_t y_stride, uint8_t* scratch_bytes, [[maybe_unused]] bool listed, [[maybe_unused]] bool* all_run) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const uint64_t places = linked::kPlaceScores ? place_scratch(run.model, op, run.block_rows) : 0;
  const QueryRows q = query_rows(run, operand(op.inputs(), 0));
  const bool q8 = q.scales != nullptr;
  const size_t key_page = kernels::key_page_bytes(a.head_width(), q8);
  const size_t value_page = kernels::value_page_bytes(a.head_width(), q8);
  kernels::Attention args = {};
  args.q_stride = q.stride;
  args.q_scale_stride = a.heads();
  args.query_begin = key_row(run, sequence, begin);
  args.queries = end - begin;
  args.key_page_stride = key_page * a.kv_heads();
  args.value_page_stride = value_page * a.kv_heads();
  args.kv_begin = args.query_begin - place_of(run, sequence, begin);
  args.kv_end = key_row(run, sequence, end_of_keys(run, a, sequence));
  if (sees_a_segment(a)) see_segment(run, a, sequence, begin, args);
  if (linked::kSources && a.cross()) {
    see_source(run, a, sequence, begin, args);
  } else {
    find_pages(run, args, sequence);
  }
  args.head_width = a.head_width();
  args.scale = a.scale();
  args.mask = mask_of(a);
  if (has_prefix(a)) {
    const uint32_t prefix = end_of_prefix(run, a, sequence);
    if (begin < prefix) args.kv_end = key_row(run, sequence, prefix);
    if (begin >= prefix) args.mask = kernels::Mask::kCausal;
  }
  args.window = a.window();
  args.q8 = q8;
  args.y_stride = y_stride;
  args.scratch = scratch_bytes + places;
  const uint8_t* keys = page_base(run, operand(op.inputs(), 1));
  const uint8_t* values = page_base(run, operand(op.inputs(), 2));
  const uint32_t group = a.heads() / a.kv_heads();
  const size_t row = q.row_begin + (begin - run.row_begin);
  const auto at_head = [&](kernels::Attention& call, uint32_t head) {
    const size_t column = size_t{head} * a.head_width();
    call.q = q.data + (row * q.stride + column) * (q8 ? 1 : 4);
    call.q_scale = q8 ? q.scales + row * a.heads() + head : nullptr;
    call.key_pages = keys + head / group * key_page;
    call.value_pages = values + head / group * value_page;
    call.y = y + column;
    add_sink(run, op, call, head);
  };
  if (linked::kKeyLists && listed) {
    return attend_by_list(run, op, begin, end, sequence, args, [&](uint32_t head) { at_head(args, head); });
  }
  // `scratch`: the scratch of the call, after the part that add_bias needs.
  const auto heads = [&](kernels::Attention& call, uint8_t* scratch, uint32_t first, uint32_t behind) {
    bool finite = true;
    for (uint32_t head = first; head < behind; ++head) {
      at_head(call, head);
      add_bias(run, op, call, head, scratch);
      finite &= run.kernels.attention(call);
    }
    return finite;
  };
  const uint32_t parts = head_parts(run, a, args);
  if (parts < 2) return heads(args, scratch_bytes, 0, a.heads());
  const auto some = [&](uint32_t part) {
    kernels::Attention call = args;
    uint8_t* scratch = scratch_bytes + part * run.helpers->stride;
    call.scratch = scratch + places;
    return heads(call, scratch, a.heads() * part / parts, a.heads() * (part + 1) / parts);
  };
  return run_by_parts(*run.helpers, parts, some, all_run);
}

/// Calls seeing_of if key lists are linked; else all keys are visible.
Seeing seeing_of_rows([[maybe_unused]] const TileRun& run, [[maybe_unused]] const fb::Op& op,
                      [[maybe_unused]] uint32_t sequence, [[maybe_unused]] uint32_t begin,
                      [[maybe_unused]] uint32_t* end) {
  if constexpr (linked::kKeyLists) return seeing_of(run, *op.attributes_as_Attention(), sequence, begin, end);
  return Seeing::kAll;
}

Status run_attention(const TileRun& run, const fb::Op& op) {
  const uint32_t columns = attention_width(op);
  const RowSink sink(run, op, columns, false);
  uint8_t* kernel_scratch = run.scratch + sink_scratch(op, columns, run.block_rows);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true, all_run = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    const uint32_t block_end = run.row_begin + first + n;
    for (uint32_t begin = run.row_begin + first, end = 0; begin < block_end; begin = end) {
      while (begin >= run.offsets[sequence + 1]) ++sequence;
      end = run.offsets[sequence + 1] < block_end ? run.offsets[sequence + 1] : block_end;
      if (end - begin > run.block_rows) end = begin + run.block_rows;
      const uint32_t prefix = end_of_prefix(run, *op.attributes_as_Attention(), sequence);
      if (begin < prefix && prefix < end) end = prefix;
      if (sees_a_segment(*op.attributes_as_Attention())) {
        const uint32_t own = own_segment(run, sequence, begin).end;
        if (own < end) end = own;
      }
      float* y = sink.rows(first) + size_t{begin - run.row_begin - first} * sink.stride();
      const Seeing seeing = seeing_of_rows(run, op, sequence, begin, &end);
      const bool none = sees_no_key(run, *op.attributes_as_Attention(), sequence);
      if (none || (linked::kGlobals && seeing == Seeing::kNothing)) {
        memset(y, 0, size_t{end - begin} * sink.stride() * sizeof(float));
        continue;
      }
      finite &=
          attend(run, op, begin, end, sequence, y, sink.stride(), kernel_scratch, seeing == Seeing::kListed, &all_run);
    }
    finite &= sink.finish(first, n);
  }
  if (!all_run) return Status::kInvalidArgument;
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Attention, verify_attention, attention_scratch, run_attention);

}  // namespace bantam::ops
