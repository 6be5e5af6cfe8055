// Spans: scores of word spans for labels given with the text.
#include <string.h>

#include "bantam/model.h"
#include "ops/operands.h"

namespace bantam::ops {
namespace {

/// The most words of a span, and the most labels.
constexpr uint32_t kMost = 1u << 16;

Verdict check_rows(const Site& site, int32_t index, uint32_t columns) {
  const fb::Tensor& t = tensor(site.model, index);
  return is_token_rows(t) && width(t) == columns
             ? Verdict{}
             : corrupt("scores of spans are of shared f32 rows of tokens, of equal widths", index);
}

Verdict verify_spans(const Site& site) {
  const fb::Spans& spans = *site.op.attributes_as_Spans();
  if (site.rows_symbol != kTokens) return corrupt("scores of spans run over tokens");
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows scores of spans within their op");
  if (mark_types(site.model) <= static_cast<uint32_t>(kWordMark)) {
    return corrupt("scores of spans need marks of labels and of words");
  }
  if (spans.width() == 0 || spans.labels() == 0 || spans.width() > kMost || spans.labels() > kMost ||
      uint64_t{spans.width()} * spans.labels() > kMaxWidth) {
    return corrupt("spans of no word or label, or of too many");
  }
  const int32_t starts = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, starts);
  const uint32_t columns = t.shape()->size() == 2 ? width(t) : 0;
  for (uint32_t i = 0; i < 3; ++i) BANTAM_CHECK(check_rows(site, operand(site.op.inputs(), i), columns));
  const int32_t y = operand(site.op.outputs(), 0);
  if (y < 0 || operand(site.op.outputs(), 1) >= 0) return corrupt("scores of spans have one output");
  return check_rows(site, y, spans.width() * spans.labels());
}

uint64_t spans_scratch(const fb::Model&, const fb::Op& op, const ScratchNeed&) {
  return round_up(uint64_t{op.attributes_as_Spans()->labels()} * sizeof(uint32_t), 16);
}

/// Computes the spans that begin in the rows of a tile.
class SpansOfTile {
 public:
  SpansOfTile(const TileRun& run, const fb::Op& op)
      : run_(run),
        spans_(*op.attributes_as_Spans()),
        starts_(all_rows(run, operand(op.inputs(), 0))),
        ends_(all_rows(run, operand(op.inputs(), 1))),
        labels_(all_rows(run, operand(op.inputs(), 2))),
        y_(all_rows(run, operand(op.outputs(), 0))),
        columns_(width(tensor(run.model, operand(op.inputs(), 0)))),
        label_rows_(reinterpret_cast<uint32_t*>(run.scratch)) {}

  /// Returns false if a value is not finite.
  bool run() {
    uint32_t sequence = find_sequence(run_, run_.row_begin);
    bool finite = true, known = false;
    for (uint32_t row = run_.row_begin; row < run_.row_begin + run_.rows; ++row) {
      while (row >= run_.offsets[sequence + 1]) {
        ++sequence;
        known = false;
      }
      float* y = y_.from(row).f32();
      memset(y, 0, size_t{spans_.width()} * spans_.labels() * sizeof(float));
      if (run_.marks[row] != kWordMark) continue;
      if (!known) find_labels(sequence);
      known = true;
      finite &= score(row, run_.offsets[sequence + 1], y);
    }
    return finite;
  }

 private:
  void find_labels(uint32_t sequence) {
    count_ = 0;
    for (uint32_t row = run_.offsets[sequence]; row < run_.offsets[sequence + 1] && count_ < spans_.labels(); ++row) {
      if (run_.marks[row] == kLabelMark) label_rows_[count_++] = row;
    }
  }

  bool score(uint32_t first, uint32_t end, float* y) {
    kernels::SpanScores args;
    args.start = starts_.from(first).f32();
    args.width = columns_;
    args.labels = labels_.f32();
    args.stride = labels_.stride;
    args.rows = label_rows_;
    args.count = count_;
    bool finite = true;
    uint32_t words = 0;
    for (uint32_t row = first; row < end && words < spans_.width(); ++row) {
      if (run_.marks[row] != kWordMark) continue;
      args.end = ends_.from(row).f32();
      args.y = y + size_t{words++} * spans_.labels();
      finite &= run_.kernels.span_scores(args);
    }
    return finite;
  }

  const TileRun& run_;
  const fb::Spans& spans_;
  Rows starts_, ends_, labels_, y_;
  uint32_t columns_;
  uint32_t* label_rows_;
  uint32_t count_ = 0;
};

Status run_spans(const TileRun& run, const fb::Op& op) {
  return SpansOfTile(run, op).run() ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Spans, verify_spans, spans_scratch, run_spans);

}  // namespace bantam::ops
