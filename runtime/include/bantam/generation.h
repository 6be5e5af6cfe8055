// The generation settings of a file: what its texts begin with, and how they continue unless the caller says otherwise.
#ifndef BANTAM_GENERATION_H_
#define BANTAM_GENERATION_H_

#include "bantam/beams.h"
#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// A way of generating. Texts and `beams.banned` point into the model.
struct Generation {
  Text name;              // "summarization"; empty: the file has only one, or says nothing
  Text prefix;            // put before every text
  int32_t start_id = -1;  // the token that an encoder-decoder's text begins with; -1: a decoder
  BeamOptions beams;      // of which greedy and sampled texts use max_new, min_new and what changes scores
};

/// 0 where the file says nothing; a Generation by default then is what there is.
uint32_t generation_count(const Model& model);
/// kIndexOutOfRange where there are not so many.
Status generation(const Model& model, uint32_t index, Generation* out);

/// How a translator of several languages learns which language it shall translate into.
enum class LanguagePlace : uint8_t {
  kNone = 0,    // it has no languages to choose from
  kFirst = 1,   // by the first new token: BeamOptions::first_id, Sampling::forced
  kStart = 2,   // by the token that its text begins with, in place of Generation::start_id
  kSource = 3,  // by a token in front of the source's text, behind the special ones
};
/// Returns the model's place of the target language. With kFirst and kStart, a special token among the source's ids
/// that is a language names the source's language.
LanguagePlace language_place(const Model& model);

struct Language {
  Text code;  // as users write it: "de", "deu_Latn"
  int32_t token = -1;
};
uint32_t language_count(const Model& model);
/// kIndexOutOfRange where there are not so many.
Status language(const Model& model, uint32_t index, Language* out);
/// The language of this code. kIndexOutOfRange: there is none. O(languages).
Status find_language(const Model& model, Text code, Language* out);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_GENERATION_H_
