// run --uart: runs the firmware's own terminal over standard input and output.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bantam/sound.h"
#include "cli/answer/host_terminal.h"
#include "cli/answer/run.h"
#include "cli/frame/appearance.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "run/images.h"

namespace bantam::cli {

void run_uart(const RunOptions& options) {
  const auto write = [](void*, const char* data, size_t size) { out().write(std::string_view(data, size)); };
  HostTerminal terminal(options.model, options.engine, {write, nullptr});
  for (;;) {
    char bytes[4096];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(ExitCode::kIo, "standard input: {}", std::strerror(errno));
    if (size == 0) break;
    terminal.put(std::string_view(bytes, static_cast<size_t>(size)));
    out().flush();
  }
  terminal.finish();
}

void run_frames(const RunOptions& options) {
  const ModelFile file(options.model);
  if (!convert::takes_images(file.model())) {
    fail(ExitCode::kUnsupported, "{}: the model takes no images; leave out --frame", file.path());
  }
  const convert::ImageBatch images(file.model());
  convert::TextSource source(options.texts, options.file, warn, show_prompt);
  for (std::string path; source.next(&path);) {
    if (takes_sound(file.model())) {
      std::string line;
      for (const int16_t sample : convert::samples_of(file.model(), path)) {
        line += fmt::format("{:02x}{:02x}", sample & 0xFF, sample >> 8 & 0xFF);
      }
      out().print("{}\n", line);
    } else {
      out().print("{:02x}\n", fmt::join(images.pixels_of(path), ""));
    }
  }
  out().flush();
}

}  // namespace bantam::cli
