// Scores of generated texts against references by the usual definitions: BLEU and chrF of sacreBLEU, ROUGE of
// rouge_score, and word error rate. Scores are fractions of 1. Texts are UTF-8.
#ifndef BANTAM_CONVERTER_SCORE_TEXT_METRICS_H_
#define BANTAM_CONVERTER_SCORE_TEXT_METRICS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// Splits a text into words and signs like sacreBLEU's tokenizer "13a" (mteval-v13a).
std::vector<std::string> bleu_tokens(const std::string& text);

/// Scores over a corpus: BLEU of up to 4-grams with exponential smoothing (Papineni et al. 2002; sacreBLEU, arXiv
/// 1804.08771), chrF of up to 6 characters with beta 2 (Popovic 2015), the mean F1 of ROUGE-1, -2 and -L (Lin 2004,
/// without stemming), and word errors divided by the words of the references (0 and up).
class TextMetrics {
 public:
  /// Requires at least one reference. BLEU uses all references, the other scores the best one. O(words^2) for ROUGE-L
  /// and word error.
  void add(const std::string& made, const std::vector<std::string>& references);

  double bleu() const;
  double chrf() const;
  double rouge_1() const { return mean(rouge_1_); }
  double rouge_2() const { return mean(rouge_2_); }
  double rouge_l() const { return mean(rouge_l_); }
  double word_error() const { return words_ == 0 ? 0 : static_cast<double>(errors_) / static_cast<double>(words_); }
  double exact_match() const { return mean(exact_); }

 private:
  static constexpr size_t kWords = 4, kCharacters = 6;
  struct Counts {
    uint64_t made = 0, wanted = 0, both = 0;
  };
  using Characters = std::array<Counts, kCharacters>;

  static Characters count_characters(const std::string& made, const std::string& reference);
  static double chrf_of(const Characters& counts);
  double mean(double sum) const { return texts_ == 0 ? 0 : sum / static_cast<double>(texts_); }

  uint64_t texts_ = 0;
  uint64_t made_length_ = 0, reference_length_ = 0;  // for BLEU
  std::array<uint64_t, kWords> correct_{}, total_{};
  Characters characters_{};
  double rouge_1_ = 0, rouge_2_ = 0, rouge_l_ = 0, exact_ = 0;
  uint64_t errors_ = 0, words_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_TEXT_METRICS_H_
