// The terminal of a firmware image, run on this machine: it prints the same lines, byte for byte.
#ifndef BANTAM_CONVERTER_CLI_HOST_TERMINAL_H_
#define BANTAM_CONVERTER_CLI_HOST_TERMINAL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer/engine.h"
#include "terminal.h"

namespace bantam::cli {

class HostTerminal {
 public:
  /// options.max_tokens: the image's --max-tokens; 0: the model's limit. Throws Error (unsupported) for tasks that have
  /// no images.
  HostTerminal(const std::string& model, const EngineOptions& options, firmware::Sink sink);

  void put(std::string_view bytes) {
    for (const char byte : bytes) terminal_->put(static_cast<uint8_t>(byte));
  }
  void finish() { terminal_->finish(); }

 private:
  ModelFile file_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<firmware::Terminal> terminal_ = std::make_unique<firmware::Terminal>();
  std::vector<uint8_t> pixels_;
  std::vector<float> features_;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_HOST_TERMINAL_H_
