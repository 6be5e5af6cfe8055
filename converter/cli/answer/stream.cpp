#include "cli/answer/stream.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/frame/appearance.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"

namespace bantam::cli {
namespace {

class Answers {
 public:
  Answers(const RunOptions& options, const Stream& stream)
      : options_(options), stream_(stream), goes_on_(is_stream(options.texts, options.file)) {}

  /// Answers `batch`. If it cannot be answered as a whole, answers its halves, down to the text that fails.
  void answer(const std::vector<Input>& batch) {
    std::vector<std::vector<Input>> parts = {batch};  // the next part is the last element
    while (!parts.empty()) {
      const std::vector<Input> part = std::move(parts.back());
      parts.pop_back();
      if (part.size() == 1) {
        answer_one(part);
      } else if (!answered_together(part)) {
        const auto middle = part.begin() + static_cast<ptrdiff_t>(part.size() / 2);
        parts.emplace_back(middle, part.end());
        parts.emplace_back(part.begin(), middle);
      }
    }
  }

  /// Reports the error of a text in a stream; otherwise throws it again.
  void take(const Error& error, const std::string& text) {
    if (!goes_on_ || error.code() != ExitCode::kInvalid) throw error;
    ++failures_;
    if (options_.json || options_.raw) {
      Json object = json_object(options_.command);
      object["text"] = text;
      object["error"] = fmt::format("{}", fmt::join(error.problems(), "; "));
      out().line(object);
      out().flush();
      return;
    }
    out().flush();
    for (const std::string& problem : error.problems()) std::fprintf(stderr, "bantam: %s\n", problem.c_str());
  }

  /// Throws if any text failed.
  void raise() const {
    if (failures_ == 0) return;
    fail(ExitCode::kInvalid, "{} of {} texts could not be answered", failures_, failures_ + answers_);
  }

 private:
  void answer_one(const std::vector<Input>& one) {
    try {
      stream_.answer(one);
      ++answers_;
    } catch (const Error& error) {
      take(error, one.front().first);
    }
  }

  bool answered_together(const std::vector<Input>& batch) {
    try {
      stream_.answer(batch);
      answers_ += batch.size();
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::kInvalid) throw;
      return false;
    }
  }

  const RunOptions& options_;
  const Stream& stream_;
  bool goes_on_;
  size_t failures_ = 0;
  size_t answers_ = 0;
};

}  // namespace

void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts) {
  if (!texts->empty() || !file.empty()) return;
  if (!convert::input_is_given()) {
    fail(ExitCode::kUsage, "no {}: pass it as an argument, by --file, or on standard input", what);
  }
  *texts = {"-"};
}

bool is_stream(const std::vector<std::string>& texts, const std::string& file) {
  return texts.size() > 1 || !file.empty() || std::find(texts.begin(), texts.end(), "-") != texts.end();
}

bool has_headings(const RunOptions& options) {
  return is_stream(options.texts, options.file) && !convert::input_is_typed();
}

std::function<bool(Input*)> one_by_one(convert::TextSource& source) {
  return [&source](Input* input) {
    *input = {};
    return source.next(&input->first);
  };
}

void answer_stream(const RunOptions& options, const Stream& stream) {
  Answers answers(options, stream);
  const size_t most = options.engine.batch == convert::kPacked ? convert::kPackedTexts : options.engine.batch;
  std::vector<Input> batch;
  for (bool more = true; more;) {
    std::optional<Error> unreadable;
    Input input;
    try {
      more = stream.next(&input);
      if (more) batch.push_back(std::move(input));
    } catch (const Error& error) {
      unreadable = error;
    }
    const bool full = batch.size() >= most || !more || unreadable || (stream.ready && !stream.ready());
    if (!batch.empty() && full) {
      answers.answer(batch);
      batch.clear();
    }
    if (unreadable) answers.take(*unreadable, "");
  }
  answers.raise();
}

void answer_each(RunOptions options, const std::function<void(const std::string& text)>& answer) {
  options.engine.batch = 1;
  convert::TextSource source(options.texts, options.file, warn, show_prompt);
  answer_stream(options, {one_by_one(source), [&](const std::vector<Input>& texts) { answer(texts.at(0).first); }});
}

}  // namespace bantam::cli
