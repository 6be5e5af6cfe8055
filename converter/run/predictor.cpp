#include <algorithm>
#include <optional>
#include <utility>

#include "bantam/predict.h"
#include "base/guard.h"
#include "base/status_error.h"
#include "graph/aggregation.h"
#include "run/predict.h"
#include "run/spelled_token.h"

namespace bantam {
namespace {

using convert::spelled_token;
using convert::to_string;

Prediction::Span span_of(std::string name, const std::string& text, Offset span, float score) {
  Prediction::Span out;
  out.name = std::move(name);
  out.begin = std::min<size_t>(span.begin, text.size());
  out.end = std::clamp<size_t>(span.end, out.begin, text.size());
  out.text = text.substr(out.begin, out.end - out.begin);
  out.score = score;
  return out;
}

std::vector<Prediction::Label> labels_of(const Model& model, uint32_t set, const std::vector<LabelScore>& labels) {
  std::vector<Prediction::Label> out;
  out.reserve(labels.size());
  for (const LabelScore& label : labels) out.push_back({convert::label_name(model, label.label, set), label.score});
  return out;
}

std::vector<Prediction::Span> entities_of(const std::string& text, const std::vector<Entity>& entities) {
  std::vector<Prediction::Span> out;
  out.reserve(entities.size());
  for (const Entity& entity : entities) {
    out.push_back(span_of(to_string(entity.name), text, entity.span, entity.score));
  }
  return out;
}

Prediction as_public(const convert::Engine& engine, const convert::Input& input, const convert::Prediction& found,
                     const Tokenizer& tokenizer) {
  Prediction out;
  out.labels = labels_of(engine.model(), 0, found.labels);
  out.holds = found.holds;
  out.entities = entities_of(input.first, found.entities);
  for (const convert::SetAnswer& set : found.further) {
    out.sets.push_back({convert::set_name(engine.model(), set.set), labels_of(engine.model(), set.set, set.labels),
                        set.holds, entities_of(input.first, set.entities)});
  }
  if ((found.parts & kSpanPart) != 0 && found.answer.answerable) {
    out.answers.push_back(span_of("", input.second.value_or(""), found.answer.span, found.answer.score));
  }
  out.embedding = found.embedding;
  for (const Candidate& term : found.terms) {
    out.terms.push_back({spelled_token(tokenizer, static_cast<uint32_t>(term.id)), term.score});
  }
  for (const std::vector<Candidate>& mask : found.masks) {
    std::vector<Prediction::Label> candidates;
    candidates.reserve(mask.size());
    for (const Candidate& candidate : mask) {
      candidates.push_back({spelled_token(tokenizer, static_cast<uint32_t>(candidate.id)), candidate.score});
    }
    out.masks.push_back(std::move(candidates));
  }
  out.truncated = found.truncated;
  out.windows = found.windows;
  return out;
}

convert::EngineOptions engine_options(const PredictorOptions& options) {
  convert::EngineOptions result;
  result.threads = options.threads;
  result.batch = options.batch;
  return result;
}

convert::PredictOptions predict_options(const PredictorOptions& options) {
  convert::PredictOptions result;
  result.top = options.top;
  result.strict = options.strict;
  if (options.stride >= 0) result.stride = static_cast<uint32_t>(options.stride);
  result.labels = options.labels;
  result.aggregation = convert::parse_aggregation("aggregation", options.aggregation);
  result.find = {options.threshold, options.nested, options.several};
  return result;
}

}  // namespace

struct Predictor::Open {
  Open(const std::string& path, const PredictorOptions& options)
      : file(path),
        engine(file, engine_options(options)),
        predictor(engine, traits(file.model().task()).parts, predict_options(options)),
        task(convert::task_name(file.model().task())) {}

  std::vector<Prediction> predict(const std::vector<convert::Input>& inputs) {
    const bool chooses = predictor.parts() == kChoicePart;
    if (predictor.parts() == 0 || chooses) {
      convert::fail(convert::ExitCode::kUnsupported, "{}: the file's task is \"{}\"; {}", file.path(), task,
                    chooses ? "call choose()" : "convert the model with a task");
    }
    std::vector<Prediction> out;
    for (size_t begin = 0; begin < inputs.size(); begin += engine.batch()) {
      const size_t end = std::min(inputs.size(), begin + engine.batch());
      const std::vector<convert::Input> batch(inputs.data() + begin, inputs.data() + end);
      const std::vector<convert::Prediction> found = predictor.predict(batch);
      for (size_t i = 0; i < found.size(); ++i) {
        out.push_back(as_public(engine, batch[i], found[i], *engine.session().tokenizer()));
      }
    }
    return out;
  }

  convert::ModelFile file;
  convert::Engine engine;
  convert::Predictor predictor;
  std::string task;
};

namespace {

/// Returns the open file; throws Error if there is none.
template <typename Open>
Open& opened(const std::unique_ptr<Open>& open) {
  if (open == nullptr) convert::fail(convert::ExitCode::kUsage, "no file is open; call Predictor::open first");
  return *open;
}

}  // namespace

Predictor::Predictor() = default;
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

Outcome Predictor::open(const std::string& file, const PredictorOptions& options) {
  open_.reset();
  return convert::guarded([&] { open_ = std::make_unique<Open>(file, options); });
}

const std::string& Predictor::task() const {
  static const std::string none;
  return open_ == nullptr ? none : open_->task;
}

Outcome Predictor::predict(const std::string& text, Prediction* out) {
  return convert::guarded([&] { *out = std::move(opened(open_).predict({{text, std::nullopt}}).at(0)); });
}

Outcome Predictor::predict(const std::string& text, const std::string& second, Prediction* out) {
  return convert::guarded([&] { *out = std::move(opened(open_).predict({{text, second}}).at(0)); });
}

Outcome Predictor::predict(const std::vector<std::string>& texts, std::vector<Prediction>* out) {
  return convert::guarded([&] {
    std::vector<convert::Input> inputs;
    inputs.reserve(texts.size());
    for (const std::string& text : texts) inputs.push_back({text, std::nullopt});
    *out = opened(open_).predict(inputs);
  });
}

Outcome Predictor::choose(const std::string& prompt, const std::vector<std::string>& choices, Prediction* out) {
  return convert::guarded([&] {
    Open& open = opened(open_);
    if (choices.empty() || choices.size() > open.engine.batch()) {
      convert::fail(convert::ExitCode::kUsage,
                    "{} choices: pass at least one, and at most PredictorOptions::batch, here {}", choices.size(),
                    open.engine.batch());
    }
    const convert::Prediction found = open.predictor.choose({prompt, std::nullopt}, choices);
    *out = {};
    for (const LabelScore& label : found.labels) out->labels.push_back({choices.at(label.label), label.score});
    out->holds = found.holds;
    out->truncated = found.truncated;
  });
}

}  // namespace bantam
