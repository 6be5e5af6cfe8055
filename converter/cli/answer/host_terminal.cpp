#include "cli/answer/host_terminal.h"

#include "cli/frame/errors.h"
#include "firmware/memory.h"

namespace bantam::cli {

static_assert(firmware::kPromptRam == sizeof(int32_t) * firmware::kLineTokens);

HostTerminal::HostTerminal(const std::string& model, const EngineOptions& options, firmware::Sink sink)
    : file_(model, Hold::kInMemory),
      pixels_(static_cast<size_t>(firmware::pixel_bytes(file_.model()))),
      features_(static_cast<size_t>(firmware::feature_bytes(file_.model())) / sizeof(float)) {
  if (has_part(file_.model().task(), kTokenVectorsPart | kFoundPart)) {
    fail(ExitCode::kUnsupported, "{}: there are no images of vectors of tokens and of found spans", model);
  }
  EngineOptions as_image = options;
  if (firmware::goes_on(file_.model())) {
    const uint32_t asked = options.max_tokens;
    SessionOptions lengths;
    firmware::set_lengths(file_.model(), asked != 0 ? asked : firmware::longest_text(file_.model()), &lengths);
    as_image.max_context = lengths.max_context;
    as_image.max_tokens = lengths.max_tokens;
    as_image.max_source = lengths.max_source;
  }
  engine_ = std::make_unique<Engine>(file_, as_image);
  check(terminal_->start(&engine_->session(), sink, {pixels_.data(), features_.data()}), file_.path());
}

}  // namespace bantam::cli
