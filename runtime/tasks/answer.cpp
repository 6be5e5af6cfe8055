// Extractive question answering: finds the best valid span, exhaustively or by beam search, and merges the answers of
// windows.
#include "bantam/tasks.h"
#include "linked.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/select.h"

#if BANTAM_IF_LINKED(part_Span)

namespace bantam {
namespace {

/// Start and end logits of one sequence's rows, one float per row.
struct SpanLogits {
  OutputView start;
  OutputView end;
  float begin_at(uint32_t row) const { return start.data[row * start.stride]; }
  float end_at(uint32_t row) const { return end.data[row * end.stride]; }
};

Status span_logits(const Session& session, uint32_t sequence, SpanLogits* out) {
  const Status status = tasks::head_output(session, kStartHead, sequence, &out->start);
  return status == Status::kOk ? tasks::head_output(session, kEndHead, sequence, &out->end) : status;
}

/// Rows of the context: sequence 1 of the pair.
struct Context {
  uint32_t begin = 0;
  uint32_t end = 0;
};

Context context_of(const EncodedSequence& encoded) {
  Context context;
  for (uint32_t row = 0; row < encoded.row_count; ++row) {
    if (encoded.sequences[row] != 1) continue;
    if (context.end == 0) context.begin = row;
    context.end = row + 1;
  }
  return context;
}

uint32_t last_end(const Context& context, uint32_t begin, uint32_t longest) {
  return context.end - begin > longest ? begin + longest : context.end;
}

/// Finds the rows of the best span; returns false if there is no valid one.
bool search(const SpanLogits& logits, const Context& context, uint32_t longest, uint32_t* first, uint32_t* last,
            float* best) {
  bool found = false;
  for (uint32_t begin = context.begin; begin < context.end; ++begin) {
    for (uint32_t end = begin; end < last_end(context, begin, longest); ++end) {
      const float logit = logits.begin_at(begin) + logits.end_at(end);
      if (found && !(logit > *best)) continue;
      found = true;
      *best = logit;
      *first = begin;
      *last = end;
    }
  }
  return found;
}

/// Sum of exp(logit - best) over the valid spans, in order, a block at a time.
float mass_of(const SpanLogits& logits, const Context& context, uint32_t longest, float best,
              const tasks::Probability& math) {
  alignas(64) float block[tasks::Probability::kBlock];
  uint32_t filled = 0;
  float mass = 0;
  const auto add_block = [&] {
    if (filled == 0) return;
    math.exponentials(block, filled);
    for (uint32_t i = 0; i < filled; ++i) mass += block[i];
    filled = 0;
  };
  for (uint32_t begin = context.begin; begin < context.end; ++begin) {
    for (uint32_t end = begin; end < last_end(context, begin, longest); ++end) {
      block[filled++] = logits.begin_at(begin) + logits.end_at(end) - best;
      if (filled == tasks::Probability::kBlock) add_block();
    }
  }
  add_block();
  return mass;
}

bool is_searched(const fb::Task& task) { return kBeamEnds && task.beam_ends() != 0; }

/// XLNet's search: for each of the likeliest starts, the likeliest ends, with probabilities over the whole sequence.
/// Stores the best valid span in *answer, and the mass of all valid spans.
class SpanSearch {
 public:
  SpanSearch(const Session& session, uint32_t sequence, uint32_t longest, Answer* answer)
      : session_(session),
        sequence_(sequence),
        encoded_(session.sequence(sequence)),
        context_(context_of(encoded_)),
        longest_(longest),
        math_(session),
        answer_(*answer) {}

  Status run(const fb::Task& task) {
    tasks::Logits begins;
    Status status = scores(kStartHead, 0, &begins);
    if (status != Status::kOk || encoded_.row_count == 0) return status;
    const tasks::Softmax share = math_.softmax(begins, 1);
    const uint32_t count = tasks::select_best<uint32_t>(begins, beginnings_, kMostSearched);
    for (uint32_t rank = 0; rank < count; ++rank) {
      tasks::Logits ends;
      status = scores(kEndHead, rank, &ends);
      if (status == Status::kNoSuchTask && rank > 0) break;  // no more starts
      if (status != Status::kOk) return status;
      behind(beginnings_[rank].label, math_.of(share, beginnings_[rank].score), ends, task.beam_ends());
    }
    OutputView none;
    status = tasks::head_output(session_, kUnanswerableHead, sequence_, &none);
    if (status == Status::kOk) answer_.no_answer = none.data[0];
    return status;
  }

 private:
  Status scores(const Head& head, uint32_t which, tasks::Logits* out) const {
    OutputView view;
    const Status status = tasks::head_output(session_, head, sequence_, &view, which);
    if (status != Status::kOk) return status;
    *out = {view.data, view.stride, encoded_.row_count};
    return encoded_.row_count > view.rows ? Status::kIndexOutOfRange : Status::kOk;
  }

  void behind(uint32_t first, float probability, const tasks::Logits& ends, uint32_t most) {
    if (first < context_.begin || first >= context_.end) return;
    const tasks::Softmax share = math_.softmax(ends, 1);
    const uint32_t count = tasks::select_best<uint32_t>(ends, ends_, most < kMostSearched ? most : kMostSearched);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t last = ends_[i].label;
      if (last >= first && last < last_end(context_, first, longest_)) {
        add(first, last, probability + math_.of(share, ends_[i].score));
      }
    }
  }

  void add(uint32_t first, uint32_t last, float score) {
    if (answer_.mass > 0 && !(score > answer_.logit)) {
      answer_.mass += math_.exponential(score - answer_.logit);
      return;
    }
    answer_.mass = answer_.mass > 0 ? answer_.mass * math_.exponential(answer_.logit - score) + 1 : 1;
    answer_.logit = score;
    answer_.span = {encoded_.offsets[first].begin, encoded_.offsets[last].end};
  }

  const Session& session_;
  const uint32_t sequence_;
  const EncodedSequence encoded_;
  const Context context_;
  const uint32_t longest_;
  const tasks::Probability math_;
  Answer& answer_;
  LabelScore beginnings_[kMostSearched] = {};
  LabelScore ends_[kMostSearched] = {};
};

/// Like settle(), for spans that were searched: here the no-answer score has its own scale and is not compared with the
/// span's.
void settle_searched(const fb::Task& task, const tasks::Probability& math, Answer* answer) {
  const bool found = answer->mass > 0;
  answer->answerable = found && !(task.no_answer() && answer->no_answer > task.no_answer_threshold());
  if (answer->answerable) {
    answer->score = 1.0f / answer->mass;
  } else {
    answer->score = task.no_answer() ? math.sigmoid(answer->no_answer) : 0.0f;
  }
}

/// Decides between span and no answer, and fills in the probability of the decision.
void settle(const fb::Task& task, const tasks::Probability& math, Answer* answer) {
  if (is_searched(task)) return settle_searched(task, math, answer);
  const bool found = answer->mass > 0;
  const float margin = answer->no_answer - answer->logit;
  answer->answerable = found && !(task.no_answer() && margin > task.no_answer_threshold());
  if (!found) {
    answer->score = task.no_answer() ? 1.0f : 0.0f;
  } else if (answer->answerable) {
    const float null_mass = task.no_answer() ? math.exponential(margin) : 0.0f;
    answer->score = 1.0f / (answer->mass + null_mass);
  } else {
    answer->score = 1.0f / (1.0f + answer->mass * math.exponential(-margin));
  }
}

}  // namespace

Status answer(const Session& session, uint32_t sequence, Answer* out) {
  if (!has_part(session.model().task(), kSpanPart)) return Status::kNoSuchTask;
  if (out == nullptr) return Status::kInvalidArgument;
  SpanLogits logits;
  Status status = span_logits(session, sequence, &logits);
  if (status != Status::kOk) return status;
  const EncodedSequence encoded = session.sequence(sequence);
  if (encoded.offsets == nullptr || encoded.sequences == nullptr) return Status::kNotRun;  // ids, not text
  if (encoded.row_count > logits.start.rows || encoded.row_count > logits.end.rows) return Status::kIndexOutOfRange;
  const fb::Task& task = *tasks::task_of(session.model());
  const uint32_t longest = task.max_answer_tokens() > 0 ? task.max_answer_tokens() : 1;
  *out = Answer();
  if (is_searched(task)) {
    status = SpanSearch(session, sequence, longest, out).run(task);
    if (status == Status::kOk) settle(task, tasks::Probability(session), out);
    return status;
  }
  uint32_t first = 0;
  uint32_t last = 0;
  const Context context = context_of(encoded);
  const tasks::Probability math(session);
  if (search(logits, context, longest, &first, &last, &out->logit)) {
    out->mass = mass_of(logits, context, longest, out->logit, math);
    out->span = {encoded.offsets[first].begin, encoded.offsets[last].end};
  }
  if (encoded.row_count > 0) out->no_answer = logits.begin_at(0) + logits.end_at(0);
  settle(task, math, out);
  return Status::kOk;
}

Status merge_answer(const Model& model, const Answer& window, Answer* best) {
  if (!has_part(model.task(), kSpanPart)) return Status::kNoSuchTask;
  if (best == nullptr) return Status::kInvalidArgument;
  const tasks::Probability math;
  if (window.no_answer < best->no_answer) best->no_answer = window.no_answer;
  if (window.mass > 0 && (best->mass == 0 || window.logit > best->logit)) {
    const float rest = best->mass == 0 ? 0.0f : best->mass * math.exponential(best->logit - window.logit);
    best->mass = window.mass + rest;
    best->logit = window.logit;
    best->span = window.span;
  } else if (window.mass > 0) {
    best->mass += window.mass * math.exponential(window.logit - best->logit);
  }
  settle(*tasks::task_of(model), math, best);
  return Status::kOk;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(part_Span)
