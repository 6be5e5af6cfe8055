// Labelled data for `eval`: one JSON object a line, layout told by its fields.
#ifndef BANTAM_CONVERTER_RUN_EVAL_DATA_H_
#define BANTAM_CONVERTER_RUN_EVAL_DATA_H_

#include <string>
#include <vector>

#include "run/predict.h"

namespace bantam::convert {

enum class Layout {
  kLabel,    // text | text_a, text_b; label (name or number) [, label_name]
  kLabels,   // text | text_a, text_b; labels (names: any number of them hold)
  kScore,    // text_a, text_b, score
  kJoint,    // text, intent [, tokens, slots]
  kTags,     // tokens, tags
  kAnswers,  // question, context, answers (strings, or SQuAD's {"text": [...]})
  kChoices,  // text, choices, label (number)
};

const char* layout_name(Layout layout);

/// Can a file with such answers be scored on data of this layout?
bool fits(const TaskTraits& task, Layout layout);

struct Example {
  size_t line = 0;
  Input input;
  std::vector<std::string> choices;
  std::string label;                // label, intent, number of the choice
  std::vector<std::string> labels;  // all that hold, by name
  float score = 0;
  std::vector<std::string> tags;     // one a token of the data
  std::vector<Offset> tokens;        // their bytes in input.first
  std::vector<std::string> answers;  // none: unanswerable
};

struct Dataset {
  std::string path;
  Layout layout = Layout::kLabel;
  std::vector<Example> examples;
  size_t skipped = 0;  // malformed lines, with `skip_bad`
  size_t unknown = 0;  // examples whose label the model does not have
  std::string first_unknown;
};

/// Reads at most `limit` examples (0: all). Malformed lines are an error that lists them with their numbers, or
/// counted with `skip_bad`. `model` translates label numbers to names.
Dataset read_dataset(const std::string& path, const Model& model, size_t limit, bool skip_bad);

/// Throws where the model has no label of any example. `model`: how the message calls it.
void refuse_unknown(const Dataset& data, const std::string& model);

/// Makes `tokens`, joined by blanks, the example's text, with a tag each.
void set_tokens(const std::vector<std::string>& tokens, std::vector<std::string> tags, Example* example);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_EVAL_DATA_H_
