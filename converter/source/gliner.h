// GLiNER (arXiv 2311.08526): models that find spans in a text for labels given with it, in the layout of the library
// `gliner`: gliner_config.json, the weights of encoder and head in one file, and the encoder's tokenizer.
#ifndef BANTAM_CONVERTER_SOURCE_GLINER_H_
#define BANTAM_CONVERTER_SOURCE_GLINER_H_

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/json_file.h"
#include "source/fields.h"
#include "source/model_source.h"
#include "source/weights.h"

namespace bantam::convert {

constexpr const char* kGlinerSettings = "gliner_config.json";
/// The key of a source's config that holds the content of that file; the rest is the encoder's.
constexpr const char* kGliner = "gliner";
/// The prefix of the encoder's tensors.
constexpr const char* kGlinerEncoder = "token_rep_layer.bert_layer.model";

/// Settings of the head, and of how texts are presented.
struct GlinerSettings {
  uint32_t hidden = 0;      // columns of words and labels
  uint32_t max_width = 0;   // words of a span
  uint32_t max_words = 0;   // that texts are cut to
  uint32_t max_labels = 0;  // of a text
  uint32_t rnn_layers = 0;  // over words
  bool behind = false;      // the token behind a label's mark stands for it
  std::string label_token, text_token;
};

/// Returns true if this is the config of such a source.
bool has_gliner(const Json& config);

/// Reads the settings. Adds settings of other heads and of other features of the library to the problems as
/// unsupported.
GlinerSettings read_gliner(const Fields& config);

/// Adds the place of the encoder in files of GLiNER (by the source's config) to the names that Weights and students
/// know.
void name_gliner_encoder(const Json& config, ModelNames* names);

/// The input of a head's module: kReadsEncoder reads the encoder's whole output, kOwn none of it. kNone: the module is
/// not the head's.
enum class GlinerPart { kNone, kReadsEncoder, kOwn };
/// Returns how a tensor's module belongs to such a head; its name comes without the prefix of heads.
GlinerPart gliner_part(const std::string& module);

/// Returns the gliner_config.json of such a source.
Json gliner_settings_of(const Json& config);

/// The number of tokens of text and labels together, if the encoder takes texts of any length.
uint32_t gliner_tokens(const GlinerSettings& settings);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GLINER_H_
