// bantam-app: the program that `bantam bundle` puts before a model. Without a model it reports that it has none.
#include <elf.h>

#include <string>

#include "bantam/host.h"
#include "base/own_program.h"
#include "cli/app.h"
#include "cli/frame/errors.h"
#include "cli/frame/program.h"
#include "format/bundle.h"
#include "format/elf_program.h"

namespace bantam::cli {
namespace {

/// The ELF note that tells `bantam bundle` that this program looks for a model at its own end.
struct RunnerNote {
  Elf32_Nhdr header;
  char owner[(sizeof convert::kRunnerOwner + 3) / 4 * 4];
  uint32_t version;
};

__attribute__((section(".note.bantam"), aligned(4), used)) const RunnerNote kNote = {
    {sizeof convert::kRunnerOwner, sizeof(uint32_t), convert::kRunnerNote}, "bantam", convert::kRunnerVersion};

/// Reads the command that the trailer at the end of this program's file names.
std::string own_command(const std::string& path) {
  host::MappedFile file;
  const char* reason = "";
  if (file.open(path.c_str(), &reason) != Status::kOk) fail(ExitCode::kIo, "{}: {}", path, reason);
  return convert::read_trailer(file.data(), file.size(), path).command;
}

int run_app(int argc, char** argv) {
  const std::string called = argc > 0 ? argv[0] : "bantam-app";
  const std::string name = called.substr(called.rfind('/') + 1);
  const auto add = [](Program& program) {
    const std::string path = convert::own_program().string();
    const std::string command = own_command(path);
    add_app_commands(program);
    become_app(program, command, path);
  };
  return run_program(argc, argv, add, name);
}

}  // namespace
}  // namespace bantam::cli

int main(int argc, char** argv) { return bantam::cli::run_app(argc, argv); }
