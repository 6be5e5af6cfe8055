// Options of commands that run a decoder.
#ifndef BANTAM_CONVERTER_CLI_DECODER_H_
#define BANTAM_CONVERTER_CLI_DECODER_H_

#include <cstdint>

#include "cli/run.h"
#include "run/decoding.h"
#include "run/engine.h"

namespace bantam::cli {

class Command;

/// Throws (kUnsupported) where the file is not for generating.
void require_generating(const convert::ModelFile& file);

/// FILE, the texts called `text`, and --file; the others are what help says of them.
void add_prompts(Command& command, RunOptions* run, const char* model, const char* text, const char* texts,
                 const char* lines);

/// --from and --to.
void add_language_options(Command& command, convert::GenerateOptions* options);

/// Settings of generating: how many tokens, which are chosen, and what ends a text.
void add_decoding_options(Command& command, convert::GenerateOptions* options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DECODER_H_
