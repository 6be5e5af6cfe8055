// run --uart: the firmware's own terminal over standard input and output.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "bantam/sound.h"
#include "cli/appearance.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/run.h"
#include "firmware/memory.h"
#include "run/images.h"
#include "run/text_source.h"
#include "terminal.h"

namespace bantam::cli {

static_assert(firmware::kPromptRam == sizeof(int32_t) * firmware::kLineTokens);

void run_uart(const RunOptions& options) {
  const ModelFile file(options.model, Hold::kInMemory);
  if (has_part(file.model().task(), kTokenVectorsPart | kFoundPart)) {
    fail(ExitCode::kUnsupported, "{}: there are no images of vectors of tokens and of found spans; leave out --uart",
         options.model);
  }
  EngineOptions as_image = options.engine;
  if (firmware::goes_on(file.model())) {
    const uint32_t asked = options.engine.max_tokens;
    SessionOptions lengths;
    firmware::set_lengths(file.model(), asked != 0 ? asked : firmware::longest_text(file.model()), &lengths);
    as_image.max_context = lengths.max_context;
    as_image.max_tokens = lengths.max_tokens;
    as_image.max_source = lengths.max_source;
  }
  Engine engine(file, as_image);
  const auto terminal = std::make_unique<firmware::Terminal>();
  const auto write = [](void*, const char* data, size_t size) { out().write(std::string_view(data, size)); };
  std::vector<uint8_t> pixels(firmware::pixel_bytes(file.model()));
  std::vector<float> features(firmware::feature_bytes(file.model()) / sizeof(float));
  check(terminal->start(&engine.session(), {write, nullptr}, {pixels.data(), features.data()}), file.path());
  for (;;) {
    char bytes[4096];
    const ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(ExitCode::kIo, "standard input: {}", std::strerror(errno));
    if (size == 0) break;
    for (ssize_t i = 0; i < size; ++i) terminal->put(static_cast<uint8_t>(bytes[i]));
    out().flush();
  }
  terminal->finish();
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
