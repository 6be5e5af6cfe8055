// The generation settings of a file: what its texts begin with, and the defaults of the search.
#ifndef BANTAM_GENERATION_H_
#define BANTAM_GENERATION_H_

#include "bantam/beams.h"
#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Generation settings. Texts and `beams.banned` point into the model.
struct Generation {
  Text name;              // "summarization"; empty: the file has only one, or none
  Text prefix;            // put before every text
  int32_t start_id = -1;  // the token that an encoder-decoder's text begins with; -1: a decoder
  BeamOptions beams;      // greedy search and sampling use its max_new, min_new and the options that change scores
};

/// Number of generation settings; 0: the file has none, then use a default-constructed Generation.
uint32_t generation_count(const Model& model);
/// kIndexOutOfRange: there is no setting with this index.
Status generation(const Model& model, uint32_t index, Generation* out);

/// How a translator of several languages takes the target language.
enum class LanguagePlace : uint8_t {
  kNone = 0,    // there is no choice of languages
  kFirst = 1,   // by the first new token: BeamOptions::first_id, Sampling::forced
  kStart = 2,   // by the token that its text begins with, instead of Generation::start_id
  kSource = 3,  // by a token in the source, before its text and after the leading special tokens
};
/// Returns how the model takes the target language. With kFirst and kStart, a special token among the source's ids that
/// is a language states the source's language.
LanguagePlace language_place(const Model& model);

struct Language {
  Text code;  // as users write it: "de", "deu_Latn"
  int32_t token = -1;
};
uint32_t language_count(const Model& model);
/// kIndexOutOfRange: there is no language with this index.
Status language(const Model& model, uint32_t index, Language* out);
/// Finds the language with this code. kIndexOutOfRange: there is none. O(languages).
Status find_language(const Model& model, Text code, Language* out);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_GENERATION_H_
