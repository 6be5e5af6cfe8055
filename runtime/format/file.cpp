#include "bantam/file.h"

#include <string.h>

#include "format/crc32c.h"
#include "format/header.h"

namespace bantam {

Status file_bytes(const void* bytes, size_t room, size_t* out) {
  if (bytes == nullptr || out == nullptr) return Status::kInvalidArgument;
  *out = 0;
  const auto* begin = static_cast<const uint8_t*>(bytes);
  uint64_t size = 0;
  if (room >= kHeaderBytes) memcpy(&size, begin + 16, sizeof size);
  // If there is too little room, or the size does not fit this machine, read_header reports a truncated file or no
  // model.
  const bool fits = size >= kHeaderBytes && size <= room;
  FileHeader header;
  const Status status = read_header(begin, fits ? static_cast<size_t>(size) : room, &header, nullptr);
  if (status != Status::kOk) return status;
  *out = static_cast<size_t>(header.file_size);
  return Status::kOk;
}

Status FileCheck::begin(const void* bytes, size_t size, FileCheck* out) {
  if (bytes == nullptr || out == nullptr) return Status::kInvalidArgument;
  *out = {};
  FileHeader header;
  const Status status = read_header(static_cast<const uint8_t*>(bytes), size, &header, nullptr);
  if (status != Status::kOk) return status;
  out->bytes_ = static_cast<const uint8_t*>(bytes);
  out->size_ = size;
  out->data_begin_ = static_cast<size_t>(header.data_offset);
  out->graph_crc_ = header.graph_crc;
  out->data_crc_ = header.data_crc;
  return Status::kOk;
}

Status FileCheck::advance(size_t bytes, bool* done) {
  if (bytes_ == nullptr || done == nullptr) return Status::kInvalidArgument;
  *done = false;
  while (!corrupt_ && at_ < size_ && bytes != 0) {
    const bool graph = at_ < data_begin_;
    const size_t end = graph ? data_begin_ : size_;
    size_t count = end - at_ < bytes ? end - at_ : bytes;
    // The checksums do not cover the header's two checksum fields.
    const bool sums = at_ >= kChecksumsBegin && at_ < kHeaderBytes;
    if (at_ < kHeaderBytes) {
      const size_t stop = sums ? kHeaderBytes : kChecksumsBegin;
      count = stop - at_ < count ? stop - at_ : count;
    }
    if (!sums) crc_ = crc32c(bytes_ + at_, count, crc_);
    at_ += count;
    bytes -= count;
    if (at_ != end) continue;
    corrupt_ = crc_ != (graph ? graph_crc_ : data_crc_);
    if (graph && end == size_) corrupt_ = corrupt_ || data_crc_ != 0;  // the checksum of an empty data section
    crc_ = 0;
  }
  if (corrupt_) return Status::kCorrupt;
  *done = at_ == size_;
  return Status::kOk;
}

}  // namespace bantam
