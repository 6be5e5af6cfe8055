#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "train/random.h"

namespace bantam::train {
namespace {

constexpr size_t kPool = 32;  // batches

std::vector<std::vector<uint32_t>> cut(const std::vector<uint32_t>& order, uint32_t batch) {
  std::vector<std::vector<uint32_t>> batches;
  for (size_t begin = 0; begin < order.size(); begin += batch) {
    const size_t end = std::min(order.size(), begin + batch);
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return batches;
}

}  // namespace

std::vector<std::vector<uint32_t>> epoch_batches(const std::vector<uint32_t>& lengths, uint32_t batch, uint64_t seed,
                                                 uint32_t epoch) {
  std::vector<uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed, epoch);
  random.shuffle(&order);
  const size_t pool = kPool * batch;
  for (size_t begin = 0; begin < order.size(); begin += pool) {
    const size_t end = std::min(order.size(), begin + pool);
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                     order.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](uint32_t a, uint32_t b) { return lengths[a] < lengths[b]; });
  }
  std::vector<std::vector<uint32_t>> batches = cut(order, batch);
  random.shuffle(&batches);
  return batches;
}

std::vector<std::vector<uint32_t>> sorted_batches(const std::vector<uint32_t>& lengths, uint32_t batch) {
  std::vector<uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return lengths[a] < lengths[b]; });
  return cut(order, batch);
}

double rate_at(uint64_t step, uint64_t steps, double warmup) {
  const double done = (static_cast<double>(step) + 1) / static_cast<double>(steps + 1);
  if (done < warmup) return done / warmup;
  return warmup < 1 ? (1 - done) / (1 - warmup) : 1;
}

double sparsity_at(double done, double begin, double end, double last) {
  if (done < begin) return 0;
  if (done >= end) return last;
  const double left = 1 - (done - begin) / (end - begin);
  return last * (1 - left * left * left);
}

}  // namespace bantam::train
