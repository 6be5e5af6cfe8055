#include "serve/worker.h"

#include <filesystem>
#include <utility>

#include "base/status_error.h"

namespace bantam::serve {
namespace {

using convert::Error;
using convert::ExitCode;
using convert::fail;
using convert::Input;
using convert::Prediction;
using convert::Predictor;

/// Tokens that a text is taken for before the tokenizer has read it: too few make one more run, too many a smaller one.
uint32_t likely_rows(const Job& job) {
  constexpr size_t kBytesOfToken = 4, kSpecial = 2;
  size_t rows = 0;
  for (const Input& input : job.inputs) {
    rows += kSpecial + (input.first.size() + (input.second ? input.second->size() : 0)) / kBytesOfToken;
  }
  return static_cast<uint32_t>(std::min<size_t>(rows, UINT32_MAX / 2));
}

/// Files whose answers need more than texts.
void refuse_others(const convert::ModelFile& file) {
  const Model& model = file.model();
  const uint32_t parts = traits(model.task()).parts;
  // A path that a stranger names would be read.
  if (convert::takes_images(model)) {
    fail(ExitCode::kUnsupported, "{}: takes images, which are not served; use bantam run", file.path());
  }
  if ((parts & kFoundPart) != 0) {
    fail(ExitCode::kUnsupported, "{}: finds spans for labels, which are not served; use bantam tag --labels",
         file.path());
  }
  if (parts == 0 || parts == kChoicePart) {
    fail(ExitCode::kUnsupported,
         "{}: its task is \"{}\", which is not served; serve takes classify, tag, answer, embed, "
         "fill and what ranks",
         file.path(), convert::task_name(model.task()));
  }
}

}  // namespace

Worker::Worker(const std::string& file, const WorkerOptions& options, Metrics* metrics)
    : options_(options),
      metrics_(metrics),
      file_(file, convert::Hold::kInMemory),
      engine_((refuse_others(file_), file_), options.engine),
      name_(std::filesystem::path(file).stem().string()) {
  if (engine_.session().tokenizer() == nullptr) convert::check(Status::kNoTokenizer, file);
  Job all;
  all.parts = parts(~0U);
  predictor(all);  // what cannot be made is told at once
  thread_ = std::thread([this] { loop(); });
}

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Predictor& Worker::predictor(const Job& job) {
  std::unique_ptr<Predictor>& made = predictors_[{job.parts, job.role}];
  if (made == nullptr) {
    convert::PredictOptions options;
    options.top = options_.top;
    options.role = job.role;
    if (has_part(file_.model().task(), kWordsPart)) options.aggregation = options_.aggregation;
    made = std::make_unique<Predictor>(engine_, job.parts, options);
  }
  return *made;
}

bool Worker::has_room(size_t texts) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_ + texts <= options_.queue;
}

void Worker::push(Job job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_ += job.texts();
    metrics_->waiting += job.texts();
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

std::vector<Job> Worker::take(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
  std::vector<Job> taken;
  uint32_t rows = 0, texts = 0;
  while (!jobs_.empty()) {
    Job& next = jobs_.front();
    const bool alone = next.work != nullptr || (!taken.empty() && taken.front().work != nullptr);
    const bool other = !taken.empty() && (next.parts != taken.front().parts || next.role != taken.front().role);
    if (!taken.empty() && (alone || other || engine_.is_full(texts, rows))) break;
    rows += likely_rows(next);
    texts += static_cast<uint32_t>(next.texts());
    waiting_ -= next.texts();
    metrics_->waiting -= next.texts();
    taken.push_back(std::move(next));
    jobs_.pop_front();
  }
  return taken;
}

void Worker::loop() {
  for (;;) {
    std::vector<Job> jobs;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      jobs = take(lock);
    }
    if (jobs.empty()) return;  // the server stops, and nothing waits
    std::vector<Job> timely;
    for (Job& job : jobs) {
      if (Clock::now() < job.deadline) {
        timely.push_back(std::move(job));
        continue;
      }
      Reply late = error_reply(503, "the request waited as long as --timeout allows; send it again later");
      late.retry_after = 1;
      job.done(std::move(late));
    }
    if (!timely.empty()) answer(&timely);
  }
}

void Worker::answer(std::vector<Job>* jobs) {
  ++metrics_->runs;
  if (jobs->size() == 1) return answer_each(jobs);
  std::vector<Input> inputs;
  for (const Job& job : *jobs) inputs.insert(inputs.end(), job.inputs.begin(), job.inputs.end());
  std::vector<Prediction> all;
  Predictor& predictor = this->predictor(jobs->front());
  try {
    all = predictor.predict(inputs);
  } catch (const Error&) {
    return answer_each(jobs);  // one of them is at fault, and is to be told
  }
  auto from = all.begin();
  for (Job& job : *jobs) {
    const auto to = from + static_cast<std::ptrdiff_t>(job.inputs.size());
    const std::vector<Prediction> own(std::make_move_iterator(from), std::make_move_iterator(to));
    from = to;
    for (const Prediction& one : own) metrics_->tokens += one.rows;
    metrics_->texts += own.size();
    Reply reply;
    try {
      reply = job.answer(predictor, own);
    } catch (const Error& error) {
      reply = error_reply(error, file_.path());
    }
    job.done(std::move(reply));
  }
}

Reply Worker::answer_one(Job& job) {
  try {
    if (job.work != nullptr) {
      metrics_->texts += job.texts();
      return job.work(engine_);
    }
    Predictor& predictor = this->predictor(job);
    const std::vector<Prediction> own = predictor.predict(job.inputs);
    for (const Prediction& one : own) metrics_->tokens += one.rows;
    metrics_->texts += own.size();
    return job.answer(predictor, own);
  } catch (const Error& error) {
    return error_reply(error, file_.path());
  } catch (const std::bad_alloc&) {
    return error_reply(507, "the server is out of memory; send less text at a time");
  } catch (const std::exception& error) {
    return error_reply(500, std::string("internal error: ") + error.what());
  }
}

void Worker::answer_each(std::vector<Job>* jobs) {
  for (Job& job : *jobs) job.done(answer_one(job));
}

}  // namespace bantam::serve
