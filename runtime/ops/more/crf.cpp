// Crf: converts tag scores to scores of the best tag sequences (Viterbi's algorithm, forward and backward).
#include <string.h>

#include "ops/operands.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

/// Least margin of a tag of the best sequence over the other tags: it breaks ties in favor of that sequence.
constexpr float kBehind = 1e-6F;

const fb::Tensor& scores_of(const fb::Model& model, const fb::Op& op) { return tensor(model, operand(op.inputs(), 0)); }

Verdict verify_crf(const Site& site) {
  if (site.rows_symbol != kSequences) return corrupt("chains of tags run over sequences");
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows a chain of tags within its op");
  const int32_t x = operand(site.op.inputs(), 0);
  const int32_t y = operand(site.op.outputs(), 0);
  const int32_t transitions = operand(site.op.inputs(), 1);
  const int32_t members = operand(site.op.inputs(), 2);
  if (y < 0 || operand(site.op.outputs(), 1) >= 0) return corrupt("a chain of tags has one output");
  if (!is_token_rows(tensor(site.model, x))) return corrupt("a chain of tags reads shared f32 rows of tokens", x);
  const uint32_t tags = width(tensor(site.model, x));
  if (!is_token_rows(tensor(site.model, y)) || width(tensor(site.model, y)) != tags) {
    return corrupt("a chain of tags writes rows like those that it reads", y);
  }
  const fb::Tensor& t = tensor(site.model, transitions);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && extent(t, 1) == tags && extent(t, 0) == tags + 2;
  if (!fits) return corrupt("transitions are not an f32 matrix of a row more a tag, and two", transitions);
  if (members < 0) return {};
  return check_numbers(site, members, fb::DType::i32, (ids_limit(site.model, site.phase) + 31) / 32);
}

/// Scratch for two rows of scores.
uint64_t crf_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed&) {
  return uint64_t{2} * sizeof(float) * kernels::pad16(width(scores_of(model, op)));
}

/// Decodes one sequence.
class Chain {
 public:
  Chain(const TileRun& run, const fb::Op& op, uint32_t sequence)
      : crf_(*op.attributes_as_Crf()),
        ids_(run.ids),
        members_(constant<int32_t>(run, operand(op.inputs(), 2))),
        begin_(run.offsets[sequence]),
        end_(run.offsets[sequence + 1]),
        x_(all_rows(run, operand(op.inputs(), 0))),
        y_(all_rows(run, operand(op.outputs(), 0))),
        tags_(width(scores_of(run.model, op))),
        first_(constant<float>(run, operand(op.inputs(), 1))),
        last_(first_ + tags_),
        steps_(last_ + tags_),
        behind_(reinterpret_cast<float*>(run.scratch)),
        next_(behind_ + kernels::pad16(tags_)) {}

  /// Returns false if a score is not finite.
  bool run() { return forward() && backward(); }

 private:
  bool is_member(uint32_t row) const {
    if (row - begin_ < crf_.skip_first() || end_ - row <= crf_.skip_last()) return false;
    if (members_ == nullptr) return true;
    const auto id = static_cast<uint32_t>(ids_[row]);
    return (static_cast<uint32_t>(members_[id / 32]) >> id % 32 & 1u) != 0;
  }
  float* row(const Rows& rows, uint32_t number) const { return rows.from(number).f32(); }

  uint32_t best(const float* scores, const float* more, size_t step) const {
    uint32_t top = 0;
    for (uint32_t i = 1; i < tags_; ++i) {
      if (scores[i] + more[i * step] > scores[top] + more[top * step]) top = i;
    }
    return top;
  }

  /// Subtracts the maximum, so that long sequences lose no precision. Returns false if it is not finite.
  bool level(float* scores) const {
    float top = scores[0];
    for (uint32_t i = 1; i < tags_; ++i) top = scores[i] > top ? scores[i] : top;
    for (uint32_t i = 0; i < tags_; ++i) scores[i] -= top;
    return top - top == 0;
  }

  /// y: score of the best tag sequence that ends at the token with this tag.
  bool forward() {
    uint32_t before = kNoRow;
    bool finite = true;
    for (uint32_t r = begin_; r < end_; ++r) {
      const float* x = row(x_, r);
      float* y = row(y_, r);
      if (!is_member(r)) {
        memcpy(y, x, sizeof(float) * tags_);
        continue;
      }
      if (before == kNoRow) {
        memcpy(y, first_, sizeof(float) * tags_);
      } else {
        const float* from = row(y_, before);
        for (uint32_t j = 0; j < tags_; ++j) y[j] = from[0] + steps_[j];
        for (uint32_t i = 1; i < tags_; ++i) {
          const float* step = steps_ + size_t{i} * tags_;
          for (uint32_t j = 0; j < tags_; ++j) y[j] = from[i] + step[j] > y[j] ? from[i] + step[j] : y[j];
        }
      }
      for (uint32_t j = 0; j < tags_; ++j) y[j] += x[j];
      finite &= level(y);
      before = r;
    }
    return finite;
  }

  /// y: adds the score of the best continuation after the token, and subtracts the score of the best sequence.
  bool backward() {
    uint32_t tag = kNoRow;  // tag of the next token in the best sequence
    bool finite = true;
    memcpy(behind_, last_, sizeof(float) * tags_);
    for (uint32_t r = end_; r-- > begin_;) {
      if (!is_member(r)) continue;
      const float* x = row(x_, r);
      float* y = row(y_, r);
      tag = tag == kNoRow ? best(y, behind_, 1) : best(y, steps_ + tag, tags_);
      const float most = y[tag] + behind_[tag];
      for (uint32_t i = 0; i < tags_; ++i) {
        const float less = y[i] + behind_[i] - most;
        y[i] = less < -kBehind ? less : -kBehind;
        finite &= less - less == 0;
        next_[i] = x[i] + behind_[i];
      }
      y[tag] = 0;
      for (uint32_t i = 0; i < tags_; ++i) behind_[i] = greatest_sum(steps_ + size_t{i} * tags_);
      finite &= level(behind_);
    }
    return finite;
  }

  /// Returns the greatest sum of an element of `step` and the matching one of next_. Uses lanes, so that compilers
  /// vectorize it.
  float greatest_sum(const float* step) const {
    constexpr uint32_t kLanes = 8;
    float most[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) most[l] = step[0] + next_[0];
    uint32_t i = 0;
    for (; i + kLanes <= tags_; i += kLanes) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        const float sum = step[i + l] + next_[i + l];
        most[l] = sum > most[l] ? sum : most[l];
      }
    }
    for (; i < tags_; ++i) most[0] = step[i] + next_[i] > most[0] ? step[i] + next_[i] : most[0];
    for (uint32_t l = 1; l < kLanes; ++l) most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
  }

  const fb::Crf& crf_;
  const int32_t* ids_;
  const int32_t* members_;  // null: all
  uint32_t begin_, end_;
  Rows x_, y_;
  uint32_t tags_;
  const float *first_, *last_, *steps_;  // transitions
  float *behind_, *next_;
};

Status run_crf(const TileRun& run, const fb::Op& op) {
  bool finite = true;
  for (uint32_t i = 0; i < run.rows; ++i) finite &= Chain(run, op, run.row_begin + i).run();
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Crf, verify_crf, crf_scratch, run_crf);

}  // namespace bantam::ops
