// How texts are generated: a file's settings, changed by the caller's options.
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

/// The form that texts must have: one of the answers; or JSON, of one kind or with these fields; or, if nothing is
/// given, any.
struct TextForm {
  struct Field {
    std::string name;
    JsonKind kind = JsonKind::kAny;
  };
  std::vector<std::string> answers;
  bool scores = false;  // the log-probability of each answer, too
  std::optional<JsonKind> json;
  std::vector<Field> fields;

  bool is_given() const { return !answers.empty() || json.has_value() || !fields.empty(); }
};

/// Options of generating; those that are not given are taken from the file.
struct GenerateOptions {
  std::optional<uint32_t> max_new;  // tokens; where the file says nothing either, 128
  std::optional<uint32_t> min_new;  // of which none ends the text
  std::optional<float> repetition_penalty;
  std::optional<uint32_t> no_repeat_ngram;
  // Sampling, if the temperature is above 0; then without beams.
  float temperature = 0;
  uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  uint64_t seed = 0;
  uint32_t best_of = 1;  // texts that are tried: the best by its score is given
  // Beams; 1: none, the likeliest token each time.
  std::optional<uint32_t> beams;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  bool log_probabilities = false;
  std::vector<std::string> stop;  // texts that end the text, and are left out of it
  std::vector<int32_t> ends;      // tokens that end it, beside the file's
  bool special_tokens = true;     // a prompt gets those of a text's beginning
  std::string use;                // one of the ways of generating that the file names; empty: its first
  std::string from, to;           // codes of languages; empty: as the file says
  bool cut = false;               // a source that is too long loses its end; else it is an error
  TextForm form;
};

/// The settings of the file and of the caller together.
struct Decoding {
  Generation said;  // with all that the caller changed; `beams.first_id` is the language's, where one is asked for
  Sampling sampling;
  uint32_t best_of = 1;
  bool log_probabilities = false;
  std::vector<std::string> stop;
  std::vector<int32_t> ends;  // tokens that end a text: the file's, and the caller's
  int32_t from_id = -1;       // takes the place of the language in a source's tokens
  int32_t source_id = -1;     // goes in front of a source's text
  bool cut = false;
  bool special_tokens = true;  // a prompt gets those of a text's beginning
  TextForm form;

  bool ends_text(int32_t id) const { return std::find(ends.begin(), ends.end(), id) != ends.end(); }
  bool has_beams() const { return said.beams.beams > 1; }
  /// The number of contexts that a text takes at a time.
  uint32_t contexts() const { return has_beams() ? said.beams.beams : best_of; }
};

/// Returns true if the file names such a way of generating. O(ways).
bool has_way(const Model& model, const std::string& name);

/// Merges the two. Throws (kUsage) if they are incompatible, with the names that would work.
Decoding resolve_decoding(const Model& model, const GenerateOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_DECODING_H_
