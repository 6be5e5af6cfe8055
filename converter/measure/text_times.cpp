#include "measure/text_times.h"

#include <algorithm>
#include <array>

#include "bantam/tasks.h"
#include "base/printable.h"
#include "base/status_error.h"
#include "format/view.h"
#include "model/task_traits.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

double microseconds_between(Clock::time_point begin, Clock::time_point end) {
  return milliseconds_between(begin, end) * 1e3;
}

Text view_of(const std::string& text) { return {text.data(), text.size()}; }

/// The file's task head, called as a program that embeds the runtime does: with existing buffers.
class TaskHead {
 public:
  TaskHead(const Session& session, size_t most_bytes) : session_(session), spans_(most_bytes / 2 + 1) {}

  Status decode(Text text) {
    const uint32_t parts = traits(session_.model().task()).parts;
    Status status = Status::kOk;
    if ((parts & kLabelsPart) != 0) status = labels();
    if (status == Status::kOk && (parts & kWordsPart) != 0) status = entities(text);
    if (status == Status::kOk && (parts & kFoundPart) != 0) {
      uint32_t count = 0;
      status = find(session_, 0, {}, spans_.data(), static_cast<uint32_t>(spans_.size()), &count);
    }
    if (status == Status::kOk && (parts & kSpanPart) != 0) {
      Answer answer;
      status = bantam::answer(session_, 0, &answer);
    }
    if (status == Status::kOk && (parts & kVectorPart) != 0) {
      const float* values = nullptr;
      uint32_t width = 0;
      status = embed(session_, 0, &values, &width);
    }
    if (status != Status::kOk) return status;
    if ((parts & kMasksPart) != 0) return masks();
    if ((parts & kNextWordsPart) != 0) {
      uint32_t count = 0;
      return next_words(session_, 0, candidates_.data(), static_cast<uint32_t>(candidates_.size()), &count);
    }
    float probability = 0;
    return (parts & kFollowsPart) != 0 ? next_sentence(session_, 0, &probability) : Status::kOk;
  }

 private:
  Status labels() {
    uint32_t count = 0;
    return classify(session_, 0, labels_.data(), static_cast<uint32_t>(labels_.size()), &count);
  }
  Status entities(Text text) {
    uint32_t count = 0;
    return tag(session_, 0, text, spans_.data(), static_cast<uint32_t>(spans_.size()), &count);
  }
  /// Computes candidates for every [MASK]; there are none without a mask.
  Status masks() {
    uint32_t count = 0;
    for (uint32_t mask = 0;; ++mask) {
      const Status status =
          fill(session_, 0, mask, candidates_.data(), static_cast<uint32_t>(candidates_.size()), &count);
      if (status == Status::kIndexOutOfRange) return Status::kOk;
      if (status != Status::kOk) return status;
    }
  }

  const Session& session_;
  std::array<LabelScore, 5> labels_;
  std::array<Candidate, 5> candidates_;
  std::vector<Entity> spans_;
};

/// Tokenizes, runs and decodes one text. `keep`: record its times; otherwise it is a warm-up.
class TextRunner {
 public:
  TextRunner(Engine& engine, const std::optional<std::string>& pair, size_t most_bytes)
      : session_(engine.session()), path_(engine.file().path()), head_(session_, most_bytes) {
    if (pair) second_ = view_of(*pair);
    const fb::Task* task = root(session_.model()).task();
    if (has_part(session_.model().task(), kVectorPart) && task != nullptr) prompt_ = to_string(as_text(task->prompt()));
  }

  void run(TextTiming* timing, bool keep) {
    const std::string first = prompt_ + timing->text;
    const Clock::time_point begin = Clock::now();
    session_.clear();
    const bool finds = has_part(session_.model().task(), kFoundPart);
    check(finds ? add_labelled(session_, first, common_labels()) : session_.add(view_of(first), second_, {}),
          where(*timing));
    const Clock::time_point tokenized = Clock::now();
    check(session_.run(), where(*timing));
    const Clock::time_point ran = Clock::now();
    const Status status = head_.decode(view_of(first));
    const Clock::time_point end = Clock::now();
    check(status, where(*timing));
    const EncodedSequence sequence = session_.sequence(0);
    timing->tokens = sequence.row_count;
    timing->truncated = sequence.result.truncated;
    if (!keep) return;
    timing->tokenize.push_back(microseconds_between(begin, tokenized));
    timing->forward.push_back(microseconds_between(tokenized, ran));
    timing->task.push_back(microseconds_between(ran, end));
    timing->total.push_back(microseconds_between(begin, end));
  }

 private:
  std::string where(const TextTiming& timing) const {
    return fmt::format("{}: text \"{}\"", path_, printable(timing.text.substr(0, 40)));
  }

  Session& session_;
  const std::string& path_;
  TaskHead head_;
  Text second_;
  std::string prompt_;
};

}  // namespace

TextTimings time_texts(Engine& engine, const TimeOptions& options, const std::vector<std::string>& texts,
                       const std::optional<std::string>& pair) {
  TextTimings result;
  size_t most_bytes = 0;
  for (const std::string& text : texts) {
    result.texts.emplace_back().text = text;
    most_bytes = std::max(most_bytes, text.size());
  }
  TextRunner runner(engine, pair, most_bytes);
  const auto pass = [&](bool keep) {
    for (TextTiming& timing : result.texts) runner.run(&timing, keep);
  };
  for (uint32_t i = 0; i < std::max(options.warmup, 1u); ++i) pass(false);
  const Clock::time_point begin = Clock::now();
  pass(false);
  const double spent = milliseconds_between(begin, Clock::now());
  const uint32_t repetitions = options.repetitions != 0 ? options.repetitions : choose_repetitions(spent);
  std::optional<probe::CostMeter> meter;
  if (options.cost) meter.emplace();
  for (uint32_t i = 0; i < repetitions; ++i) pass(true);
  if (meter) result.cost = meter->take(static_cast<double>(repetitions) * static_cast<double>(texts.size()));
  return result;
}

}  // namespace bantam::convert
