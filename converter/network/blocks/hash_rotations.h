// Random rotations of locality-sensitive hashes (Reformer, arXiv 2001.04451), drawn as in transformers.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bantam::convert {

/// The `count` normal numbers of torch.manual_seed(seed); torch.randn(count) on a CPU in f32: a Mersenne Twister
/// (MT19937) and the Box-Muller transform, 16 numbers at a time. They are rounded once; torch's differ by a few units
/// in the last place, because it computes the logarithm and cosine in f32.
std::vector<float> torch_normals(uint32_t seed, size_t count);

/// Draws [heads, head width, rounds, products] and stores them as rows [heads, rounds, products rounded up to 16] of
/// head width columns; padding is zero.
std::vector<float> hash_rotations(uint32_t seed, size_t heads, size_t head_width, size_t rounds, size_t products);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_HASH_ROTATIONS_H_
