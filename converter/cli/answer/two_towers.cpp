// classify --labels --label-model: scores labels with the vectors of two files, as CLIP or SigLIP does.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "cli/answer/pairs.h"
#include "cli/answer/stream.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "score/eval_metrics.h"
#include "score/pair_scores.h"
#include "search/text_index.h"

namespace bantam::cli {

namespace {

constexpr const char* kOfImages = "a photo of a {}.";
// the hypothesis for labels that are scored independently
constexpr const char* kOfImagesAlone = "This is a photo of {}.";
/// The factor of scores if neither file stores one, because it has a single tower: published CLIP models cap their
/// factor at this value.
constexpr float kUsualFactor = 100;

/// A file that computes vectors, and the vectors that it has computed for texts.
class Tower {
 public:
  Tower(const std::string& path, const EngineOptions& options)
      : file_(path), engine_(file_, options), predictor_(engine_, convert::require_vectors(file_), {}) {}

  const Model& model() const { return file_.model(); }
  std::vector<float> vector(const std::string& text, bool* truncated) {
    convert::Prediction made = predictor_.predict({{text, std::nullopt}}).at(0);
    *truncated = *truncated || made.truncated;
    return std::move(made.embedding);
  }

 private:
  ModelFile file_;
  Engine engine_;
  Predictor predictor_;
};

/// The conversion of cosines of vectors into scores.
struct Scoring {
  float factor = kUsualFactor;
  float shift = 0;
  bool each_alone = false;

  float score(const std::vector<float>& cosines, uint32_t label) const {
    if (!each_alone) return convert::softmax_at(cosines, label);
    return 1 / (1 + std::exp(-cosines[label]));
  }
};

std::optional<float> number_in(const Model& model, const char* key) {
  const std::string stored = convert::property_of(model, key);
  if (stored.empty()) return std::nullopt;
  const float number = std::strtof(stored.c_str(), nullptr);
  return std::isfinite(number) ? std::optional<float>(number) : std::nullopt;
}

Scoring scoring_of(const Tower& tower, const Tower& labels, const std::string& label_model) {
  Scoring scoring;
  for (const Tower* one : {&labels, &tower}) {
    if (const auto factor = number_in(one->model(), convert::kScoreFactor); factor && *factor > 0) {
      scoring.factor = *factor;
    }
    if (const auto shift = number_in(one->model(), convert::kScoreShift)) {
      scoring.shift = *shift;
      scoring.each_alone = true;
    }
  }
  if (!scoring.each_alone && convert::property_of(labels.model(), "model_type").rfind("siglip", 0) == 0) {
    fail(ExitCode::kUnsupported,
         "--label-model {}: neither file says how its scores are made (logit_scale, logit_bias); convert both from the "
         "directory of the whole model, with --tower",
         label_model);
  }
  return scoring;
}

}  // namespace

void run_two_towers(const RunOptions& options, const ZeroShot& asked) {
  if (options.texts.empty() && options.file.empty())
    fail(ExitCode::kUsage, "no text: pass it as an argument, by --file, or on standard input");
  EngineOptions one = options.engine;
  one.batch = 1;
  Tower tower(options.model, one), of_labels(asked.label_model, one);
  const Scoring scoring = scoring_of(tower, of_labels, asked.label_model);
  bool cut = false;
  std::vector<std::vector<float>> vectors;
  const char* usual = scoring.each_alone ? kOfImagesAlone : kOfImages;
  for (const std::string& label : asked.labels) {
    vectors.push_back(of_labels.vector(hypothesis_of(asked.hypothesis, usual, label), &cut));
  }
  const bool several = has_headings(options);
  answer_each(options, [&](const std::string& text) {
    bool truncated = cut;
    const std::vector<float> own = tower.vector(text, &truncated);
    std::vector<float> cosines;  // scaled by the factor, plus the offset
    for (const std::vector<float>& vector : vectors) {
      if (vector.size() != own.size()) {
        fail(ExitCode::kUnsupported,
             "--label-model {}: its vectors have {} numbers, those of {} have {}: the two are not "
             "of one model",
             asked.label_model, vector.size(), options.model, own.size());
      }
      cosines.push_back(scoring.factor * convert::cosine(own, vector) + scoring.shift);
    }
    std::vector<float> scores;
    for (uint32_t i = 0; i < cosines.size(); ++i) scores.push_back(scoring.score(cosines, i));
    show_scored_labels(options, text, asked.labels, scores, truncated, several);
  });
}

}  // namespace bantam::cli
