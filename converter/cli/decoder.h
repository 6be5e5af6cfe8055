// Options of commands that run a decoder.
#ifndef BANTAM_CONVERTER_CLI_DECODER_H_
#define BANTAM_CONVERTER_CLI_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/run.h"
#include "run/decoding.h"
#include "run/engine.h"

namespace bantam::cli {

class Command;

/// Throws (kUnsupported) where the file is not for generating.
void require_generating(const convert::ModelFile& file);

/// Throws (kUnsupported) where the file gives next tokens of whole texts only.
void require_contexts(const convert::ModelFile& file);

/// FILE, the texts called `text`, and --file; the others are what help says of them.
void add_prompts(Command& command, RunOptions* run, const char* model, const char* text, const char* texts,
                 const char* lines);

/// --from and --to.
void add_language_options(Command& command, convert::GenerateOptions* options);

/// What texts may become: answers, JSON. `answers`: the name of a file of them, and `fields` as given, which add_form() reads.
struct FormArguments {
  std::vector<std::string> answers;
  std::string answers_file;
  std::vector<std::string> fields;
};
void add_form_options(Command& command, FormArguments* arguments, convert::TextForm* form);
/// Throws (kUsage, kIo) where they cannot be read.
void read_form(const FormArguments& arguments, convert::TextForm* form);

/// Settings of generating: how many tokens, which are chosen, and what ends a text.
void add_decoding_options(Command& command, convert::GenerateOptions* options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DECODER_H_
