// How well texts answer a query: by a cross-encoder's judgement of pairs, by the vectors of tokens, or by the weights of terms.
#ifndef BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_
#define BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/answer_json.h"
#include "run/predict.h"

namespace bantam::convert {

/// Texts by their numbers among those given, from 0.
struct ScoredText {
  size_t number = 0;
  float score = 0;
};

void sort_best_first(std::vector<ScoredText>* scored);

/// Probability of the score of number `label` among all: its share of their softmax.
float softmax_at(const std::vector<float>& scores, uint32_t label);

/// Throws (unsupported) where the file gives texts no labels alone.
void require_labels(const ModelFile& file);

/// A file of text labels, and which of them answers what is asked.
class PairJudge {
 public:
  /// `engine` outlives the judge. Throws as require_labels.
  explicit PairJudge(Engine& engine);

  uint32_t count() const { return count_; }
  std::string name(uint32_t label) const;
  /// The label of that name, in any case of letters. Throws (usage), naming `option`, where there is none.
  uint32_t require(const char* option, const std::string& wanted) const;
  /// The first label whose name begins like that; count() where there is none.
  uint32_t find_beginning(const std::string& beginning) const;
  std::string names() const;

  /// The score of a pair's number, in a file of one number a pair: the number itself, its hyperbolic tangent, or its sigmoid,
  /// which is what sentence-transformers' CrossEncoder takes where nothing else is said.
  float score_of(float logit) const;

  /// Logits of each pair, count() of them; whether an end was cut is or-ed to `truncated`.
  std::vector<std::vector<float>> logits(const std::vector<Input>& pairs, bool* truncated);

 private:
  Engine& engine_;
  Predictor predictor_;
  uint32_t count_;
};

/// `candidates` best first, by what `engine`'s file is: a judge of pairs, of whose labels `label` ranks (`option` names it in
/// messages; "" where there is one alone), one that gives a vector a token, or one that gives weights of terms. Equal ones keep their
/// order. Of texts that give terms their terms are kept, a few hundred, and no row as long as the vocabulary.
std::vector<ScoredText> rank_texts(Engine& engine, const char* option, const std::string& label,
                                   const std::string& query, const std::vector<std::string>& candidates,
                                   bool* truncated);

/// The object that `bantam rank --json` prints: `ranked` of `candidates`, numbered from 1.
OrderedJson ranked_json(const std::string& query, const std::vector<std::string>& candidates,
                        const std::vector<ScoredText>& ranked, bool truncated);

/// Throws where rank_texts would, before any text is read.
void require_ranking(const ModelFile& file, const char* option, const std::string& label);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_PAIR_SCORES_H_
