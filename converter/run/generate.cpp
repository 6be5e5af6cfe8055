#include "run/generate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "bantam/guesses.h"
#include "base/error.h"
#include "base/status_error.h"
#include "format/view.h"
#include "run/prompts.h"

namespace bantam::convert {
namespace {

/// One text that is being generated.
struct TriedText {
  uint32_t context = 0, source = 0;
  uint32_t run = 0;  // tokens that the context holds, of which the text is sure
  uint32_t passes = 0;
  GuessCount guesses;
  std::unique_ptr<GeneratedSequence> sequence;
};

class Generator {
 public:
  Generator(Engine& engine, const Decoding& decoding, const Retrieve& retrieve, DraftModel* draft)
      : engine_(engine),
        draft_(draft),
        session_(engine.session()),
        model_(engine.model()),
        decoding_(decoding),
        pair_(model_.source_vocabulary() != 0) {
    check(Tokenizer::open(model_, 0, &tokenizer_), engine.file().path());
    if (retrieve != nullptr) chunks_.emplace(session_, engine.file().path(), 0, 0, retrieve);
  }

  std::vector<Made> run(const std::vector<std::string>& texts, const TakeText& take) {
    read(texts);
    const TakeText silent;
    const bool alone = texts.size() == 1 && decoding_.contexts() == 1;
    std::vector<Made> out;
    if (decoding_.has_beams()) {
      for (uint32_t i = 0; i < texts.size(); ++i) out.push_back(search(i));
      return out;
    }
    begin(alone ? take : silent);
    while (step()) {
    }
    for (uint32_t i = 0; i < texts.size(); ++i) out.push_back(best(i));
    return out;
  }

 private:
  /// Tokenizes the prompts; for an encoder-decoder, tokenizes the sources and runs its encoder.
  void read(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) inputs_.push_back(read_sequence(engine_, decoding_, text));
    for (uint32_t i = 0; pair_ && i < inputs_.size();) i = encode_from(i);
  }

  /// Encodes sources from number `first` on, as many as fit one run. Returns the number of the next source.
  uint32_t encode_from(uint32_t first) {
    std::vector<int32_t> ids;
    std::vector<uint32_t> offsets = {0}, numbers;
    uint32_t i = first;
    for (; i < inputs_.size() && (i == first || ids.size() + inputs_[i].given.ids.size() <= session_.max_source());
         ++i) {
      ids.insert(ids.end(), inputs_[i].given.ids.begin(), inputs_[i].given.ids.end());
      offsets.push_back(static_cast<uint32_t>(ids.size()));
      numbers.push_back(i);
    }
    Batch batch;
    batch.ids = ids.data();
    batch.tokens = offsets.back();
    batch.offsets = offsets.data();
    batch.sources = numbers.data();
    batch.sequences = i - first;
    check(session_.encode(batch), engine_.file().path());
    return i;
  }

  uint32_t forced_first() const { return SequenceInput::forced_first(decoding_); }

  /// Runs consecutive tokens in pieces that fit one run. take(first, view) receives the output of the piece that begins
  /// with token `first`.
  template <typename Take>
  void run_pieces(const std::vector<int32_t>& ids, uint32_t context, uint32_t source, bool last_rows,
                  const Take& take) {
    if (chunks_) {
      return chunks_->run(ids.data(), ids.size(), last_rows, [&](size_t first, uint32_t) {
        OutputView view;
        check(session_.output(next_words_output(), 0, &view), engine_.file().path());
        take(first, view);
      });
    }
    for (size_t at = 0; at < ids.size(); at += session_.max_tokens()) {
      Batch batch;
      batch.ids = ids.data() + at;
      batch.tokens = static_cast<uint32_t>(std::min<size_t>(session_.max_tokens(), ids.size() - at));
      batch.contexts = &context;
      batch.sources = pair_ ? &source : nullptr;
      batch.last_rows = last_rows;
      batch.listed = inputs_.front().keeps_shortlist(decoding_);
      check(session_.run(batch), engine_.file().path());
      OutputView view;
      check(session_.output(next_words_output(), 0, &view), engine_.file().path());
      take(at, view);
    }
  }

  static std::vector<float> row_of(const OutputView& view, uint32_t row) {
    const float* begin = view.data + size_t{row} * view.stride;
    return {begin, begin + view.width};
  }

  /// Returns the log-probability of a token from a row of scores.
  double log_probability(std::vector<float> scores, int32_t id) const {
    Sampling sampling;
    sampling.forced = id;
    sampling.log_probability = true;
    NextToken next;
    check(choose_token(scores.data(), static_cast<uint32_t>(scores.size()), nullptr, 0, sampling, &next),
          engine_.file().path());
    return static_cast<double>(next.log_probability);
  }

  /// Scores each answer after prompt number `index`, in a context that is not yet in use.
  std::vector<AnswerScore> answer_scores(uint32_t index) {
    std::vector<AnswerScore> out;
    if (!decoding_.form.scores) return out;
    const uint32_t context = decoding_.has_beams() ? 0 : index * decoding_.best_of;
    std::vector<int32_t> prompt = inputs_[index].prompt;
    if (forced_first() != 0) prompt.push_back(decoding_.said.beams.first_id);
    check(session_.truncate(context, 0), engine_.file().path());
    std::vector<float> behind_prompt;
    run_pieces(prompt, context, index, true,
               [&](size_t, const OutputView& view) { behind_prompt = row_of(view, view.rows - 1); });
    const std::vector<std::vector<int32_t>>& answers = inputs_[index].constraint->answers();
    for (size_t k = 0; k < answers.size(); ++k) {
      const std::vector<int32_t>& ids = answers[k];
      AnswerScore score = {decoding_.form.answers[k], static_cast<uint32_t>(ids.size()), 0};
      score.log_probability = log_probability(behind_prompt, ids.front());
      const Status cut = session_.truncate(context, static_cast<uint32_t>(prompt.size()));
      if (cut == Status::kUnavailable) {  // the context has states
        check(session_.truncate(context, 0), engine_.file().path());
        run_pieces(prompt, context, index, true, [](size_t, const OutputView&) {});
      } else {
        check(cut, engine_.file().path());
      }
      run_pieces({ids.begin(), ids.end() - 1}, context, index, false, [&](size_t first, const OutputView& view) {
        for (uint32_t row = 0; row < view.rows; ++row) {
          score.log_probability += log_probability(row_of(view, row), ids[first + row + 1]);
        }
      });
      out.push_back(std::move(score));
    }
    return out;
  }

  /// Runs each prompt in pieces that fit one run, and chooses the first token of its texts.
  void begin(const TakeText& take) {
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<int32_t>& prompt = inputs_[i].prompt;
      const uint32_t first = i * decoding_.best_of;
      scores_.push_back(answer_scores(i));
      check(session_.truncate(first, 0), engine_.file().path());
      std::vector<float> scores;
      run_pieces(prompt, first, i, true, [&](size_t, const OutputView& view) { scores = row_of(view, view.rows - 1); });
      for (uint32_t k = 0; k < decoding_.best_of; ++k) {
        if (k != 0) check(session_.copy_context(first, first + k), engine_.file().path());
        texts_.emplace_back();
        TriedText& text = texts_.back();
        text.context = first + k;
        text.source = i;
        text.run = static_cast<uint32_t>(prompt.size());
        text.sequence = std::make_unique<GeneratedSequence>(tokenizer_, decoding_, inputs_[i], session_.max_context(),
                                                            decoding_.sampling.seed + k, take);
        std::vector<float> changed = scores;
        NextToken next;
        check(choose_token(changed.data(), static_cast<uint32_t>(changed.size()), prompt.data(),
                           static_cast<uint32_t>(prompt.size()), text.sequence->settings(), &next),
              engine_.file().path());
        text.sequence->add(next, text.run);
      }
    }
  }

  uint32_t next_words_output() const {
    const auto* outputs = root(model_).outputs();
    for (uint32_t i = 0; i < count(outputs); ++i) {
      if (outputs->Get(i)->role() == fb::OutputRole::next_words) return i;
    }
    return 0;
  }

  /// Adds one token, and those that were guessed, to every text that has not ended; returns false if all have.
  bool step() {
    ids_.clear();
    contexts_.clear();
    sources_.clear();
    live_.clear();
    offsets_.assign(1, 0);
    for (TriedText& text : texts_) {
      if (!text.sequence->done()) live_.push_back(&text);
    }
    if (live_.empty()) return false;
    for (TriedText* text : live_) {
      ids_.push_back(text->sequence->ids().back());
      if (guesses_tokens()) guess(*text);
      contexts_.push_back(text->context);
      sources_.push_back(text->source);
      offsets_.push_back(static_cast<uint32_t>(ids_.size()));
    }
    if (chunks_) {
      chunks_->run(ids_.data(), ids_.size(), true, [](size_t, uint32_t) {});
    } else {
      run_step();
    }
    for (uint32_t i = 0; i < live_.size(); ++i) take_tokens(i);
    return true;
  }

  bool guesses_tokens() const { return (decoding_.lookup || draft_ != nullptr) && !chunks_; }

  /// Appends guesses of what follows the text's last token to ids_.
  void guess(TriedText& text) {
    const auto made = static_cast<uint32_t>(text.sequence->ids().size());
    const auto rows = session_.max_tokens() / static_cast<uint32_t>(live_.size()) - 1;
    // The last tokens of a text and of its context are chosen without further rows.
    const uint32_t room = std::min(decoding_.said.beams.max_new - made, session_.max_context() - text.run) - 1;
    const uint32_t most = std::min({text.guesses.next(), rows, room});
    if (most == 0) return;
    known_.clear();
    if (pair_ && draft_ == nullptr) known_ = inputs_[text.source].given.ids;
    const std::vector<int32_t>&prompt = inputs_[text.source].prompt, &ids = text.sequence->ids();
    known_.insert(known_.end(), prompt.begin(), prompt.end());
    known_.insert(known_.end(), ids.begin(), ids.end());
    guessed_.clear();
    if (draft_ != nullptr) {
      draft_->guess(text.context, known_, text.sequence->settings(), most, &guessed_);
    } else {
      guessed_.resize(most);
      guessed_.resize(guess_repeat(known_.data(), static_cast<uint32_t>(known_.size()), most, guessed_.data()));
    }
    // A source may have other tokens than its text.
    const auto vocabulary = static_cast<int32_t>(model_.vocabulary());
    const auto unknown = std::find_if(guessed_.begin(), guessed_.end(), [&](int32_t id) { return id >= vocabulary; });
    ids_.insert(ids_.end(), guessed_.begin(), unknown);
  }

  /// Chooses the tokens after the rows of live text number `i`, as long as its guesses are right.
  void take_tokens(uint32_t i) {
    TriedText& text = *live_[i];
    const int32_t* guesses = ids_.data() + offsets_[i] + 1;
    const uint32_t guessed = offsets_[i + 1] - offsets_[i] - 1;
    ++text.passes;
    uint32_t kept = 0;
    for (bool right = true; right && !text.sequence->done();) {
      NextToken next;
      ++text.run;
      check(next_token(session_, i, kept, text.sequence->settings(), &next), engine_.file().path());
      right = kept < guessed && next.id == guesses[kept];
      if (right) ++kept;
      text.sequence->add(next, text.run);
    }
    if (guessed == 0) return;
    text.guesses.took(guessed, kept);
    if (!text.sequence->done()) check(session_.truncate(text.context, text.run), engine_.file().path());
  }

  /// Runs the last token of each text that has not ended, and its guesses.
  void run_step() {
    Batch batch;
    batch.ids = ids_.data();
    batch.tokens = static_cast<uint32_t>(ids_.size());
    batch.sequences = static_cast<uint32_t>(live_.size());
    batch.offsets = offsets_.data();
    batch.contexts = contexts_.data();
    batch.sources = pair_ ? sources_.data() : nullptr;
    batch.last_rows = batch.tokens == batch.sequences;
    batch.listed = inputs_.front().keeps_shortlist(decoding_);
    check(session_.run(batch), engine_.file().path());
  }

  void say_given(uint32_t index, Made* made) const {
    made->given_tokens = static_cast<uint32_t>(inputs_[index].given.ids.size());
    made->cut_tokens = inputs_[index].given.cut;
  }

  /// Returns the text with the highest score among those tried for input number `index`; among equals, the first.
  Made best(uint32_t index) {
    TriedText* best = nullptr;
    float score = 0;
    for (uint32_t k = 0; k < decoding_.best_of; ++k) {
      TriedText& text = texts_[index * decoding_.best_of + k];
      const double length = static_cast<double>(text.sequence->ids().size());
      const auto own = static_cast<float>(text.sequence->log_sum() /
                                          std::pow(length, static_cast<double>(decoding_.said.beams.length_penalty)));
      if (best != nullptr && own <= score) continue;
      best = &text;
      score = own;
    }
    GeneratedSequence& sequence = *best->sequence;
    Made made;
    made.ids = sequence.ids();
    made.finish = sequence.finish();
    made.passes = best->passes;
    if (decoding_.sampling.log_probability) made.score = score;
    if (decoding_.log_probabilities) made.log_probabilities = sequence.log_probabilities();
    made.text = sequence.text();
    made.answers = std::move(scores_[index]);
    say_given(index, &made);
    return made;
  }

  Made search(uint32_t index) {
    const std::vector<int32_t>& prompt = inputs_[index].prompt;
    BeamOptions options = decoding_.said.beams;
    options.source_ids = inputs_[index].given.ids.data();
    options.source_count = static_cast<uint32_t>(inputs_[index].given.ids.size());
    if (inputs_[index].constraint != nullptr) options.constraint = &inputs_[index].constraint->constraint();
    std::vector<AnswerScore> scores = answer_scores(index);
    const size_t size = BeamSearch::bytes(session_, options);
    std::vector<uint64_t> memory(size / sizeof(uint64_t));
    BeamSearch beams;
    check(beams.begin(&session_, options, prompt.data(), static_cast<uint32_t>(prompt.size()), index, memory.data(),
                      size),
          engine_.file().path());
    for (bool done = false; !done;) check(beams.step(&done), engine_.file().path());
    const BeamText best = beams.text(0);
    Made made;
    made.ids.assign(best.ids, best.ids + best.count);
    made.score = best.score;
    made.finish = decoding_.ends_text(made.ids.back()) ? Finish::kEnd
                  : made.ids.size() >= options.max_new ? Finish::kLength
                                                       : Finish::kContext;
    const TakeText silent;
    TextStream stream(tokenizer_, prompt, decoding_.stop, silent);
    for (const int32_t id : made.ids) {
      if (decoding_.ends_text(id)) break;
      if (stream.add(id)) continue;
      made.finish = Finish::kStop;
      break;
    }
    made.text = stream.finish();
    made.answers = std::move(scores);
    say_given(index, &made);
    return made;
  }

  Engine& engine_;
  DraftModel* draft_;
  Session& session_;
  const Model& model_;
  const Decoding& decoding_;
  const bool pair_;
  Tokenizer tokenizer_;
  std::vector<SequenceInput> inputs_;  // not resized once texts_ refer to them
  std::vector<TriedText> texts_;
  std::vector<std::vector<AnswerScore>> scores_;  // one per prompt
  std::optional<ChunkedText> chunks_;             // for the single text, if something is retrieved
  // The state of one step.
  std::vector<int32_t> ids_, known_, guessed_;
  std::vector<uint32_t> contexts_, sources_, offsets_;
  std::vector<TriedText*> live_;
};

}  // namespace

const char* finish_name(Finish finish) {
  switch (finish) {
    case Finish::kEnd:
      return "end";
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kContext:
      break;
  }
  return "context";
}

std::vector<int32_t> prompt_ids(const Model& model, const std::string& prompt, bool with_special) {
  return text_ids(model, 0, prompt, 0, with_special).ids;
}

uint32_t default_context(const Model& model, uint32_t asked) {
  // More tokens must be requested explicitly, because keys and values of long contexts take more memory than the model.
  constexpr uint32_t kDefault = 2048;
  const uint32_t places = model.max_sequence();
  return asked != 0 ? asked : places != 0 && places < kDefault ? places : kDefault;
}

EngineOptions with_contexts(const Model& model, const Decoding& decoding, EngineOptions options, uint32_t texts,
                            uint32_t context) {
  options.batch = decoding.has_beams() ? decoding.contexts() : texts * decoding.contexts();
  options.max_context = default_context(model, context);
  if (model.source_vocabulary() != 0 && context == 0) {
    options.max_context = std::min(options.max_context, std::max(decoding.said.beams.max_new, 1U) + 1);
  }
  return options;
}

std::vector<Made> generate(Engine& engine, const Decoding& decoding, const std::vector<std::string>& texts,
                           const TakeText& take, const Retrieve& retrieve, DraftModel* draft) {
  return Generator(engine, decoding, retrieve, draft).run(texts, take);
}

}  // namespace bantam::convert
