// Options for a student's layout, which `student` and `convert` share.
#ifndef BANTAM_CONVERTER_CLI_STUDENT_OPTIONS_H_
#define BANTAM_CONVERTER_CLI_STUDENT_OPTIONS_H_

#include <string>
#include <vector>

#include "student/recipe.h"

namespace bantam::cli {

class Command;

/// The flags as given; their names are those of the recipe's keys.
struct LayoutFlags {
  std::string recipe;
  std::string layers, decoder_layers, heads, ffn, hidden;
  unsigned head_width = 0, embedding_rank = 0, share = 0, vocabulary_size = 0;
  std::vector<std::string> vocabulary, scripts;
  std::string data;
};

/// Adds --layers, --heads, ... to `command`.
void add_layout_flags(Command& command, LayoutFlags* flags);

/// Reads the recipe's file and applies the flags on top of it. Throws Error (usage) for a flag that cannot be parsed,
/// and whatever read_recipe throws.
convert::Recipe layout_recipe(const LayoutFlags& flags);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_STUDENT_OPTIONS_H_
