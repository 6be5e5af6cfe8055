// Parts that `sign` and `verify --key` share: the bytes of a file that need not be a model, and the place of its
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

/// A file's signature is called FILE.minisig, as minisign calls it.
inline constexpr const char* kSignatureEnding = ".minisig";
/// No key, password or signature is larger.
inline constexpr uint64_t kMostSignatureBytes = 1U << 16;

/// The bytes of a file, mapped. Throws Error (kIo) where it cannot be read.
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
