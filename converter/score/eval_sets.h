// Label sets beyond the task's own in labelled data: a field of the set's name holds its label, its labels or its tags.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_SETS_H_
#define BANTAM_CONVERTER_SCORE_EVAL_SETS_H_

#include <string>
#include <utility>
#include <vector>

#include "data/records.h"
#include "run/predict.h"

namespace bantam::convert {

/// What is said of one text: labels by name, sorted, or a tag for each token; `known` where anything is.
struct SetLabels {
  bool known = false;
  std::vector<std::string> labels;
};

struct SetKind {
  std::string name;
  bool words = false;    // tags of words
  bool several = false;  // any number of labels holds
};
/// The further sets of a file, in its order.
std::vector<SetKind> further_sets(const Model& model);

/// What a line of data says of each further set. Throws BadRecord for a field of another kind.
std::vector<SetLabels> gold_of_sets(const Record& record, const Model& model, size_t tokens);

/// What the file says of each. `tokens`: those of the data.
std::vector<SetLabels> said_of_sets(const Model& model, const std::vector<Offset>& tokens,
                                    const Prediction& prediction);

/// The tag of each token of the data: that of the labelled word in it; "O" where it was cut off.
std::vector<std::string> token_tags(const Model& model, uint32_t set, const std::vector<Offset>& tokens,
                                    const std::vector<Offset>& words, const std::vector<LabelScore>& labels);

/// NAME_accuracy and NAME_macro_f1, NAME_micro_f1 of several labels, NAME_f1 of tags: over the examples that say anything.
std::vector<std::pair<std::string, double>> score_sets(const std::vector<SetKind>& sets,
                                                       const std::vector<const std::vector<SetLabels>*>& gold,
                                                       const std::vector<std::vector<SetLabels>>& said);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_SETS_H_
