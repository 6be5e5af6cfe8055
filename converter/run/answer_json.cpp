#include "run/answer_json.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "base/status_error.h"
#include "run/spelled_token.h"

namespace bantam::convert {
namespace {

bool has(const Prediction& prediction, uint32_t parts) { return (prediction.parts & parts) != 0; }

/// Returns a token as part of a text, without the prefix that marks continuations.
std::string token_text(const Tokenizer& tokenizer, int32_t id) {
  return to_string(tokenizer.piece(static_cast<uint32_t>(id)));
}

/// Writes "labels" and which of them hold.
void put_labels(const Predictor& predictor, const std::vector<LabelScore>& labels, uint32_t holds, uint32_t set,
                OrderedJson* object) {
  const Model& model = predictor.engine().model();
  OrderedJson list = OrderedJson::array();
  for (const LabelScore& label : labels) {
    list.push_back({{"label", label_name(model, label.label, set)}, {"score", label.score}});
  }
  (*object)["labels"] = std::move(list);
  const bool several = predictor.scores() == kSigmoids;
  // For hierarchical labels, "selected" also gives the number of leading labels that hold.
  if (several || model.has_levels(set)) (*object)["selected"] = holds;
  if (holds == 0 && !several) (*object)["out_of_scope"] = true;
}

OrderedJson entities_json(const std::string& text, const std::vector<Entity>& entities, PositionUnit unit,
                          const char* name) {
  const TextPositions positions(text, unit);
  OrderedJson list = OrderedJson::array();
  for (const Entity& entity : entities) {
    OrderedJson one = {{name, to_string(entity.name)},
                       {"text", slice(text, entity.span)},
                       {"start", positions.at(entity.span.begin)},
                       {"end", positions.at(entity.span.end)},
                       {"score", entity.score}};
    one["label"] = to_string(entity.name);  // every command uses this name
    list.push_back(std::move(one));
  }
  return list;
}

OrderedJson candidates_json(const Tokenizer& tokenizer, const std::string& text, const Prediction& prediction,
                            size_t mask) {
  OrderedJson list = OrderedJson::array();
  const Offset span = prediction.mask_spans[mask];
  for (const Candidate& candidate : prediction.masks[mask]) {
    list.push_back({{"token", spelled_token(tokenizer, static_cast<uint32_t>(candidate.id))},
                    {"text", text.substr(0, span.begin) + token_text(tokenizer, candidate.id) + text.substr(span.end)},
                    {"score", candidate.score},
                    {"id", candidate.id}});
  }
  return list;
}

OrderedJson terms_json(const Tokenizer& tokenizer, const Prediction& prediction) {
  OrderedJson list = OrderedJson::array();
  for (const Candidate& term : prediction.terms) {
    list.push_back(
        {{"term", spelled_token(tokenizer, static_cast<uint32_t>(term.id))}, {"weight", term.score}, {"id", term.id}});
  }
  return list;
}

void put_candidates(const Predictor& predictor, const Input& input, const Prediction& prediction, OrderedJson* object) {
  const Tokenizer& tokenizer = *predictor.engine().session().tokenizer();
  OrderedJson all = OrderedJson::array();
  for (size_t i = 0; i < prediction.masks.size(); ++i) {
    all.push_back(candidates_json(tokenizer, input.first, prediction, i));
  }
  (*object)["candidates"] = all.at(0);
  if (all.size() > 1) (*object)["masks"] = all;
}

/// Writes "sets": {"sentiment": {"labels": [...]}, ...}.
void put_further(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                 OrderedJson* object) {
  for (const SetAnswer& set : prediction.further) {
    OrderedJson one = OrderedJson::object();
    if (set.labels.empty()) {
      one["entities"] = entities_json(input.first, set.entities, unit, "label");
    } else {
      put_labels(predictor, set.labels, set.holds, set.set, &one);
    }
    (*object)["sets"][set_name(predictor.engine().model(), set.set)] = std::move(one);
  }
}

OrderedJson tokens_json(const Tokenizer& tokenizer, const TokenVectors& tokens) {
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const auto begin = tokens.values.begin() + static_cast<std::ptrdiff_t>(i * tokens.width);
    list.push_back({{"token", spelled_token(tokenizer, static_cast<uint32_t>(tokens.ids[i]))},
                    {"id", tokens.ids[i]},
                    {"embedding", std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tokens.width))}});
  }
  return list;
}

void put_span(const Input& input, const Prediction& prediction, PositionUnit unit, OrderedJson* object) {
  const Answer& answer = prediction.answer;
  const std::string& context = input.second ? *input.second : input.first;
  const Offset span = answer.answerable ? answer.span : Offset{};
  (*object)["answer"] = slice(context, span);
  const TextPositions positions(context, unit);
  (*object)["start"] = positions.at(span.begin);
  (*object)["end"] = positions.at(span.end);
  (*object)["score"] = answer.score;
  (*object)["answerable"] = answer.answerable;
  (*object)["question"] = input.first;
}

}  // namespace

std::string slice(const std::string& text, Offset span) {
  return span.end <= text.size() && span.begin <= span.end ? text.substr(span.begin, span.end - span.begin) : "";
}

void require_answer(const Predictor& predictor, const Input& input, const Prediction& prediction) {
  if (!has(prediction, kMasksPart) || !prediction.masks.empty()) return;
  const Tokenizer& tokenizer = *predictor.engine().session().tokenizer();
  const int32_t id = tokenizer.mask_id();
  const std::string mask = id < 0 ? "[MASK]" : spelled_token(tokenizer, static_cast<uint32_t>(id));
  fail(ExitCode::kInvalid, "text \"{}\": there is no {} in it{}; write {} where a word is missing",
       printable(input.first.substr(0, 40)), mask, prediction.truncated ? " (after truncation)" : "", mask);
}

void put_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                OrderedJson* object) {
  const Model& model = predictor.engine().model();
  const bool labelled = !prediction.labels.empty();
  if (has(prediction, kSpanPart)) {
    put_span(input, prediction, unit, object);
  } else {
    (*object)["text"] = input.first;
    if (input.second) (*object)["pair"] = *input.second;
  }
  if (has(prediction, kMasksPart | kNextWordsPart)) put_candidates(predictor, input, prediction, object);
  if (has(prediction, kTermsPart)) {
    (*object)["terms"] = terms_json(*predictor.engine().session().tokenizer(), prediction);
  } else if (has(prediction, kVectorPart)) {
    (*object)["embedding"] = prediction.embedding;
  }
  if (has(prediction, kTokenVectorsPart)) {
    (*object)["tokens"] = tokens_json(*predictor.engine().session().tokenizer(), prediction.tokens);
  }
  if (has(prediction, kWordsPart) && labelled) {
    const LabelScore best = best_label(model, 0, prediction.labels, prediction.holds);
    (*object)["intent"] = {{"label", label_name(model, best.label)}, {"score", best.score}};
    (*object)["slots"] = entities_json(input.first, prediction.entities, unit, "slot");
  } else if (has(prediction, kWordsPart | kFoundPart)) {
    (*object)["entities"] = entities_json(input.first, prediction.entities, unit, "label");
  }
  if (labelled) put_labels(predictor, prediction.labels, prediction.holds, 0, object);
  put_further(predictor, input, prediction, unit, object);
  (*object)["truncated"] = prediction.truncated;
  if (prediction.windows > 1) (*object)["windows"] = prediction.windows;
}

void put_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                 OrderedJson* object) {
  (*object)["text"] = prompt;
  OrderedJson labels = OrderedJson::array();
  for (const LabelScore& label : prediction.labels) {
    labels.push_back({{"label", choices[label.label]}, {"score", label.score}, {"index", label.label}});
  }
  (*object)["labels"] = labels;
  (*object)["truncated"] = prediction.truncated;
}

OrderedJson raw_outputs(const Session& session, uint32_t sequence) {
  OrderedJson outputs = OrderedJson::object();
  const bool choices = has_part(session.model().task(), kChoicePart);
  for (uint32_t i = 0; i < session.model().output_count(); ++i) {
    OutputView view;
    // For multiple choice, transformers shows the scores of all choices in one row: [1, choices].
    check(choices ? session.output(i, &view) : session.output(i, sequence, &view), "outputs");
    OrderedJson data = OrderedJson::array();
    for (uint32_t row = 0; row < view.rows; ++row) {
      for (uint32_t column = 0; column < view.width; ++column) data.push_back(view.data[row * view.stride + column]);
    }
    OrderedJson shape = OrderedJson::array({1});
    if (view.per_token || choices) shape.push_back(view.rows);
    if (view.per_token ? !view.squeeze : !choices) shape.push_back(view.width);
    outputs[to_string(view.name)] = {{"shape", shape}, {"data", data}};
  }
  return outputs;
}

}  // namespace bantam::convert
