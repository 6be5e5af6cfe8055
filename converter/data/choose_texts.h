// Which of the built-in texts say something about a model: those in the languages that its vocabulary was made of.
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

/// Of the model's first tokenizer. Throws Error where it has none.
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
  /// Whether the vocabulary was made of such texts. A vocabulary of English holds the letters of most alphabets, and a third
  /// of French words; of its own language it holds nine words of ten, a multilingual one half.
  bool fits(Script script) const;
};

/// What the model's task and labels say about its texts: commands for joint models, opinions where labels are "positive", ...
std::optional<TextKind> domain_of(const fb::ModelT& model);

struct ChosenTexts {
  std::vector<std::string> texts;      // that judge labels
  std::vector<std::string> odd;        // that judge only whether numbers are finite, and show differences
  std::vector<std::string> languages;  // of `texts`
  bool fit = true;                     // false: the vocabulary is of none of the languages; the nearest was taken
  bool lower_case = false;             // as the vocabulary is, though the tokenizer changes no letters
};

/// All texts of the languages that fit; of English ones only those of `domain`, where it says one. Texts with unknown
/// words are left out where others are enough.
ChosenTexts choose_texts(const Tokenize& tokenize, std::optional<TextKind> domain);

/// Every built-in text, odd ones and all languages, judges labels.
ChosenTexts all_texts();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_CHOOSE_TEXTS_H_
