// A file as it lies in memory, before it is opened: how long it is, and whether its bytes are those that were written. Flash that
// was written over the air is checked before a device switches to it; Model::open reads no data, and compares no checksum.
#ifndef BANTAM_FILE_H_
#define BANTAM_FILE_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/export.h"
#include "bantam/status.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Bytes of the file that begins at `bytes`, of which `room` can be read: a partition, of whose end nothing is known. Reads the 64 of its
/// header only. kNotAModel: no file begins there; kTruncated: it is longer than `room`; as Model::open for other headers.
Status file_bytes(const void* bytes, size_t room, size_t* out);

/// Compares a file's checksums, header and graph, then data, as many bytes at a time as its caller has time for.
class FileCheck {
 public:
  /// `size` as file_bytes() says. The bytes must not change until the end. Reads the header only.
  static Status begin(const void* bytes, size_t size, FileCheck* out);

  /// Goes on by up to `bytes`. *done: all have been read and their checksums hold. kCorrupt, for good: one does not.
  Status advance(size_t bytes, bool* done);

  size_t checked() const { return at_; }
  size_t size() const { return size_; }

 private:
  const uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  size_t data_begin_ = 0;
  size_t at_ = 0;
  uint32_t crc_ = 0;  // of what has been read of this part
  uint32_t graph_crc_ = 0;
  uint32_t data_crc_ = 0;
  bool corrupt_ = false;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_FILE_H_
