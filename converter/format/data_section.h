// The data section of a file under construction.
#ifndef BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_
#define BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "bantam_generated.h"
#include "format/file_bytes.h"

namespace bantam::convert {

/// Every blob begins at a multiple of 64 bytes; gaps are zero.
class DataSection {
 public:
  enum class In : uint8_t {
    kMemory,
    kScratch,  // a temporary file, if the section is large
    kNothing   // bytes are only counted
  };
  explicit DataSection(In in = In::kMemory) : in_(in), bytes_(FileAllocator<uint8_t>(in == In::kScratch)) {}
  bool only_counts() const { return in_ == In::kNothing; }

  /// Reserves memory for `bytes` and a graph before them, so that no reallocation is needed; pages are not touched
  /// until they are written. Call it before anything is added. `front`: the number of bytes before the section, if
  /// known.
  void reserve(uint64_t bytes, uint64_t front = 0);
  /// Appends `size` bytes and returns their location.
  fb::Blob add(const void* bytes, size_t size);
  /// Begins a blob, which append() extends until another blob begins.
  std::unique_ptr<fb::Blob> begin();
  void append(fb::Blob* blob, const void* bytes, size_t size);
  uint64_t size() const { return size_; }
  uint64_t front() const { return front_; }
  /// All bytes, including those before the section; empty if bytes are only counted.
  FileBytes take() { return std::move(bytes_); }

 private:
  In in_;
  FileBytes bytes_;
  uint64_t front_ = 0, size_ = 0;
  uint64_t held_ = 0;  // scratch bytes from here on are resident in this process
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_
