// Checks of a file in memory before it is opened: its size and its checksums. A device can check an over-the-air update
// in flash before it switches to it; Model::open neither reads the data nor compares checksums.
#ifndef BANTAM_FILE_H_
#define BANTAM_FILE_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/export.h"
#include "bantam/status.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Reads the size of the file that begins at `bytes`, for instance in a partition whose used part is unknown; `room`
/// bytes can be read. Reads only the 64-byte header. kNotAModel: no file begins there; kTruncated: it is longer than
/// `room`; else as Model::open.
Status file_bytes(const void* bytes, size_t room, size_t* out);

/// Compares a file's checksums, first of header and graph, then of the data, in slices of the caller's choice.
class FileCheck {
 public:
  /// `size` is the result of file_bytes(). The bytes must not change until the check ends. Reads the header only.
  static Status begin(const void* bytes, size_t size, FileCheck* out);

  /// Checks up to `bytes` more. *done: the whole file was read and its checksums match. kCorrupt: one does not match;
  /// this is final.
  Status advance(size_t bytes, bool* done);

  size_t checked() const { return at_; }
  size_t size() const { return size_; }

 private:
  const uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  size_t data_begin_ = 0;
  size_t at_ = 0;
  uint32_t crc_ = 0;  // of the bytes of the current part read so far
  uint32_t graph_crc_ = 0;
  uint32_t data_crc_ = 0;
  bool corrupt_ = false;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_FILE_H_
