#include "serve/text_maker.h"

#include <algorithm>
#include <utility>

#include "base/status_error.h"
#include "run/generate.h"
#include "serve/room.h"

namespace bantam::serve {
namespace {

using convert::check;
using convert::ExitCode;
using convert::fail;
using convert::Finish;
using convert::GeneratedSequence;
using convert::SequenceInput;

/// Returns the reply for the exception being handled, in the words of requests.
Reply reply_of_failure(const std::string& file) {
  try {
    throw;
  } catch (const convert::Error& error) {
    return error_reply(in_words_of_requests(error), file);
  } catch (const std::exception&) {
    return reply_of_exception(file);
  }
}

/// Rows of a run: prompts are read in pieces of so many tokens at most, so that other texts do not wait for long.
constexpr uint32_t kRows = 128;

convert::EngineOptions engine_options(const convert::ModelFile& file, const TextMakerOptions& given) {
  if (given.engine.backend != "native") {
    fail(ExitCode::kUsage,
         "--backend {}: {} generates texts, and only the native kernels give a row the same bits beside others; leave "
         "the option out",
         given.engine.backend, file.path());
  }
  const Model& model = file.model();
  convert::Decoding decoding;
  if (generation_count(model) == 0) {
    decoding.said.beams.beams = 1;
  } else {
    check(generation(model, 0, &decoding.said), file.path());
  }
  convert::EngineOptions options = convert::with_contexts(model, decoding, given.engine, given.contexts, given.context);
  options.batch = std::max(options.batch, given.contexts);
  options.max_tokens = std::max(kRows, options.batch);
  return options;
}

}  // namespace

bool makes_texts(const Model& model) {
  Tokenizer tokenizer;
  return has_part(model.task(), kNextWordsPart) && Tokenizer::open(model, 0, &tokenizer) == Status::kOk &&
         convert::keeps_contexts(model);
}

struct TextMaker::Choice {
  Choice(size_t index, const Tokenizer& tokenizer, const convert::Decoding& decoding, const SequenceInput& input,
         uint32_t max_context, uint64_t seed, convert::TakeText taken)
      : number(index), take(std::move(taken)), sequence(tokenizer, decoding, input, max_context, seed, take) {}
  size_t number;
  const convert::TakeText take;
  GeneratedSequence sequence;
};

struct TextMaker::Request {
  explicit Request(Job given)
      : job(std::move(given)), completion(*job.completion), writer(completion), made(completion.choices()) {}
  Job job;
  const Completion& completion;
  CompletionWriter writer;
  std::list<std::unique_ptr<SequenceInput>> inputs;
  std::list<Choice> running;
  std::vector<MadeChoice> made;
  size_t next = 0;      // the next choice to begin
  size_t finished = 0;  // number of choices
  uint64_t given_tokens = 0, made_tokens = 0;
  size_t bytes = 0;        // of finished texts
  std::string events;      // of a stream, not yet sent
  bool streaming = false;  // events have been sent
};

TextMaker::TextMaker(const convert::ModelFile& file, const TextMakerOptions& options, Metrics* metrics)
    : metrics_(metrics), file_(file), engine_(file, engine_options(file, options)), batch_(engine_), queue_(metrics) {
  check(Tokenizer::open(file.model(), 0, &tokenizer_), file.path());
  thread_ = std::thread([this] { loop(); });
}

TextMaker::~TextMaker() {
  queue_.stop();
  thread_.join();
}

void TextMaker::drop_given_up() {
  for (Job& job : queue_.take_all([](const Job& waiting) { return waiting.is_given_up(); })) {
    job.done(job.reply_to_given_up());
  }
}

void TextMaker::loop() noexcept {
  for (;;) {
    try {
      if (!queue_.wait(!active_.empty())) return;
      drop_given_up();
      drop_abandoned();
      admit();
      if (!batch_.empty()) step();
    } catch (...) {
      fail_all();
    }
  }
}

void TextMaker::drop_abandoned() {
  for (auto it = active_.begin(); it != active_.end();) {
    Request& request = *it++;
    if (*request.job.abandoned) end(request, Reply());
  }
}

TextMaker::Request* TextMaker::next_request() {
  if (!active_.empty() && active_.back().next < active_.back().completion.choices()) return &active_.back();
  bool has_one = false;
  std::list<Job> taken = queue_.take_while([&](const Job&) { return !std::exchange(has_one, true); });
  if (taken.empty()) return nullptr;
  Job& job = taken.front();
  try {
    size_t bytes = 0;
    for (const std::string& text : job.completion->texts) bytes += text.size();
    require_room(8 * bytes);
    active_.emplace_back(std::move(job));
  } catch (const std::bad_alloc&) {
    if (job.done != nullptr) job.done(no_memory_reply());
    return nullptr;
  }
  return &active_.back();
}

void TextMaker::admit() {
  while (batch_.has_room()) {
    Request* const request = next_request();
    if (request == nullptr) return;
    if (!request->completion.decoding.has_beams()) {
      begin(*request);
    } else if (batch_.empty()) {
      search(*request);
    } else {
      return;
    }
  }
}

void TextMaker::begin(Request& request) {
  const Completion& asked = request.completion;
  const size_t number = request.next, prompt = number / asked.n;
  try {
    if (number % asked.n == 0) {
      request.inputs.push_back(std::make_unique<SequenceInput>(
          asked.tokens.empty() ? convert::read_sequence(engine_, asked.decoding, asked.texts[prompt])
                               : convert::read_sequence(engine_, asked.decoding, asked.tokens[prompt])));
      request.given_tokens += request.inputs.back()->given.ids.size();
      metrics_->tokens += request.inputs.back()->given.ids.size();
    }
    convert::TakeText take;
    if (asked.streams) {
      take = [&request, number](std::string_view text) { request.events += request.writer.piece(number, text); };
      request.events += request.writer.begin(number);
    }
    request.running.emplace_back(number, tokenizer_, asked.decoding, *request.inputs.back(),
                                 engine_.session().max_context(), asked.decoding.sampling.seed + number % asked.n,
                                 std::move(take));
    batch_.join(&request.running.back().sequence);
    ++request.next;
  } catch (const std::exception&) {
    end(request, reply_of_failure(file_.path()));
  }
}

void TextMaker::search(Request& request) {
  const Completion& asked = request.completion;
  try {
    const size_t number = request.next++;
    const convert::Made made = convert::generate(engine_, asked.decoding, {asked.texts[number]}, nullptr).front();
    ++metrics_->runs;
    metrics_->tokens += made.given_tokens + made.ids.size();
    request.given_tokens += made.given_tokens;
    request.made_tokens += made.ids.size();
    if (asked.streams) {
      request.events += request.writer.begin(number) + request.writer.piece(number, made.text);
    }
    finish(request, number, made.text, made.finish);
  } catch (const std::exception&) {
    return end(request, reply_of_failure(file_.path()));
  }
  send(request);
}

void TextMaker::step() {
  ++metrics_->runs;
  failed_.clear();
  batch_.step([this](GeneratedSequence* sequence, std::exception_ptr why) { failed_[sequence] = std::move(why); });
  for (auto it = active_.begin(); it != active_.end();) {
    Request& request = *it++;
    take_made(request);
  }
}

/// Takes the choices that are done, and sends what there is.
void TextMaker::take_made(Request& request) {
  for (auto it = request.running.begin(); it != request.running.end();) {
    const auto choice = it++;
    const auto failed = failed_.find(&choice->sequence);
    try {
      if (failed != failed_.end()) std::rethrow_exception(failed->second);
      if (!choice->sequence.done()) continue;
      const size_t tokens = choice->sequence.ids().size();
      request.made_tokens += tokens;
      metrics_->tokens += tokens;
      std::string text = choice->sequence.text();
      batch_.leave(&choice->sequence);
      finish(request, choice->number, std::move(text), choice->sequence.finish());
      request.running.erase(choice);
    } catch (const std::exception&) {
      return end(request, reply_of_failure(file_.path()));
    }
  }
  send(request);
}

void TextMaker::finish(Request& request, size_t choice, std::string text, Finish why) {
  ++metrics_->texts;
  ++request.finished;
  if (request.completion.streams) {
    request.events += request.writer.end(choice, why);
    return;
  }
  request.bytes += text.size();
  request.made[choice] = {std::move(text), why};
}

void TextMaker::send(Request& request) {
  if (request.bytes > request.job.most_reply) {
    return end(request, too_large_reply());
  }
  const bool done = request.finished == request.completion.choices();
  if (!request.completion.streams) {
    if (!done) return;
    Reply reply;
    reply.body = request.writer.whole(request.made, request.given_tokens, request.made_tokens);
    return end(request, std::move(reply));
  }
  if (done) request.events += request.writer.last(request.given_tokens, request.made_tokens);
  if (!request.events.empty()) {
    request.streaming = true;
    request.job.part(std::exchange(request.events, {}));
  }
  if (done) end(request, Reply());
}

void TextMaker::end(Request& request, Reply reply) {
  for (const Choice& choice : request.running) batch_.leave(&choice.sequence);
  // The head of a stream says 200 already: the error is its last event.
  if (request.streaming && reply.code >= 400) reply.body = event_of(std::move(reply.body));
  request.job.done(std::move(reply));
  active_.remove_if([&](const Request& one) { return &one == &request; });
}

/// After a failure of a run, or without memory: nothing that was begun can be finished.
void TextMaker::fail_all() noexcept {
  Reply reply;
  reply.code = 500;
  reply.close = true;
  try {
    reply = reply_of_exception(file_.path());
  } catch (...) {  // no memory for a message
  }
  while (!active_.empty()) {
    Request& request = active_.front();
    for (const Choice& choice : request.running) batch_.leave(&choice.sequence);
    Reply own;
    own.code = reply.code;
    own.close = true;
    try {
      own.body = request.streaming ? event_of(reply.body) : reply.body;
    } catch (...) {
    }
    request.job.done(std::move(own));
    active_.pop_front();
  }
}

}  // namespace bantam::serve
