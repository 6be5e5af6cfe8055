// Chooses the built-in texts that are informative about a model: those in the languages that its vocabulary was made
// from.
#ifndef BANTAM_CONVERTER_DATA_CHOOSE_TEXTS_H_
#define BANTAM_CONVERTER_DATA_CHOOSE_TEXTS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "data/built_in_texts.h"
#include "graph/graph.h"

namespace bantam::convert {

/// A token of a text: its bytes, and whether the vocabulary knows it.
struct Piece {
  size_t begin = 0;
  size_t end = 0;
  bool unknown = false;
};

/// Splits a text into tokens, without special tokens.
using Tokenize = std::function<std::vector<Piece>(const std::string& text)>;

/// Returns the Tokenize function of the model's first tokenizer. Throws Error if the model has none.
Tokenize tokenize_as(const Model& model);

/// How a vocabulary splits the words of a language.
struct LanguageCoverage {
  size_t words = 0;    // runs of letters
  size_t unknown = 0;  // words with an unknown token
  size_t letters = 0;  // letters of the known words, and `pieces`: their tokens
  size_t pieces = 0;
  size_t long_words = 0;   // known words of at least four letters
  size_t whole_words = 0;  // long words that are a single token

  void add(const std::string& text, const Tokenize& tokenize);
  /// Returns true if the vocabulary was made from texts in this language. An English vocabulary contains the letters of
  /// most alphabets and a third of French words. A vocabulary contains nine of ten words of its own language; a
  /// multilingual one contains half.
  bool fits(Script script) const;
};

/// Derives the kind of the model's texts from its task and labels: commands for joint models, opinions if labels are
/// "positive", ...
std::optional<TextKind> domain_of(const fb::ModelT& model);

struct ChosenTexts {
  std::vector<std::string> texts;      // texts for comparing labels
  std::vector<std::string> odd;        // texts for checking that numbers are finite, and for showing differences
  std::vector<std::string> languages;  // the languages of `texts`
  bool fit = true;                     // false: the vocabulary covers none of the languages, and the nearest was taken
  bool lower_case = false;             // the vocabulary is lower-case, although the tokenizer does not change case
};

/// Returns all texts of the languages that the vocabulary covers; for English only those of `domain`, if it is set.
/// Leaves out texts with unknown words if the others are enough.
ChosenTexts choose_texts(const Tokenize& tokenize, std::optional<TextKind> domain);

/// Returns every built-in text, in all languages, as a text for comparing labels, and the odd texts.
ChosenTexts all_texts();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_CHOOSE_TEXTS_H_
