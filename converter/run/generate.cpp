#include "run/generate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "format/view.h"
#include "run/prompts.h"
#include "run/status_error.h"

namespace bantam::convert {
namespace {

/// One text that is being made.
struct TriedText {
  uint32_t context = 0, source = 0;
  uint64_t seed = 0;
  double log_sum = 0;
  bool done = false;
  std::vector<float> logs;
  std::unique_ptr<TextStream> stream;
  Made made;
};

class Generator {
 public:
  Generator(Engine& engine, const Decoding& decoding)
      : engine_(engine),
        session_(engine.session()),
        model_(engine.model()),
        decoding_(decoding),
        pair_(session_.max_source() != 0) {
    check(Tokenizer::open(model_, 0, &tokenizer_), engine.file().path());
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
  /// Prompts' tokens; of an encoder-decoder sources', which its encoder reads.
  void read(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const SourceIds given = pair_ ? source_ids(model_, decoding_, text, session_.max_source()) : prompt_of(text);
      given_.push_back(given);
      prompts_.push_back(pair_ ? std::vector<int32_t>{decoding_.said.start_id} : given.ids);
      require_room(prompts_.back());
      if (given.ids.empty()) fail(ExitCode::kInvalid, "the text is empty, and becomes no token");
    }
    for (uint32_t i = 0; pair_ && i < given_.size();) i = encode_from(i);
  }

  /// As many sources from number `first` on as one run takes. Returns the first one that it does not.
  uint32_t encode_from(uint32_t first) {
    std::vector<int32_t> ids;
    std::vector<uint32_t> offsets = {0}, numbers;
    uint32_t i = first;
    for (; i < given_.size() && (i == first || ids.size() + given_[i].ids.size() <= session_.max_source()); ++i) {
      ids.insert(ids.end(), given_[i].ids.begin(), given_[i].ids.end());
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

  SourceIds prompt_of(const std::string& text) const {
    return {prompt_ids(model_, to_string(decoding_.said.prefix) + text, decoding_.special_tokens), 0};
  }

  void require_room(const std::vector<int32_t>& prompt) const {
    if (prompt.empty()) {
      fail(ExitCode::kInvalid, "the prompt is empty, and this model's texts begin with no token of their own");
    }
    if (prompt.size() < session_.max_context()) return;
    const uint32_t places = root(model_).max_sequence();
    fail(ExitCode::kInvalid,
         "the prompt has {} tokens, which leave no room for another in a context of {}; shorten it{}", prompt.size(),
         session_.max_context(), places == 0 || session_.max_context() < places ? ", or give a larger --context" : "");
  }

  /// Each prompt in pieces that one run takes; behind the last one its texts have their first token.
  void begin(const TakeText& take) {
    for (uint32_t i = 0; i < prompts_.size(); ++i) {
      const std::vector<int32_t>& prompt = prompts_[i];
      const uint32_t first = i * decoding_.best_of;
      check(session_.truncate(first, 0), engine_.file().path());
      for (size_t at = 0; at < prompt.size(); at += session_.max_tokens()) {
        Batch batch;
        batch.ids = prompt.data() + at;
        batch.tokens = static_cast<uint32_t>(std::min<size_t>(session_.max_tokens(), prompt.size() - at));
        batch.contexts = &first;
        batch.sources = pair_ ? &i : nullptr;
        batch.last_rows = true;
        check(session_.run(batch), engine_.file().path());
      }
      OutputView view;
      check(session_.output(next_words_output(), 0, &view), engine_.file().path());
      const float* row = view.data + size_t{view.rows - 1} * view.stride;
      const std::vector<float> scores(row, row + view.width);
      for (uint32_t k = 0; k < decoding_.best_of; ++k) {
        if (k != 0) check(session_.copy_context(first, first + k), engine_.file().path());
        texts_.emplace_back();
        TriedText& text = texts_.back();
        text.context = first + k;
        text.source = i;
        text.seed = decoding_.sampling.seed + k;
        text.stream = std::make_unique<TextStream>(tokenizer_, prompt, decoding_.stop, take);
        std::vector<float> changed = scores;
        NextToken next;
        check(choose_token(changed.data(), view.width, prompt.data(), static_cast<uint32_t>(prompt.size()),
                           settings(text), &next),
              engine_.file().path());
        add(text, next);
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

  Sampling settings(const TriedText& text) {
    const BeamOptions& said = decoding_.said.beams;
    const size_t made = text.made.ids.size();
    Sampling sampling = decoding_.sampling;
    sampling.seed = text.seed;
    banned_.assign(said.banned, said.banned + said.banned_count);
    if (made < said.min_new) banned_.insert(banned_.end(), decoding_.ends.begin(), decoding_.ends.end());
    sampling.banned = banned_.data();
    sampling.banned_count = static_cast<uint32_t>(banned_.size());
    if (made == 0) sampling.forced = said.first_id;
    if (made + 1 == said.max_new && said.last_id >= 0) sampling.forced = said.last_id;
    return sampling;
  }

  void add(TriedText& text, const NextToken& next) {
    Made& made = text.made;
    made.ids.push_back(next.id);
    text.logs.push_back(next.log_probability);
    text.log_sum += static_cast<double>(next.log_probability);
    text.done = true;
    if (decoding_.ends_text(next.id)) {
      made.finish = Finish::kEnd;
    } else if (!text.stream->add(next.id)) {
      made.finish = Finish::kStop;
    } else if (made.ids.size() >= decoding_.said.beams.max_new) {
      made.finish = Finish::kLength;
    } else if (session_.context_length(text.context) == session_.max_context()) {
      made.finish = Finish::kContext;
    } else {
      text.done = false;
    }
  }

  /// A token more for every text that has not ended; false: all have.
  bool step() {
    ids_.clear();
    contexts_.clear();
    sources_.clear();
    live_.clear();
    offsets_.assign(1, 0);
    for (TriedText& text : texts_) {
      if (text.done) continue;
      ids_.push_back(text.made.ids.back());
      contexts_.push_back(text.context);
      sources_.push_back(text.source);
      offsets_.push_back(static_cast<uint32_t>(ids_.size()));
      live_.push_back(&text);
    }
    if (live_.empty()) return false;
    Batch batch;
    batch.ids = ids_.data();
    batch.tokens = batch.sequences = static_cast<uint32_t>(ids_.size());
    batch.offsets = offsets_.data();
    batch.contexts = contexts_.data();
    batch.sources = pair_ ? sources_.data() : nullptr;
    batch.last_rows = true;
    check(session_.run(batch), engine_.file().path());
    for (uint32_t i = 0; i < live_.size(); ++i) {
      NextToken next;
      check(next_token(session_, i, settings(*live_[i]), &next), engine_.file().path());
      add(*live_[i], next);
    }
    return true;
  }

  void say_given(uint32_t index, Made* made) const {
    made->given_tokens = static_cast<uint32_t>(given_[index].ids.size());
    made->cut_tokens = given_[index].cut;
  }

  /// Of the texts tried for input number `index` the one of the highest score, of equals the first.
  Made best(uint32_t index) {
    TriedText* best = nullptr;
    for (uint32_t k = 0; k < decoding_.best_of; ++k) {
      TriedText& text = texts_[index * decoding_.best_of + k];
      const double length = static_cast<double>(text.made.ids.size());
      text.made.score =
          static_cast<float>(text.log_sum / std::pow(length, static_cast<double>(decoding_.said.beams.length_penalty)));
      if (best == nullptr || text.made.score > best->made.score) best = &text;
    }
    Made made = std::move(best->made);
    if (!decoding_.sampling.log_probability) made.score = 0;
    if (decoding_.log_probabilities) made.log_probabilities = std::move(best->logs);
    made.text = best->stream->finish();
    say_given(index, &made);
    return made;
  }

  Made search(uint32_t index) {
    const std::vector<int32_t>& prompt = prompts_[index];
    const BeamOptions& options = decoding_.said.beams;
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
    say_given(index, &made);
    return made;
  }

  Engine& engine_;
  Session& session_;
  const Model& model_;
  const Decoding& decoding_;
  const bool pair_;
  Tokenizer tokenizer_;
  std::vector<SourceIds> given_;
  std::vector<std::vector<int32_t>> prompts_;
  std::vector<TriedText> texts_;
  // Of a step.
  std::vector<int32_t> ids_, banned_;
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
  // More than this is asked for by name: keys and values of long contexts take more memory than the model.
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
                           const TakeText& take) {
  return Generator(engine, decoding).run(texts, take);
}

}  // namespace bantam::convert
