// bantam-train: the one command that needs libtorch, in a program of its own. `bantam distill` starts it.
#include "cli/distill/distill.h"
#include "cli/frame/program.h"

int main(int argc, char** argv) {
  return bantam::cli::run_program(
      argc, argv, [](bantam::cli::Program& program) { bantam::cli::add_distill(program, bantam::cli::run_distill); });
}
