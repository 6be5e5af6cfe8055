// Random rotations of locality-sensitive hashes (Reformer, arXiv 2001.04451), as transformers draws them.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bantam::convert {

/// The first `count` numbers of torch.manual_seed(seed); torch.randn(count) on a CPU, in f32: of a Mersenne twister (MT19937) by Box and
/// Muller, 16 numbers at a time. They are rounded once, so that those of torch, whose logarithm and cosine are of f32, are a few units in
/// the last place from them.
std::vector<float> torch_normals(uint32_t seed, size_t count);

/// Draws [heads, head width, rounds, products] and lays them out as rows [heads, rounds, products rounded up to 16] of a head's columns,
/// zeros where there is no product.
std::vector<float> hash_rotations(uint32_t seed, size_t heads, size_t head_width, size_t rounds, size_t products);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_
