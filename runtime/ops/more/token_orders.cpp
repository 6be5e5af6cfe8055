#include "ops/more/token_orders.h"

#include <string.h>

#include "ops/product.h"

namespace bantam::ops {

Verdict check_hashes(const Site& site, const HashShape& shape, int32_t rotations) {
  if (shape.rounds > kMaxRounds) return unsupported("tokens in too many orders");
  const uint32_t counts = count(shape.counts);
  if (counts == 0 || counts > kMaxBucketCounts) return corrupt("hashes without buckets, or of too many counts of them");
  uint64_t product = 1;
  for (uint32_t i = 0; i < counts; ++i) {
    const uint32_t one = shape.counts->Get(i);
    if (one == 0 || one % 2 != 0) return corrupt("a count of buckets is not even");
    if ((product *= one) > kMaxBuckets) return unsupported("hashes of too many buckets");
  }
  if (rotations < 0) return corrupt("hashes without rotations");
  const fb::Tensor& t = tensor(site.model, rotations);
  // Only constant matrices have this layout.
  const bool fits = t.layout() == fb::Layout::tile_n16 && t.type() == fb::DType::f32 &&
                    extent(t, 0) == uint64_t{shape.heads} * shape.rounds * shape.products() &&
                    extent(t, 1) == shape.head_width;
  return fits ? Verdict{} : corrupt("rotations are not f32 tiles of a vector a product", rotations);
}

namespace {

uint64_t product_bytes(const HashShape& shape, uint32_t rows) {
  return scratch_part(uint64_t{rows} * shape.products() * sizeof(float));
}
uint64_t numbers_bytes(uint64_t numbers) { return scratch_part(numbers * sizeof(uint32_t)); }

/// Returns the index of the greatest of n numbers and their negations, which count as numbers n to 2n - 1; ties: the
/// first. 0 if one is a NaN. Magnitudes are compared as integers, because compilers vectorize an integer maximum.
uint32_t greatest_of_both_signs(const float* x, uint32_t n) {
  int32_t most = 0;
  for (uint32_t i = 0; i < n; ++i) {
    int32_t bits = 0;
    memcpy(&bits, x + i, sizeof(bits));
    bits &= 0x7fffffff;
    most = bits > most ? bits : most;
  }
  float magnitude = 0;
  memcpy(&magnitude, &most, sizeof(most));
  for (uint32_t i = 0; i < n; ++i) {
    if (x[i] == magnitude) return i;
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (x[i] == -magnitude) return n + i;
  }
  return 0;
}

}  // namespace

uint64_t TokenOrders::scratch(const HashShape& shape, uint64_t tokens, uint32_t block_rows) {
  return product_bytes(shape, block_rows) + numbers_bytes(tokens * shape.rounds) + numbers_bytes(tokens) +
         numbers_bytes(shape.buckets());
}

TokenOrders::TokenOrders(const TileRun& run, const HashShape& shape, const float* rotations, uint8_t* scratch,
                         uint64_t tokens)
    : run_(run), shape_(shape), rotations_(rotations), products_(reinterpret_cast<float*>(scratch)) {
  scratch += product_bytes(shape, run.block_rows);
  orders_ = reinterpret_cast<uint32_t*>(scratch);
  scratch += numbers_bytes(tokens * shape.rounds);
  buckets_ = reinterpret_cast<uint32_t*>(scratch);
  begins_ = reinterpret_cast<uint32_t*>(scratch + numbers_bytes(tokens));
}

uint32_t TokenOrders::bucket_of(const float* products) const {
  uint32_t bucket = 0, times = 1;
  for (uint32_t i = 0; i < count(shape_.counts); ++i) {
    const uint32_t half = shape_.counts->Get(i) / 2;
    bucket += greatest_of_both_signs(products, half) * times;
    times *= 2 * half;
    products += half;
  }
  return bucket;
}

bool TokenOrders::sort(const Rows& queries, uint32_t head, uint32_t tokens) {
  const uint32_t products = shape_.products(), buckets = shape_.buckets(), width = shape_.head_width;
  const float* q = queries.f32() + size_t{head} * width;
  tokens_ = tokens;
  bool finite = true;
  for (uint32_t round = 0; round < shape_.rounds; ++round) {
    const float* rotations = rotations_ + (size_t{head} * shape_.rounds + round) * products * width;
    memset(begins_, 0, buckets * sizeof(uint32_t));
    for (uint32_t first = 0, n = 0; first < tokens; first += n) {
      n = tokens - first < run_.block_rows ? tokens - first : run_.block_rows;
      finite &=
          run_.kernels.linear_f32({q + first * queries.stride, queries.stride, n, rotations, kernels::Element::kF32,
                                   nullptr, width, products, kernels::Activation::kNone, products_, products});
      for (uint32_t r = 0; r < n; ++r) {
        const uint32_t bucket = bucket_of(products_ + size_t{r} * products);
        buckets_[first + r] = bucket;
        ++begins_[bucket];
      }
    }
    // Replaces each bucket's count by its beginning.
    for (uint32_t i = 0, before = 0; i < buckets; ++i) {
      const uint32_t own = begins_[i];
      begins_[i] = before;
      before += own;
    }
    uint32_t* order = orders_ + size_t{round} * tokens;
    for (uint32_t token = 0; token < tokens; ++token) order[begins_[buckets_[token]]++] = token;
  }
  return finite;
}

}  // namespace bantam::ops
