// How well texts answer a query: by a cross-encoder's scores of pairs, by token vectors, or by term weights.
#ifndef BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_
#define BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/answer_json.h"
#include "run/predict.h"

namespace bantam::convert {

/// A text by its number among the given texts, counted from 0, and its score.
struct ScoredText {
  size_t number = 0;
  float score = 0;
};

void sort_best_first(std::vector<ScoredText>* scored);

/// Returns the softmax of the scores at number `label`: its probability.
float softmax_at(const std::vector<float>& scores, uint32_t label);

/// Throws (unsupported) if the file does not label single texts or pairs.
void require_labels(const ModelFile& file);

/// A file that labels texts, and which of its labels answers the query.
class PairJudge {
 public:
  /// `engine` must outlive the judge. Throws as require_labels does.
  explicit PairJudge(Engine& engine);

  uint32_t count() const { return count_; }
  std::string name(uint32_t label) const;
  /// Returns the label of that name, ignoring case. Throws (usage) with the name of `option` if there is none.
  uint32_t require(const char* option, const std::string& wanted) const;
  /// Returns the first label whose name begins with `beginning`; count() if there is none.
  uint32_t find_beginning(const std::string& beginning) const;
  std::string names() const;

  /// Returns the score from a pair's logit, in a file with one output: the logit itself, its hyperbolic tangent, or its
  /// sigmoid, which is the default of sentence-transformers' CrossEncoder.
  float score_of(float logit) const;

  /// Returns the logits of each pair, count() per pair. Sets `truncated` if a text was truncated; never clears it.
  std::vector<std::vector<float>> logits(const std::vector<Input>& pairs, bool* truncated);

 private:
  Engine& engine_;
  Predictor predictor_;
  uint32_t count_;
};

/// Returns `candidates`, best first; equal ones keep their order. `engine`'s file is a judge of pairs, which ranks by
/// the label `label` (`option` names it in messages; empty if there is only one label), or it has token vectors or term
/// weights. Of texts with term weights, only the terms are kept, a few hundred, not a row as long as the vocabulary.
std::vector<ScoredText> rank_texts(Engine& engine, const char* option, const std::string& label,
                                   const std::string& query, const std::vector<std::string>& candidates,
                                   bool* truncated);

/// Returns the object that `bantam rank --json` prints: `ranked` of `candidates`, numbered from 1.
OrderedJson ranked_json(const std::string& query, const std::vector<std::string>& candidates,
                        const std::vector<ScoredText>& ranked, bool truncated);

/// Throws if rank_texts would, before any text is read.
void require_ranking(const ModelFile& file, const char* option, const std::string& label);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_
