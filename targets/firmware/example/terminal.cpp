#include "terminal.h"

#include <string.h>

#include "format/view.h"
#include "text/utf8.h"
#if BANTAM_IF_LINKED(Contexts)
#include "bantam/generation.h"
#include "bantam/sampling.h"
#endif

namespace bantam::firmware {
namespace {

/// The tasks in which exactly one of several labels holds; in all other tasks with labels, any number of labels or
/// values is the answer.
constexpr uint32_t kOneLabel = tasks_with(kLabelsPart) & tasks_scored(kSoftmax);
constexpr uint32_t kSeveralLabels = tasks_with(kLabelsPart) & ~kOneLabel;
constexpr uint32_t kMostLabels = linked::kParents || (kSeveralLabels & linked::kTasks) != 0 ? kMaxLabels : 1;

/// Returns true if bytes that begin with `first`, and that decode_utf8 turned into `point`, are well-formed. Ill-formed
/// bytes give U+FFFD, which itself is three bytes that begin with 0xEF.
bool is_utf8(text::CodePoint point, uint8_t first) {
  return point.code != 0xFFFD || (first == 0xEF && point.size == 3);
}

/// Writes fields: numbers without printf, and text without characters that would move a terminal's cursor.
class Writer {
 public:
  explicit Writer(Sink sink) : sink_(sink) {}

  void raw(const char* data, size_t size) { sink_.write(sink_.context, data, size); }
  void put(char c) { raw(&c, 1); }
  void word(const char* text) { raw(text, strlen(text)); }
  /// Writes the number of a status and its description.
  void status(Status status) {
    number(static_cast<uint32_t>(status));
    put(' ');
    word(status_message(status));
  }

  /// Replaces control characters (C0, DEL, C1), characters that change the text direction, and invalid UTF-8 by '?'.
  void text(Text text) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data);
    size_t begin = 0;
    for (size_t i = 0; i < text.size;) {
      const size_t left = text.size - i;
      const text::CodePoint point = text::decode_utf8(bytes + i, static_cast<uint32_t>(left < 4 ? left : 4));
      const size_t end = i + point.size;
      if (!is_utf8(point, bytes[i]) || !is_shown(point.code)) {
        raw(text.data + begin, i - begin);
        put('?');
        begin = end;
      }
      i = end;
    }
    raw(text.data + begin, text.size - begin);
  }

  void number(uint32_t value) {
    char digits[10];
    uint32_t at = sizeof(digits);
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    raw(digits + at, sizeof(digits) - at);
  }

  void hex(uint32_t value) {
    char digits[8];
    for (uint32_t i = 0; i < 8; ++i) digits[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
    raw(digits, sizeof(digits));
  }

  /// Writes three decimals, rounded half away from zero. A value whose thousandths do not fit 32 bits is written as its
  /// bits, such as 0x7149f2ca.
  void decimal(float value) {
    const float magnitude = value < 0 ? -value : value;
    if (!(magnitude < 4e6f)) {
      uint32_t bits;
      memcpy(&bits, &value, sizeof(bits));
      raw("0x", 2);
      return hex(bits);
    }
    // Images have no lround. NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const auto thousandths = static_cast<uint32_t>(magnitude * 1000.0f + 0.5f);
    if (value < 0 && thousandths != 0) put('-');
    number(thousandths / 1000);
    const uint32_t rest = thousandths % 1000;
    const char digits[4] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
    raw(digits, sizeof(digits));
  }

 private:
  static bool is_shown(uint32_t code) {
    return code >= 0x20 && code - 0x7F > 0x9F - 0x7F && code - 0x202A > 0x202E - 0x202A &&
           code - 0x2066 > 0x2069 - 0x2066;
  }

  Sink sink_;
};

/// Continues the FNV-1a hash `hash` with the words of every output: two machines that print the same hash computed the
/// same bits.
constexpr uint32_t kNoOutputs = 2166136261u;
uint32_t output_hash(const Session& session, uint32_t hash, bool last_row = false) {
  for (uint32_t i = 0; i < session.model().output_count(); ++i) {
    OutputView view;
    if ((last_row ? session.output(i, 0, &view) : session.output(i, &view)) != Status::kOk) continue;
    for (uint32_t row = 0; row < view.rows; ++row) {
      for (uint32_t column = 0; column < view.width; ++column) {
        uint32_t bits;
        memcpy(&bits, view.data + row * view.stride + column, sizeof(bits));
        hash = (hash ^ bits) * 16777619u;
      }
    }
  }
  return hash;
}

/// Writes the answer of one line. Each task computes everything before it writes, so that on failure the line contains
/// only a status.
class Answerer {
 public:
  Answerer(Session& session, Sink sink, Entity* entities) : session_(session), out_(sink), entities_(entities) {}

  /// Answers a text, or a pair separated by a TAB if the task accepts pairs.
  void text(Text line) {
    const bool single = has_part(session_.model().task(), kWordsPart | kVectorPart);
    const void* tab = single ? nullptr : memchr(line.data, '\t', line.size);
    Text second;
    first_ = line;
    if (tab != nullptr) {
      first_.size = static_cast<size_t>(static_cast<const char*>(tab) - line.data);
      second = {line.data + first_.size + 1, line.size - first_.size - 1};
    }
    pair_ = tab != nullptr;
    last_ = pair_ ? second : first_;
    session_.clear();
    Status status = session_.add(first_, second, {});
    if (status == Status::kOk) status = session_.run();
    if (status == Status::kOk) status = answer();
    end(status);
  }

  /// Answers token ids separated by blanks or commas, at most `capacity`, for a file without a tokenizer.
  void numbers(Text line, int32_t* ids, uint32_t capacity) {
    Batch batch;
    batch.ids = ids;
    bool inside = false;
    bool bad = false;
    for (size_t i = 0; i < line.size; ++i) {
      const char c = line.data[i];
      const bool digit = c >= '0' && c <= '9';
      bad = bad || (!digit && c != ' ' && c != ',' && c != '\t');
      if (digit && !inside) {
        bad = bad || batch.tokens == capacity;
        if (bad) break;
        ids[batch.tokens++] = 0;
      }
      inside = digit;
      if (!digit) continue;
      int32_t& id = ids[batch.tokens - 1];
      id = id < 100000000 ? id * 10 + (c - '0') : id;
    }
    if (bad || batch.tokens == 0) return error("not a list of token ids");
    Status status = session_.run(batch);
    if (status == Status::kOk) raw_outputs();
    end(status);
  }

  /// Answers an image.
  void image(const Frame& frame) {
    if constexpr (kTakesPixels) {
      ImageForm form;
      Status status = image_form(session_.model(), &form);
      if (status == Status::kOk) status = image_features(session_.model(), frame.pixels, 0, frame.features);
      Batch batch;
      batch.features = frame.features;
      batch.tokens = form.tokens;
      if (status == Status::kOk) status = session_.run(batch);
      if (status == Status::kOk) status = answer();
      end(status);
    }
  }

#if BANTAM_IF_LINKED(Contexts)
  /// Continues a line, or generates a text from it, with greedy decoding and the file's settings; writes the text as it
  /// is generated. `ids` has room for kLineTokens.
  void go_on(Text line, int32_t* ids) {
    if constexpr (kGoesOn) {
      Tokenizer target;  // of an encoder-decoder; the session's tokenizer is for its sources
      TextDecoder decoder;
      Status status = linked::kSources && session_.max_source() != 0 ? run_source(line, &target, &decoder)
                                                                     : run_prompt(line, ids, &decoder);
      if (status != Status::kOk) return end(status);
      out_.word("ok\t");
      const char* finish = "";
      uint32_t hash = output_hash(session_, kNoOutputs, true);
      status = choose_tokens(&decoder, &finish, &hash);
      decoder.finish();
      out_.put('\t');
      if (status != Status::kOk) return end(status);
      out_.word(finish);
      out_.word("\t#");
      end_with(hash);
    }
  }
#endif

  void error(const char* what) {
    out_.word("error\t");
    out_.word(what);
    out_.put('\n');
  }

 private:
#if BANTAM_IF_LINKED(Contexts)
  /// Runs the line's tokens, including the special tokens at its beginning, in pieces that fit one run.
  Status run_prompt(Text line, int32_t* ids, TextDecoder* decoder) {
    const auto ignore = [](void*, const char*, size_t) {};
    EncodeOptions options;
    options.truncation = TruncationSide::kNone;
    options.max_tokens = kLineTokens;
    TokenBuffer buffer;
    buffer.ids = ids;
    buffer.capacity = kLineTokens;
    EncodeResult result;
    Status status = session_.tokenizer()->encode(line, {}, options, buffer, &result);
    if (status == Status::kBufferTooSmall) status = Status::kTooManyTokens;
    const uint32_t count = result.count;
    if (status == Status::kOk && count >= session_.max_context()) status = Status::kTooManyTokens;
    if (status == Status::kOk) status = TextDecoder::open(*session_.tokenizer(), true, ignore, nullptr, decoder);
    if (status == Status::kOk) status = session_.truncate(0, 0);
    for (uint32_t done = 0; done < count && status == Status::kOk;) {
      const uint32_t left = count - done;
      const uint32_t end = done + (left < session_.max_tokens() ? left : session_.max_tokens());
      status = run_tokens(ids + done, end - done);
      for (; done < end; ++done) decoder->add(ids[done]);
    }
    decoder->write_to(show, &out_);
    return status;
  }

  /// Encodes the line as the source of an encoder-decoder, and runs the token that begins the generated text.
  Status run_source(Text line, Tokenizer* target, TextDecoder* decoder) {
    const auto ignore = [](void*, const char*, size_t) {};
    EncodeOptions options;
    options.truncation = TruncationSide::kNone;
    session_.clear();
    Status status = session_.add(line, {}, options);
    if (status == Status::kOk) status = session_.encode();
    if (status == Status::kOk) status = Tokenizer::open(session_.model(), 0, target);
    if (status == Status::kOk) status = TextDecoder::open(*target, true, ignore, nullptr, decoder);
    if (status == Status::kOk) status = session_.truncate(0, 0);
    Generation said;
    if (status == Status::kOk) status = generation(session_.model(), 0, &said);
    if (status == Status::kOk) status = run_tokens(&said.start_id, 1);
    if (status == Status::kOk) decoder->add(said.start_id);
    decoder->write_to(show, &out_);
    return status;
  }

  Status run_tokens(const int32_t* ids, uint32_t count) {
    Batch batch;
    batch.ids = ids;
    batch.tokens = count;
    batch.last_rows = batch.listed = true;
    return session_.run(batch);
  }

  /// Chooses tokens until one ends the text, the file's largest number is reached, or the context is full.
  Status choose_tokens(TextDecoder* decoder, const char** finish, uint32_t* hash) {
    const Model& model = session_.model();
    Generation said;
    static_cast<void>(generation(model, 0, &said));  // if the file has no settings: defaults
    const BeamOptions& rules = said.beams;
    EndTokens ends = end_tokens(model);
    const Constraint no_end = {[](void*, const int32_t*, uint32_t, uint32_t, TextEnd*) { return Status::kOk; },
                               [](void* state, int32_t id) { return !static_cast<EndTokens*>(state)->has(id); }, &ends};
    Sampling sampling;
    sampling.repetition_penalty = rules.repetition_penalty;
    sampling.no_repeat_ngram = rules.no_repeat_ngram;
    sampling.banned = rules.banned;
    sampling.banned_count = rules.banned_count;
    for (uint32_t made = 0;;) {
      const bool last = rules.max_new != 0 && made + 1 == rules.max_new;
      sampling.forced = made == 0 && rules.first_id >= 0 ? rules.first_id : last ? rules.last_id : -1;
      sampling.constraint = made < rules.min_new ? &no_end : nullptr;
      NextToken next;
      Status status = next_token(session_, 0, sampling, &next);
      if (status != Status::kOk) return status;
      ++made;
      const bool ended = ends.has(next.id);
      if (!ended) decoder->add(next.id);
      *finish = ended ? "end" : last ? "length" : "context";
      if (ended || last || session_.context_length(0) == session_.max_context()) return status;
      status = run_tokens(&next.id, 1);
      if (status != Status::kOk) return status;
      *hash = output_hash(session_, *hash, true);
    }
  }

  /// Writes decoded text within a line: characters that would end the line become blanks.
  static void show(void* target, const char* bytes, size_t size) {
    auto& out = *static_cast<Writer*>(target);
    size_t begin = 0;
    for (size_t i = 0; i <= size; ++i) {
      if (i < size && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') continue;
      out.text({bytes + begin, i - begin});
      if (i < size) out.put(' ');
      begin = i + 1;
    }
  }
#endif

  Status answer() {
    const TaskKind task = session_.model().task();
    if (has_part(task, kLabelsPart | kWordsPart)) return labels_and_entities(task);
#if BANTAM_IF_LINKED(part_Span)
    if (has_part(task, kSpanPart)) return span();
#endif
#if BANTAM_IF_LINKED(part_Masks)
    if (has_part(task, kMasksPart) && !(pair_ && has_part(task, kFollowsPart))) return candidates();
#endif
#if BANTAM_IF_LINKED(part_Follows)
    if (has_part(task, kFollowsPart)) return next();
#endif
#if BANTAM_IF_LINKED(part_NextWords)
    if (has_part(task, kNextWordsPart)) return next_words();
#endif
    raw_outputs();
    return Status::kOk;
  }

  void begin() { out_.word(session_.sequence(0).result.truncated ? "truncated" : "ok"); }

  void end(Status status) {
    if (status != Status::kOk) {
      out_.word("error\t");
      out_.status(status);
      return out_.put('\n');
    }
    out_.word("\t#");
    end_with(output_hash(session_, kNoOutputs));
  }

  void end_with(uint32_t hash) {
    out_.hex(hash);
    out_.put('\n');
  }

  void scored(float score) {
    out_.put('\t');
    out_.decimal(score);
    out_.put(' ');
  }

  void label(uint32_t index) {
    const Model& model = session_.model();
    if (model.label_set_count() > 0 && index < model.label_count(0)) return out_.text(model.label(0, index));
    out_.word("LABEL_");
    out_.number(index);
  }

  Status labels_and_entities(TaskKind task) {
    LabelScore best[kMostLabels];
    uint32_t labels = 0;
    uint32_t above = 0;
    uint32_t entities = 0;
    const bool labelled = has_part(task, kLabelsPart);
    const bool one = one_of(kOneLabel, task);
    Status status = Status::kOk;
#if BANTAM_IF_LINKED(part_Labels)
    if (labelled) status = classify(session_, 0, best, one && !linked::kParents ? 1 : kMostLabels, &labels, &above);
#endif
#if BANTAM_IF_LINKED(part_Words)
    if (status == Status::kOk && has_part(task, kWordsPart)) {
      status = tag(session_, 0, first_, entities_, kMaxEntities, &entities);
    }
#endif
    if (status != Status::kOk) return status;
    begin();
    if (labelled) write_labels(best, labels, above, one);
    for (uint32_t i = 0; i < entities; ++i) {
      scored(entities_[i].score);
      out_.text(entities_[i].name);
      out_.put(' ');
      span_text(entities_[i].span, first_);
    }
    return Status::kOk;
  }

  /// Writes the labels that hold (with hierarchical labels, one per level), or "none" if none holds. With `one`, the
  /// best label follows "none".
  void write_labels(const LabelScore* best, uint32_t count, uint32_t above, bool one) {
    if (above == 0) out_.word("\tnone");
    const uint32_t holds = one && above == 0 ? 1 : above;
    for (uint32_t i = 0; i < count && i < holds; ++i) {
      scored(best[i].score);
      label(best[i].label);
    }
  }

  void span_text(Offset span, Text text) {
    out_.number(span.begin);
    out_.put('-');
    out_.number(span.end);
    out_.put(' ');
    if (span.begin <= span.end && span.end <= text.size) out_.text({text.data + span.begin, span.end - span.begin});
  }

#if BANTAM_IF_LINKED(part_Span)
  Status span() {
    Answer best;
    const Status status = bantam::answer(session_, 0, &best);
    if (status != Status::kOk) return status;
    begin();
    if (!best.answerable) {
      out_.word("\tnone");
      return Status::kOk;
    }
    scored(best.score);
    span_text(best.span, last_);
    return Status::kOk;
  }

#endif

#if BANTAM_IF_LINKED(part_Masks)
  Status candidates() {
    bool begun = false;
    for (uint32_t mask = 0;; ++mask) {
      Candidate best[kMaxCandidates];
      uint32_t count = 0;
      const Status status = fill(session_, 0, mask, best, kMaxCandidates, &count);
      if (status == Status::kIndexOutOfRange && begun) return Status::kOk;
      if (status != Status::kOk) return status;
      if (!begun) begin();
      begun = true;
      words(best, count);
    }
  }

#endif

#if BANTAM_IF_LINKED(part_NextWords)
  Status next_words() {
    Candidate best[kMaxCandidates];
    uint32_t count = 0;
    const Status status = bantam::next_words(session_, 0, best, kMaxCandidates, &count);
    if (status != Status::kOk) return status;
    begin();
    words(best, count);
    return Status::kOk;
  }

#endif

#if BANTAM_IF_LINKED(part_Masks) || BANTAM_IF_LINKED(part_NextWords)
  void words(const Candidate* best, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      scored(best[i].score);
      out_.text(session_.tokenizer()->token(static_cast<uint32_t>(best[i].id)));
    }
  }

#endif

#if BANTAM_IF_LINKED(part_Follows)
  Status next() {
    float probability = 0;
    const Status status = next_sentence(session_, 0, &probability);
    if (status != Status::kOk) return status;
    begin();
    scored(probability);
    out_.word("is_next");
    return Status::kOk;
  }

#endif

  /// Writes the name, the size and the first values of every output, for embeddings, bare encoders, multiple choice and
  /// ids.
  void raw_outputs() {
    begin();
    for (uint32_t i = 0; i < session_.model().output_count(); ++i) {
      OutputView view;
      if (session_.output(i, &view) != Status::kOk) continue;
      out_.put('\t');
      out_.text(view.name);
      out_.put(' ');
      out_.number(view.rows);
      out_.put('x');
      out_.number(view.width);
      for (uint32_t column = 0; column < view.width && column < kMaxLabels; ++column) {
        out_.put(' ');
        out_.decimal(view.data[column]);
      }
    }
  }

  Session& session_;
  Writer out_;
  Entity* entities_;  // kMaxEntities
  Text first_;
  Text last_;  // the text of an answer's span
  bool pair_ = false;
};

/// Returns true if a text has only blanks and tabs, so that it is neither a question nor part of a pair.
bool is_blank(Text text) {
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] != ' ' && text.data[i] != '\t') return false;
  }
  return true;
}

bool is_utf8(Text text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data);
  for (size_t i = 0; i < text.size;) {
    const text::CodePoint point = text::decode_utf8(bytes + i, static_cast<uint32_t>(text.size - i));
    if (!is_utf8(point, bytes[i])) return false;
    i += point.size;
  }
  return true;
}

}  // namespace

Status Terminal::start(Session* session, Sink sink, const Frame& frame) {
  session_ = session;
  sink_ = sink;
  ImageForm form;
  if (kTakesPixels && image_form(session->model(), &form) == Status::kOk) {
    if (frame.pixels == nullptr || frame.features == nullptr) return Status::kInvalidArgument;
    frame_ = frame;
    digits_ = 2 * form.width * form.height * form.channels;
    samples_ = kTakesSamples && takes_sound(session->model());
    if (samples_) {
      digits_ = 4 * (kSoundWindow + (form.width - 1) * kSoundStep);
      begin_sound();
    }
  }
  const fb::Task* task = root(session->model()).task();
  const bool embeds = has_part(session->model().task(), kVectorPart);
  Text prompt = embeds ? as_text(task->prompt()) : Text{};
#if BANTAM_IF_LINKED(Contexts)
  if constexpr (kGoesOn) {
    Generation said;
    if (session->max_context() != 0 && generation(session->model(), 0, &said) == Status::kOk) prompt = said.prefix;
  }
#endif
  if (prompt.size >= kLineBytes) return Status::kTextTooLong;
  prompt_ = static_cast<uint32_t>(prompt.size);
  if (prompt_ != 0) memcpy(line_, prompt.data, prompt_);
  size_ = prompt_;
  return Status::kOk;
}

void Terminal::put(uint8_t byte) {
  const bool line_feed_of_pair = byte == '\n' && after_return_;
  after_return_ = byte == '\r';
  if (line_feed_of_pair) return;
  const bool ends = byte == '\n' || byte == '\r';
  if (kTakesPixels && digits_ != 0) return ends ? end_pixels() : put_digit(byte);
  if (ends) return end_line();
  if (size_ < kLineBytes) line_[size_] = static_cast<char>(byte);
  if (size_ <= kLineBytes) ++size_;
}

void Terminal::finish() {
  if (kTakesPixels && digits_ != 0) {
    if (size_ != 0 || bad_digit_) end_pixels();
  } else if (size_ > prompt_) {
    end_line();
  }
}

void Terminal::put_digit(uint8_t byte) {
  const uint32_t lower = byte | 0x20u, letter = lower - 'a', digit = byte - uint32_t{'0'};
  if (digit > 9 && letter > 5) {
    bad_digit_ = bad_digit_ || byte != ' ';
    return;
  }
  if (size_ > digits_) return;  // too many already
  if (kTakesSamples && samples_) return put_sample_digit(digit > 9 ? letter + 10 : digit);
  if (size_ < digits_) {
    uint8_t& pixel = frame_.pixels[size_ / 2];
    pixel = static_cast<uint8_t>(pixel << 4 | (digit > 9 ? letter + 10 : digit));
  }
  ++size_;
}

/// Passes samples to the filter bank as they arrive: only 30 ms of the sound are kept.
void Terminal::put_sample_digit(uint32_t digit) {
  sample_ = static_cast<uint16_t>(sample_ << 4 | digit);
  ++size_;
  if (size_ % 4 != 0) return;
  const auto one = static_cast<int16_t>(static_cast<uint16_t>(sample_ >> 8 | sample_ << 8));
  sound_.add(&one, 1);
}

/// Returns what is wrong with a line of digits, or null.
const char* Terminal::wrong() const {
  if (bad_digit_) return "not hexadecimal digits";
  if (size_ == 0) return "empty line";
  if (kTakesSamples && samples_) {
    return size_ > digits_ ? "too many samples" : size_ % 4 != 0 ? "half a sample" : nullptr;
  }
  return size_ < digits_ ? "too few pixels" : size_ > digits_ ? "too many pixels" : nullptr;
}

void Terminal::begin_sound() {
  if constexpr (kTakesSamples) {
    ImageForm form;
    if (image_form(session_->model(), &form) == Status::kOk) sound_.begin(frame_.pixels, form.width);
  }
}

void Terminal::end_pixels() {
  const char* const what = wrong();
  size_ = 0;
  bad_digit_ = false;
  if (kTakesSamples && samples_) {
    sound_.finish();
    begin_sound();
  }
  Answerer answerer(*session_, sink_, entities_);
  what != nullptr ? answerer.error(what) : answerer.image(frame_);
}

void Terminal::end_line() {
  const Text line{line_, size_};
  size_ = prompt_;
  Answerer answerer(*session_, sink_, entities_);
  if (line.size > kLineBytes) return answerer.error("line too long");
  if (is_blank({line_ + prompt_, line.size - prompt_})) return answerer.error("empty line");
  if (!is_utf8(line)) return answerer.error("not UTF-8");
  if (kTakesIds && session_->tokenizer() == nullptr) return answerer.numbers(line, ids_, sizeof(ids_) / sizeof(*ids_));
#if BANTAM_IF_LINKED(Contexts)
  if (kGoesOn && session_->max_context() != 0) return answerer.go_on(line, ids_);
#endif
  answerer.text(line);
}

void report(Sink sink, const char* where, Status status, const Fault& fault) {
  Writer out(sink);
  out.word("error\t");
  out.word(where);
  out.put('\t');
  out.status(status);
  if (linked::kFaultText && fault.what[0] != 0) {
    out.word(": ");
    out.word(fault.what);
  }
  if (fault.name_size != 0) {
    out.word(", at ");
    out.text({fault.name, fault.name_size});
  }
  out.put('\n');
}

void report_memory(Sink sink, const Session& session, size_t arena, size_t stack_high, size_t stack) {
  Writer out(sink);
  out.word("end\tarena ");
  out.number(static_cast<uint32_t>(session.arena_high_water()));
  out.word(" of ");
  out.number(static_cast<uint32_t>(arena));
  out.word("\tstack ");
  out.number(static_cast<uint32_t>(stack_high));
  out.word(" of ");
  out.number(static_cast<uint32_t>(stack));
  out.put('\n');
}

}  // namespace bantam::firmware
