#include "data/image_resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bantam::convert {
namespace {

constexpr int kDigits = 22;  // bits of a weight; sums of 8-bit values then fit in 32 bits
constexpr double kPi = 3.14159265358979323846;

double sinc(double x) { return x == 0 ? 1 : std::sin(x * kPi) / (x * kPi); }

/// Returns a filter's weight at a distance, which is given in steps.
double weight(ImageFilter filter, double x) {
  constexpr double kSharp = -0.5;  // the parameter of cubic convolution (Keys 1981)
  x = std::fabs(x);
  switch (filter) {
    case ImageFilter::kBilinear:
      return x < 1 ? 1 - x : 0;
    case ImageFilter::kBicubic:
      if (x < 1) return ((kSharp + 2) * x - (kSharp + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * kSharp : 0;
    case ImageFilter::kLanczos:
      return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case ImageFilter::kHamming:
      return x < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(kPi * x)) : 0;
    case ImageFilter::kBox:
    case ImageFilter::kNearest:
      break;
  }
  return x <= 0.5 ? 1 : 0;
}

double reach(ImageFilter filter) {
  switch (filter) {
    case ImageFilter::kBicubic:
      return 2;
    case ImageFilter::kLanczos:
      return 3;
    case ImageFilter::kBox:
    case ImageFilter::kNearest:
      return 0.5;
    default:
      return 1;
  }
}

/// The range of pixels of a resized side to compute: [begin, begin + count).
struct Part {
  uint32_t begin, count;
};

/// The input pixels of one output pixel, and their weights.
struct Taps {
  uint32_t first = 0;
  std::vector<int32_t> weights;
};

/// Computes the taps of outputs [part.begin, part.begin + part.count) of a side that is resized to `to` pixels.
std::vector<Taps> make_taps(uint32_t from, uint32_t to, const Part& part, ImageFilter filter) {
  const double step = static_cast<double>(from) / to, wide = std::max(step, 1.0);
  const double support = reach(filter) * wide;
  std::vector<Taps> out(part.count);
  for (uint32_t i = 0; i < part.count; ++i) {
    const double middle = (part.begin + i + 0.5) * step;
    const auto first = static_cast<uint32_t>(std::max(middle - support + 0.5, 0.0));
    const auto last = static_cast<uint32_t>(std::min<double>(middle + support + 0.5, from));
    std::vector<double> weights;
    double sum = 0;
    for (uint32_t x = first; x < last; ++x) {
      // A box includes its right edge, not its left edge.
      const double at = (x - middle + 0.5) / wide;
      weights.push_back(filter == ImageFilter::kBox && at == -0.5 ? 0 : weight(filter, at));
      sum += weights.back();
    }
    out[i].first = first;
    for (const double w : weights) {
      const double scaled = (sum == 0 ? w : w / sum) * (1 << kDigits);
      out[i].weights.push_back(static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }
  return out;
}

uint8_t weighted(const uint8_t* from, size_t step, const Taps& taps) {
  int64_t sum = 1 << (kDigits - 1);
  for (const int32_t w : taps.weights) {
    sum += int64_t{w} * *from;
    from += step;
  }
  return static_cast<uint8_t>(std::clamp<int64_t>(sum >> kDigits, 0, 255));
}

Pixels nearest(const Pixels& image, uint32_t width, uint32_t height, const Part& columns, const Part& rows) {
  Pixels out{columns.count, rows.count, std::vector<uint8_t>(size_t{columns.count} * rows.count * 3)};
  const auto place = [](uint32_t i, uint32_t from, uint32_t to) {
    return std::min(static_cast<uint32_t>((i + 0.5) * (static_cast<double>(from) / to)), from - 1);
  };
  uint8_t* to = out.rgb.data();
  for (uint32_t y = rows.begin; y < rows.begin + rows.count; ++y) {
    const size_t row = size_t{place(y, image.height, height)} * image.width;
    for (uint32_t x = columns.begin; x < columns.begin + columns.count; ++x, to += 3) {
      std::memcpy(to, image.rgb.data() + (row + place(x, image.width, width)) * 3, 3);
    }
  }
  return out;
}

/// Computes rows [first, end) of the image, resized to `width` columns; of these, only the range `columns`.
Pixels along_rows(const Pixels& image, uint32_t width, const Part& columns, uint32_t first, uint32_t end,
                  ImageFilter filter) {
  Pixels out{columns.count, end - first, std::vector<uint8_t>(size_t{columns.count} * (end - first) * 3)};
  const std::vector<Taps> taps =
      image.width == width ? std::vector<Taps>() : make_taps(image.width, width, columns, filter);
  uint8_t* to = out.rgb.data();
  for (uint32_t y = first; y < end; ++y) {
    const uint8_t* row = image.rgb.data() + size_t{y} * image.width * 3;
    if (taps.empty()) {
      std::memcpy(to, row + columns.begin * size_t{3}, columns.count * size_t{3});
      to += columns.count * size_t{3};
      continue;
    }
    for (const Taps& one : taps) {
      for (size_t c = 0; c < 3; ++c) *to++ = weighted(row + one.first * size_t{3} + c, 3, one);
    }
  }
  return out;
}

/// Computes the given columns and rows of the image resized to width by height pixels.
Pixels resized_part(const Pixels& image, uint32_t width, uint32_t height, const Part& columns, const Part& rows,
                    ImageFilter filter) {
  if (filter == ImageFilter::kNearest) return nearest(image, width, height, columns, rows);
  if (image.height == height) return along_rows(image, width, columns, rows.begin, rows.begin + rows.count, filter);
  const std::vector<Taps> taps = make_taps(image.height, height, rows, filter);
  const uint32_t first = taps.front().first;
  const auto end = static_cast<uint32_t>(taps.back().first + taps.back().weights.size());
  const Pixels wide = along_rows(image, width, columns, first, end, filter);
  const size_t row = size_t{columns.count} * 3;
  Pixels out{columns.count, rows.count, std::vector<uint8_t>(row * rows.count)};
  uint8_t* to = out.rgb.data();
  for (const Taps& one : taps) {
    const uint8_t* from = wide.rgb.data() + (one.first - first) * row;
    for (size_t i = 0; i < row; ++i) *to++ = weighted(from + i, row, one);
  }
  return out;
}

/// Returns the range of the middle `want` pixels of a side of `have` pixels. If the rest is odd, one pixel more is cut
/// off at the end.
Part middle_of(uint32_t have, uint32_t want) { return have <= want ? Part{0, have} : Part{(have - want) / 2, want}; }

}  // namespace

Pixels resized(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter) {
  return resized_part(image, width, height, {0, width}, {0, height}, filter);
}

Pixels resized_middle(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter, uint32_t cut_width,
                      uint32_t cut_height) {
  const Part columns = middle_of(width, cut_width), rows = middle_of(height, cut_height);
  Pixels part = resized_part(image, width, height, columns, rows, filter);
  return part.width == cut_width && part.height == cut_height ? part : cropped(part, cut_width, cut_height);
}

Pixels cropped(const Pixels& image, uint32_t width, uint32_t height) {
  if (image.width == width && image.height == height) return image;
  Pixels out{width, height, std::vector<uint8_t>(size_t{width} * height * 3)};
  // If the difference is odd, cropping removes one pixel more at the bottom and on the right, and padding adds one more
  // at the top and on the left.
  const auto offset = [](uint32_t have, uint32_t want) {
    return have >= want ? int64_t{(have - want) / 2} : -int64_t{(want - have + 1) / 2};
  };
  const int64_t left = offset(image.width, width), top = offset(image.height, height);
  for (uint32_t y = 0; y < height; ++y) {
    const int64_t from_y = y + top;
    if (from_y < 0 || from_y >= image.height) continue;
    const int64_t begin = std::max<int64_t>(left, 0), end = std::min<int64_t>(left + width, image.width);
    if (begin >= end) continue;
    std::memcpy(out.rgb.data() + (size_t{y} * width + static_cast<size_t>(begin - left)) * 3,
                image.rgb.data() + static_cast<size_t>(from_y * image.width + begin) * 3,
                static_cast<size_t>(end - begin) * 3);
  }
  return out;
}

}  // namespace bantam::convert
