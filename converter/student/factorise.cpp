#include "student/factorise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bantam::convert {
namespace {

constexpr int kMaxSweeps = 60;

/// Makes a[p][q] zero by a rotation of rows and columns p and q; `v` accumulates the rotations (Golub and Van Loan,
/// 8.5).
void rotate(std::vector<double>& a, std::vector<double>& v, size_t n, size_t p, size_t q) {
  const double apq = a[p * n + q];
  const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  const double t = (theta >= 0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  // Both triangles are stored, so that rows can stand for columns and memory is read sequentially.
  a[p * n + p] -= t * apq;
  a[q * n + q] += t * apq;
  a[p * n + q] = a[q * n + p] = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i == p || i == q) continue;
    const double x = a[p * n + i], y = a[q * n + i];
    a[p * n + i] = c * x - s * y;
    a[q * n + i] = s * x + c * y;
    a[i * n + p] = a[p * n + i];
    a[i * n + q] = a[q * n + i];
  }
  for (size_t i = 0; i < n; ++i) {
    const double x = v[p * n + i], y = v[q * n + i];
    v[p * n + i] = c * x - s * y;
    v[q * n + i] = s * x + c * y;
  }
}

}  // namespace

void symmetric_eigen(std::vector<double> a, size_t n, std::vector<double>* values, std::vector<double>* vectors) {
  std::vector<double> v(n * n);  // rows: eigenvectors
  double trace = 0;
  for (size_t i = 0; i < n; ++i) {
    v[i * n + i] = 1;
    trace += std::fabs(a[i * n + i]);
  }
  const double tiny = 1e-15 * trace;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool done = true;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        if (std::fabs(a[p * n + q]) <= tiny) continue;
        rotate(a, v, n, p, q);
        done = false;
      }
    }
    if (done) break;
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t k) { return a[i * n + i] > a[k * n + k]; });
  values->resize(n);
  vectors->resize(n * n);
  for (size_t k = 0; k < n; ++k) {
    (*values)[k] = a[order[k] * n + order[k]];
    for (size_t i = 0; i < n; ++i) (*vectors)[i * n + k] = v[order[k] * n + i];
  }
}

LowRank factorise(const MemoryTensor& table, const std::vector<double>& weights, uint32_t rank) {
  const size_t count = static_cast<size_t>(table.shape[0]), width = static_cast<size_t>(table.shape[1]);
  std::vector<double> mean(width), centred(width), moments(width * width);
  double total = 0;
  for (size_t row = 0; row < count; ++row) {
    total += weights[row];
    for (size_t i = 0; i < width; ++i) mean[i] += weights[row] * double{table.values[row * width + i]};
  }
  for (double& value : mean) value /= total;
  for (size_t row = 0; row < count; ++row) {
    for (size_t i = 0; i < width; ++i) centred[i] = double{table.values[row * width + i]} - mean[i];
    for (size_t i = 0; i < width; ++i) {
      const double factor = weights[row] * centred[i];
      for (size_t k = 0; k < width; ++k) moments[i * width + k] += factor * centred[k];
    }
  }
  std::vector<double> values, vectors;
  symmetric_eigen(std::move(moments), width, &values, &vectors);

  LowRank out;
  out.rows.shape = {count, rank};
  out.projection.shape = {width, rank};
  out.bias.shape = {width};
  for (const double value : mean) out.bias.values.push_back(static_cast<float>(value));
  for (size_t i = 0; i < width; ++i) {
    for (size_t r = 0; r < rank; ++r) out.projection.values.push_back(static_cast<float>(vectors[i * width + r]));
  }
  out.rows.values.resize(count * rank);
  for (size_t row = 0; row < count; ++row) {
    std::vector<double> sums(rank);
    for (size_t i = 0; i < width; ++i) {
      const double x = double{table.values[row * width + i]} - mean[i];
      for (size_t r = 0; r < rank; ++r) sums[r] += x * vectors[i * width + r];
    }
    for (size_t r = 0; r < rank; ++r) out.rows.values[row * rank + r] = static_cast<float>(sums[r]);
  }
  double energy = 0, left = 0;
  for (size_t i = 0; i < width; ++i) {
    energy += std::max(0.0, values[i]);
    if (i >= rank) left += std::max(0.0, values[i]);
  }
  out.lost = energy > 0 ? left / energy : 0;
  return out;
}

}  // namespace bantam::convert
