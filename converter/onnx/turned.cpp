#include "onnx/turned.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bantam::convert::onnx {
namespace {

constexpr double kNear = 1e-4;  // exporters compute angles in f32
constexpr double kUsualBase = 10000;

/// Returns the published angles, base^(-2 i / width), if these match; else the angles as divisors of the usual ones.
Rotary rotary_of(const std::vector<double>& angles) {
  Rotary out;
  const auto count = static_cast<double>(angles.size());
  const auto usual = [&](double base, size_t i) { return std::pow(base, -static_cast<double>(i) / count); };
  const auto fits = [&](double base) {
    for (size_t i = 0; i < angles.size(); ++i) {
      if (std::fabs(angles[i] / usual(base, i) - 1) > 1e-5) return false;
    }
    return true;
  };
  out.base = kUsualBase;
  if (angles.size() > 1 && angles.back() > 0) {
    const double base = std::pow(angles.back(), -count / (count - 1)), whole = std::round(base);
    if (base > 1 && base < 1e12) out.base = std::fabs(base / whole - 1) < 1e-4 ? whole : base;
  }
  if (fits(out.base)) return out;
  out.base = kUsualBase;
  out.original = 0;  // for texts of all lengths
  for (size_t i = 0; i < angles.size(); ++i) out.divisors.push_back(usual(kUsualBase, i) / angles[i]);
  return out;
}

}  // namespace

bool operator==(const Turn& a, const Turn& b) { return a.width == b.width && a.rotary == b.rotary; }

Turned::Turned(int32_t block, size_t width, const std::vector<Probe>& probes)
    : block_(block), width_(width), columns_(width) {
  Part whole;
  for (size_t i = 0; i < width; ++i) whole.from.push_back(i);
  for (const Probe& probe : probes) {
    tokens_.push_back(static_cast<size_t>(probe.extents.tokens));
    whole.factors.emplace_back(tokens_.back() * width, 1.0);
  }
  parts_.push_back(std::move(whole));
}

Turned Turned::cut(size_t begin, size_t end) const {
  Turned out = *this;
  out.columns_ = end - begin;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = out.parts_[i];
    part.from.assign(parts_[i].from.begin() + static_cast<std::ptrdiff_t>(begin),
                     parts_[i].from.begin() + static_cast<std::ptrdiff_t>(end));
    for (size_t p = 0; p < tokens_.size(); ++p) {
      part.factors[p].clear();
      for (size_t t = 0; t < tokens_[p]; ++t) {
        const auto row = parts_[i].factors[p].begin() + static_cast<std::ptrdiff_t>(t * columns_);
        part.factors[p].insert(part.factors[p].end(), row + static_cast<std::ptrdiff_t>(begin),
                               row + static_cast<std::ptrdiff_t>(end));
      }
    }
  }
  return out;
}

Turned Turned::joined(const Turned& other) const {
  Turned out = *this;
  out.columns_ = columns_ + other.columns_;
  out.parts_.clear();
  for (size_t i = 0; i < std::max(parts_.size(), other.parts_.size()); ++i) {
    Part part;
    part.factors.resize(tokens_.size());
    for (const Turned* side : {this, &other}) {
      // A side with fewer parts contributes nothing to this one.
      const bool there = i < side->parts_.size();
      const Part& from = side->parts_[there ? i : 0];
      part.from.insert(part.from.end(), from.from.begin(), from.from.end());
    }
    for (size_t p = 0; p < tokens_.size(); ++p) {
      for (size_t t = 0; t < tokens_[p]; ++t) {
        for (const Turned* side : {this, &other}) {
          for (size_t c = 0; c < side->columns_; ++c) {
            const bool there = i < side->parts_.size();
            part.factors[p].push_back(there ? side->parts_[i].factors[p][t * side->columns_ + c] : 0);
          }
        }
      }
    }
    out.parts_.push_back(std::move(part));
  }
  return out;
}

Turned Turned::times(double factor) const {
  Turned out = *this;
  for (Part& part : out.parts_) {
    for (std::vector<double>& numbers : part.factors) {
      for (double& number : numbers) number *= factor;
    }
  }
  return out;
}

Turned Turned::times(const std::vector<std::vector<double>>& factors) const {
  Turned out = *this;
  for (Part& part : out.parts_) {
    for (size_t p = 0; p < tokens_.size(); ++p) {
      for (size_t i = 0; i < part.factors[p].size(); ++i) part.factors[p][i] *= factors.at(p).at(i);
    }
  }
  return out;
}

Turned Turned::plus(const Turned& other) const {
  Turned out = *this;
  out.parts_.insert(out.parts_.end(), other.parts_.begin(), other.parts_.end());
  return out;
}

/// The coefficients of each column: its own, and that of the one other column that contributes.
struct Turned::Coefficients {
  std::vector<size_t> other;        // for each column; `columns`: none
  std::vector<double> self, cross;  // for one probe, [tokens, columns]
};

std::optional<Turn> Turned::turn(double* factor) const {
  if (columns_ != width_ || width_ < 2) return std::nullopt;
  std::vector<Coefficients> all(tokens_.size());
  std::vector<size_t> other(width_, width_);
  for (size_t p = 0; p < tokens_.size(); ++p) {
    all[p].self.assign(tokens_[p] * width_, 0);
    all[p].cross.assign(tokens_[p] * width_, 0);
    for (const Part& part : parts_) {
      for (size_t i = 0; i < part.factors[p].size(); ++i) {
        const size_t c = i % width_;
        if (part.from[c] == c) {
          all[p].self[i] += part.factors[p][i];
        } else if (part.factors[p][i] != 0) {
          if (other[c] != width_ && other[c] != part.from[c]) return std::nullopt;
          other[c] = part.from[c];
          all[p].cross[i] += part.factors[p][i];
        }
      }
    }
  }
  // The first half of the rotated columns are paired with later columns. Integer rounding may have made small angles 0;
  // those columns have no pair.
  size_t half = 0;
  for (size_t c = width_; c-- > 0;) half = other[c] != width_ && other[c] > c ? other[c] - c : half;
  if (half == 0 || 2 * half > width_) return std::nullopt;
  for (size_t c = 0; c < width_; ++c) {
    const size_t expected = c < half ? c + half : c < 2 * half ? c - half : width_;
    if (other[c] != expected && (other[c] != width_ || c >= 2 * half)) return std::nullopt;
  }
  const double amplitude = all[0].self[0];
  *factor = 2 * half < width_ ? all[0].self[2 * half] : amplitude;
  if (*factor == 0 || amplitude == 0) return std::nullopt;
  size_t longest = 0;
  for (size_t p = 0; p < tokens_.size(); ++p) longest = tokens_[p] > tokens_[longest] ? p : longest;
  if (tokens_[longest] < 2) return std::nullopt;
  Turn out;
  out.width = static_cast<uint32_t>(2 * half);
  std::vector<double> angles;
  for (size_t c = 0; c < half; ++c) {
    angles.push_back(std::atan2(-all[longest].cross[width_ + c], all[longest].self[width_ + c]));
    if (!(angles.back() >= 0)) return std::nullopt;
  }
  out.rotary = rotary_of(angles);
  out.rotary.amplitude = amplitude / *factor;
  if (std::fabs(out.rotary.amplitude - 1) < 1e-6) out.rotary.amplitude = 1;
  for (size_t p = 0; p < tokens_.size(); ++p) {
    for (size_t i = 0; i < tokens_[p] * width_; ++i) {
      const size_t t = i / width_, c = i % width_;
      const bool turns = c < 2 * half;
      const double angle = turns ? angles[c % half] * static_cast<double>(t) : 0;
      const double cosine = (turns ? amplitude : *factor) * std::cos(angle);
      const double sine = turns ? amplitude * std::sin(angle) * (c < half ? -1 : 1) : 0;
      const double by = kNear * std::fabs(amplitude) * (1 + static_cast<double>(t) * 1e-2);
      if (std::fabs(all[p].self[i] - cosine) > by || std::fabs(all[p].cross[i] - sine) > by) return std::nullopt;
    }
  }
  return out;
}

}  // namespace bantam::convert::onnx
