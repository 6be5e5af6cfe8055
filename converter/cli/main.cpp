// The `bantam` command.
#include "cli/commands.h"
#include "cli/program.h"

namespace bantam::cli {
namespace {

int run(int argc, char** argv) {
  return run_program(argc, argv, [argv](CLI::App& app) {
    add_convert(app);
    add_student(app);
    add_sensitivity(app);
    add_run(app);
    add_generate(app);
    add_perplexity(app);
    add_search(app);
    add_phrases(app);
    add_rank(app);
    add_tokenize(app);
    add_eval(app);
    add_bench(app);
    add_report(app);
    add_distill(app, [argv](const DistillOptions& options) { run_trainer(argv, options.settings.threads); });
    add_firmware(app);
    add_inspect(app);
    add_verify(app);
    add_version(app);
    add_documents(app);
  });
}

}  // namespace
}  // namespace bantam::cli

int main(int argc, char** argv) { return bantam::cli::run(argc, argv); }
