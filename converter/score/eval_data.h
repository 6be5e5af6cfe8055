// Labeled data for `eval` and training (data/records.h). The fields determine the layout.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_DATA_H_
#define BANTAM_CONVERTER_SCORE_EVAL_DATA_H_

#include <string>
#include <vector>

#include "run/predict.h"
#include "score/eval_sets.h"

namespace bantam::convert {

enum class Layout { kLabel, kLabels, kScore, kJoint, kTags, kAnswers, kChoices, kTexts };

/// A description of a layout.
struct LayoutText {
  Layout layout;
  const char* name;
  const char* fields;    // by the names in the documentation; data/records.h has alternatives
  const char* measured;  // what eval computes
};
/// Returns all layouts, in the order of Layout.
const std::vector<LayoutText>& layouts();
const char* layout_name(Layout layout);

/// Returns true if a file with such answers can be scored on data of this layout.
bool fits(const TaskTraits& task, Layout layout);

struct Example {
  size_t line = 0;
  Input input;
  std::vector<std::string> choices;
  std::string label;                // label, intent or number of the choice
  bool out_of_scope = false;        // `label` is kOutOfScope: no label of the model fits the text
  std::vector<std::string> labels;  // all labels that hold, by name
  float score = 0;
  std::vector<std::string> tags;     // one per token of the data
  std::vector<Offset> tokens;        // their byte ranges in input.first
  std::vector<std::string> answers;  // empty: unanswerable; for texts: references
  std::vector<SetLabels> sets;       // of label sets that the task itself does not use
};

/// How often the data use names that the model has, and names that it does not have.
struct Names {
  size_t known = 0;
  size_t unknown = 0;
  std::string first_unknown;  // with its line number
};

struct Dataset {
  std::string path;
  Layout layout = Layout::kLabel;
  std::vector<Example> examples;
  std::vector<SetKind> sets;  // label sets that the task itself does not use
  size_t skipped = 0;         // malformed lines, with `skip_bad`
  Names labels;
  Names tags;               // except "O"; the name of an entity suffices
  size_t unknown = 0;       // examples with a label or tag that the model does not have
  size_t out_of_scope = 0;  // examples that are out of scope
};

/// Reads at most `limit` examples (0: all). Malformed lines cause an error that lists them with their line numbers or,
/// with `skip_bad`, are counted. `model` translates label numbers to names.
Dataset read_dataset(const std::string& path, const Model& model, size_t limit, bool skip_bad);

/// Throws if the model has none of the labels, or none of the tags. `called`: the data's name in the message.
void refuse_unknown(const Dataset& data, const Model& model, const std::string& called);

/// In data, the label of texts that no label of the model fits; "oos" means the same. A model may have labels with
/// these names, whose texts are not out of scope.
inline constexpr const char* kOutOfScope = "out_of_scope";
bool means_out_of_scope(const std::string& label);

/// Returns the names of the entities in the examples' tags, each once, in the order of the data.
std::vector<std::string> entity_names(const Dataset& data);

/// Makes `tokens`, joined by blanks, the text of the example, with one tag per token.
void set_tokens(const std::vector<std::string>& tokens, std::vector<std::string> tags, Example* example);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_DATA_H_
