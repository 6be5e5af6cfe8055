#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "base/error.h"
#include "train/batches.h"
#include "train/directory.h"
#include "train/next_words.h"
#include "train/objective.h"
#include "train/prune.h"
#include "train/random.h"
#include "train/state.h"
#include "train/teacher.h"

namespace bantam::train {
namespace {

using convert::Error;
using convert::ExitCode;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kTeacherBatch = 64;
/// The largest number of steps between two masks of gradual pruning; short runs make new masks more often.
constexpr uint64_t kPruneEvery = 20;
constexpr uint64_t kPruneTimes = 50;
/// The time between two checkpoints is this many times the duration of one, so even a slow disk costs only a twentieth
/// of the time.
constexpr double kSaveShare = 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Trainer {
 public:
  explicit Trainer(const Job& job)
      : job_(job),
        s_(job.settings),
        parameters_(*job.student, job.ways),
        student_(*job.student, parameters_),
        pattern_(convert::parse_zero_pattern(s_.prune.pattern)) {
    if (job.teacher != nullptr) {
      teacher_parameters_.emplace(*job.teacher, convert::WaysBack());
      teacher_.emplace(*job.teacher, *teacher_parameters_);
    }
    objective_.emplace(job, student_, teacher_ ? &*teacher_ : nullptr);
    for (const Example& example : job.examples) {
      lengths_.push_back(example.student.length());
    }
    const auto count = static_cast<uint64_t>(job.examples.size());
    epoch_steps_ = (count + s_.batch - 1) / s_.batch;
    steps_ = epoch_steps_ * s_.epochs;
    prune_every_ = std::clamp<uint64_t>(steps_ / kPruneTimes, 1, kPruneEvery);
  }

  Outcome run() {
    const Clock::time_point start = Clock::now();
    prepare();
    outcome_.resumed_from = state_.step;
    // Scores of the whole vocabulary for every token need too much memory, so they are computed when needed.
    if (s_.loss.soft > 0 && job_.heads.next == 0) objective_->ask_teacher(kTeacherBatch);
    last_save_ = Clock::now();
    train_start_ = Clock::now();
    first_step_ = state_.step;
    while (state_.step < steps_ && !stopped_early()) {
      if (job_.stop_after != 0 && state_.step >= job_.stop_after) {
        save();
        return finish(start, false);
      }
      epoch();
    }
    write_directory(job_.student_directory, job_.output, parameters_, chosen(), job_.dtype);
    std::error_code ignored;
    std::filesystem::remove(job_.output / kCheckpointName, ignored);
    return finish(start, true);
  }

 private:
  Outcome finish(Clock::time_point start, bool complete) {
    outcome_.steps = state_.step;
    outcome_.complete = complete;
    outcome_.epochs = static_cast<uint32_t>(state_.curve.size());
    outcome_.best_epoch = state_.best_epoch;
    outcome_.best = state_.best_scores;
    outcome_.curve = state_.curve;
    outcome_.seconds = seconds_since(start);
    return outcome_;
  }

  /// Sets up the state of a new run, or the checkpoint's if there is one.
  void prepare() {
    parameters_.trainable(s_.freeze);
    std::vector<at::Tensor> matrices, vectors;
    for (Parameter& parameter : parameters_.all()) {
      state_.values.push_back(parameter.value);
      if (!parameter.value.requires_grad()) continue;
      (parameter.value.dim() > 1 ? matrices : vectors).push_back(parameter.value);
    }
    for (const at::Tensor& projection : objective_->projections()) {
      state_.values.push_back(projection);
      matrices.push_back(projection);
    }
    if (matrices.empty() && vectors.empty()) {
      throw Error(ExitCode::kUsage, "--freeze: nothing is left to train; the model has no head of its own");
    }
    const auto options = [&](double decay) {
      return std::make_unique<torch::optim::AdamWOptions>(
          torch::optim::AdamWOptions(s_.learning_rate).weight_decay(decay).betas({0.9, 0.98}).eps(1e-8));
    };
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(matrices, options(s_.weight_decay));
    groups.emplace_back(vectors, options(0));
    state_.optimizer = std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(s_.learning_rate));
    state_.masks.resize(parameters_.all().size());
    if (s_.ema > 0) state_.average = copies();
    const std::filesystem::path file = job_.output / kCheckpointName;
    if (std::filesystem::exists(file)) load_state(file, job_.fingerprint, &state_);
  }

  std::vector<at::Tensor> copies() const {
    std::vector<at::Tensor> out;
    for (const Parameter& parameter : parameters_.all()) out.push_back(parameter.value.detach().clone());
    return out;
  }

  double done() const { return static_cast<double>(state_.step) / static_cast<double>(steps_); }
  bool quantized() const { return s_.quantize != FakeQuant::kNone && done() >= s_.quantize_begin; }

  void epoch() {
    const auto number = static_cast<uint32_t>(state_.step / epoch_steps_);
    const auto batches = epoch_batches(lengths_, s_.batch, s_.seed, number);
    for (uint64_t i = state_.step % epoch_steps_; i < epoch_steps_; ++i) {
      if (job_.stop_after != 0 && state_.step >= job_.stop_after) return;
      step(batches[static_cast<size_t>(i)]);
      if (seconds_since(last_save_) >= std::max(job_.save_every, kSaveShare * save_seconds_) && i + 1 < epoch_steps_)
        save();
    }
    close_epoch(number + 1);
  }

  void step(const std::vector<uint32_t>& members) {
    at::manual_seed(Random(s_.seed, ~state_.step).next());
    if (s_.prune.sparsity > 0 && state_.step % prune_every_ == 0) prune(members);
    const double rate = s_.learning_rate * rate_at(state_.step, steps_, s_.warmup);
    for (auto& group : state_.optimizer->param_groups()) {
      static_cast<torch::optim::AdamWOptions&>(group.options()).lr(rate);
    }
    ForwardOptions options = evaluation_options();
    options.dropout = s_.dropout;
    options.states = s_.loss.needs_states();
    options.precision = s_.precision;
    Objective::Losses losses = objective_->compute(members, options);
    note(losses);
    state_.optimizer->zero_grad();
    losses.total.backward();
    std::vector<at::Tensor> trained;
    for (const at::Tensor& value : state_.values) {
      if (value.requires_grad() && value.grad().defined()) trained.push_back(value);
    }
    if (s_.clip > 0) torch::nn::utils::clip_grad_norm_(trained, s_.clip);
    state_.optimizer->step();
    mask(parameters_values());
    average();
    ++state_.step;
    report();
  }

  /// Adds the losses of a step to the sums of the epoch.
  void note(const Objective::Losses& losses) {
    if (state_.sums.empty()) {
      for (const auto& [name, value] : losses.parts) state_.sums.emplace_back(name, 0.0);
    }
    for (size_t i = 0; i < losses.parts.size(); ++i) {
      if (!std::isfinite(losses.parts[i].second)) {
        throw Error(
            ExitCode::kInvalid,
            fmt::format("step {}: {} is no longer a number: training has diverged; a smaller --learning-rate or "
                        "a longer --warmup helps",
                        state_.step, losses.parts[i].first));
      }
      state_.sums[i].second += losses.parts[i].second;
    }
    ++state_.summed;
  }

  std::vector<at::Tensor> parameters_values() const {
    return {state_.values.begin(), state_.values.begin() + static_cast<std::ptrdiff_t>(state_.masks.size())};
  }

  /// Makes new masks when they are due. `members`: the batch on which activations are measured, if they are used.
  void prune(const std::vector<uint32_t>& members) {
    const double sparsity = sparsity_at(done(), s_.prune.begin, s_.prune.end, s_.prune.sparsity);
    if (sparsity <= 0 || done() > s_.prune.end + 2 * static_cast<double>(prune_every_) / static_cast<double>(steps_))
      return;
    std::vector<size_t> pruned;
    std::vector<at::Tensor> scores;
    const auto squares = input_squares(members);
    for (size_t i = 0; i < state_.masks.size(); ++i) {
      const Parameter& parameter = parameters_.all()[i];
      if (parameter.role != Role::kEncoderLinear || !parameter.value.requires_grad()) continue;
      pruned.push_back(i);
      const at::Tensor count = s_.prune.by == PruneBy::kGradients ? mean_square_gradient(state_, i) : squares[i];
      scores.push_back(count.defined() ? parameter.value.detach() * count.sqrt() : parameter.value.detach());
    }
    const std::vector<at::Tensor> masks = masks_of(scores, pattern_, sparsity, s_.prune.scope);
    for (size_t i = 0; i < pruned.size(); ++i) state_.masks[pruned[i]] = masks[i];
    mask(parameters_values());
  }

  /// Returns, by parameter, the mean squares of a linear layer's inputs if activations are used; otherwise undefined
  /// tensors.
  std::vector<at::Tensor> input_squares(const std::vector<uint32_t>& members) const {
    std::vector<at::Tensor> squares(state_.masks.size());
    if (s_.prune.by != PruneBy::kActivations) return squares;
    const at::NoGradGuard guard;
    std::vector<const Encoded*> batch;
    batch.reserve(members.size());
    for (const uint32_t i : members) batch.push_back(&job_.examples[i].student);
    ForwardOptions options = evaluation_options();
    options.input_squares = true;
    for (const auto& [weight, mean] : student_.run(pad(batch), options).input_squares) {
      squares[parameters_.number_of(weight)] = mean;
    }
    return squares;
  }

  void mask(const std::vector<at::Tensor>& values) const {
    const at::NoGradGuard guard;
    for (size_t i = 0; i < values.size(); ++i) {
      if (state_.masks[i].defined()) at::Tensor(values[i]).mul_(state_.masks[i]);
    }
  }

  void average() {
    if (state_.average.empty()) return;
    const at::NoGradGuard guard;
    // The average decays faster at first, so that the initial values are forgotten.
    const auto steps = static_cast<double>(state_.step);
    const double keep = std::min(s_.ema, (1 + steps) / (10 + steps));
    for (size_t i = 0; i < state_.average.size(); ++i) {
      if (state_.values[i].requires_grad()) state_.average[i].lerp_(state_.values[i].detach(), 1 - keep);
    }
    mask(state_.average);
  }

  double sparsity() const {
    double zeros = 0, all = 0;
    for (size_t i = 0; i < state_.masks.size(); ++i) {
      if (parameters_.all()[i].role != Role::kEncoderLinear) continue;
      all += static_cast<double>(state_.values[i].numel());
      if (state_.masks[i].defined()) {
        zeros += static_cast<double>(state_.values[i].numel()) - state_.masks[i].sum().item<double>();
      }
    }
    return all > 0 ? zeros / all : 0;
  }

  ForwardOptions evaluation_options() const {
    ForwardOptions options;
    options.quantize = quantized() ? s_.quantize : FakeQuant::kNone;
    options.group = s_.group;
    return options;
  }

  /// Runs `work` with the moving average in place of the parameters.
  template <typename Work>
  void with_average(const Work& work) {
    const at::NoGradGuard guard;
    std::vector<at::Tensor> kept;
    for (size_t i = 0; i < state_.average.size(); ++i) {
      kept.push_back(state_.values[i].detach().clone());
      state_.values[i].copy_(state_.average[i]);
    }
    work();
    for (size_t i = 0; i < kept.size(); ++i) state_.values[i].copy_(kept[i]);
  }

  /// Returns true if the result of this epoch has everything that was requested: all zeros, and quantized weights.
  bool eligible() const {
    const bool pruned = s_.prune.sparsity <= 0 || done() >= s_.prune.end;
    return pruned && (s_.quantize == FakeQuant::kNone || quantized());
  }

  void close_epoch(uint32_t number) {
    CurvePoint point;
    point.epoch = number;
    point.step = state_.step;
    point.rate = s_.learning_rate * rate_at(state_.step - 1, steps_, s_.warmup);
    point.sparsity = sparsity();
    for (const auto& [name, sum] : state_.sums)
      point.losses.emplace_back(name, sum / static_cast<double>(state_.summed));
    state_.sums.clear();
    state_.summed = 0;
    if (!job_.validation.empty()) {
      with_average([&] { judge(number, &point); });
    } else {
      state_.best_epoch = number;
    }
    state_.curve.push_back(point);
    save();
    write_text(job_.output / "curve.csv", curve_csv(state_.curve));
    write_text(job_.output / "curve.html", curve_html(state_.curve, job_.title));
    if (job_.on_epoch) job_.on_epoch(point);
  }

  void judge(uint32_t number, CurvePoint* point) {
    const Scores scores = score();
    point->scores = scores.all;
    if (!eligible()) return;
    if (state_.best_epoch != 0 && scores.primary <= state_.best_scores.primary) {
      ++state_.worse;
      return;
    }
    state_.best = copies();
    state_.best_epoch = number;
    state_.best_scores = scores;
    state_.worse = 0;
  }

  Scores score() const {
    const ForwardOptions options = evaluation_options();
    if (job_.heads.next != 0) return foretold(student_, job_.validation, job_.heads, options, kTeacherBatch);
    return job_.score(answers(student_, job_.validation, false, job_.heads, options, kTeacherBatch, nullptr));
  }

  bool stopped_early() const { return s_.patience != 0 && state_.worse >= s_.patience; }

  /// Returns the weights to be written.
  std::vector<at::Tensor> chosen() const {
    if (!state_.best.empty()) return state_.best;
    if (!state_.average.empty()) return state_.average;
    return copies();
  }

  void save() {
    const Clock::time_point start = Clock::now();
    save_state(state_, job_.output / kCheckpointName, job_.fingerprint);
    last_save_ = Clock::now();
    save_seconds_ = seconds_since(start);
  }

  void report() const {
    if (!job_.progress) return;
    Progress progress;
    progress.what = "training";
    progress.done = state_.step;
    progress.of = steps_;
    if (state_.summed != 0) progress.loss = state_.sums.front().second / static_cast<double>(state_.summed);
    const double each = seconds_since(train_start_) / static_cast<double>(state_.step - first_step_);
    progress.seconds_left = each * static_cast<double>(steps_ - state_.step);
    job_.progress(progress);
  }

  const Job& job_;
  const Settings& s_;
  Parameters parameters_;
  Network student_;
  std::optional<Parameters> teacher_parameters_;
  std::optional<Network> teacher_;
  std::optional<Objective> objective_;
  convert::PrunePattern pattern_;
  std::vector<uint32_t> lengths_;
  uint64_t epoch_steps_ = 0, steps_ = 0, first_step_ = 0, prune_every_ = 1;
  State state_;
  Outcome outcome_;
  Clock::time_point last_save_, train_start_;
  double save_seconds_ = 0;  // duration of the last checkpoint
};

}  // namespace

Outcome train(const Job& job) {
  at::set_num_threads(static_cast<int>(job.settings.threads));
  return Trainer(job).run();
}

}  // namespace bantam::train
