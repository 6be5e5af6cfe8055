#include "cli/app.h"

#include "cli/answer/run.h"
#include "cli/commands.h"
#include "cli/frame/program.h"
#include "graph/task_parts.h"

namespace bantam::cli {
namespace {

size_t occurrences(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

/// Returns the examples of a command on one file, rewritten for the app that runs this command on this file: "bantam
/// run voice.bantam TEXT" becomes "voice TEXT". Keeps only examples of the first file that use no other file, because
/// the app has just one.
Words examples_of(const CommandText& command, const std::string& program) {
  Words result;
  std::string comment, beginning;
  const std::string file = ".bantam";
  for (const std::string& line : command.examples) {
    if (line[0] == '#') {
      comment = line;
      continue;
    }
    if (beginning.empty()) beginning = line.substr(0, line.find(file) + file.size());
    const bool own = line.compare(0, beginning.size(), beginning) == 0 && occurrences(line, file) == 1;
    if (own && occurrences(line, ".index") == 0) {
      if (!comment.empty()) result.push_back(comment);
      result.push_back(program + line.substr(beginning.size()));
    }
    comment.clear();
  }
  return result;
}

}  // namespace

void add_app_commands(Program& program) {
  add_run(program);
  add_generate(program);
  add_rank(program);
  add_tokenize(program);
}

std::string usual_command(const Model& model) {
  const uint32_t parts = traits(model.task()).parts;
  return (parts & kNextWordsPart) != 0 ? "generate" : command_for(parts);
}

void become_app(Program& program, const std::string& command, const std::string& path) {
  Command& only = program.make_single(command);
  only.bind("FILE", path);
  only.set_examples(examples_of(only.text(), program.name()));
  only.footer(kExitCodes);
  only.heading("Common options");
  only.add_version_flag();
}

}  // namespace bantam::cli
