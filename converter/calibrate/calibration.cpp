#include "calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "format/rewrite.h"
#include "model/task_traits.h"
#include "run/runner.h"
#include "score/eval_data.h"
#include "score/scores.h"

namespace bantam::convert {
namespace {

constexpr size_t kFewest = 20;
constexpr size_t kBins = 15;
constexpr uint32_t kMostTokens = 512;

Decision decision_of(const Scored& text, double temperature) {
  return decide(text.logits.data(), text.logits.size(), text.label, temperature);
}

Reliability reliability(const std::vector<Scored>& data, double temperature) {
  struct Bin {
    double count = 0, score = 0, right = 0;
  };
  std::array<Bin, kBins> bins;
  Reliability out;
  double count = 0;
  for (const Scored& text : data) {
    if (text.label < 0) continue;
    const Decision decision = decision_of(text, temperature);
    Bin& bin = bins.at(std::min(kBins - 1, static_cast<size_t>(decision.score * double{kBins})));
    bin.count += 1;
    bin.score += decision.score;
    bin.right += decision.right ? 1 : 0;
    out.loss += decision.loss;
    count += 1;
  }
  if (count <= 0) return out;
  out.loss /= count;
  for (const Bin& bin : bins) out.error += std::fabs(bin.score - bin.right) / count;
  return out;
}

/// Golden-section search over the logarithm of the temperature: the loss is convex in 1 / temperature and therefore has
/// one minimum.
double fit_temperature(const std::vector<Scored>& data) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(0.05), high = std::log(20.0);
  const auto loss = [&](double at) { return reliability(data, std::exp(at)).loss; };
  double a = high - ratio * (high - low), b = low + ratio * (high - low);
  double loss_a = loss(a), loss_b = loss(b);
  while (high - low > 1e-5) {
    if (loss_a <= loss_b) {
      high = b;
      b = a;
      loss_b = loss_a;
      a = high - ratio * (high - low);
      loss_a = loss(a);
    } else {
      low = a;
      a = b;
      loss_a = loss_b;
      b = low + ratio * (high - low);
      loss_b = loss(b);
    }
  }
  return std::exp((low + high) / 2);
}

/// Rounding to three decimals hides the last bits of exp and log, which differ between machines.
double rounded(double value) { return std::round(value * 1000) / 1000; }

double share_below(const std::vector<double>& sorted, double limit) {
  if (sorted.empty()) return 0;
  return static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), limit) - sorted.begin()) /
         static_cast<double>(sorted.size());
}

double fit_limit(const std::vector<double>& right, const std::vector<double>& outside, double max_rejected) {
  if (right.empty()) return 0;
  if (outside.empty()) {
    const auto place = static_cast<size_t>(max_rejected * static_cast<double>(right.size()));
    return std::floor(right[std::min(place, right.size() - 1)] * 1000) / 1000;
  }
  double best = 0, best_gain = 0;
  for (int step = 1; step < 1000; ++step) {
    const double limit = step / 1000.0;
    const double gain = share_below(outside, limit) - share_below(right, limit);
    if (gain > best_gain) {
      best = limit;
      best_gain = gain;
    }
  }
  return best;
}

}  // namespace

ScoreCalibration fit_scores(const std::vector<Scored>& data, double max_rejected) {
  ScoreCalibration out;
  const double temperature = std::max(0.05, rounded(fit_temperature(data)));
  std::vector<double> right, wrong, outside;
  for (const Scored& text : data) {
    const Decision decision = decision_of(text, temperature);
    (text.label < 0 ? outside : decision.right ? right : wrong).push_back(decision.score);
  }
  for (std::vector<double>* scores : {&right, &wrong, &outside}) std::sort(scores->begin(), scores->end());
  const double limit = fit_limit(right, outside, max_rejected);
  out.texts = right.size() + wrong.size();
  out.out_of_scope = outside.size();
  out.temperature = static_cast<float>(temperature);
  out.reject_below = static_cast<float>(limit);
  out.before = reliability(data, 1);
  out.after = reliability(data, temperature);
  out.rejected_right = share_below(right, limit);
  out.rejected_wrong = share_below(wrong, limit);
  out.rejected_out_of_scope = share_below(outside, limit);
  return out;
}

ScoreCalibration calibrate_scores(const fb::ModelT& model, const FileBytes& bytes,
                                  const std::vector<LabelledText>& texts, double max_rejected,
                                  const std::function<void(double)>& progress) {
  const bool one_label = model.task && !model.task->label_sets.empty() &&
                         has_part(static_cast<TaskKind>(model.task->kind), kLabelsPart) &&
                         traits(model.task->kind).scores == kSoftmax && model.task->label_sets.front()->parents.empty();
  if (!one_label) {
    throw Error(
        ExitCode::kUnsupported,
        "--calibrate-scores: the model does not give one label to a text, or gives one at every level; leave it out");
  }
  std::vector<LabelledText> inside = texts;
  const std::vector<std::string>& names = model.task->label_sets.front()->labels;
  std::vector<bool> outside(texts.size(), false);
  for (size_t i = 0; i < inside.size(); ++i) {
    std::string& label = inside[i].label;
    outside[i] = means_out_of_scope(label) && std::count(names.begin(), names.end(), label) == 0;
    if (outside[i]) label.clear();
  }
  const std::vector<int64_t> labels = label_numbers(model, inside);
  const auto labelled =
      static_cast<size_t>(std::count_if(labels.begin(), labels.end(), [](int64_t l) { return l >= 0; }));
  if (labelled < kFewest) {
    throw Error(ExitCode::kInvalid,
                fmt::format("--calibrate-scores: {} of {} texts have a label (\"label\" or \"intent\" in "
                            "lines of JSON); at least {} are needed",
                            labelled, texts.size(), kFewest));
  }
  const uint32_t tokens = model.max_sequence == 0 ? kMostTokens : std::min(model.max_sequence, kMostTokens);
  Runner runner(bytes, tokens);
  if (!runner.model().has_tokenizer()) {
    throw Error(ExitCode::kInvalid, "--calibrate-scores: the model has no tokenizer, so that it takes no texts");
  }
  std::vector<Scored> data;
  const size_t output = model.task->label_sets.front()->output;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (labels[i] < 0 && !outside[i]) continue;
    const OutputRows row = runner.run(runner.encode(inside[i].text, inside[i].second))[output];
    data.push_back({{row.row(0), row.row(0) + row.width}, labels[i]});
    progress(static_cast<double>(i + 1) / static_cast<double>(texts.size()));
  }
  return fit_scores(data, max_rejected);
}

FileBytes with_calibration(const FileBytes& bytes, const ScoreCalibration& calibration) {
  return rewrite_file(bytes.data(), bytes.size(), [&](FileEditor& editor) {
    fb::LabelSetT& set = *editor.model().task->label_sets.front();
    set.temperature = calibration.temperature;
    set.reject_below = calibration.reject_below;
  });
}

}  // namespace bantam::convert
