#include "format/data_section.h"

#include <algorithm>

#include "base/size.h"
#include "format/header.h"
#include "format/view.h"

namespace bantam::convert {

void DataSection::reserve(uint64_t bytes, uint64_t front) {
  constexpr uint64_t kGraph = 4 << 20;
  front_ = front;
  if (only_counts()) return;
  bytes_.reserve(in_memory(bytes + bytes / 64 + std::max(front, kGraph)));
  bytes_.resize(in_memory(front), 0);
}

std::unique_ptr<fb::Blob> DataSection::begin() {
  size_ = round_up(size_, kFileAlignment);
  if (!only_counts()) bytes_.resize(in_memory(front_ + size_), 0);
  return std::make_unique<fb::Blob>(size_, 0, 0, 0);
}

void DataSection::append(fb::Blob* blob, const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  if (!only_counts()) bytes_.insert(bytes_.end(), begin, begin + size);
  size_ += size;
  constexpr uint64_t kMostHeld = 8 << 20;
  if (bytes_.get_allocator().in_scratch(bytes_.capacity()) && size_ - held_ > kMostHeld) {
    let_go(bytes_.data() + front_ + held_, in_memory(size_ - held_));
    held_ = size_;
  }
  *blob = fb::Blob(blob->offset(), blob->size() + size, 0, 0);
}

fb::Blob DataSection::add(const void* bytes, size_t size) {
  const std::unique_ptr<fb::Blob> blob = begin();
  append(blob.get(), bytes, size);
  return *blob;
}

}  // namespace bantam::convert
