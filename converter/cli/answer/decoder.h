// Options of commands that run a decoder.
#ifndef BANTAM_CONVERTER_CLI_DECODER_H_
#define BANTAM_CONVERTER_CLI_DECODER_H_

#include <string>
#include <vector>

#include "cli/answer/run.h"
#include "run/decoding.h"
#include "run/engine.h"

namespace bantam::cli {

class Command;

/// Throws (kUnsupported) if the file does not generate text.
void require_generating(const convert::ModelFile& file);

/// Throws (kUnsupported) if the file predicts next tokens only for whole texts, without a context.
void require_contexts(const convert::ModelFile& file);

/// Adds FILE, the texts called `text`, and --file; the other arguments are their descriptions in the help.
void add_prompts(Command& command, RunOptions* run, const char* model, const char* text, const char* texts,
                 const char* lines);

/// Adds --from and --to.
void add_language_options(Command& command, convert::GenerateOptions* options);

/// The forms that generated texts may have: one of several answers, or JSON. `answers_file` names a file of answers.
/// read_form() reads it and `fields`; the members hold the arguments as given.
struct FormArguments {
  std::vector<std::string> answers;
  std::string answers_file;
  std::vector<std::string> fields;
};
void add_form_options(Command& command, FormArguments* arguments, convert::TextForm* form);
/// Reads the arguments into `form`. Throws (kUsage, kIo) if they cannot be read.
void read_form(const FormArguments& arguments, convert::TextForm* form);

/// Adds the settings of generation: the number of tokens, how they are chosen, and when a text ends.
void add_decoding_options(Command& command, convert::GenerateOptions* options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DECODER_H_
