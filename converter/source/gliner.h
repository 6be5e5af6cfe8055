// GLiNER (arXiv 2311.08526): models that find spans in a text for labels that come with it, in the layout of the
// library `gliner`: gliner_config.json, the weights of encoder and head in one file, and the encoder's tokenizer.
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
/// The key of a source's config that holds the content of that file; the rest belongs to the encoder.
constexpr const char* kGliner = "gliner";
/// The prefix of the encoder's tensors.
constexpr const char* kGlinerEncoder = "token_rep_layer.bert_layer.model";

/// Settings of the head, and of the form of its input.
struct GlinerSettings {
  uint32_t hidden = 0;      // width of word and label vectors
  uint32_t max_width = 0;   // maximum number of words of a span
  uint32_t max_words = 0;   // texts are truncated to this number of words
  uint32_t max_labels = 0;  // maximum number of labels per text
  uint32_t rnn_layers = 0;  // recurrent layers over words
  bool behind = false;      // the token after a label's mark represents the label
  std::string label_token, text_token;
};

/// Returns true if this is the config of a GLiNER source.
bool has_gliner(const Json& config);

/// Reads the settings. Settings of other heads and unsupported features of the library become problems.
GlinerSettings read_gliner(const Fields& config);

/// Adds the name prefix of the encoder in GLiNER's files (if the source's config is GLiNER's) to the names that Weights
/// and students know.
void name_gliner_encoder(const Json& config, ModelNames* names);

/// The input of a head's module: kReadsEncoder reads the encoder's whole output, kOwn none of it. kNone: the module
/// does not belong to the head.
enum class GlinerPart { kNone, kReadsEncoder, kOwn };
/// Classifies a tensor's module; its name comes without the prefix of heads.
GlinerPart gliner_part(const std::string& module);

/// Returns the gliner_config.json of a GLiNER source.
Json gliner_settings_of(const Json& config);

/// The maximum number of tokens of text and labels together, for an encoder that accepts texts of any length.
uint32_t gliner_tokens(const GlinerSettings& settings);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GLINER_H_
