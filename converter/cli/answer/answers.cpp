#include "cli/answer/answers.h"

#include <algorithm>

#include "run/spelled_token.h"

namespace bantam::cli {

using convert::set_name;
using convert::SetAnswer;
using convert::spelled_token;
using convert::TextPositions;

namespace {

bool has(const Prediction& prediction, uint32_t parts) { return (prediction.parts & parts) != 0; }

std::string range(const TextPositions& positions, Offset span) {
  return fmt::format("[{}, {})", positions.at(span.begin), positions.at(span.end));
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

/// Shortens a long text to its beginning, for display.
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

void print_terms(const Tokenizer& tokenizer, const Prediction& prediction, const char* indent) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(prediction.terms.size(), kShown); ++i) {
    const Candidate& term = prediction.terms[i];
    out().print("{}{:<20}  {:.4f}\n", indent, printable(spelled_token(tokenizer, static_cast<uint32_t>(term.id))),
                term.score);
  }
  const size_t all = prediction.terms.size();
  out().print("{}{}\n", indent, dim(fmt::format("({} terms{})", all, all > kShown ? "; all of them with --json" : "")));
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

}  // namespace

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
  if (has(prediction, kTermsPart)) {
    print_terms(*predictor.engine().session().tokenizer(), prediction, indent);
  } else if (has(prediction, kVectorPart)) {
    print_embedding(prediction, indent);
  }
  if (has(prediction, kTokenVectorsPart)) {
    print_tokens(*predictor.engine().session().tokenizer(), prediction.tokens, indent);
  }
  if (has(prediction, kSpanPart)) print_span(input, prediction, unit, indent);
  if (prediction.truncated) out().print("{}{}\n", indent, dim("(truncated: the end of the text was not read)"));
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

}  // namespace bantam::cli
