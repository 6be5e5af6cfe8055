// The best tokens for one [MASK], or to follow a text.
#include "bantam/tasks.h"
#include "linked.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/select.h"

#if BANTAM_IF_LINKED(part_Masks) || BANTAM_IF_LINKED(part_NextWords)

namespace bantam {
namespace {

/// Row of the `mask`-th mask token; row_count if there are fewer.
uint32_t mask_row(const EncodedSequence& encoded, int32_t mask_id, uint32_t mask) {
  for (uint32_t row = 0; row < encoded.row_count; ++row) {
    if (encoded.ids[row] == mask_id && mask-- == 0) return row;
  }
  return encoded.row_count;
}

/// Writes the best tokens by the scores of row `row`.
void best_words(const Session& session, const OutputView& view, uint32_t row, Candidate* out, uint32_t capacity,
                uint32_t* count) {
  const tasks::Logits logits{view.data + row * view.stride, 1, view.width};
  const tasks::Probability math(session);
  const tasks::Softmax softmax = math.softmax(logits, 1.0f);
  *count = tasks::select_best<int32_t>(logits, out, capacity);
  for (uint32_t i = 0; i < *count; ++i) out[i].score = math.of(softmax, out[i].score);
}

}  // namespace

Status fill(const Session& session, uint32_t sequence, uint32_t mask, Candidate* out, uint32_t capacity,
            uint32_t* count) {
  const Model& model = session.model();
  if (!has_part(model.task(), kMasksPart)) return Status::kNoSuchTask;
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  if (session.tokenizer() == nullptr) return Status::kNoTokenizer;
  OutputView view;
  const Status status = tasks::head_output(session, kFillHead, sequence, &view);
  if (status != Status::kOk) return status;
  const EncodedSequence encoded = session.sequence(sequence);
  const int32_t mask_id = session.tokenizer()->mask_id();
  const uint32_t row = mask_id < 0 ? encoded.row_count : mask_row(encoded, mask_id, mask);
  if (row >= encoded.row_count) return Status::kIndexOutOfRange;
  uint32_t place = row;
  if (view.numbers != nullptr) {
    for (place = 0; place < view.rows && view.numbers[place] != encoded.row_begin + row;) ++place;
    if (place == view.rows) return Status::kNotRun;
  }
  if (place >= view.rows) return Status::kIndexOutOfRange;
  best_words(session, view, place, out, capacity, count);
  return Status::kOk;
}

Status next_words(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count) {
  if (!has_part(session.model().task(), kNextWordsPart)) return Status::kNoSuchTask;
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kNextWordHead, sequence, &view);
  if (status != Status::kOk) return status;
  best_words(session, view, view.rows - 1, out, capacity, count);
  return Status::kOk;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(part_Masks) || BANTAM_IF_LINKED(part_NextWords)
