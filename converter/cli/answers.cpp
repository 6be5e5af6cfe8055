#include "cli/answers.h"

#include <algorithm>
#include <string_view>

#include "cli/errors.h"
#include "format/view.h"
#include "run/spelled_token.h"

namespace bantam::cli {

using convert::best_label;
using convert::set_name;
using convert::SetAnswer;
using convert::spelled_token;
using convert::TextPositions;

namespace {

bool has(const Prediction& prediction, uint32_t parts) { return (prediction.parts & parts) != 0; }

std::string range(const TextPositions& positions, Offset span) {
  return fmt::format("[{}, {})", positions.at(span.begin), positions.at(span.end));
}

/// A token as part of a text: without the prefix that marks continuations.
std::string token_text(const Tokenizer& tokenizer, int32_t id) {
  return to_string(tokenizer.piece(static_cast<uint32_t>(id)));
}

/// "labels", and what holds of them.
void put_labels(const Predictor& predictor, const std::vector<LabelScore>& labels, uint32_t holds, uint32_t set,
                Json* object) {
  const Model& model = predictor.engine().model();
  Json list = Json::array();
  for (const LabelScore& label : labels) {
    list.push_back({{"label", label_name(model, label.label, set)}, {"score", label.score}});
  }
  (*object)["labels"] = std::move(list);
  const bool several = predictor.scores() == kSigmoids;
  // Of labels at levels those of the first ones hold, too.
  if (several || model.has_levels(set)) (*object)["selected"] = holds;
  if (holds == 0 && !several) (*object)["out_of_scope"] = true;
}

Json entities_json(const std::string& text, const std::vector<Entity>& entities, PositionUnit unit, const char* name) {
  const TextPositions positions(text, unit);
  Json list = Json::array();
  for (const Entity& entity : entities) {
    Json one = {{name, to_string(entity.name)},
                {"text", slice(text, entity.span)},
                {"start", positions.at(entity.span.begin)},
                {"end", positions.at(entity.span.end)},
                {"score", entity.score}};
    one["label"] = to_string(entity.name);  // by this name in every command
    list.push_back(std::move(one));
  }
  return list;
}

Json candidates_json(const Tokenizer& tokenizer, const std::string& text, const Prediction& prediction, size_t mask) {
  Json list = Json::array();
  const Offset span = prediction.mask_spans[mask];
  for (const Candidate& candidate : prediction.masks[mask]) {
    list.push_back({{"token", spelled_token(tokenizer, static_cast<uint32_t>(candidate.id))},
                    {"text", text.substr(0, span.begin) + token_text(tokenizer, candidate.id) + text.substr(span.end)},
                    {"score", candidate.score},
                    {"id", candidate.id}});
  }
  return list;
}

void put_candidates(const Predictor& predictor, const Input& input, const Prediction& prediction, Json* object) {
  const Tokenizer& tokenizer = *predictor.engine().session().tokenizer();
  Json all = Json::array();
  for (size_t i = 0; i < prediction.masks.size(); ++i) {
    all.push_back(candidates_json(tokenizer, input.first, prediction, i));
  }
  (*object)["candidates"] = all.at(0);
  if (all.size() > 1) (*object)["masks"] = all;
}

std::string percent(float score) { return fmt::format("{:.4f}", score); }

void print_labels(const Predictor& predictor, const std::vector<LabelScore>& labels, uint32_t holds, uint32_t set,
                  const std::string& indent) {
  const Model& model = predictor.engine().model();
  const bool probabilities = predictor.scores() != kUnscored;
  const bool levels = model.has_levels(set) && predictor.scores() == kSoftmax;
  const auto name_of = [&](size_t i) {
    return std::string(levels ? 2 * i : 0, ' ') + printable(label_name(model, labels[i].label, set));
  };
  size_t width = 0;
  for (size_t i = 0; i < labels.size(); ++i) width = std::max(width, name_of(i).size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string name = fmt::format("{:<{}}", name_of(i), width);
    out().print("{}{}  {}{}\n", indent, i < holds ? bold(name) : name, percent(labels[i].score),
                probabilities ? bar(labels[i].score) : "");
  }
  if (holds == 0 && predictor.scores() == kSigmoids) {
    out().print("{}{}\n", indent, dim("(no label is over the file's threshold)"));
  } else if (holds == 0) {
    out().print("{}{}\n", indent, dim("(out of scope: the best score is under the file's limit)"));
  }
}

/// A text for people: its beginning, when it is long.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 200;
  if (text.size() <= kMost) return printable(text);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return printable(text.substr(0, end)) + " ...";
}

void print_entities(const std::string& text, const std::vector<Entity>& entities, PositionUnit unit,
                    const std::string& indent) {
  const TextPositions positions(text, unit);
  size_t name_width = 0;
  for (const Entity& entity : entities) name_width = std::max(name_width, entity.name.size);
  for (const Entity& entity : entities) {
    const std::string name = fmt::format("{:<{}}", printable(to_string(entity.name)), name_width);
    out().print("{}{}  {}  {}  {}\n", indent, bold(name), percent(entity.score), shortened(slice(text, entity.span)),
                dim(range(positions, entity.span)));
  }
  if (entities.empty()) out().print("{}{}\n", indent, dim("(nothing found)"));
}

/// "sets": {"sentiment": {"labels": [...]}, ...}
void put_further(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                 Json* object) {
  for (const SetAnswer& set : prediction.further) {
    Json one = Json::object();
    if (set.labels.empty()) {
      one["entities"] = entities_json(input.first, set.entities, unit, "label");
    } else {
      put_labels(predictor, set.labels, set.holds, set.set, &one);
    }
    (*object)["sets"][set_name(predictor.engine().model(), set.set)] = std::move(one);
  }
}

void print_further(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                   const std::string& indent) {
  for (const SetAnswer& set : prediction.further) {
    out().print("{}{}\n", indent, dim(printable(set_name(predictor.engine().model(), set.set)) + ":"));
    if (set.labels.empty()) {
      print_entities(input.first, set.entities, unit, indent + "  ");
    } else {
      print_labels(predictor, set.labels, set.holds, set.set, indent + "  ");
    }
  }
}

void print_candidates(const Predictor& predictor, const Prediction& prediction, const char* indent) {
  const Tokenizer& tokenizer = *predictor.engine().session().tokenizer();
  for (size_t i = 0; i < prediction.masks.size(); ++i) {
    if (prediction.masks.size() > 1) out().print("{}{}\n", indent, dim(fmt::format("mask {}", i + 1)));
    for (const Candidate& candidate : prediction.masks[i]) {
      out().print("{}{:<20}  {}{}\n", indent, printable(spelled_token(tokenizer, static_cast<uint32_t>(candidate.id))),
                  percent(candidate.score), bar(candidate.score));
    }
  }
}

void print_embedding(const Prediction& prediction, const char* indent) {
  std::string line = fmt::format("{} numbers:", prediction.embedding.size());
  const size_t shown = std::min<size_t>(prediction.embedding.size(), 6);
  for (size_t i = 0; i < shown; ++i) line += fmt::format(" {:.4f}", prediction.embedding[i]);
  if (shown < prediction.embedding.size()) line += " ... (all of them with --json)";
  out().print("{}{}\n", indent, line);
}

Json tokens_json(const Tokenizer& tokenizer, const convert::TokenVectors& tokens) {
  Json list = Json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const auto begin = tokens.values.begin() + static_cast<std::ptrdiff_t>(i * tokens.width);
    list.push_back({{"token", spelled_token(tokenizer, static_cast<uint32_t>(tokens.ids[i]))},
                    {"id", tokens.ids[i]},
                    {"embedding", std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tokens.width))}});
  }
  return list;
}

void print_tokens(const Tokenizer& tokenizer, const convert::TokenVectors& tokens, const char* indent) {
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    std::string line = fmt::format("{:<16}", spelled_token(tokenizer, static_cast<uint32_t>(tokens.ids[i])));
    for (size_t k = 0; k < std::min<size_t>(tokens.width, kShown); ++k) {
      line += fmt::format(" {:7.4f}", tokens.values[i * tokens.width + k]);
    }
    out().print("{}{}\n", indent, printable(line));
  }
  out().print("{}{}\n", indent,
              dim(fmt::format("({} vectors of {} numbers; all of them with --json)", tokens.ids.size(), tokens.width)));
}

void print_span(const Input& input, const Prediction& prediction, PositionUnit unit, const char* indent) {
  const Answer& answer = prediction.answer;
  const std::string& context = input.second ? *input.second : input.first;
  if (answer.answerable) {
    out().print("{}{}  {}  {}\n", indent, bold(shortened(slice(context, answer.span))), percent(answer.score),
                dim(range(TextPositions(context, unit), answer.span)));
  } else {
    out().print("{}{}  {}\n", indent, dim("(no answer)"), percent(answer.score));
  }
}

void put_span(const Input& input, const Prediction& prediction, PositionUnit unit, Json* object) {
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
                Json* object) {
  const Model& model = predictor.engine().model();
  const bool labelled = !prediction.labels.empty();
  if (has(prediction, kSpanPart)) {
    put_span(input, prediction, unit, object);
  } else {
    (*object)["text"] = input.first;
    if (input.second) (*object)["pair"] = *input.second;
  }
  if (has(prediction, kMasksPart | kNextWordsPart)) put_candidates(predictor, input, prediction, object);
  if (has(prediction, kVectorPart)) (*object)["embedding"] = prediction.embedding;
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

void print_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                  bool heading) {
  const char* indent = heading ? "  " : "";
  if (heading) {
    const bool shows_second = input.second && !has(prediction, kSpanPart);
    out().print("{}{}{}\n", shortened(input.first), input.second ? " | " : "",
                shows_second ? shortened(*input.second) : "");
  }
  const bool labelled = !prediction.labels.empty();
  if (labelled) print_labels(predictor, prediction.labels, prediction.holds, 0, indent);
  if (has(prediction, kWordsPart | kFoundPart))
    print_entities(input.first, prediction.entities, unit, labelled ? "  " : indent);
  print_further(predictor, input, prediction, unit, indent);
  if (has(prediction, kMasksPart | kNextWordsPart)) print_candidates(predictor, prediction, indent);
  if (has(prediction, kVectorPart)) print_embedding(prediction, indent);
  if (has(prediction, kTokenVectorsPart)) {
    print_tokens(*predictor.engine().session().tokenizer(), prediction.tokens, indent);
  }
  if (has(prediction, kSpanPart)) print_span(input, prediction, unit, indent);
  if (prediction.truncated) out().print("{}{}\n", indent, dim("(truncated: the end of the text was not read)"));
}

void put_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                 Json* object) {
  (*object)["text"] = prompt;
  Json labels = Json::array();
  for (const LabelScore& label : prediction.labels) {
    labels.push_back({{"label", choices[label.label]}, {"score", label.score}, {"index", label.label}});
  }
  (*object)["labels"] = labels;
  (*object)["truncated"] = prediction.truncated;
}

void print_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                   bool heading) {
  if (heading) out().print("{}\n", shortened(prompt));
  for (size_t i = 0; i < prediction.labels.size(); ++i) {
    const LabelScore& label = prediction.labels[i];
    const std::string choice = printable(choices[label.label]);
    out().print("{}{}{}  {}\n", heading ? "  " : "", percent(label.score), bar(label.score),
                i == 0 ? bold(choice) : choice);
  }
}

Json raw_outputs(const Session& session, uint32_t sequence) {
  Json outputs = Json::object();
  const bool choices = has_part(session.model().task(), kChoicePart);
  for (uint32_t i = 0; i < session.model().output_count(); ++i) {
    OutputView view;
    // transformers shows one row of all choices for multiple choice: [1, choices].
    check(choices ? session.output(i, &view) : session.output(i, sequence, &view), "outputs");
    Json data = Json::array();
    for (uint32_t row = 0; row < view.rows; ++row) {
      for (uint32_t column = 0; column < view.width; ++column) data.push_back(view.data[row * view.stride + column]);
    }
    Json shape = Json::array({1});
    if (view.per_token || choices) shape.push_back(view.rows);
    if (view.per_token ? !view.squeeze : !choices) shape.push_back(view.width);
    outputs[to_string(view.name)] = {{"shape", shape}, {"data", data}};
  }
  return outputs;
}

}  // namespace bantam::cli
