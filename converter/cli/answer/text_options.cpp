#include "cli/answer/text_options.h"

#include "cli/frame/errors.h"
#include "data/text_source.h"

namespace bantam::cli {

void require_texts(const char* what, const std::string& file, std::vector<std::string>* texts) {
  if (!texts->empty() || !file.empty()) return;
  if (!convert::input_is_given()) {
    fail(ExitCode::kUsage, "no {}: pass it as an argument, by --file, or on standard input", what);
  }
  *texts = {"-"};
}

}  // namespace bantam::cli
