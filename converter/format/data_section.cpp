#include "format/data_section.h"

#include "base/size.h"
#include "format/header.h"
#include "format/view.h"

namespace bantam::convert {

fb::Blob DataSection::add(const void* bytes, size_t size) {
  bytes_.resize(in_memory(round_up(bytes_.size(), kFileAlignment)), 0);
  const uint64_t offset = bytes_.size();
  const auto* begin = static_cast<const uint8_t*>(bytes);
  bytes_.insert(bytes_.end(), begin, begin + size);
  return fb::Blob(offset, size, 0, 0);
}

}  // namespace bantam::convert
