// bantam-serve: the one command that needs an HTTP library, in a program of its own. `bantam serve` starts it.
#include "cli/frame/appearance.h"
#include "cli/frame/output.h"
#include "cli/frame/program.h"
#include "cli/serve.h"
#include "serve/server.h"

namespace bantam::cli {
namespace {

void run_serve(const ServeArguments& arguments) {
  serve::ServerOptions options;
  options.files = arguments.files;
  options.host = arguments.host;
  options.port = static_cast<uint16_t>(arguments.port);
  options.unix_path = arguments.unix_path;
  options.timeout = arguments.timeout;
  options.max_body = size_t{arguments.max_body} * 1024;
  options.connections = arguments.connections;
  options.log = arguments.log;
  options.worker.engine = arguments.engine;
  options.worker.top = arguments.top;
  options.worker.aggregation = arguments.aggregation;
  options.worker.queue = arguments.queue;
  serve::serve(options, [](const std::string& address) {
    if (!quiet()) out().print("Listening on {}\n", printable(address));
    out().flush();
  });
}

}  // namespace
}  // namespace bantam::cli

int main(int argc, char** argv) {
  return bantam::cli::run_program(
      argc, argv, [](bantam::cli::Program& program) { bantam::cli::add_serve(program, bantam::cli::run_serve); });
}
