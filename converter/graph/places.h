// Constants that give attention its positions (Attention and SplitHeads in the schema), computed from published model
// settings. Angles and buckets are rounded as in transformers, so that even the last bits agree.
#ifndef BANTAM_CONVERTER_GRAPH_PLACES_H_
#define BANTAM_CONVERTER_GRAPH_PLACES_H_

#include <cstdint>
#include <vector>

namespace bantam::convert {

/// Settings of rotary positions. The angle at position p is p * step * base^(-2 i / width). `factor` divides some
/// angles, depending on `kind`. kTurns (Llama 3.1, arXiv 2407.21783): divides angles that turn less than `low` times
/// over `original` positions, keeps those that turn more than `high` times, and interpolates in between by the number
/// of turns. kColumns (YaRN, arXiv 2309.00071): the same, but interpolates by the index of the angle, between integer
/// indices if `whole`. `divisors` (LongRoPE, arXiv 2402.13753) divide each angle by its own divisor, or by the one in
/// `short_divisors` if no text is longer than `original` positions.
struct Rotary {
  enum class Kind { kTurns, kColumns };
  double base = 0;       // 0: no rotary positions
  uint32_t columns = 0;  // denominator `width` in the formula; 0: the number of rotated columns
  double step = 1;
  Kind kind = Kind::kTurns;
  double factor = 1, low = 1, high = 4, original = 8192;
  bool whole = true;
  std::vector<double> divisors = {}, short_divisors = {};
  double amplitude = 1;  // factor of cosines and sines
};
bool operator==(const Rotary& a, const Rotary& b);

/// Returns [places, width]: row p holds the cosines, then the sines, of its angles, i < width / 2. `width` is even. If
/// there are divisors, there is one per angle.
std::vector<float> rotary_angles(uint32_t places, uint32_t width, const Rotary& rotary);

/// Reorders the rows of a matrix (or the elements of a bias, `columns` 1) that computes queries or keys, [heads *
/// head_width, columns]: from rotary positions that rotate neighbors (2 i, 2 i + 1) to those that rotate (i, width / 2
/// + i). `width` columns of each head are rotated, possibly fewer than it has. Scores stay the same.
void halves_of_neighbours(std::vector<float>& values, uint32_t heads, uint32_t columns, uint32_t width);

/// Returns the bucket of a key `distance` positions after its query (T5, arXiv 1910.10683): each small distance has its
/// own bucket; larger ones share buckets on a logarithmic scale up to `most`. `buckets` is even and at least 4. kBoth:
/// half of the buckets are for keys after the query. kBefore: for decoders, where keys after the query share the bucket
/// of the query's own position.
enum class Sides { kBoth, kBefore };
uint32_t distance_bucket(int32_t distance, uint32_t buckets, uint32_t most, Sides sides = Sides::kBoth);

/// Returns [heads, 2 * most + 1] biases by distance from a table [buckets, heads].
std::vector<float> bucket_biases(const std::vector<float>& table, uint32_t heads, uint32_t buckets, uint32_t most,
                                 Sides sides = Sides::kBoth);

/// Returns DeBERTa's bucket (arXiv 2111.09543) of a key `distance` positions before its query: each distance up to half
/// of `buckets` has its own bucket; larger ones share buckets on a logarithmic scale up to `most`.
int32_t signed_bucket(int32_t distance, uint32_t buckets, uint32_t most);

/// Returns [distances, width]: row d holds the sines, then the cosines, of d / 10000^(2 i / width), i < width / 2
/// (XLNet's positions, arXiv 1906.08237). `width` is even.
std::vector<float> sinusoids(uint32_t distances, uint32_t width);
/// As sinusoids(), but in double precision, as for the positions of encoder-decoders (arXiv 1706.03762).
std::vector<float> precise_sinusoids(uint32_t places, uint32_t width);
/// As precise_sinusoids(), but of p / 10000^(i / (width / 2 - 1)), as in tensor2tensor and fairseq. `width` is even and
/// at least 4.
std::vector<float> stepped_sinusoids(uint32_t places, uint32_t width);

/// Returns ALiBi's slopes (arXiv 2108.12409) for `heads` heads.
std::vector<float> alibi_slopes(uint32_t heads);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_PLACES_H_
