// Shared parts of `sign` and `verify --key`: the bytes of a file, which need not be a model, and the path of its
// signature.
#ifndef BANTAM_CONVERTER_CLI_SIGNATURE_H_
#define BANTAM_CONVERTER_CLI_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "bantam/host.h"
#include "base/error.h"
#include "cli/frame/errors.h"

namespace bantam::cli {

/// The signature of a file is named FILE.minisig, as with minisign.
inline constexpr const char* kSignatureEnding = ".minisig";
/// Largest size of a key, password or signature file.
inline constexpr uint64_t kMostSignatureBytes = 1U << 16;

/// The mapped bytes of a file. The constructor throws Error (kIo) if the file cannot be read.
class SignedBytes {
 public:
  explicit SignedBytes(const std::string& path) {
    const char* reason = "";
    if (file_.open(path.c_str(), &reason) != Status::kOk) fail(ExitCode::kIo, "{}: {}", path, reason);
  }
  const void* data() const { return file_.data(); }
  size_t size() const { return file_.size(); }

 private:
  host::MappedFile file_;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_SIGNATURE_H_
