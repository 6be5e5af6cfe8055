#include "run/generate.h"

#include <algorithm>

#include "bantam/decode.h"
#include "base/error.h"
#include "format/view.h"
#include "run/status_error.h"

namespace bantam::convert {
namespace {

/// The text of all tokens so far, of which what follows the prompt is handed on, up to a text that ends it. What could be the
/// beginning of such a text waits.
class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt, const std::vector<std::string>& stop,
             const TakeText& take)
      : stop_(stop), take_(take) {
    const auto append = [](void* target, const char* bytes, size_t size) {
      static_cast<std::string*>(target)->append(bytes, size);
    };
    TextDecoder alone;
    check(TextDecoder::open(tokenizer, true, append, &text_, &alone), "the tokenizer");
    for (const int32_t id : prompt) alone.add(id);
    alone.finish();
    begin_ = shown_ = text_.size();
    text_.clear();
    check(TextDecoder::open(tokenizer, true, append, &text_, &decoder_), "the tokenizer");
    for (const int32_t id : prompt) decoder_.add(id);
  }

  /// False: the text has ended.
  bool add(int32_t id) {
    decoder_.add(id);
    return show(false);
  }
  std::string finish() {
    if (!stopped_) {
      decoder_.finish();
      show(true);
    }
    return text_.size() > begin_ ? text_.substr(begin_) : "";
  }

 private:
  bool show(bool last) {
    if (text_.size() <= shown_) return true;
    size_t end = text_.size();
    for (const std::string& stop : stop_) {
      const size_t from = shown_ - std::min(shown_ - begin_, stop.size());
      const size_t found = text_.find(stop, from);
      if (found < end) {
        end = found;
        stopped_ = true;
      }
    }
    if (stopped_) {
      text_.resize(end);
    } else if (!last) {
      end -= longest_beginning();
    }
    if (end > shown_) take_(std::string_view(text_).substr(shown_, end - shown_));
    shown_ = std::max(shown_, end);
    return !stopped_;
  }

  /// Bytes at the text's end that may be the beginning of one that ends it.
  size_t longest_beginning() const {
    size_t longest = 0;
    for (const std::string& stop : stop_) {
      for (size_t size = std::min(stop.size() - 1, text_.size() - shown_); size > longest; --size) {
        if (text_.compare(text_.size() - size, size, stop, 0, size) == 0) longest = size;
      }
    }
    return longest;
  }

  const std::vector<std::string>& stop_;
  const TakeText& take_;
  TextDecoder decoder_;
  std::string text_;
  size_t begin_ = 0;  // of what follows the prompt
  size_t shown_ = 0;
  bool stopped_ = false;
};

/// In pieces that one run takes; the last one's output stays.
void run_tokens(Engine& engine, const std::vector<int32_t>& ids) {
  Session& session = engine.session();
  for (size_t begin = 0; begin < ids.size(); begin += session.max_tokens()) {
    Batch batch;
    batch.ids = ids.data() + begin;
    batch.tokens = static_cast<uint32_t>(std::min<size_t>(session.max_tokens(), ids.size() - begin));
    batch.last_rows = true;
    check(session.run(batch), engine.file().path());
  }
}

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
  Tokenizer tokenizer;
  check(Tokenizer::open(model, 0, &tokenizer), "the file");
  const size_t special = with_special ? tokenizer.special_count(false) : 0;
  std::vector<int32_t> ids(prompt.size() + special);
  EncodeResult result;
  for (;;) {
    TokenBuffer buffer;
    buffer.ids = ids.data();
    buffer.capacity = static_cast<uint32_t>(ids.size());
    EncodeOptions options;
    options.max_tokens = buffer.capacity;
    options.add_special = with_special;
    check(tokenizer.encode({prompt.data(), prompt.size()}, {}, options, buffer, &result), "the prompt");
    if (!result.truncated) break;
    ids.resize(result.content[0] + special);  // a character may become several tokens
  }
  ids.resize(result.count);
  return ids;
}

Generation generate(Engine& engine, const std::string& prompt, const GenerateOptions& options, const TakeText& take) {
  Session& session = engine.session();
  const Model& model = engine.model();
  Generation out;
  out.prompt = prompt_ids(model, prompt, options.special_tokens);
  if (out.prompt.empty()) {
    fail(ExitCode::kInvalid, "the prompt is empty, and this model's texts begin with no token of their own");
  }
  if (out.prompt.size() >= session.max_context()) {
    fail(ExitCode::kInvalid,
         "the prompt has {} tokens, which leave no room for another in a context of {}; shorten it{}",
         out.prompt.size(), session.max_context(),
         session.max_context() < root(model).max_sequence() ? ", or give a larger --context" : "");
  }
  check(session.truncate(0, 0), engine.file().path());
  std::vector<int32_t> ends = options.ends;
  const fb::Task* task = root(model).task();
  for (uint32_t i = 0; i < count(task->end_ids()); ++i) ends.push_back(task->end_ids()->Get(i));
  TextStream text(*session.tokenizer(), out.prompt, options.stop, take);
  run_tokens(engine, out.prompt);
  for (;;) {
    Sampling sampling = options.sampling;
    sampling.banned = ends.data();
    sampling.banned_count = out.ids.size() < options.min_new ? static_cast<uint32_t>(ends.size()) : 0;
    NextToken next;
    check(next_token(session, 0, sampling, &next), engine.file().path());
    out.ids.push_back(next.id);
    if (sampling.log_probability) out.log_probabilities.push_back(next.log_probability);
    if (std::find(ends.begin(), ends.end(), next.id) != ends.end()) {
      out.finish = Finish::kEnd;
      break;
    }
    if (!text.add(next.id)) {
      out.finish = Finish::kStop;
      break;
    }
    if (out.ids.size() >= options.max_new) break;
    if (session.context_length(0) == session.max_context()) {
      out.finish = Finish::kContext;
      break;
    }
    run_tokens(engine, {next.id});
  }
  out.text = text.finish();
  return out;
}

}  // namespace bantam::convert
