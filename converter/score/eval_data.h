// Labelled data for `eval` and training (data/records.h), the layout told by its fields.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_DATA_H_
#define BANTAM_CONVERTER_SCORE_EVAL_DATA_H_

#include <string>
#include <vector>

#include "run/predict.h"
#include "score/eval_sets.h"

namespace bantam::convert {

enum class Layout { kLabel, kLabels, kScore, kJoint, kTags, kAnswers, kChoices, kTexts };

/// A layout in words.
struct LayoutText {
  Layout layout;
  const char* name;
  const char* fields;    // by the names that documents use; data/records.h has others
  const char* measured;  // what eval computes
};
/// All of them, in the order of Layout.
const std::vector<LayoutText>& layouts();
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
  std::vector<std::string> answers;  // none: unanswerable; texts: references
  std::vector<SetLabels> sets;       // of label sets beyond the task's own
};

/// How often the data name what the model has, and what it does not have.
struct Names {
  size_t known = 0;
  size_t unknown = 0;
  std::string first_unknown;  // with its line
};

struct Dataset {
  std::string path;
  Layout layout = Layout::kLabel;
  std::vector<Example> examples;
  std::vector<SetKind> sets;  // label sets beyond the task's own
  size_t skipped = 0;         // malformed lines, with `skip_bad`
  Names labels;
  Names tags;          // but "O"; an entity's name is enough
  size_t unknown = 0;  // examples with a label or a tag that the model does not have
};

/// Reads at most `limit` examples (0: all). Malformed lines are an error that lists them with their numbers, or
/// counted with `skip_bad`. `model` translates label numbers to names.
Dataset read_dataset(const std::string& path, const Model& model, size_t limit, bool skip_bad);

/// Throws where the model has none of the labels, or none of the tags. `called`: how the message calls it.
void refuse_unknown(const Dataset& data, const Model& model, const std::string& called);

/// The names of the entities that the examples' tags tell of, each once, in the order of the data.
std::vector<std::string> entity_names(const Dataset& data);

/// Makes `tokens`, joined by blanks, the example's text, with a tag each.
void set_tokens(const std::vector<std::string>& tokens, std::vector<std::string> tags, Example* example);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_DATA_H_
