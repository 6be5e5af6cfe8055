// bantam student: writes a smaller layout of a model as a directory that transformers loads.
#include <memory>

#include "cli/commands.h"
#include "cli/convert_report.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/frame/signals.h"
#include "cli/student_options.h"
#include "student/student.h"

namespace bantam::cli {
namespace {

constexpr const char* kStudentExamples =
    "Examples:\n"
    "  bantam student minilm-snips --layers 3 -o student\n"
    "  bantam student minilm-snips --layers importance:3 --data train.jsonl --vocabulary train.jsonl -o student\n"
    "  bantam student minilm-snips --hidden 192 --ffn 0.5 --data train.jsonl -o student\n"
    "  bantam student minilm-snips --recipe recipe.json -o student --json\n\n"
    "The student is not trained yet: `bantam distill` trains it with its teacher. A recipe is a "
    "JSON object whose keys are the option names (docs/students.md). Layers of different widths "
    "(across:N) are only for `bantam convert --student`.";

struct StudentArguments {
  std::string teacher;
  std::string output;
  std::string task;
  LayoutFlags layout;
  bool json = false;
};

void run_student(const StudentArguments& arguments) {
  const convert::Recipe recipe = layout_recipe(arguments.layout);
  convert::check_new_directory(arguments.output);
  Progress progress;
  convert::StudentOptions options;
  options.task = arguments.task;
  options.directory = true;
  options.progress = [&progress](const char* what, double done) { progress.show(what, done); };
  const convert::Student student = convert::make_student(arguments.teacher, recipe, options);
  progress.show("writing", 0);
  {
    // A signal handler cannot remove a folder.
    const DeferredInterrupts interrupts;
    convert::write_student(student, arguments.output, [&interrupts] { return interrupts.pending(); });
  }
  progress.clear();
  if (arguments.json) {
    convert::Json object = convert::student_json(student.report);
    object["output"] = arguments.output;
    out().write(object.dump(-1, ' ', false, convert::Json::error_handler_t::replace) + "\n");
  } else if (!quiet()) {
    print_student(student.report);
    out().print("\n{} is written\n", printable(arguments.output));
  }
  out().flush();
}

}  // namespace

void add_student(Program& program) {
  auto arguments = std::make_shared<StudentArguments>();
  Command& command = program.add_command("student", "Make a smaller version of a model, for training", kMakeGroup);
  command.usual({"--recipe", "--layers", "--heads", "--ffn", "--hidden", "--vocabulary", "--data", "--json"});
  command.footer(kStudentExamples);
  command.add_option("TEACHER", arguments->teacher, "DIR", "Directory of the model").required();
  command.add_option("-o,--output", arguments->output, "DIR", "Directory to write; must be missing or empty")
      .required();
  command.add_option("--recipe", arguments->layout.recipe, "FILE", "JSON file that describes the student");
  command.add_option("--task", arguments->task, "TASK", "Task of the model, if TEACHER does not state it");
  add_layout_flags(command, &arguments->layout);
  command.add_flag("--json", arguments->json, "Print the report as one JSON object");
  command.action([arguments] { run_student(*arguments); });
}

}  // namespace bantam::cli
