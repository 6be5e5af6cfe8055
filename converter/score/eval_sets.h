// Label sets in labeled data that the task itself does not use: a field with the set's name contains its label, labels
// or tags.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_SETS_H_
#define BANTAM_CONVERTER_SCORE_EVAL_SETS_H_

#include <string>
#include <utility>
#include <vector>

#include "data/records.h"
#include "run/predict.h"

namespace bantam::convert {

/// The labels of one text: names in sorted order, or a tag for each token. `known`: the text has labels of the set.
struct SetLabels {
  bool known = false;
  std::vector<std::string> labels;
};

struct SetKind {
  std::string name;
  bool words = false;    // the labels are tags of words
  bool several = false;  // any number of labels may hold
};
/// Returns the further sets of a file, in its order.
std::vector<SetKind> further_sets(const Model& model);

/// Returns the labels of each further set in a record. Throws BadRecord if a field has another type.
std::vector<SetLabels> gold_of_sets(const Record& record, const Model& model, size_t tokens);

/// Returns the labels that the file predicts for each further set. `tokens` are the tokens of the data.
std::vector<SetLabels> said_of_sets(const Model& model, const std::vector<Offset>& tokens,
                                    const Prediction& prediction);

/// Returns the tag of each token of the data: that of the labeled word in it, or "O" if the token was cut off.
std::vector<std::string> token_tags(const Model& model, uint32_t set, const std::vector<Offset>& tokens,
                                    const std::vector<Offset>& words, const std::vector<LabelScore>& labels);

/// Returns NAME_accuracy and NAME_macro_f1 (one label), NAME_micro_f1 (several labels) or NAME_f1 (tags), over the
/// examples that have labels of the set.
std::vector<std::pair<std::string, double>> score_sets(const std::vector<SetKind>& sets,
                                                       const std::vector<const std::vector<SetLabels>*>& gold,
                                                       const std::vector<std::vector<SetLabels>>& said);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_SETS_H_
