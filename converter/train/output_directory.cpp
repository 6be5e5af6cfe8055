#include "train/output_directory.h"

#include <system_error>

#include "base/fail.h"
#include "train/trainer.h"

namespace bantam::train {
namespace {

namespace fs = std::filesystem;

/// Removes a slash at the end, because the path would have no file name.
fs::path without_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

}  // namespace

DistillOutput::DistillOutput(const DistillOptions& options)
    : output_(without_slash(options.output)), student_(output_ / "student") {
  std::error_code ignored;
  student_was_there_ = fs::exists(student_, ignored);
}

DistillOutput::~DistillOutput() {
  std::error_code ignored;
  if (kept_ || fs::exists(output_ / kCheckpointName, ignored)) return;
  if (!student_was_there_) fs::remove_all(student_, ignored);
  // Removes only empty directories.
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) fs::remove(*path, ignored);
}

void DistillOutput::prepare(const DistillOptions& options) {
  std::error_code error;
  for (const std::string& input : {options.student, options.teacher}) {
    if (!input.empty() && fs::equivalent(output_, input, error)) {
      convert::fail(convert::ExitCode::kUsage, "-o {}: that is an input; choose another directory", options.output);
    }
  }
  if (fs::exists(output_, error)) {
    if (!fs::is_directory(output_, error)) {
      convert::fail(convert::ExitCode::kUsage, "-o {}: is not a directory; choose another name", options.output);
    }
    const bool ours = fs::exists(output_ / kCheckpointName, error);
    if (!ours && fs::exists(output_ / "config.json", error)) {
      convert::fail(convert::ExitCode::kUsage, "-o {}: holds a model already; choose another name, or remove it first",
                    options.output);
    }
    return;
  }
  std::vector<fs::path> missing;
  for (fs::path path = output_; !path.empty() && !fs::exists(path, error); path = path.parent_path()) {
    missing.push_back(path);
  }
  made_.assign(missing.rbegin(), missing.rend());
  fs::create_directories(output_, error);
  if (error) {
    const bool full = error == std::errc::no_space_on_device;
    convert::fail(full ? convert::ExitCode::kOutOfSpace : convert::ExitCode::kIo, "-o {}: {}; choose a writable place",
                  options.output, error.message());
  }
}

}  // namespace bantam::train
