// Finds spans for the caller's labels: those with the greatest scores that do not overlap.
#include "linked.h"
#include "tasks/labels.h"
#include "tasks/probability.h"

#if BANTAM_IF_LINKED(part_Found)

namespace bantam {
namespace {

/// The scores of one sequence and the positions of its words.
class Found {
 public:
  Found(const Session& session, uint32_t sequence, const OutputView& scores)
      : sequence_(session.sequence(sequence)),
        scores_(scores),
        labels_(tasks::task_of(session.model())->finding()->max_labels()),
        widths_(scores.width / labels_),
        probability_(session) {
    for (uint32_t row = 0; row < sequence_.row_count; ++row) {
      if (sequence_.marks[row] == kLabelMark) ++given_;
    }
    given_ = given_ < labels_ ? given_ : labels_;
  }

  /// Calls visit(span, label, score) for every span and label, in the order of first words, widths, labels.
  template <typename Visit>
  void for_spans(const Visit& visit) const {
    for (uint32_t first = next_word(0); first < sequence_.row_count; first = next_word(first + 1)) {
      uint32_t last = first;
      for (uint32_t w = 0; w < widths_ && last < sequence_.row_count; ++w, last = next_word(last + 1)) {
        const float* row = scores_.data + first * scores_.stride + size_t{w} * labels_;
        for (uint32_t label = 0; label < given_; ++label) visit(first, last, label, row[label]);
      }
    }
  }

  Offset span(uint32_t first, uint32_t last) const {
    uint32_t end = last;  // last token of the word
    while (end + 1 < sequence_.row_count && sequence_.marks[end + 1] == 0 && sequence_.sequences[end + 1] == 0) ++end;
    return {sequence_.offsets[first].begin, sequence_.offsets[end].end};
  }

  float probability(float score) const { return probability_.sigmoid(score); }

 private:
  uint32_t next_word(uint32_t row) const {
    while (row < sequence_.row_count && sequence_.marks[row] != kWordMark) ++row;
    return row;
  }

  EncodedSequence sequence_;
  const OutputView& scores_;
  uint32_t labels_, widths_;
  uint32_t given_ = 0;  // number of labels given
  tasks::Probability probability_;
};

/// Returns the least score whose probability is above `threshold`, by bisection; infinity if there is none.
float least_score(const Found& found, float threshold) {
  float low = -100, high = 100;  // beyond these the sigmoid rounds to 0 or 1
  if (!(found.probability(high) > threshold)) return __builtin_inff();
  for (;;) {
    const float middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    (found.probability(middle) > threshold ? high : low) = middle;
  }
}

bool crosses(Offset a, Offset b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  const bool a_in_b = b.begin <= a.begin && a.end <= b.end;
  return !a_in_b && !(a.begin <= b.begin && b.end <= a.end);
}

/// Returns true if `span` may be added to the `count` entities of `out`, which are sorted by their beginnings.
bool fits(Offset span, const FindOptions& options, const Entity* out, uint32_t count) {
  uint32_t low = 0, high = count;  // the first one that does not begin before the span's end is in [low, high]
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (out[middle].span.begin < span.end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (uint32_t i = low; i > 0; --i) {
    const Offset other = out[i - 1].span;
    const bool same = other.begin == span.begin && other.end == span.end;
    if (same ? !options.several : options.nested ? crosses(other, span) : other.end > span.begin) return false;
    if (!same && !options.nested) return true;  // earlier ones end before this one begins
  }
  return true;
}

/// Inserts `one` after those that begin no later.
void insert(const Entity& one, Entity* out, uint32_t count) {
  for (; count > 0 && out[count - 1].span.begin > one.span.begin; --count) out[count] = out[count - 1];
  out[count] = one;
}

}  // namespace

Status find(const Session& session, uint32_t sequence, const FindOptions& options, Entity* out, uint32_t capacity,
            uint32_t* count) {
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  if (!(options.threshold >= 0.0f && options.threshold <= 1.0f)) return Status::kInvalidArgument;
  *count = 0;
  if (!has_part(session.model().task(), kFoundPart)) return Status::kNoSuchTask;
  OutputView scores;
  const Status status = tasks::head_output(session, kFoundHead, sequence, &scores);
  if (status != Status::kOk) return status;
  if (session.sequence(sequence).offsets == nullptr) return Status::kNotRun;  // ids, not text
  const Found found(session, sequence, scores);
  const float threshold =
      options.threshold > 0 ? options.threshold : tasks::task_of(session.model())->finding()->threshold();
  const float least = least_score(found, threshold);
  // The last span taken, by score and place: those before it in this order have been taken or rejected.
  float last = __builtin_inff();
  uint64_t last_place = 0;
  for (;;) {
    Entity best;
    bool any = false;
    float most = 0;
    uint64_t place = 0, most_place = 0;
    found.for_spans([&](uint32_t first, uint32_t end, uint32_t label, float score) {
      ++place;
      if (!(score >= least) || (any && !(score > most))) return;
      if (score > last || (score == last && place <= last_place)) return;
      const Offset span = found.span(first, end);
      if (!fits(span, options, out, *count)) return;
      any = true;
      most = score;
      most_place = place;
      best.label = label;
      best.span = span;
    });
    if (!any) return Status::kOk;
    if (*count == capacity) return Status::kBufferTooSmall;
    best.score = found.probability(most);
    last = most;
    last_place = most_place;
    insert(best, out, (*count)++);
  }
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(part_Found)
