// Constants that tell attention about positions (Attention and SplitHeads in the schema), computed from the settings
// that models publish. Angles and buckets are rounded as transformers rounds them, so that the last bits of a position
// agree, too.
#ifndef BANTAM_CONVERTER_GRAPH_PLACES_H_
#define BANTAM_CONVERTER_GRAPH_PLACES_H_

#include <cstdint>
#include <vector>

namespace bantam::convert {

/// Angles of rotary positions: at position p, p * step * base^(-2 i / width). A `factor` divides some of them, as
/// `kind` says. kTurns (Llama 3.1, arXiv 2407.21783): divides angles that turn less than `low` times over `original`
/// positions, leaves those that turn more than `high` times, and mixes the two in between by the number of turns.
/// kColumns (YaRN, arXiv 2309.00071): does the same, but mixes by the index of the angle, between whole indices if
/// `whole`. `divisors` (LongRoPE, arXiv 2402.13753) divide each angle by its own divisor, or by that in
/// `short_divisors` if no text is longer than `original` positions.
struct Rotary {
  enum class Kind { kTurns, kColumns };
  double base = 0;       // 0: there are none
  uint32_t columns = 0;  // that divide the base's powers; 0: as many as are turned
  double step = 1;
  Kind kind = Kind::kTurns;
  double factor = 1, low = 1, high = 4, original = 8192;
  bool whole = true;
  std::vector<double> divisors = {}, short_divisors = {};
  double amplitude = 1;  // cosines and sines are multiplied with it
};
bool operator==(const Rotary& a, const Rotary& b);

/// Returns [places, width]: row p holds the cosines, then the sines, of its angles, i < width / 2. `width` is even.
/// There are as many divisors as angles.
std::vector<float> rotary_angles(uint32_t places, uint32_t width, const Rotary& rotary);

/// Reorders the rows of a matrix (or the elements of a bias, `columns` 1) that makes queries or keys, [heads *
/// head_width, columns], from rotary positions that turn neighbours (2 i, 2 i + 1) to those that turn (i, width / 2 +
/// i). In heads that are turned only in part, `width` columns of each are turned. Scores stay the same.
void halves_of_neighbours(std::vector<float>& values, uint32_t heads, uint32_t columns, uint32_t width);

/// Returns the bucket of a key `distance` positions behind its query (T5, arXiv 1910.10683): small distances have one
/// bucket each, larger ones share buckets by logarithm up to `most`. `buckets` is even, and 4 or more. kBoth: half of
/// the buckets are for keys behind. kBefore: for decoders, which treat keys behind like those at the query's own
/// position.
enum class Sides { kBoth, kBefore };
uint32_t distance_bucket(int32_t distance, uint32_t buckets, uint32_t most, Sides sides = Sides::kBoth);

/// Returns [heads, 2 * most + 1] biases by distance from a table [buckets, heads].
std::vector<float> bucket_biases(const std::vector<float>& table, uint32_t heads, uint32_t buckets, uint32_t most,
                                 Sides sides = Sides::kBoth);

/// Returns DeBERTa's bucket (arXiv 2111.09543) of a key `distance` positions in front of its query: distances up to
/// half of `buckets` have one bucket each, larger ones share buckets by logarithm up to `most`.
int32_t signed_bucket(int32_t distance, uint32_t buckets, uint32_t most);

/// Returns [distances, width]: row d holds the sines, then the cosines, of d / 10000^(2 i / width), i < width / 2
/// (XLNet's positions, arXiv 1906.08237). `width` is even.
std::vector<float> sinusoids(uint32_t distances, uint32_t width);
/// Computes the same sinusoids in double precision, as for the positions of encoder-decoders (arXiv 1706.03762).
std::vector<float> precise_sinusoids(uint32_t places, uint32_t width);
/// Computes such sinusoids of p / 10000^(i / (width / 2 - 1)), as tensor2tensor and fairseq do. `width` is even, and 4
/// or more.
std::vector<float> stepped_sinusoids(uint32_t places, uint32_t width);

/// Returns ALiBi's slopes (arXiv 2108.12409) for this many heads.
std::vector<float> alibi_slopes(uint32_t heads);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_PLACES_H_
