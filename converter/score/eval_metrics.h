// Scores of predictions against labels, in double precision; definitions as in scikit-learn, seqeval and SQuAD.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_METRICS_H_
#define BANTAM_CONVERTER_SCORE_EVAL_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

struct LabelMetrics {
  double accuracy = 0;
  double macro_f1 = 0;  // over all labels in the data or in the predictions
  double matthews = 0;  // Gorodkin's R_K; 0 if it is undefined
};
LabelMetrics label_metrics(const std::vector<std::string>& gold, const std::vector<std::string>& predicted);

/// Correlations; 0 if one side is constant. Spearman: ties have their mean rank.
double pearson(const std::vector<float>& a, const std::vector<float>& b);
double spearman(const std::vector<float>& a, const std::vector<float>& b);

/// Returns the cosine of two vectors of the same length.
float cosine(const std::vector<float>& a, const std::vector<float>& b);
/// Returns the sum of products, the similarity of sparse embeddings.
float dot(const std::vector<float>& a, const std::vector<float>& b);

/// The entities of one sequence of tags, by token numbers. The rule is the runtime's (tasks/entities.h), which agrees
/// with seqeval's default mode.
struct TagSpan {
  std::string name;
  uint32_t begin = 0;
  uint32_t end = 0;  // one past the last token
  bool operator==(const TagSpan& other) const { return name == other.name && begin == other.begin && end == other.end; }
};
/// `strict`: leave out entities that begin with I-X or E-X (seqeval's strict mode for IOB2).
std::vector<TagSpan> tag_spans(const std::vector<std::string>& tags, bool strict = false);

/// Micro-averaged over all sequences.
struct EntityMetrics {
  bool strict = false;
  uint64_t correct = 0;
  uint64_t predicted = 0;
  uint64_t gold = 0;
  void add(const std::vector<std::string>& gold_tags, const std::vector<std::string>& predicted_tags);
  double precision() const {
    return predicted == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(predicted);
  }
  double recall() const { return gold == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(gold); }
  double f1() const;
};

/// Normalizes as SQuAD does: lower case, no punctuation, no articles, single blanks.
std::string normalize_answer(const std::string& text);
/// Returns the best score over the gold answers; without gold answers, 1 if the prediction is empty.
double exact_match(const std::vector<std::string>& gold, const std::string& predicted);
double answer_f1(const std::vector<std::string>& gold, const std::string& predicted);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_METRICS_H_
