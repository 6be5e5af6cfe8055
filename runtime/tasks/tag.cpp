// Word labels and entities of a text, as a whole or window by window.
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

/// The rows of logits of a sequence's tokens.
struct TokenRows {
  const tasks::Probability& math;
  const OutputView& view;
  const uint8_t* sequences;
  const float temperature;

  tasks::Logits logits(uint32_t row) const { return {view.data + row * view.stride, 1, view.width}; }
  tasks::Softmax softmax(uint32_t row) const { return math.softmax(logits(row), temperature); }
  /// The best label of a row (ties: smaller index), with its logit.
  LabelScore best(uint32_t row) const {
    LabelScore best;
    tasks::select_best<uint32_t>(logits(row), &best, 1);
    return best;
  }
  LabelScore scored(LabelScore best, uint32_t row) const { return {best.label, math.of(softmax(row), best.score)}; }

#if BANTAM_IF_LINKED(Strategies)
  /// The greatest probability among all tokens of a word (ties: the first token's).
  LabelScore greatest(const tasks::LabelledWord& word) const {
    LabelScore found = scored(best(word.row), word.row);
    for (uint32_t row = word.row + 1; row < word.end; ++row) {
      if (sequences[row] != 0) continue;
      const LabelScore other = scored(best(row), row);
      if (other.score > found.score) found = other;
    }
    return found;
  }

  /// The label with the greatest mean probability (ties: smaller index).
  LabelScore greatest_mean(const tasks::LabelledWord& word) const {
    constexpr uint32_t kBlock = tasks::Probability::kBlock;
    LabelScore found{0, -1.0f};
    for (uint32_t begin = 0; begin < view.width; begin += kBlock) {
      const uint32_t count = view.width - begin < kBlock ? view.width - begin : kBlock;
      float sums[kBlock] = {};
      uint32_t tokens = 0;
      for (uint32_t row = word.row; row < word.end; ++row) {
        if (sequences[row] != 0) continue;
        add(row, begin, count, sums);
        ++tokens;
      }
      for (uint32_t i = 0; i < count; ++i) {
        const float mean = sums[i] / static_cast<float>(tokens);
        if (mean > found.score) found = {begin + i, mean};
      }
    }
    return found;
  }

 private:
  /// Adds a row's probabilities of labels [begin, begin + count).
  void add(uint32_t row, uint32_t begin, uint32_t count, float* sums) const {
    alignas(64) float block[tasks::Probability::kBlock];
    const tasks::Logits x = logits(row);
    const tasks::Softmax softmax = this->softmax(row);
    for (uint32_t i = 0; i < count; ++i) block[i] = x[begin + i] / softmax.temperature - softmax.max;
    math.exponentials(block, count);
    for (uint32_t i = 0; i < count; ++i) sums[i] += block[i] / softmax.sum;
  }
#endif  // BANTAM_IF_LINKED(Strategies)
};

/// The label of a word. score() computes its probability only on request, because that takes an exponential per label.
class WordLabel {
 public:
  WordLabel(const TokenRows& rows, const tasks::LabelledWord& word, Aggregation aggregation)
      : rows_(rows), row_(word.row) {
#if BANTAM_IF_LINKED(Strategies)
    scored_ = aggregation == Aggregation::kAverage || aggregation == Aggregation::kMax;
    if (aggregation == Aggregation::kAverage) best_ = rows.greatest_mean(word);
    if (aggregation == Aggregation::kMax) best_ = rows.greatest(word);
#else
    (void)aggregation;
#endif  // BANTAM_IF_LINKED(Strategies)
    if (!scored_) best_ = rows.best(word.row);
  }
  uint32_t label() const { return best_.label; }
  LabelScore unscored() const { return {best_.label, 0}; }
  LabelScore scored() const { return scored_ ? best_ : rows_.scored(best_, row_); }

 private:
  const TokenRows& rows_;
  uint32_t row_;
  bool scored_ = false;
  LabelScore best_;  // with its probability if scored_, else with its logit
};

/// Returns the label set of words that `set` selects.
uint32_t words_of(const Model& model, uint32_t set) { return set == kTaskSet ? word_label_set(model) : set; }

/// Calls visit(span, WordLabel) for each labelled word of [window.own_begin, window.own_end) from byte `*from` on, and
/// sets `*from` to the end of the last word examined: earlier text is not examined again.
template <typename Visit>
Status for_words(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t* from,
                 uint32_t set, Aggregation aggregation, const Visit& visit) {
  const Model& model = session.model();
  if (!has_part(model.task(), kWordsPart)) return Status::kNoSuchTask;
  if (text.size > UINT32_MAX || (text.size > 0 && text.data == nullptr)) return Status::kInvalidArgument;
  if (aggregation > Aggregation::kMax) return Status::kInvalidArgument;
  if (!linked::kStrategies && aggregation != Aggregation::kWords) return Status::kOpNotLinked;
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
  const tasks::TagSet tags(model, set, aggregation);
  const TokenRows rows{math, view, encoded.sequences, labels != nullptr ? labels->temperature() : 1.0f};
  tasks::WordWalk walk(encoded, *tokenizer, text, aggregation, root(model).task()->blank_words());
  walk.limit(window.own_begin - window.skip, window.own_end - window.skip, *from, window.skip == 0);
  tasks::LabelledWord word;
  while (walk.next(&word)) {
    if (word.end > view.rows) return Status::kIndexOutOfRange;
    *from = word.span.end;
    const WordLabel label(rows, word, aggregation);
    // Punctuation may separate entities, but belongs to none: "(Paris)" is found as "Paris", whatever label the
    // brackets have.
    if (word.mark && tags.tag(label.label()).prefix != 'O') continue;
    visit(word.span, label);
  }
  return Status::kOk;
}

constexpr Window kWhole = {0, UINT32_MAX, 0, UINT32_MAX};

}  // namespace

Status tag_window(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t* resume,
                  Offset* spans, LabelScore* labels, uint32_t capacity, uint32_t* count, uint32_t set,
                  Aggregation aggregation) {
  if (resume == nullptr || count == nullptr || window.own_begin < window.skip || window.own_end < window.own_begin) {
    return Status::kInvalidArgument;
  }
  if (capacity > 0 && (spans == nullptr || labels == nullptr)) return Status::kInvalidArgument;
  uint32_t found = 0;
  uint32_t last = *resume;
  const uint32_t words = words_of(session.model(), set);
  if (aggregation == Aggregation::kFile) aggregation = file_aggregation(session.model(), words);
  const Status status =
      for_words(session, sequence, text, window, &last, words, aggregation, [&](Offset span, const WordLabel& label) {
        if (found < capacity) {
          spans[found] = span;
          labels[found] = label.scored();
        }
        ++found;
      });
  if (status != Status::kOk) return status;
  *count = found;
  *resume = last;
  return found > capacity ? Status::kBufferTooSmall : Status::kOk;
}

Status tag_words(const Session& session, uint32_t sequence, Text text, Offset* spans, LabelScore* labels,
                 uint32_t capacity, uint32_t* count, uint32_t set, Aggregation aggregation) {
  uint32_t resume = 0;
  return tag_window(session, sequence, text, kWhole, &resume, spans, labels, capacity, count, set, aggregation);
}

Status tag(const Session& session, uint32_t sequence, Text text, Entity* out, uint32_t capacity, uint32_t* count,
           uint32_t set, Aggregation aggregation) {
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  const uint32_t words = words_of(session.model(), set);
  if (aggregation == Aggregation::kFile) aggregation = file_aggregation(session.model(), words);
  const tasks::TagSet tags(session.model(), words, aggregation);
  tasks::EntityDecoder decoder = tags.decoder();
  tasks::EntitySink sink{out, capacity};
  Entity done;
  uint32_t from = 0;
  const Status status =
      for_words(session, sequence, text, kWhole, &from, words, aggregation, [&](Offset span, const WordLabel& label) {
        const tasks::Tag tag = tags.tag(label.label());
        // A word outside of entities needs no score.
        const LabelScore found = tag.prefix == 'O' ? label.unscored() : label.scored();
        if (decoder.push(span, tag, found, &done)) sink.put(done);
      });
  if (status != Status::kOk) return status;
  if (decoder.finish(&done)) sink.put(done);
  *count = sink.count;
  return sink.count > capacity ? Status::kBufferTooSmall : Status::kOk;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(part_Words) || BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)
