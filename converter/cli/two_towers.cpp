// classify --labels --label-model: labels by the vectors of two files, CLIP's way.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/appearance.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/stream.h"
#include "cli/text_options.h"
#include "graph/task_parts.h"
#include "run/text_source.h"

namespace bantam::cli {

namespace {

constexpr const char* kOfImages = "a photo of a {}.";
/// Of files of one tower alone, which do not hold it: what published models of CLIP stop at.
constexpr float kUsualFactor = 100;

/// A file that gives a vector, and what it makes of texts.
class Tower {
 public:
  Tower(const std::string& path, const EngineOptions& options)
      : file_(path), engine_(file_, options), predictor_(engine_, require_vectors(file_), {}) {}

  const Model& model() const { return file_.model(); }
  std::vector<float> unit(const std::string& text, bool* truncated) {
    const convert::Prediction made = predictor_.predict({{text, std::nullopt}}).at(0);
    *truncated = *truncated || made.truncated;
    std::vector<float> vector = made.embedding;
    double squares = 0;
    for (const float v : vector) squares += double{v} * v;
    const auto length = static_cast<float>(std::sqrt(squares));
    for (float& v : vector) v = length > 0 ? v / length : 0;
    return vector;
  }

 private:
  static uint32_t require_vectors(const ModelFile& file) {
    if (has_part(file.model().task(), kVectorPart)) return kVectorPart;
    fail(ExitCode::kUnsupported, "{}: the file is for the task \"{}\"; --label-model needs two files that give vectors",
         file.path(), task_name(file.model().task()));
  }

  ModelFile file_;
  Engine engine_;
  Predictor predictor_;
};

float factor_of(const Tower& tower, const Tower& labels) {
  for (const Tower* one : {&tower, &labels}) {
    const std::string stored = convert::property_of(one->model(), convert::kScoreFactor);
    const float factor = std::strtof(stored.c_str(), nullptr);
    if (std::isfinite(factor) && factor > 0) return factor;
  }
  return kUsualFactor;
}

std::vector<float> softmax(std::vector<float> scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float v : scores) sum += std::exp(double{v} - most);
  for (float& v : scores) v = static_cast<float>(std::exp(double{v} - most) / sum);
  return scores;
}

}  // namespace

void run_two_towers(const RunOptions& options, const ZeroShot& asked) {
  if (options.texts.empty() && options.file.empty())
    fail(ExitCode::kUsage, "no text: pass it as an argument, by --file, or on standard input");
  RunOptions one_by_one = options;
  one_by_one.engine.batch = 1;
  Tower tower(options.model, one_by_one.engine), of_labels(asked.label_model, one_by_one.engine);
  bool cut = false;
  std::vector<std::vector<float>> vectors;
  for (const std::string& label : asked.labels) {
    vectors.push_back(of_labels.unit(hypothesis_of(asked.hypothesis, kOfImages, label), &cut));
  }
  const float factor = factor_of(tower, of_labels);
  convert::TextSource source(options.texts, options.file, warn, show_prompt);
  const bool several = is_stream(options.texts, options.file) && !convert::input_is_typed();
  const auto next = [&](Input* input) {
    *input = {};
    return source.next(&input->first);
  };
  const auto answer = [&](const std::vector<Input>& texts) {
    bool truncated = cut;
    const std::vector<float> own = tower.unit(texts[0].first, &truncated);
    std::vector<float> scores;
    for (const std::vector<float>& vector : vectors) {
      if (vector.size() != own.size()) {
        fail(ExitCode::kUnsupported,
             "--label-model {}: its vectors have {} numbers, those of {} have {}: the two are not "
             "of one model",
             asked.label_model, vector.size(), options.model, own.size());
      }
      double product = 0;
      for (size_t i = 0; i < own.size(); ++i) product += double{own[i]} * vector[i];
      scores.push_back(static_cast<float>(factor * product));
    }
    show_scored_labels(options, texts[0].first, asked.labels, softmax(std::move(scores)), truncated, several);
  };
  answer_stream(one_by_one, {next, answer});
}

}  // namespace bantam::cli
