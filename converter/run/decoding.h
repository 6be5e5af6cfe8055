// How texts are generated: the file's settings and the caller's changes.
#ifndef BANTAM_CONVERTER_RUN_DECODING_H_
#define BANTAM_CONVERTER_RUN_DECODING_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bantam/constraint.h"
#include "bantam/generation.h"
#include "bantam/sampling.h"

namespace bantam::convert {

/// The form that generated texts must have: one of `answers`; or JSON, of one kind or with the given fields. If nothing
/// is given, any text.
struct TextForm {
  struct Field {
    std::string name;
    JsonKind kind = JsonKind::kAny;
  };
  std::vector<std::string> answers;
  bool scores = false;  // also compute the log-probability of each answer
  std::optional<JsonKind> json;
  std::vector<Field> fields;

  bool is_given() const { return !answers.empty() || json.has_value() || !fields.empty(); }
};

/// Options of generation. The file's settings replace those that are not given.
struct GenerateOptions {
  std::optional<uint32_t> max_new;  // tokens; 128 if neither the caller nor the file gives a number
  std::optional<uint32_t> min_new;  // none of the first `min_new` tokens ends the text
  std::optional<float> repetition_penalty;
  std::optional<uint32_t> no_repeat_ngram;
  // Sampling, if the temperature is above 0; excludes beams.
  float temperature = 0;
  uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  uint64_t seed = 0;
  uint32_t best_of = 1;  // the number of texts to try, of which the one with the best score is returned
  // Beam search; 1: greedy decoding.
  std::optional<uint32_t> beams;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  bool log_probabilities = false;
  std::vector<std::string> stop;  // texts that end the generated text, and are not part of it
  std::vector<int32_t> ends;      // tokens that end it, besides the file's
  bool special_tokens = true;     // begin a prompt with the tokenizer's special tokens
  std::string use;                // the name of one of the file's generation settings; empty: the first
  std::string from, to;           // language codes; empty: the file's default
  bool cut = false;               // truncate a source that is too long; otherwise it is an error
  bool lookup = false;            // guess that the text repeats itself: same text, fewer passes
  TextForm form;
};

/// The settings of the file and of the caller combined.
struct Decoding {
  Generation said;  // includes the caller's changes; `beams.first_id` is the token of the requested language, if any
  Sampling sampling;
  uint32_t best_of = 1;
  bool log_probabilities = false;
  std::vector<std::string> stop;
  std::vector<int32_t> ends;  // tokens that end a text: the file's and the caller's
  int32_t from_id = -1;       // replaces the language token among a source's tokens
  int32_t source_id = -1;     // precedes a source's text
  bool cut = false;
  bool special_tokens = true;  // begin a prompt with the tokenizer's special tokens
  bool lookup = false;
  TextForm form;

  bool ends_text(int32_t id) const { return std::find(ends.begin(), ends.end(), id) != ends.end(); }
  bool has_beams() const { return said.beams.beams > 1; }
  /// Returns the number of contexts that one text needs.
  uint32_t contexts() const { return has_beams() ? said.beams.beams : best_of; }
};

/// Returns true if the file has generation settings of that name. O(number of settings).
bool has_way(const Model& model, const std::string& name);

/// Combines the file's settings and the options. Throws (kUsage) if they are incompatible; the message lists the names
/// that would work.
Decoding resolve_decoding(const Model& model, const GenerateOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_DECODING_H_
