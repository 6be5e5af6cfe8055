// The embedded files. resources.cmake concatenates them in BANTAM_RESOURCES and generates resources.inc.
#include <algorithm>
#include <stdexcept>

#include "firmware/resources.h"
#if defined(BANTAM_HAS_ZLIB)
#include <zlib.h>
#endif

// The symbol is hidden: on aarch64, an address from the linker's global offset table would lose its offset in the
// section.
__asm__(".pushsection .rodata\nbantam_resources: .incbin \"" BANTAM_RESOURCES
        "\"\nbantam_resources_end: .byte 0\n.popsection\n");
extern "C" {
extern const char bantam_resources[] __attribute__((visibility("hidden")));
extern const char bantam_resources_end[] __attribute__((visibility("hidden")));
}

namespace bantam::firmware {
namespace {

struct Packed {
  const char* path;
  size_t size;
};
constexpr Packed kPacked[] = {
#include "resources.inc"
};

/// Returns all files, one after the other.
std::string_view contents() {
  const std::string_view embedded(bantam_resources, static_cast<size_t>(bantam_resources_end - bantam_resources));
#if defined(BANTAM_HAS_ZLIB)
  static const std::string inflated = [&] {
    size_t size = 0;
    for (const Packed& file : kPacked) size += file.size;
    std::string bytes(size, '\0');
    z_stream stream = {};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(embedded.data()));
    stream.avail_in = static_cast<uInt>(embedded.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(size);
    constexpr int kGzip = 16 + MAX_WBITS;
    const bool whole = inflateInit2(&stream, kGzip) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&stream);
    if (!whole || stream.total_out != size) throw std::runtime_error("the sources in the command are damaged");
    return bytes;
  }();
  return inflated;
#else
  return embedded;
#endif
}

std::vector<Resource> table() {
  std::vector<Resource> all;
  size_t at = 0;
  for (const Packed& file : kPacked) {
    all.push_back({file.path, contents().substr(at, file.size)});
    at += file.size;
  }
  std::sort(all.begin(), all.end(), [](const Resource& a, const Resource& b) { return a.path < b.path; });
  return all;
}

}  // namespace

std::vector<std::string_view> resource_paths() {
  std::vector<std::string_view> paths;
  for (const Packed& file : kPacked) paths.emplace_back(file.path);
  return paths;
}

const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = table();
  return all;
}

}  // namespace bantam::firmware
