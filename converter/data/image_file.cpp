#include "data/image_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "data/image_direction.h"
#if defined(BANTAM_HAS_PNG)
#include "data/png_reader.h"
#endif
#if defined(BANTAM_HAS_JPEG)
#include <turbojpeg.h>
#endif

namespace bantam::convert {
namespace {

[[noreturn]] void refuse(const std::string& path, ExitCode code, const std::string& why) {
  throw Error(code, fmt::format("{}: {}", printable(path), why));
}

void check_size(const std::string& path, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0) refuse(path, ExitCode::kInvalid, "the image has no pixels");
  if (width > kMostImageSide || height > kMostImageSide || width * height > kMostImagePixels) {
    refuse(path, ExitCode::kInvalid,
           fmt::format("{}x{} pixels are more than are read ({} in all, {} a side); make it smaller first", width,
                       height, kMostImagePixels, kMostImageSide));
  }
}

/// Reads a number of a PPM header: blanks and comments, then digits.
uint32_t header_number(const std::string& path, std::string_view bytes, size_t* at) {
  bool comment = false;
  for (; *at < bytes.size(); ++*at) {
    const char c = bytes[*at];
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment && !(c == ' ' || c == '\t' || c == '\r' || c == '\n')) break;
  }
  uint32_t value = 0;
  const char* begin = bytes.data() + *at;
  const auto read = std::from_chars(begin, bytes.data() + bytes.size(), value);
  if (read.ec != std::errc() || read.ptr == begin)
    refuse(path, ExitCode::kInvalid, "the header of this PPM or PGM is broken");
  *at += static_cast<size_t>(read.ptr - begin);
  return value;
}

/// Reads Netpbm's binary formats with 8 bits (P5: gray, P6: color).
Pixels read_netpbm(const std::string& path, std::string_view bytes) {
  const size_t channels = bytes[1] == '6' ? 3 : 1;
  size_t at = 2;
  Pixels out;
  out.width = header_number(path, bytes, &at);
  out.height = header_number(path, bytes, &at);
  const uint32_t most = header_number(path, bytes, &at);
  ++at;  // one white-space character ends the header
  check_size(path, out.width, out.height);
  if (most != 255) refuse(path, ExitCode::kUnsupported, "only PPM and PGM of 8 bits (255) are read");
  const size_t pixels = size_t{out.width} * out.height;
  if (at > bytes.size() || bytes.size() - at < pixels * channels)
    refuse(path, ExitCode::kInvalid, "the file is cut short");
  out.rgb.resize(pixels * 3);
  for (size_t i = 0; i < pixels * 3; ++i) {
    out.rgb[i] = static_cast<uint8_t>(bytes[at + (channels == 3 ? i : i / 3)]);
  }
  return out;
}

#if defined(BANTAM_HAS_JPEG)
Pixels read_jpeg(const std::string& path, std::string_view bytes) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  if (decoder == nullptr) throw std::bad_alloc();
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &colours) != 0) {
    refuse(path, ExitCode::kInvalid, fmt::format("is not a JPEG that can be read: {}", tjGetErrorStr2(decoder.get())));
  }
  check_size(path, static_cast<uint64_t>(width), static_cast<uint64_t>(height));
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    refuse(path, ExitCode::kUnsupported, "is a JPEG of printing colours (CMYK); convert it to RGB first");
  }
  Pixels out;
  out.width = static_cast<uint32_t>(width);
  out.height = static_cast<uint32_t>(height);
  out.rgb.resize(size_t{out.width} * out.height * 3);
  constexpr int kFlags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), data, bytes.size(), out.rgb.data(), width, 0, height, TJPF_RGB, kFlags) != 0) {
    refuse(path, ExitCode::kInvalid, fmt::format("the JPEG is broken: {}", tjGetErrorStr2(decoder.get())));
  }
  return out;
}
#endif

#if defined(BANTAM_HAS_PNG)
Pixels read_png(const std::string& path, std::string_view bytes) {
  PngReader reader(bytes);
  if (!reader.read_header()) {
    refuse(path, ExitCode::kInvalid, fmt::format("is not a PNG that can be read: {}", reader.problem()));
  }
  check_size(path, reader.width(), reader.height());
  // Deflate expands a byte to at most 1,032 bytes. This check avoids allocating memory that only a false header claims.
  constexpr uint64_t kMostInflated = 1032;
  if (reader.stored_bytes() / kMostInflated > bytes.size()) {
    refuse(path, ExitCode::kInvalid, "the PNG is broken: it is too short for the pixels that it claims");
  }
  Pixels out;
  out.width = reader.width();
  out.height = reader.height();
  out.rgb.resize(size_t{out.width} * out.height * 3);
  if (!reader.read_rgb(out.rgb.data())) {
    refuse(path, ExitCode::kInvalid, fmt::format("the PNG is broken: {}", reader.problem()));
  }
  return out;
}
#endif

Pixels decode(const std::string& path, std::string_view bytes) {
  if (bytes.substr(0, 2) == "P5" || bytes.substr(0, 2) == "P6") return read_netpbm(path, bytes);
  if (bytes.substr(0, 4) == "\x89PNG") {
#if defined(BANTAM_HAS_PNG)
    return read_png(path, bytes);
#else
    refuse(path, ExitCode::kUnsupported, "this build reads no PNG (libpng-dev was not there); convert it to PPM");
#endif
  }
  if (bytes.substr(0, 3) == "\xFF\xD8\xFF") {
#if defined(BANTAM_HAS_JPEG)
    return read_jpeg(path, bytes);
#else
    refuse(path, ExitCode::kUnsupported,
           "this build reads no JPEG (libturbojpeg0-dev was not there); convert it to PPM");
#endif
  }
  refuse(path, ExitCode::kInvalid, "is not an image of a known format: PNG, JPEG, PPM and PGM are read");
}

}  // namespace

Pixels decode_image(const std::string& path, std::string_view bytes) {
  return upright(decode(path, bytes), image_direction(bytes));
}

Pixels read_image_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, ExitCode::kIo, "cannot be opened; images are named by their files");
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) refuse(path, ExitCode::kIo, "cannot be read");
  return decode_image(path, bytes);
}

}  // namespace bantam::convert
