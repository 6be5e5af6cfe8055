// The data section of a file while it grows.
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
    kScratch,  // a temporary file, where it is large
    kNothing   // only counted
  };
  explicit DataSection(In in = In::kMemory) : in_(in), bytes_(FileAllocator<uint8_t>(in == In::kScratch)) {}
  bool only_counts() const { return in_ == In::kNothing; }

  /// Room for so many bytes and a graph in front of them, so that no more memory is taken while they grow, and none before they are written.
  /// Before anything is added. `front`: bytes in front of them, where that is known.
  void reserve(uint64_t bytes, uint64_t front = 0);
  /// Appends `size` bytes and returns where they lie.
  fb::Blob add(const void* bytes, size_t size);
  /// Begins a blob, which append() makes longer until another begins.
  std::unique_ptr<fb::Blob> begin();
  void append(fb::Blob* blob, const void* bytes, size_t size);
  uint64_t size() const { return size_; }
  uint64_t front() const { return front_; }
  /// All bytes, those in front too; none where they are only counted.
  FileBytes take() { return std::move(bytes_); }

 private:
  In in_;
  FileBytes bytes_;
  uint64_t front_ = 0, size_ = 0;
  uint64_t held_ = 0;  // from here on bytes in scratch are in this process's memory
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_
