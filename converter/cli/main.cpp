// The `bantam` command.
#include "cli/commands.h"
#include "cli/distill.h"
#include "cli/frame/command.h"
#include "cli/frame/program.h"

namespace bantam::cli {
namespace {

int run(int argc, char** argv) {
  return run_program(argc, argv, [argv](Program& program) {
    add_convert(program);
    add_student(program);
    add_sensitivity(program);
    add_run(program);
    add_generate(program);
    add_perplexity(program);
    add_search(program);
    add_ask(program);
    add_phrases(program);
    add_rank(program);
    add_label(program);
    add_serve(program);
    add_tokenize(program);
    add_eval(program);
    add_bench(program);
    add_report(program);
    add_distill(program,
                [argv](const train::DistillOptions& options, bool) { run_trainer(argv, options.settings.threads); });
    add_bundle(program);
    add_sign(program);
    add_firmware(program);
    add_monitor(program);
    add_inspect(program);
    add_verify(program);
    add_version(program);
    add_documents(program);
  });
}

}  // namespace
}  // namespace bantam::cli

int main(int argc, char** argv) { return bantam::cli::run(argc, argv); }
