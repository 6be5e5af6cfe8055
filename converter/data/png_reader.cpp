#if defined(BANTAM_HAS_PNG)
#include "data/png_reader.h"

#include <csetjmp>
#include <cstring>
#include <new>
#include <vector>

namespace bantam::convert {

PngReader::PngReader(std::string_view bytes) : bytes_(bytes) {
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, warn);
  info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (info_ != nullptr) return;
  png_destroy_read_struct(&png_, &info_, nullptr);
  throw std::bad_alloc();
}

PngReader::~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

void PngReader::fail(png_structp png, png_const_charp what) {
  auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader->problem_, what, sizeof(reader->problem_) - 1);
  png_longjmp(png, 1);
}

void PngReader::read(png_structp png, png_bytep out, size_t size) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (reader->bytes_.size() - reader->at_ < size) png_error(png, "the file is cut short");
  std::memcpy(out, reader->bytes_.data() + reader->at_, size);
  reader->at_ += size;
}

// libpng reports errors by longjmp, which runs no destructors. The two functions that call setjmp therefore create no
// object that has a destructor.

bool PngReader::read_header() {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
  png_set_read_fn(png_, this, read);
  png_read_info(png_, info_);
  width_ = png_get_image_width(png_, info_);
  height_ = png_get_image_height(png_, info_);
  row_bytes_ = png_get_rowbytes(png_, info_);
  png_set_expand(png_);  // expands palettes, and gray of 1, 2 and 4 bits
  png_set_strip_16(png_);
  png_set_strip_alpha(png_);
  png_set_gray_to_rgb(png_);
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  if (png_get_rowbytes(png_, info_) != size_t{width_} * 3) png_error(png_, "its rows are not red, green and blue");
  return true;
}

bool PngReader::finish(uint8_t** rows) {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
  png_read_image(png_, rows);
  png_read_end(png_, nullptr);
  return true;
}

bool PngReader::read_rgb(uint8_t* rgb) {
  std::vector<uint8_t*> rows(height_);
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = rgb + y * width_ * 3;
  return finish(rows.data());
}

}  // namespace bantam::convert
#endif
