// GLiNER (arXiv 2311.08526): models that find spans of a text for labels that come with it, in the layout of the library `gliner`:
// gliner_config.json, the weights of encoder and head in one file, and the encoder's tokenizer.
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
/// Under this key the config of a source holds what that file says; the rest is the encoder's.
constexpr const char* kGliner = "gliner";
/// What stands in front of the encoder's tensors.
constexpr const char* kGlinerEncoder = "token_rep_layer.bert_layer.model";

/// What the head is, and how texts are put.
struct GlinerSettings {
  uint32_t hidden = 0;      // columns of words and labels
  uint32_t max_width = 0;   // words of a span
  uint32_t max_words = 0;   // that texts are cut to
  uint32_t max_labels = 0;  // of a text
  uint32_t rnn_layers = 0;  // over words
  bool behind = false;      // the token behind a label's mark stands for it
  std::string label_token, text_token;
};

/// Is this the config of such a source?
bool has_gliner(const Json& config);

/// Settings of other heads and of what the library has beside are added to the problems as unsupported.
GlinerSettings read_gliner(const Fields& config);

/// What Weights and students know of names, with where the encoder stands in files of GLiNER (by the source's config).
void name_gliner_encoder(const Json& config, ModelNames* names);

/// What a head's modules read of the encoder: all that it passes on, or nothing.
enum class GlinerPart { kNone, kReadsEncoder, kOwn };
/// What a tensor's module is to such a head, whose name comes without what stands in front of heads.
GlinerPart gliner_part(const std::string& module);

/// What gliner_config.json says of such a source.
Json gliner_settings_of(const Json& config);

/// Tokens of texts and labels together, where the encoder takes texts of any length.
uint32_t gliner_tokens(const GlinerSettings& settings);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GLINER_H_
