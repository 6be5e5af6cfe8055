// Reads how generation starts and continues, from generation_config.json or, in older directories, from config.json.
#ifndef BANTAM_CONVERTER_SOURCE_GENERATION_H_
#define BANTAM_CONVERTER_SOURCE_GENERATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam_generated.h"
#include "base/directory.h"
#include "source/fields.h"

namespace bantam::convert {

inline constexpr const char* kGenerationFile = "generation_config.json";

inline constexpr const char* kStartIsMissing =
    "is missing: it names the token with which the decoder begins; the model's documentation does";

/// Replaces the generation settings of config.json by those of generation_config.json in a folder of `files`, if it
/// exists: config.json's settings apply only without it. config.json's tokens that begin and end a text stay if the
/// file does not name any.
void add_generation_settings(const Directory& files, const std::string& folder, Json* config);

/// Reads the token id under `key`; -1 if it is absent or null. A token outside the vocabulary is a problem.
int32_t read_token(const Fields& config, const std::string& key, uint32_t vocabulary);

/// Reads the token id with which a decoder's text begins: "decoder_start_token_id", or the key `otherwise` if that is
/// absent; -1 if both are absent, or if `otherwise` is null.
int32_t read_start(const Fields& config, uint32_t vocabulary, const char* otherwise);

/// Reads the ids of the tokens that end a text ("eos_token_id"): one id, or a list.
std::vector<int32_t> read_end_ids(const Fields& config, uint32_t vocabulary);

/// Reads the settings, then the variants that "task_specific_params" names, which change them. Empty if there are only
/// defaults. `starts`: for an encoder-decoder, whose text begins with a token that must be given, see read_start().
std::vector<std::unique_ptr<fb::GenerationT>> read_generations(const Fields& config, uint32_t vocabulary, bool starts,
                                                               const char* start_otherwise);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GENERATION_H_
