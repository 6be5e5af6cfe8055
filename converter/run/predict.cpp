#include "run/predict.h"

#include <algorithm>

#include "base/printable.h"
#include "base/status_error.h"
#include "format/view.h"
#include "run/long_text.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

Text view_of(const std::string& text) { return {text.data(), text.size()}; }

Text second_of(const Input& input) { return input.second ? view_of(*input.second) : Text{}; }

/// The initial capacity for masks in a run.
constexpr uint32_t kUsualMasks = 16;

/// Returns the beginning of a text, to name it in a message.
std::string excerpt(const std::string& text) {
  constexpr size_t kMost = 40;
  return printable(text.size() <= kMost ? text : text.substr(0, kMost) + "...");
}

}  // namespace

std::string label_name(const Model& model, uint32_t label, uint32_t set) {
  if (label < (set < model.label_set_count() ? model.label_count(set) : 0)) return to_string(model.label(set, label));
  if (has_part(model.task(), kFollowsPart)) return label == 0 ? "is_next" : "not_next";
  return fmt::format("LABEL_{}", label);
}

uint32_t embedding_width(const Model& model) {
  const fb::Model& stored = root(model);
  return static_cast<uint32_t>(width(tensor(stored, stored.outputs()->Get(0)->tensor())));
}

Predictor::Predictor(Engine& engine, uint32_t parts, const PredictOptions& options)
    : engine_(engine), parts_(parts), options_(options), marks_(engine.model()) {
  refuse_only_makes_texts(engine.file());
  if (takes_images(engine.model())) {
    images_.emplace(engine.model());
    if (images_->form().tokens > engine.session().max_tokens()) check(Status::kTooManyTokens, engine.file().path());
  } else if (engine.session().tokenizer() == nullptr) {
    check(Status::kNoTokenizer, engine.file().path());
  }
  if (options.stride && !can_slide(parts)) {
    fail(ExitCode::kUsage, "--stride: {} does not slide windows; it works with classify, tag and answer",
         task_name(engine.model().task()));
  }
  if ((parts & kTokenVectorsPart) != 0) tokens_.emplace(engine);
  const bool finds = (parts & kFoundPart) != 0;
  if (finds == options.labels.empty()) {
    fail(ExitCode::kUsage,
         finds ? "--labels: missing; {} finds spans for labels of yours, such as person,place"
         : (parts & (kLabelsPart | kFollowsPart | kWordsPart)) != 0 ? "--labels: {} has labels of its own; leave it out"
                                                                    : "--labels: {} gives no labels; leave it out",
         engine.file().path());
  }
  if (options.aggregation != Aggregation::kFile && !has_part(engine.model().task(), kWordsPart)) {
    fail(ExitCode::kUsage, "--aggregation: {} gives no labels of words; leave it out", engine.file().path());
  }
  const uint32_t most = finds ? root(engine.model()).task()->finding()->max_labels() : 0;
  if (options.labels.size() > most) {
    fail(ExitCode::kUsage, "--labels: {} are more than the {} that {} takes at a time; ask for them in several runs",
         options.labels.size(), most, engine.file().path());
  }
  if ((parts & (kVectorPart | kTermsPart | kLabelsPart)) != 0)
    prompt_ = to_string(text_prompt(engine.model(), options.role));
  if ((parts & kMasksPart) != 0 && engine.scored_rows() == 0) engine.score_only(kUsualMasks);
}

std::string Predictor::where(const Input& input) const {
  return fmt::format("{}: text \"{}\"", engine_.file().path(), excerpt(input.first));
}

Predictor::Added Predictor::add(const Input& input, const EncodeOptions& options) {
  Session& session = engine_.session();
  const std::string first = prompt_ + input.first;
  const bool finds = (parts_ & kFoundPart) != 0;
  const Status status =
      finds ? add_labelled(session, first, options_.labels) : session.add(view_of(first), second_of(input), options);
  const bool full = status == Status::kTooManyTokens || status == Status::kTooManySequences;
  if (full && session.sequence_count() > 0) return Added::kNoRoom;
  if (status == Status::kInvalidArgument) {
    if ((parts_ & (kVectorPart | kTermsPart)) != 0) return Added::kNoToken;
    fail(ExitCode::kInvalid, "{}: the tokenizer finds no token in it", where(input));
  }
  check(status, where(input));
  marks_.put(session, input.mentions, prompt_.size(), where(input));
  return Added::kYes;
}

uint32_t Predictor::width() const {
  const uint32_t all = embedding_width(engine_.model());
  return options_.width == 0 || options_.width > all ? all : options_.width;
}

std::vector<float> Predictor::zeros() const { return std::vector<float>(width()); }

std::vector<Prediction> Predictor::predict_tokens(const std::vector<Input>& inputs) {
  std::vector<std::string> texts;
  texts.reserve(inputs.size());
  for (const Input& input : inputs) texts.push_back(input.first);
  std::vector<Prediction> predictions(inputs.size());
  std::vector<TokenVectors> found = tokens_->embed(texts, options_.role);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (found[i].truncated && options_.strict) {
      fail(ExitCode::kInvalid, "{}: it does not fit; shorten it, or leave out --strict", where(inputs[i]));
    }
    predictions[i].parts = parts_;
    predictions[i].truncated = found[i].truncated;
    predictions[i].tokens = std::move(found[i]);
  }
  return predictions;
}

std::vector<Prediction> Predictor::predict(const std::vector<Input>& inputs) {
  if (images_) return predict_images(inputs);
  if (tokens_) return predict_tokens(inputs);
  std::vector<Prediction> predictions(inputs.size());
  std::vector<size_t> added;  // the input of each sequence
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (added.empty()) engine_.session().clear();
    Added how = add(inputs[i], {});
    if (how == Added::kNoRoom) {
      run_added(inputs, &added, &predictions);
      engine_.session().clear();
      how = add(inputs[i], {});
    }
    if (how == Added::kNoToken) {
      predictions[i].parts = parts_ & (kVectorPart | kTermsPart);
      if ((parts_ & kVectorPart) != 0) predictions[i].embedding = zeros();
      continue;
    }
    added.push_back(i);
    const Session& session = engine_.session();  // fetched again, because run_added may have opened another session
    const EncodedSequence last = session.sequence(session.sequence_count() - 1);
    if (engine_.is_full(session.sequence_count(), last.row_begin + last.row_count)) {
      run_added(inputs, &added, &predictions);
    }
  }
  if (!added.empty()) run_added(inputs, &added, &predictions);
  return predictions;
}

void Predictor::run_added(const std::vector<Input>& inputs, std::vector<size_t>* added, std::vector<Prediction>* out) {
  Session& session = engine_.session();
  std::vector<size_t> overlong;
  for (size_t sequence = 0; sequence < added->size(); ++sequence) {
    const size_t i = (*added)[sequence];
    const EncodedSequence encoded = session.sequence(static_cast<uint32_t>(sequence));
    const EncodeResult& result = encoded.result;
    (*out)[i].rows = encoded.row_count;
    if (!result.truncated) continue;
    if (options_.stride) {
      overlong.push_back(i);
    } else {
      refuse_truncation(inputs[i], result);
      (*out)[i].truncated = true;
    }
  }
  if ((parts_ & kMasksPart) != 0) {
    run_masks(inputs, *added);
  } else {
    check(session.run(), added->size() == 1 ? where(inputs[added->front()]) : engine_.file().path());
  }
  for (size_t sequence = 0; sequence < added->size(); ++sequence) {
    const size_t i = (*added)[sequence];
    if (std::find(overlong.begin(), overlong.end(), i) != overlong.end()) continue;
    decode(static_cast<uint32_t>(sequence), inputs[i], &(*out)[i]);
  }
  for (const size_t i : overlong) slide(inputs[i], &(*out)[i]);
  added->clear();
}

void Predictor::run_masks(const std::vector<Input>& inputs, const std::vector<size_t>& added) {
  Status status = engine_.session().run_masks();
  const uint32_t most = engine_.session().max_tokens();
  while (status == Status::kTooManyTokens && engine_.scored_rows() < most) {
    engine_.score_only(std::min(most, 4 * engine_.scored_rows()));
    engine_.session().clear();
    for (const size_t i : added) add(inputs[i], {});
    status = engine_.session().run_masks();
  }
  check(status, added.size() == 1 ? where(inputs[added.front()]) : engine_.file().path());
}

std::vector<Prediction> Predictor::predict_images(const std::vector<Input>& inputs) {
  std::vector<Prediction> predictions(inputs.size());
  size_t begin = 0;
  images_->clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    images_->add(inputs[i].first);
    const Batch batch = images_->view();
    const bool last = i + 1 == inputs.size() || batch.tokens + images_->form().tokens > engine_.session().max_tokens();
    if (!last && !engine_.is_full(batch.sequences, batch.tokens)) continue;
    check(engine_.session().run(batch), begin == i ? where(inputs[i]) : engine_.file().path());
    for (size_t at = begin; at <= i; ++at) decode(static_cast<uint32_t>(at - begin), inputs[at], &predictions[at]);
    images_->clear();
    begin = i + 1;
  }
  return predictions;
}

void Predictor::refuse_truncation(const Input& input, const EncodeResult& result) const {
  if (!options_.strict) return;
  fail(ExitCode::kInvalid, "{}: {} tokens do not fit ({} of them do); shorten it, leave out --strict, or {}",
       where(input), result.content[0] + result.content[1], result.kept[0] + result.kept[1],
       can_slide(parts_) ? "slide windows with --stride N" : "use a model that takes longer texts");
}

void Predictor::decode(uint32_t sequence, const Input& input, Prediction* out) {
  const uint32_t parts = parts_of_answer(parts_, input.second.has_value());
  out->parts = parts;
  std::vector<SetAnswer> sets = sets_asked();
  for (SetAnswer& set : sets) decode_set(sequence, input, &set);
  put(std::move(sets), engine_.model(), out);
  if (options_.logits) {
    OutputView view;
    check(engine_.session().output(0, sequence, &view), where(input));
    out->logits.assign(view.data, view.data + view.width);
  }
  if ((parts & kSpanPart) != 0) check(bantam::answer(engine_.session(), sequence, &out->answer), where(input));
  if ((parts & kMasksPart) != 0) decode_masks(sequence, out);
  if ((parts & kNextWordsPart) != 0) decode_next_words(sequence, input, out);
  if ((parts & kFollowsPart) != 0) decode_next(sequence, out);
  if ((parts & kFoundPart) != 0) decode_found(sequence, input, out);
  if ((parts & kVectorPart) != 0) {
    const float* values = nullptr;
    uint32_t width = 0;
    check(embed(engine_.session(), sequence, &values, &width), where(input));
    out->embedding.assign(values, values + std::min(width, this->width()));
  }
  if ((parts & kTermsPart) != 0) decode_terms(sequence, input, out);
}

void Predictor::decode_terms(uint32_t sequence, const Input& input, Prediction* out) {
  const float* weights = nullptr;
  uint32_t width = 0;
  check(embed(engine_.session(), sequence, &weights, &width), where(input));
  const auto some = std::count_if(weights, weights + width, [](float x) { return x > 0; });
  out->terms.resize(static_cast<size_t>(some));
  uint32_t count = 0;
  check(terms(engine_.session(), sequence, out->terms.data(), static_cast<uint32_t>(some), &count), where(input));
  out->terms.resize(count);
}

void Predictor::decode_found(uint32_t sequence, const Input& input, Prediction* out) {
  Status status = Status::kBufferTooSmall;
  uint32_t count = 0;
  for (size_t capacity = 32; status == Status::kBufferTooSmall; capacity *= 4) {
    out->entities.resize(capacity);
    status =
        find(engine_.session(), sequence, options_.find, out->entities.data(), static_cast<uint32_t>(capacity), &count);
  }
  check(status, where(input));
  out->entities.resize(count);
  for (Entity& entity : out->entities) entity.name = view_of(options_.labels.at(entity.label));
}

bool Predictor::of_words(uint32_t set) const {
  const Model& model = engine_.model();
  if (set < task_label_sets(model)) return has_part(model.task(), kWordsPart) && set == word_label_set(model);
  return !has_part(model.task(), kLabelsPart);
}

std::vector<SetAnswer> Predictor::sets_asked() const {
  std::vector<SetAnswer> sets;
  const Model& model = engine_.model();
  if (!has_part(model.task(), kLabelsPart | kWordsPart)) return sets;
  // A file may name no labels, but its task's label sets still exist.
  const uint32_t count = std::max(model.label_set_count(), task_label_sets(model));
  for (uint32_t set = 0; set < count; ++set) {
    if ((parts_ & (of_words(set) ? kWordsPart : kLabelsPart)) == 0) continue;
    sets.emplace_back();
    sets.back().set = set;
  }
  return sets;
}

void Predictor::put(std::vector<SetAnswer> sets, const Model& model, Prediction* out) {
  for (SetAnswer& set : sets) {
    if (set.set >= task_label_sets(model)) {
      out->further.push_back(std::move(set));
    } else if (has_part(model.task(), kLabelsPart) && set.set == 0) {
      out->labels = std::move(set.labels);
      out->holds = set.holds;
    } else {
      out->words = std::move(set.words);
      out->word_labels = std::move(set.word_labels);
      out->entities = std::move(set.entities);
    }
  }
}

void Predictor::decode_set(uint32_t sequence, const Input& input, SetAnswer* out) {
  if (of_words(out->set)) {
    const uint32_t capacity = engine_.session().sequence(sequence).row_count;
    out->words.resize(capacity);
    out->word_labels.resize(capacity);
    uint32_t count = 0;
    check(tag_words(engine_.session(), sequence, view_of(input.first), out->words.data(), out->word_labels.data(),
                    capacity, &count, out->set, options_.aggregation),
          where(input));
    return join_words(count, out);
  }
  const float* logits = nullptr;
  uint32_t width = 0;
  check(label_logits(engine_.session(), sequence, &logits, &width, out->set), engine_.file().path());
  rank(logits, width, out);
}

void Predictor::rank(const float* logits, uint32_t width, SetAnswer* out) const {
  // Hierarchical labels are requested down to the lowest level; a text has few levels.
  const uint32_t most = engine_.model().has_levels(out->set) && scores() == kSoftmax ? kMostLevels : options_.top;
  out->labels.resize(most == 0 ? width : std::min(most, width));
  uint32_t count = 0;
  check(classify_logits(engine_.model(), logits, width, out->labels.data(), static_cast<uint32_t>(out->labels.size()),
                        &count, &out->holds, out->set),
        engine_.file().path());
  out->labels.resize(count);
}

void Predictor::join_words(uint32_t count, SetAnswer* out) const {
  out->words.resize(count);
  out->word_labels.resize(count);
  out->entities.resize(count);
  check(entities(engine_.model(), out->set, out->words.data(), out->word_labels.data(), count, out->entities.data(),
                 count, &count, options_.aggregation),
        engine_.file().path());
  out->entities.resize(count);
}

template <typename Ask>
std::vector<Candidate> Predictor::candidates(const Ask& ask) const {
  std::vector<Candidate> best(options_.top == 0 ? engine_.model().vocabulary() : options_.top);
  uint32_t count = 0;
  check(ask(best.data(), static_cast<uint32_t>(best.size()), &count), engine_.file().path());
  best.resize(count);
  return best;
}

void Predictor::decode_masks(uint32_t sequence, Prediction* out) {
  const EncodedSequence encoded = engine_.session().sequence(sequence);
  const int32_t mask_id = engine_.session().tokenizer()->mask_id();
  for (uint32_t row = 0; row < encoded.row_count; ++row) {
    if (encoded.ids[row] != mask_id) continue;
    const auto mask = static_cast<uint32_t>(out->masks.size());
    out->masks.push_back(candidates([&](Candidate* best, uint32_t capacity, uint32_t* count) {
      return fill(engine_.session(), sequence, mask, best, capacity, count);
    }));
    out->mask_spans.push_back(encoded.offsets[row]);
  }
}

void Predictor::decode_next_words(uint32_t sequence, const Input& input, Prediction* out) {
  const auto end = static_cast<uint32_t>(input.first.size());
  out->masks.push_back(candidates([&](Candidate* best, uint32_t capacity, uint32_t* count) {
    return next_words(engine_.session(), sequence, best, capacity, count);
  }));
  out->mask_spans = {{end, end}};
}

void Predictor::decode_next(uint32_t sequence, Prediction* out) {
  float probability = 0;
  check(next_sentence(engine_.session(), sequence, &probability), engine_.file().path());
  out->labels = {{0, probability}, {1, 1.0f - probability}};
  if (probability < 0.5f) std::swap(out->labels[0], out->labels[1]);
  out->holds = 1;
}

void Predictor::slide(const Input& input, Prediction* out) {
  Session& session = engine_.session();
  EncodeOptions encode;
  encode.truncation = input.second ? TruncationSide::kOnlySecond : TruncationSide::kOnlyFirst;
  session.clear();
  add(input, encode);
  const EncodeResult all = session.sequence(0).result;
  const std::string first = prompt_ + input.first;
  const LongText text(*session.tokenizer(), view_of(first), second_of(input), all, input.mentions, prompt_.size());
  const int windowed = input.second ? 1 : 0;
  const WindowPlan plan{all.content[windowed], all.kept[windowed], *options_.stride};
  if (plan.overlap >= plan.size) {
    fail(ExitCode::kUsage, "--stride {}: windows of {} tokens cannot share that many; use a smaller --stride",
         plan.overlap, plan.size);
  }
  out->windows = window_count(plan);
  std::vector<WindowSums> sums;
  out->parts = parts_;
  for (SetAnswer& set : sets_asked()) {
    sums.emplace_back();
    sums.back().answer = std::move(set);
    if (!of_words(sums.back().answer.set)) continue;
    sums.back().answer.words.resize(plan.total);
    sums.back().answer.word_labels.resize(sums.back().answer.words.size());
  }
  for (uint32_t i = 0; i < out->windows; ++i) {
    const Window window = window_at(plan, i);
    encode.skip = window.skip;
    session.clear();
    check(text.add(session, encode), where(input));
    marks_.put(session, text.mentions_in(session), prompt_.size(), where(input));
    check(session.run(), where(input));
    merge(input, window, &sums, out);
  }
  std::vector<SetAnswer> sets;
  for (WindowSums& sum : sums) {
    for (float& logit : sum.logits) logit /= static_cast<float>(out->windows);
    if (of_words(sum.answer.set)) {
      join_words(sum.words, &sum.answer);
    } else {
      rank(sum.logits.data(), static_cast<uint32_t>(sum.logits.size()), &sum.answer);
    }
    sets.push_back(std::move(sum.answer));
  }
  put(std::move(sets), engine_.model(), out);
}

void Predictor::merge_set(const Input& input, const Window& window, WindowSums* sums) {
  const Session& session = engine_.session();
  SetAnswer& answer = sums->answer;
  if (of_words(answer.set)) {
    uint32_t count = 0;
    check(tag_window(session, 0, view_of(input.first), window, &sums->resume, answer.words.data() + sums->words,
                     answer.word_labels.data() + sums->words, static_cast<uint32_t>(answer.words.size()) - sums->words,
                     &count, answer.set, options_.aggregation),
          where(input));
    sums->words += count;
    return;
  }
  const float* logits = nullptr;
  uint32_t width = 0;
  check(label_logits(session, 0, &logits, &width, answer.set), where(input));
  sums->logits.resize(width, 0.0f);
  for (uint32_t k = 0; k < width; ++k) sums->logits[k] += logits[k];
}

void Predictor::merge(const Input& input, const Window& window, std::vector<WindowSums>* sums, Prediction* out) {
  const Session& session = engine_.session();
  for (WindowSums& set : *sums) merge_set(input, window, &set);
  if ((parts_ & kSpanPart) != 0) {
    Answer answer;
    check(bantam::answer(session, 0, &answer), where(input));
    if (window.skip == 0) {
      out->answer = answer;
    } else {
      check(merge_answer(engine_.model(), answer, &out->answer), where(input));
    }
  }
}

Prediction Predictor::choose(const Input& prompt, const std::vector<std::string>& choices) {
  Session& session = engine_.session();
  Prediction prediction;
  session.clear();
  for (const std::string& choice : choices) {
    Input input = prompt;
    input.second = choice;
    add(input, {});
    const EncodeResult& result = session.sequence(session.sequence_count() - 1).result;
    if (!result.truncated) continue;
    refuse_truncation(input, result);
    prediction.truncated = true;
  }
  check(session.run(), engine_.file().path());
  prediction.parts = kChoicePart;
  prediction.labels.resize(choices.size());
  const auto count = static_cast<uint32_t>(choices.size());
  uint32_t kept = 0;
  check(bantam::choose(session, 0, count, prediction.labels.data(), count, &kept), engine_.file().path());
  prediction.holds = 1;
  return prediction;
}

std::string set_name(const Model& model, uint32_t set) {
  const std::string name = to_string(model.label_set_name(set));
  return name.empty() ? fmt::format("set {}", set) : name;
}

LabelScore best_label(const Model& model, uint32_t set, const std::vector<LabelScore>& labels, uint32_t holds) {
  const bool levels = model.has_levels(set) && traits(model.task()).scores == kSoftmax;
  return labels.at(levels && holds > 0 ? std::min<size_t>(holds, labels.size()) - 1 : 0);
}

}  // namespace bantam::convert
