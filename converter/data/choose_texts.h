// Chooses the built-in texts that say something about a model: those in the languages that its vocabulary was made
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

/// Without special tokens.
using Tokenize = std::function<std::vector<Piece>(const std::string& text)>;

/// Returns the Tokenize function of the model's first tokenizer. Throws Error if the model has none.
Tokenize tokenize_as(const Model& model);

/// How a vocabulary cuts texts of a language.
struct LanguageCoverage {
  size_t words = 0;    // runs of letters
  size_t unknown = 0;  // of them with an unknown token
  size_t letters = 0;  // of known words, as their pieces
  size_t pieces = 0;
  size_t long_words = 0;   // known, of at least four letters
  size_t whole_words = 0;  // of them a single token

  void add(const std::string& text, const Tokenize& tokenize);
  /// Returns true if the vocabulary was made from texts in this language. A vocabulary of English holds the letters of
  /// most alphabets, and a third of French words; of its own language it holds nine words of ten, a multilingual one
  /// half.
  bool fits(Script script) const;
};

/// Derives the kind of the model's texts from its task and labels: commands for joint models, opinions if labels are
/// "positive", ...
std::optional<TextKind> domain_of(const fb::ModelT& model);

struct ChosenTexts {
  std::vector<std::string> texts;      // that judge labels
  std::vector<std::string> odd;        // that judge only whether numbers are finite, and show differences
  std::vector<std::string> languages;  // of `texts`
  bool fit = true;                     // false: the vocabulary is of none of the languages; the nearest was taken
  bool lower_case = false;             // as the vocabulary is, though the tokenizer changes no letters
};

/// Returns all texts of the languages that fit; for English only those of `domain`, if it is set. Leaves out texts with
/// unknown words if the others are enough.
ChosenTexts choose_texts(const Tokenize& tokenize, std::optional<TextKind> domain);

/// Returns every built-in text as one that judges labels, with odd texts and all languages.
ChosenTexts all_texts();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_CHOOSE_TEXTS_H_
