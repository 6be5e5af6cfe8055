// Definitions of operators on matrices, for evaluate.cpp. For tests only.
#ifndef BANTAM_TESTS_GOLDEN_FORMULAS_H_
#define BANTAM_TESTS_GOLDEN_FORMULAS_H_

#include <cstdint>
#include <vector>

#include "bantam_generated.h"
#include "golden/evaluate.h"

namespace bantam::golden {

double activate(fb::ActivationKind kind, double x);

/// columns(): columns [begin, begin + width) of each row. neighbours(): each row between the rows before and after it,
/// with zeros for missing rows.
Matrix columns(const Matrix& x, size_t begin, size_t width);
Matrix neighbours(const Matrix& x, int64_t before, int64_t after);
/// A depthwise convolution over rows; weights [neighbors][columns rounded up to 16].
Matrix by_column(const Matrix& x, const std::vector<float>& weights, int64_t before, int64_t after);
/// Fourier in the schema, over one sequence.
Matrix transformed(const Matrix& x);
/// Scan in the schema, over one sequence; in, out: null if the kind has none; skip: empty: none.
Matrix scan(const fb::ScanT& op, const Matrix& x, const Matrix& steps, const std::vector<float>& rates,
            const Matrix* in, const Matrix* out, const std::vector<float>& skip);
/// Rows of a, each followed by the row of b.
Matrix side_by_side(const Matrix& a, const Matrix& b);

/// AdaptiveSoftmax in the schema.
Matrix adaptive_softmax(const Matrix& front, const Matrix& clusters, const std::vector<Matrix>& words);

/// For each token of `rows` and each tag, the best chain that contains it, minus the best of all chains; other rows are
/// copied.
Matrix chains(const Matrix& x, const std::vector<float>& transitions, const std::vector<size_t>& rows);

/// Pools each part of the columns from its own rows. `ids`: the ids of the rows of `all`.
Matrix pool_parts(const Matrix& all, const std::vector<int32_t>& ids, const fb::PoolT& attributes);

/// Term weights from the scores of one sequence's tokens; see Linear in the schema.
Matrix terms_of(const Matrix& scores, const fb::LinearT& layer);

/// The next h of LSTM and GRU as PyTorch defines them; updates `c`. Gates are in blocks whose size is a multiple of 16.
std::vector<double> next_state(fb::Cell cell, const std::vector<double>& x, const std::vector<double>& s, size_t cells,
                               const std::vector<double>& h, std::vector<double>* c);

/// Align in the schema. `energy` empty: products; `centre` null: no center.
Matrix aligned(const fb::AlignT& align, const Matrix& q, const Matrix& keys, const Matrix& values,
               const std::vector<float>& energy, const Matrix* centre);

/// The shares of a row's experts; `order`: the experts by descending scores.
std::vector<double> shares_of(const fb::ExpertsT& layer, const std::vector<double>& scores,
                              const std::vector<size_t>& order);
/// Depthwise with heads in the schema, for one sequence.
Matrix by_own_weights(const fb::DepthwiseT& convolution, const Matrix& x, const Matrix& scores);
/// What is added for the choice of experts, and to the rows of both matrices; empty: nothing.
struct ExpertBiases {
  std::vector<float> choice, up, down;
};
/// Experts in the schema, for one sequence; `up` and `down` as stored, with `columns` columns.
Matrix mixture(const fb::ExpertsT& layer, const Matrix& x, const Matrix& scores, const std::vector<float>& up,
               const std::vector<float>& down, size_t columns, const ExpertBiases& biases);
/// Attention by sums over keys (KeySums in the schema), computed from all queries and all keys; columns of heads are
/// side by side.
struct SummedAttention {
  fb::FeatureKind kind;
  size_t heads, features;
  double epsilon;
};
/// `vectors` [features, head width].
Matrix attend_by_features(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v,
                          const std::vector<float>& vectors);

/// Linformer: `e` and `f` [places, heads or 1 times features rounded up to 16] are for keys and values.
Matrix attend_by_places(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& e,
                        const Matrix& f);

/// ChunkAttention in the schema, for one sequence; `rotations` as stored, empty without rounds.
Matrix attend_by_chunks(const fb::ChunkAttentionT& a, const Matrix& x, const std::vector<float>& rotations);

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_FORMULAS_H_
