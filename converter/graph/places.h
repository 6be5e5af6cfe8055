// Constants of what attention knows of places (Attention and SplitHeads in the schema), made from the settings that models
// publish. Angles and buckets are rounded as transformers rounds them, so that the last bits of a place agree, too.
#ifndef BANTAM_CONVERTER_GRAPH_PLACES_H_
#define BANTAM_CONVERTER_GRAPH_PLACES_H_

#include <cstdint>
#include <vector>

namespace bantam::convert {

/// Angles of rotary positions: at place p, p * step * base^(-2 i / width). With a `factor` some are divided by it, as `kind` says.
/// kTurns (Llama 3.1, arXiv 2407.21783): those that turn less than `low` times over `original` places are, those that turn more than
/// `high` times are not, and between them the two are mixed by how often they turn. kColumns (YaRN, arXiv 2309.00071): the same, mixed
/// by number of angle, from and to whole ones where `whole`. With `divisors` (LongRoPE, arXiv 2402.13753) each is divided by its own:
/// by that of `short_divisors` where no text is longer than `original` places.
struct Rotary {
  enum class Kind { kTurns, kColumns };
  double base = 0;  // 0: there are none
  double step = 1;
  Kind kind = Kind::kTurns;
  double factor = 1, low = 1, high = 4, original = 8192;
  bool whole = true;
  std::vector<double> divisors = {}, short_divisors = {};
  double amplitude = 1;  // cosines and sines are multiplied with it
};
bool operator==(const Rotary& a, const Rotary& b);

/// [places, width]: row p holds the cosines, then the sines, of its angles, i < width / 2. `width` is even. Divisors are as many as angles.
std::vector<float> rotary_angles(uint32_t places, uint32_t width, const Rotary& rotary);

/// Rows of a matrix (or elements of a bias, `columns` 1) that makes queries or keys, [heads * head_width, columns], whose
/// rotary positions turn neighbours (2 i, 2 i + 1), reordered for those that turn (i, width / 2 + i); of heads that are turned in part,
/// `width` columns of each. Scores stay the same.
void halves_of_neighbours(std::vector<float>& values, uint32_t heads, uint32_t columns, uint32_t width);

/// The bucket of a key `distance` places behind its query (T5, arXiv 1910.10683): small distances have one each, larger ones share them
/// by logarithm up to `most`. `buckets` is even, and 4 or more. kBoth: half of them are for keys behind. kBefore: a decoder's, to which
/// keys behind are as those at its own place.
enum class Sides { kBoth, kBefore };
uint32_t distance_bucket(int32_t distance, uint32_t buckets, uint32_t most, Sides sides = Sides::kBoth);

/// [heads, 2 * most + 1] biases by distance from a table [buckets, heads].
std::vector<float> bucket_biases(const std::vector<float>& table, uint32_t heads, uint32_t buckets, uint32_t most,
                                 Sides sides = Sides::kBoth);

/// DeBERTa's bucket (arXiv 2111.09543) of a key `distance` places in front of its query: distances up to half of `buckets` have
/// one each, larger ones share them by logarithm up to `most`.
int32_t signed_bucket(int32_t distance, uint32_t buckets, uint32_t most);

/// [distances, width]: row d holds the sines, then the cosines, of d / 10000^(2 i / width), i < width / 2 (XLNet's places, arXiv
/// 1906.08237). `width` is even.
std::vector<float> sinusoids(uint32_t distances, uint32_t width);
/// The same in double precision, as places of encoder-decoders (arXiv 1706.03762) are made.
std::vector<float> precise_sinusoids(uint32_t places, uint32_t width);
/// The same of p / 10000^(i / (width / 2 - 1)), as tensor2tensor and fairseq have them. `width` is even, and 4 or more.
std::vector<float> stepped_sinusoids(uint32_t places, uint32_t width);

/// ALiBi's slopes (arXiv 2108.12409) of so many heads.
std::vector<float> alibi_slopes(uint32_t heads);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_PLACES_H_
