// Orders of a sequence's tokens by hashes of their queries (locality-sensitive hashing of Reformer, arXiv 2001.04451):
// tokens with similar queries are near each other.
#ifndef BANTAM_OPS_MORE_TOKEN_ORDERS_H_
#define BANTAM_OPS_MORE_TOKEN_ORDERS_H_

#include "ops/operands.h"

namespace bantam::ops {

/// Limits: rounds, bucket counts per round, and buckets of a round.
constexpr uint32_t kMaxRounds = 64, kMaxBucketCounts = 8, kMaxBuckets = 1u << 16;

/// The hashes of a ChunkAttention.
struct HashShape {
  uint32_t heads, head_width, rounds;
  const flatbuffers::Vector<uint32_t>* counts;

  /// Number of products of a query in one round, rounded up to whole vectors.
  uint32_t products() const {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count(counts); ++i) sum += counts->Get(i) / 2;
    return kernels::pad16(sum);
  }
  uint32_t buckets() const {
    uint32_t product = 1;
    for (uint32_t i = 0; i < count(counts); ++i) product *= counts->Get(i);
    return product;
  }
};

/// Checks that the counts are as the schema requires, and that the rotations (a tensor index) fit them.
Verdict check_hashes(const Site& site, const HashShape& shape, int32_t rotations);

/// Computes the orders of one head of one sequence at a time.
class TokenOrders {
 public:
  /// Bytes of scratch for sequences of up to `tokens` tokens, whose queries are multiplied block_rows at a time.
  static uint64_t scratch(const HashShape& shape, uint64_t tokens, uint32_t block_rows);

  /// `scratch`: for `tokens` tokens. `rotations`: the floats of the constant.
  TokenOrders(const TileRun& run, const HashShape& shape, const float* rotations, uint8_t* scratch, uint64_t tokens);

  /// Sorts the tokens of a head in every round. `queries`: the rows from the sequence's first token on. O(tokens +
  /// buckets), plus the products.
  bool sort(const Rows& queries, uint32_t head, uint32_t tokens);

  /// Returns the token at position `place` of a round's order.
  uint32_t token(uint32_t round, uint32_t place) const { return orders_[size_t{round} * tokens_ + place]; }

 private:
  uint32_t bucket_of(const float* products) const;

  const TileRun& run_;
  const HashShape shape_;
  const float* const rotations_;
  float* products_;
  uint32_t *orders_, *buckets_, *begins_;
  uint32_t tokens_ = 0;
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_TOKEN_ORDERS_H_
