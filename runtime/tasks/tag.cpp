// Labels of words and entities of text, whole or window by window.
#include "bantam/tasks.h"
#include "format/view.h"
#include "linked.h"
#include "tasks/entities.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/words.h"

#if BANTAM_IF_LINKED(part_Words) || BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)

namespace bantam {
namespace {

/// The best label of a word (ties: smaller index). Its probability costs an exponential for each label.
struct LabelledRow {
  const tasks::Probability& math;
  const tasks::Logits logits;
  const float temperature;
  LabelScore best;  // with its logit

  LabelledRow(const tasks::Probability& with, const tasks::Logits& row, float by)
      : math(with), logits(row), temperature(by) {
    tasks::select_best<uint32_t>(logits, &best, 1);
  }
  void score() { best.score = math.of(math.softmax(logits, temperature), best.score); }
};

/// The label set of words that `set` names.
uint32_t words_of(const Model& model, uint32_t set) { return set == kTaskSet ? word_label_set(model) : set; }

/// Calls visit(span, LabelledRow) for each labelled word of [window.own_begin, window.own_end) from byte `from` on.
template <typename Visit>
Status for_words(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t from,
                 uint32_t set, const Visit& visit) {
  const Model& model = session.model();
  if (!has_part(model.task(), kWordsPart)) return Status::kNoSuchTask;
  if (text.size > UINT32_MAX || (text.size > 0 && text.data == nullptr)) return Status::kInvalidArgument;
  const Tokenizer* tokenizer = session.tokenizer();
  if (tokenizer == nullptr) return Status::kNoTokenizer;
  OutputView view;
  const bool own = set == word_label_set(model);
  if (!own && !tasks::is_further(model, set)) return Status::kNoSuchTask;
  const Head head = !own ? further_head(set, kTokens) : set == 1 ? kSlotHead : kTagHead;
  const Status status = tasks::head_output(session, head, sequence, &view);
  if (status != Status::kOk) return status;
  const EncodedSequence encoded = session.sequence(sequence);
  if (encoded.offsets == nullptr || encoded.sequences == nullptr) return Status::kNotRun;  // ids, not text
  const tasks::Probability math(session);
  const fb::LabelSet* labels = tasks::label_set(model, set);
  const float temperature = labels != nullptr ? labels->temperature() : 1.0f;
  tasks::WordWalk walk(encoded, *tokenizer, text, root(model).task()->blank_words());
  walk.limit(window.own_begin - window.skip, window.own_end - window.skip, from);
  tasks::LabelledWord word;
  while (walk.next(&word)) {
    if (word.row >= view.rows) return Status::kIndexOutOfRange;
    const tasks::Logits logits{view.data + word.row * view.stride, 1, view.width};
    LabelledRow row(math, logits, temperature);
    visit(word.span, row);
  }
  return Status::kOk;
}

constexpr Window kWhole = {0, UINT32_MAX, 0, UINT32_MAX};

}  // namespace

uint32_t word_label_set(const Model& model) { return has_part(model.task(), kLabelsPart) ? 1 : 0; }

Status tag_window(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t* resume,
                  Offset* spans, LabelScore* labels, uint32_t capacity, uint32_t* count, uint32_t set) {
  if (resume == nullptr || count == nullptr || window.own_begin < window.skip || window.own_end < window.own_begin) {
    return Status::kInvalidArgument;
  }
  if (capacity > 0 && (spans == nullptr || labels == nullptr)) return Status::kInvalidArgument;
  uint32_t found = 0;
  uint32_t last = *resume;
  const uint32_t words = words_of(session.model(), set);
  const Status status = for_words(session, sequence, text, window, *resume, words, [&](Offset span, LabelledRow& row) {
    if (found < capacity) {
      spans[found] = span;
      row.score();
      labels[found] = row.best;
    }
    ++found;
    last = span.end;
  });
  if (status != Status::kOk) return status;
  *count = found;
  *resume = last;
  return found > capacity ? Status::kBufferTooSmall : Status::kOk;
}

Status tag_words(const Session& session, uint32_t sequence, Text text, Offset* spans, LabelScore* labels,
                 uint32_t capacity, uint32_t* count, uint32_t set) {
  uint32_t resume = 0;
  return tag_window(session, sequence, text, kWhole, &resume, spans, labels, capacity, count, set);
}

Status tag(const Session& session, uint32_t sequence, Text text, Entity* out, uint32_t capacity, uint32_t* count,
           uint32_t set) {
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  const uint32_t words = words_of(session.model(), set);
  const tasks::TagSet tags(session.model(), words);
  tasks::EntityDecoder decoder;
  tasks::EntitySink sink{out, capacity};
  Entity done;
  const Status status = for_words(session, sequence, text, kWhole, 0, words, [&](Offset span, LabelledRow& row) {
    // A word outside of entities has no score to tell.
    const tasks::Tag of_word = tags.tag(row.best.label);
    if (of_word.prefix != 'O') row.score();
    if (decoder.push(span, of_word, row.best, &done)) sink.put(done);
  });
  if (status != Status::kOk) return status;
  if (decoder.finish(&done)) sink.put(done);
  *count = sink.count;
  return sink.count > capacity ? Status::kBufferTooSmall : Status::kOk;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(part_Words) || BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)
