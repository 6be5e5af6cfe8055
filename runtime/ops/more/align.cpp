// Align: the mean of a source's rows, weighted by how well they match a row of the decoder.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs.
constexpr uint32_t kAlignKeys = 1, kAlignValues = 2, kEnergy = 3, kCentre = 4;
constexpr uint32_t kMostWindow = 1u << 24;

uint32_t value_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), kAlignValues)));
}

/// Checks that `index` holds the rows that the source pass stores for its tokens.
Verdict check_source_rows(const Site& site, int32_t index) {
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_state(t) && t.layout() == fb::Layout::rows && rows_symbol(t) == kTokens;
  return fits ? Verdict{} : corrupt("rows of a source are not states of its tokens", index);
}

Verdict verify_align(const Site& site) {
  const fb::Align& align = *site.op.attributes_as_Align();
  if (!linked::kSources || site.rows_symbol != kTokens || site.phase != fb::Phase::main) {
    return corrupt("what looks at a source runs over tokens of the main pass");
  }
  if (align.place() > fb::AlignPlace::MAX) return unsupported("a source is looked at in an unknown way");
  if (!(align.scale() > 0.0f && align.scale() <= 1e6f)) return corrupt("the scale of scores is not a positive number");
  const bool bounded = align.place() != fb::AlignPlace::all;
  if (bounded != (align.window() != 0) || align.window() > kMostWindow) {
    return corrupt("a window of no row or too many, or one where all rows are looked at");
  }
  const auto input = [&](uint32_t position) { return operand(site.op.inputs(), position); };
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  BANTAM_CHECK(check_source_rows(site, input(kAlignKeys)));
  BANTAM_CHECK(check_source_rows(site, input(kAlignValues)));
  const uint32_t columns = input_width(site.model, site.op);
  if (width(tensor(site.model, input(kAlignKeys))) != columns) {
    return corrupt("keys of a source have another width than what they are compared with", input(kAlignKeys));
  }
  BANTAM_CHECK(
      check_vector(site, input(kEnergy), columns, "what scores are summed by is not an f32 vector of their width"));
  if ((align.place() == fb::AlignPlace::given) != (input(kCentre) >= 0)) {
    return corrupt("a place in the source is given where none is asked for, or the other way round");
  }
  if (input(kCentre) >= 0) BANTAM_CHECK(check_row_input(site, kCentre, 1, false));
  return check_epilogue(site, value_width(site.model, site.op));
}

/// Scratch for the epilogue and, after it, the weights of a source.
uint64_t align_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, value_width(model, op), need.block_rows) +
         uint64_t{kernels::align_scratch_floats(need.source_pages * 16)} * sizeof(float);
}

/// The source rows that a row of the decoder attends to, and the position of their center, in rows of the source.
struct Sight {
  uint32_t begin, end;
  float place;
};

/// Converts position `at` to a row number, clamped to [0, rows].
uint32_t row_at(float at, uint32_t rows) {
  if (!(at > 0)) return 0;
  return at >= static_cast<float>(rows) ? rows : static_cast<uint32_t>(at);
}

Sight around(float place, float window, uint32_t rows) {
  const float low = place - window;
  uint32_t begin = row_at(low, rows);
  if (static_cast<float>(begin) < low && begin < rows) ++begin;
  const float high = place + window;
  const uint32_t end = high < 0 ? 0 : row_at(high + 1, rows);
  return {begin, end, place};
}

class Aligned {
 public:
  Aligned(const TileRun& run, const fb::Op& op)
      : run_(run),
        align_(*op.attributes_as_Align()),
        q_(tile_rows(run, operand(op.inputs(), 0))),
        centre_(operand(op.inputs(), kCentre) < 0 ? Rows{} : tile_rows(run, operand(op.inputs(), kCentre))),
        keys_(reinterpret_cast<const float*>(page_base(run, operand(op.inputs(), kAlignKeys)))),
        values_(reinterpret_cast<const float*>(page_base(run, operand(op.inputs(), kAlignValues)))) {
    args_.width = input_width(run.model, op);
    args_.value_width = value_width(run.model, op);
    args_.key_stride = kernels::pad16(args_.width);
    args_.value_stride = kernels::pad16(args_.value_width);
    args_.v = constant<float>(run, operand(op.inputs(), kEnergy));
    args_.scale = align_.scale();
    args_.weights = reinterpret_cast<float*>(run.scratch + sink_scratch(op, args_.value_width, run.block_rows));
    if (align_.place() != fb::AlignPlace::given) return;
    const auto window = static_cast<float>(align_.window());
    args_.fall = -2.0f / (window * window);  // -1 / (2 (window / 2)^2)
  }

  /// Computes row `row` of the tile, which belongs to `sequence`. Returns false if a value is not finite.
  bool row(uint32_t row, uint32_t sequence, float* y) {
    const uint32_t source = run_.sources->numbers[sequence];
    const Sight sight = seen(row, sequence, run_.sources->lengths[source]);
    if (sight.begin >= sight.end) {
      memset(y, 0, args_.value_width * sizeof(float));
      return sight.place == sight.place;
    }
    const size_t first = size_t{source_row(run_, sequence)} + sight.begin;
    args_.q = q_.from(row).f32();
    args_.keys = keys_ + first * args_.key_stride;
    args_.values = values_ + first * args_.value_stride;
    args_.count = sight.end - sight.begin;
    args_.place = sight.place - static_cast<float>(sight.begin);
    args_.y = y;
    return run_.kernels.align_row(args_);
  }

 private:
  Sight seen(uint32_t row, uint32_t sequence, uint32_t rows) const {
    const auto window = static_cast<float>(align_.window());
    if (align_.place() == fb::AlignPlace::all) return {0, rows, 0};
    if (align_.place() == fb::AlignPlace::token) {
      return around(static_cast<float>(place_of(run_, sequence, run_.row_begin + row)), window, rows);
    }
    return around(*centre_.from(row).f32() * static_cast<float>(rows), window, rows);
  }

  const TileRun& run_;
  const fb::Align& align_;
  const Rows q_, centre_;
  const float *keys_, *values_;
  kernels::AlignRow args_ = {};
};

Status run_align(const TileRun& run, const fb::Op& op) {
  const RowSink sink(run, op, value_width(run.model, op), false);
  Aligned aligned(run, op);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      while (run.row_begin + first + i >= run.offsets[sequence + 1]) ++sequence;
      finite &= aligned.row(first + i, sequence, sink.rows(first) + size_t{i} * sink.stride());
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Align, verify_align, align_scratch, run_align);

}  // namespace bantam::ops
