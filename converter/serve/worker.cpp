#include "serve/worker.h"

#include <filesystem>
#include <utility>

#include "base/status_error.h"
#include "serve/room.h"

namespace bantam::serve {
namespace {

using convert::ExitCode;
using convert::fail;
using convert::Input;
using convert::Prediction;
using convert::Predictor;

/// Estimates the tokens of texts before tokenization. An estimate too low causes another run, one too high a smaller
/// run.
uint32_t likely_rows(size_t bytes, size_t texts = 1) {
  constexpr size_t kBytesOfToken = 4, kSpecial = 2;
  return static_cast<uint32_t>(std::min<size_t>(kSpecial * texts + bytes / kBytesOfToken, UINT32_MAX / 4));
}

uint32_t likely_rows(const Job& job) {
  size_t bytes = job.second == nullptr ? 0 : job.second->size() * job.texts.size();
  for (const std::string& text : job.texts) bytes += text.size();
  return likely_rows(bytes, job.texts.size());
}

/// Refuses files whose answers need more than texts.
void refuse_others(const convert::ModelFile& file) {
  const Model& model = file.model();
  const uint32_t parts = traits(model.task()).parts;
  // The server would read a path that a stranger names.
  if (convert::takes_images(model)) {
    fail(ExitCode::kUnsupported, "{}: takes images, which are not served; use bantam run", file.path());
  }
  if ((parts & kFoundPart) != 0) {
    fail(ExitCode::kUnsupported, "{}: finds spans for labels, which are not served; use bantam tag --labels",
         file.path());
  }
  if ((parts & kNextWordsPart) != 0 && model.source_vocabulary() != 0 && !makes_texts(model)) {
    fail(ExitCode::kUnsupported, "{}: generates texts, but has no tokenizer or keeps no contexts; it is not served",
         file.path());
  }
  if (parts == 0 || parts == kChoicePart) {
    fail(ExitCode::kUnsupported,
         "{}: its task is \"{}\", which is not served; serve takes classify, tag, answer, embed, "
         "fill, generate and what ranks",
         file.path(), convert::task_name(model.task()));
  }
}

/// Returns true for files that have no other answer to a text than a generated one.
bool only_generates(const Model& model) {
  return has_part(model.task(), kNextWordsPart) && model.source_vocabulary() != 0;
}

}  // namespace

Worker::Worker(const std::string& file, const WorkerOptions& options, Metrics* metrics)
    : options_(options),
      metrics_(metrics),
      queue_(metrics),
      file_(file, convert::Hold::kInMemory),
      name_(std::filesystem::path(file).stem().string()) {
  refuse_others(file_);
  if (!only_generates(file_.model())) {
    engine_.emplace(file_, options.engine);
    if (engine_->session().tokenizer() == nullptr) convert::check(Status::kNoTokenizer, file);
    Job all;
    all.parts = parts(~0U);
    predictor(all);  // throws at once if it cannot be constructed
  }
  if (serve::makes_texts(file_.model())) {
    TextMakerOptions making;
    making.engine = options.engine;
    making.contexts = options.contexts;
    making.context = options.context;
    maker_ = std::make_unique<TextMaker>(file_, making, metrics);
  }
  if (engine_) thread_ = std::thread([this] { loop(); });
}

Worker::~Worker() {
  queue_.stop();
  if (thread_.joinable()) thread_.join();
}

Predictor& Worker::predictor(const Job& job) {
  std::unique_ptr<Predictor>& made = predictors_[{job.parts, job.role}];
  if (made == nullptr) {
    convert::PredictOptions options;
    options.top = options_.top;
    options.role = job.role;
    if (has_part(file_.model().task(), kWordsPart)) options.aggregation = options_.aggregation;
    made = std::make_unique<Predictor>(*engine_, job.parts, options);
  }
  return *made;
}

bool Worker::has_room(const Job& job) const {
  const size_t waiting = job.completion != nullptr ? maker_->waiting() : queue_.waiting();
  return waiting + job.queued() <= options_.queue;
}

void Worker::push(Job job) { job.completion != nullptr ? maker_->push(std::move(job)) : queue_.push(std::move(job)); }

std::list<Job> Worker::take() {
  const Job* first = nullptr;
  uint32_t rows = 0, texts = 0;
  return queue_.take_while([&](const Job& next) {
    if (first == nullptr) {
      first = &next;
    } else {
      const bool alone = next.work != nullptr || first->work != nullptr;
      const bool other = next.parts != first->parts || next.role != first->role;
      if (alone || other || engine_->is_full(texts, rows)) return false;
    }
    rows += std::min(likely_rows(next), UINT32_MAX / 2 - std::min(rows, UINT32_MAX / 2));
    texts += static_cast<uint32_t>(next.queued());
    return true;
  });
}

void Worker::loop() noexcept {
  while (queue_.wait(false)) {
    std::list<Job> jobs = take();
    answer(&jobs);
  }
}

void Worker::end(Job& job, Reply reply) noexcept {
  if (job.ended) return;
  job.ended = true;
  job.done(std::move(reply));
}

void Worker::put(Job& job, const Input& input, const Prediction& prediction) {
  metrics_->tokens += prediction.rows;
  ++metrics_->texts;
  job.writer->put(predictor(job), input, prediction, &job.body);
  if (job.body.size() > job.most_reply) {
    return end(job, too_large_reply());
  }
  if (++job.next != job.texts.size()) return;
  job.writer->finish(&job.body);
  Reply reply;
  reply.body = std::move(job.body);
  end(job, std::move(reply));
}

std::vector<Job*> Worker::next_texts(std::list<Job>* jobs, std::vector<Input>* inputs) const {
  // Bytes of texts after the first, since the second text is copied for each.
  constexpr size_t kMostBytes = size_t{1} << 20;
  std::vector<Job*> of;
  uint32_t rows = 0;
  size_t bytes = 0;
  for (Job& job : *jobs) {
    const size_t second = job.second == nullptr ? 0 : job.second->size();
    for (size_t i = job.next; !job.ended && i < job.texts.size(); ++i) {
      const size_t own = job.texts[i].size() + second;
      if (!of.empty() && (engine_->is_full(static_cast<uint32_t>(of.size()), rows) || bytes + own > kMostBytes))
        return of;
      rows += likely_rows(own);
      bytes += own;
      inputs->push_back({std::move(job.texts[i]), {}});
      if (job.second != nullptr) inputs->back().second = *job.second;
      of.push_back(&job);
    }
  }
  return of;
}

void Worker::answer_texts(const std::vector<Job*>& jobs, const std::vector<Input>& inputs) {
  std::vector<Prediction> all;
  size_t bytes = 0;
  for (const Input& input : inputs) bytes += input.first.size() + (input.second ? input.second->size() : 0);
  require_room(8 * bytes + 2 * jobs.front()->body.size());
  try {
    if (jobs.size() > 1) all = predictor(*jobs.front()).predict(inputs);
  } catch (const std::exception&) {
    all.clear();
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = *jobs[i];
    if (job.ended) continue;
    try {
      // If the run failed, run each text alone: only the requests of texts that fail get the error.
      put(job, inputs[i], all.empty() ? predictor(job).predict({inputs[i]}).front() : all[i]);
    } catch (const std::exception&) {
      end(job, reply_of_exception(file_.path()));
    }
  }
}

void Worker::answer(std::list<Job>* jobs) noexcept {
  try {
    ++metrics_->runs;
    for (;;) {
      for (Job& job : *jobs) {
        if (!job.ended && job.is_given_up()) end(job, job.reply_to_given_up());
      }
      Job& first = jobs->front();
      if (first.work != nullptr) {
        if (first.ended) return;
        metrics_->texts += first.queued();
        try {
          require_room(first.most_reply);
          end(first, first.work(*engine_));
        } catch (const std::exception&) {
          end(first, reply_of_exception(file_.path()));
        }
        return;
      }
      std::vector<Input> inputs;
      const std::vector<Job*> of = next_texts(jobs, &inputs);
      if (of.empty()) return;
      answer_texts(of, inputs);
    }
  } catch (...) {
  }
  for (Job& job : *jobs) {
    Reply reply;
    try {
      reply = no_memory_reply();
    } catch (const std::exception&) {
      reply.code = 507;  // out of memory for a message
      reply.close = true;
    }
    end(job, std::move(reply));
  }
}

}  // namespace bantam::serve
