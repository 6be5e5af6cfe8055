// serve: its options; the work is in bantam-serve, which alone links the HTTP library.
#ifndef BANTAM_CONVERTER_CLI_SERVE_H_
#define BANTAM_CONVERTER_CLI_SERVE_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/engine.h"

namespace bantam::cli {

struct Program;

struct ServeArguments {
  std::vector<std::string> files;
  std::string host = "127.0.0.1";
  uint32_t port = 8080;
  std::string unix_path;
  uint32_t timeout = 30;
  uint32_t max_body = 1024;  // KiB
  uint32_t queue = 4096;
  uint32_t connections = 4096;
  uint32_t top = 5;
  Aggregation aggregation = Aggregation::kFile;
  bool log = false;
  EngineOptions engine;
};

/// Adds the command; `run` gets checked options.
void add_serve(Program& program, const std::function<void(const ServeArguments&)>& run);

/// Replaces this process by bantam-serve with the same arguments (`argv` as main got it). Throws Error (unsupported) that says how to
/// get it where there is none.
[[noreturn]] void run_server(char** argv);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_SERVE_H_
