// Decodes PNG with libpng: the header, then pixels as 8-bit red, green and blue with the stored values (no gamma
// correction).
#ifndef BANTAM_CONVERTER_DATA_PNG_READER_H_
#define BANTAM_CONVERTER_DATA_PNG_READER_H_

#include <png.h>

#include <cstdint>
#include <string_view>

namespace bantam::convert {

class PngReader {
 public:
  /// The file's `bytes` must outlive the reader. Throws std::bad_alloc.
  explicit PngReader(std::string_view bytes);
  ~PngReader();
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Call each function once, in this order. If one returns false, problem() gives the reason.
  bool read_header();
  /// Fills `rgb` with height() rows of width() * 3 bytes.
  bool read_rgb(uint8_t* rgb);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  /// Returns the size in bytes of all rows before compression.
  uint64_t stored_bytes() const { return uint64_t{height_} * (uint64_t{row_bytes_} + 1); }
  const char* problem() const { return problem_; }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp what);
  static void warn(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep out, size_t size);
  bool finish(uint8_t** rows);

  std::string_view bytes_;
  size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  uint32_t width_ = 0, height_ = 0;
  size_t row_bytes_ = 0;
  char problem_[96] = {};
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_PNG_READER_H_
