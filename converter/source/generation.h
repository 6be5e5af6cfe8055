// What generating begins with and how it goes on, as generation_config.json or, in older directories, config.json says.
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

/// Puts the settings of generation_config.json in a folder of `files`, where there is one, in the place of those of config.json,
/// which count without it only; of those, the tokens that begin and end a text stay where the file names none.
void add_generation_settings(const Directory& files, const std::string& folder, Json* config);

/// The token under `key`; -1 where it is absent or null. One that is none of the vocabulary is a problem.
int32_t read_token(const Fields& config, const std::string& key, uint32_t vocabulary);

/// Tokens that end a text ("eos_token_id"): one, or a list.
std::vector<int32_t> read_end_ids(const Fields& config, uint32_t vocabulary);

/// What the settings say, then the ways of generating that "task_specific_params" names, which change them. Empty where nothing but
/// defaults is said. `starts`: of an encoder-decoder, whose text begins with a token that must be said.
std::vector<std::unique_ptr<fb::GenerationT>> read_generations(const Fields& config, uint32_t vocabulary, bool starts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GENERATION_H_
