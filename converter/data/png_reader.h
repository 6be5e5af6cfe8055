// PNG by libpng: header, then pixels as red, green and blue of 8 bits, stored numbers as they are (no gamma).
#ifndef BANTAM_CONVERTER_DATA_PNG_READER_H_
#define BANTAM_CONVERTER_DATA_PNG_READER_H_

#include <png.h>

#include <cstdint>
#include <string_view>

namespace bantam::convert {

class PngReader {
 public:
  /// `bytes`, the file, outlives the reader. Throws std::bad_alloc.
  explicit PngReader(std::string_view bytes);
  ~PngReader();
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Each once, in this order; false: problem() says why.
  bool read_header();
  /// Fills `rgb`, height() rows of width() times 3 bytes.
  bool read_rgb(uint8_t* rgb);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  /// Bytes of all rows before they are deflated.
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
