#include "firmware/device_file.h"

namespace bantam::firmware {

convert::FileBytes device_file(const void* bytes, size_t size, const std::string&) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  return {begin, begin + size};
}

}  // namespace bantam::firmware
