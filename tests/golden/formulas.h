// Formulas of operators on matrices, by definition, for evaluate.cpp. Tests only.
#ifndef BANTAM_TESTS_GOLDEN_FORMULAS_H_
#define BANTAM_TESTS_GOLDEN_FORMULAS_H_

#include <cstdint>
#include <vector>

#include "bantam_generated.h"
#include "golden/evaluate.h"

namespace bantam::golden {

double activate(fb::ActivationKind kind, double x);

/// Columns [begin, begin + width) of each row; each row between those before and behind it, zeros where there are none.
Matrix columns(const Matrix& x, size_t begin, size_t width);
Matrix neighbours(const Matrix& x, int64_t before, int64_t after);
/// A convolution over rows of each column by itself; weights [neighbours][columns rounded up to 16].
Matrix by_column(const Matrix& x, const std::vector<float>& weights, int64_t before, int64_t after);
/// Rows of a, and behind each that of b.
Matrix side_by_side(const Matrix& a, const Matrix& b);

/// AdaptiveSoftmax in the schema.
Matrix adaptive_softmax(const Matrix& front, const Matrix& clusters, const std::vector<Matrix>& words);

/// For each token of `rows` and each tag the best chain that has it, less the best of all; others as they are.
Matrix chains(const Matrix& x, const std::vector<float>& transitions, const std::vector<size_t>& rows);

/// Each part of the columns from the rows that are its.
/// `ids`: those of the rows of `all`.
Matrix pool_parts(const Matrix& all, const std::vector<int32_t>& ids, const fb::PoolT& attributes);

/// Weights of terms from the scores of one sequence's tokens; Linear in the schema.
Matrix terms_of(const Matrix& scores, const fb::LinearT& layer);

/// The next h of LSTM and GRU as PyTorch writes them; `c` becomes the next one. Gates stand in blocks of a multiple of 16.
std::vector<double> next_state(fb::Cell cell, const std::vector<double>& x, const std::vector<double>& s, size_t cells,
                               const std::vector<double>& h, std::vector<double>* c);

/// Align in the schema; `energy` empty: products; `centre` null: no place is given.
Matrix aligned(const fb::AlignT& align, const Matrix& q, const Matrix& keys, const Matrix& values,
               const std::vector<float>& energy, const Matrix* centre);

/// The shares of a row's experts; `order`: of experts, by falling scores.
std::vector<double> shares_of(const fb::ExpertsT& layer, const std::vector<double>& scores,
                              const std::vector<size_t>& order);
/// Experts in the schema, for one sequence; `up` and `down` as they lie there, of so many columns. `bias`: what experts are chosen by
/// beside that; empty: nothing.
Matrix mixture(const fb::ExpertsT& layer, const Matrix& x, const Matrix& scores, const std::vector<float>& up,
               const std::vector<float>& down, size_t columns, const std::vector<float>& bias);
/// Attention by sums over keys, as KeySums in the schema says it, all queries against all keys; columns of heads side by side.
struct SummedAttention {
  fb::FeatureKind kind;
  size_t heads, features;
  double epsilon;
};
/// `vectors` [features, head width].
Matrix attend_by_features(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v,
                          const std::vector<float>& vectors);

/// Linformer's: `e` and `f` [places, heads or 1 times features rounded up to 16] are of keys and values.
Matrix attend_by_places(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& e,
                        const Matrix& f);

/// ChunkAttention in the schema, of one sequence; `rotations` as they lie there, empty without rounds.
Matrix attend_by_chunks(const fb::ChunkAttentionT& a, const Matrix& x, const std::vector<float>& rotations);

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_FORMULAS_H_
