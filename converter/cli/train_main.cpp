// bantam-train: the one command that needs libtorch, in a program of its own. `bantam distill` starts it.
#include "cli/distill.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace bantam::cli;
  return run_program(argc, argv, [](Program& program) { add_distill(program, run_distill); });
}
