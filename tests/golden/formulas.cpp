#include "golden/formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bantam::golden {

double activate(fb::ActivationKind kind, double x) {
  switch (kind) {
    case fb::ActivationKind::none:
      return x;
    case fb::ActivationKind::relu:
      return std::max(x, 0.0);
    case fb::ActivationKind::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case fb::ActivationKind::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case fb::ActivationKind::tanh:
      return std::tanh(x);
    case fb::ActivationKind::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case fb::ActivationKind::silu:
      return x / (1.0 + std::exp(-x));
    case fb::ActivationKind::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case fb::ActivationKind::exp:
      return std::exp(x);
    case fb::ActivationKind::relu_squared:
      return x > 0 ? x * x : 0.0;
    case fb::ActivationKind::softplus:
      return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0);
  }
  throw std::logic_error("unknown activation");
}

Matrix transformed(const Matrix& x) {
  const double turn = 2 * std::acos(-1.0);
  const size_t tokens = x.rows, columns = x.width;
  // Columns of the transform over columns, of which x holds those of cosines, then those of sines.
  const auto cosines = [&](size_t token, size_t r) { return x.at(token, std::min(r, columns - r)); };
  const auto sines = [&](size_t token, size_t r) {
    const size_t from = std::min(r, columns - r);
    if (from == 0 || 2 * from == columns) return 0.0;
    return (from == r ? 1 : -1) * x.at(token, columns / 2 + from);
  };
  Matrix y{tokens, columns, std::vector<double>(tokens * columns)};
  for (size_t j = 0; j < tokens; ++j) {
    for (size_t k = 0; k < tokens; ++k) {
      const double angle = turn * static_cast<double>(j * k % tokens) / static_cast<double>(tokens);
      for (size_t r = 0; r < columns; ++r)
        y.at(j, r) += std::cos(angle) * cosines(k, r) - std::sin(angle) * sines(k, r);
    }
  }
  return y;
}

Matrix scan(const fb::ScanT& op, const Matrix& x, const Matrix& steps, const std::vector<float>& rates,
            const Matrix* in, const Matrix* out, const std::vector<float>& skip) {
  const size_t padded = (x.width + 15) / 16 * 16;
  Matrix y{x.rows, x.width, std::vector<double>(x.rows * x.width)};
  std::vector<double> h(op.states * x.width, 0.0);
  if (op.kind == fb::ScanKind::weighted) {
    // By its definition, over all rows so far: weights and their logarithms are not kept.
    for (size_t row = 0; row < x.rows; ++row) {
      for (size_t i = 0; i < x.width; ++i) {
        double sum = 0, weights = 0;
        for (size_t at = 0; at <= row; ++at) {
          const double more =
              at == row ? double{rates[padded + i]} : static_cast<double>(row - 1 - at) * double{rates[i]};
          const double weight = std::exp(steps.at(at, i) + more);
          sum += weight * x.at(at, i);
          weights += weight;
        }
        y.at(row, i) = sum / weights;
      }
    }
    return y;
  }
  for (size_t row = 0; row < x.rows; ++row) {
    for (size_t i = 0; i < x.width; ++i) {
      const double s = steps.at(row, i);
      for (size_t n = 0; n < op.states; ++n) {
        double& state = h[n * x.width + i];
        const double kept = std::exp(s * double{rates[n * padded + i]});
        const bool selective = op.kind == fb::ScanKind::selective;
        const double factor = selective ? s * in->at(row, n) : row == 0 ? 1 : std::sqrt(1 - kept * kept);
        state = kept * state + factor * x.at(row, i);
        y.at(row, i) += selective ? out->at(row, n) * state : state;
      }
      if (!skip.empty()) y.at(row, i) += double{skip[i]} * x.at(row, i);
    }
  }
  return y;
}

Matrix columns(const Matrix& x, size_t begin, size_t width) {
  Matrix y{x.rows, width, {}};
  for (size_t row = 0; row < x.rows; ++row) {
    for (size_t i = 0; i < width; ++i) y.values.push_back(x.at(row, begin + i));
  }
  return y;
}

Matrix neighbours(const Matrix& x, int64_t before, int64_t after) {
  Matrix y{x.rows, x.width * static_cast<size_t>(before + 1 + after), {}};
  for (int64_t row = 0; row < static_cast<int64_t>(x.rows); ++row) {
    for (int64_t at = row - before; at <= row + after; ++at) {
      const bool none = at < 0 || at >= static_cast<int64_t>(x.rows);
      for (size_t i = 0; i < x.width; ++i) y.values.push_back(none ? 0 : x.at(static_cast<size_t>(at), i));
    }
  }
  return y;
}

Matrix by_column(const Matrix& x, const std::vector<float>& weights, int64_t before, int64_t after) {
  const Matrix all = neighbours(x, before, after);
  const size_t padded = (x.width + 15) / 16 * 16;
  Matrix y{x.rows, x.width, std::vector<double>(x.rows * x.width)};
  for (size_t row = 0; row < x.rows; ++row) {
    for (size_t at = 0; at < all.width; ++at) {
      const size_t place = at / x.width, column = at % x.width;
      y.values[row * x.width + column] += all.at(row, at) * double{weights.at(place * padded + column)};
    }
  }
  return y;
}

namespace {

/// Returns the logarithm of the softmax of each row.
Matrix log_softmax(Matrix x) {
  for (size_t row = 0; row < x.rows; ++row) {
    double sum = 0;
    for (size_t i = 0; i < x.width; ++i) sum += std::exp(x.at(row, i));
    for (size_t i = 0; i < x.width; ++i) x.at(row, i) -= std::log(sum);
  }
  return x;
}

}  // namespace

Matrix adaptive_softmax(const Matrix& front, const Matrix& clusters, const std::vector<Matrix>& words) {
  const Matrix head = log_softmax(side_by_side(front, clusters));
  Matrix y = columns(head, 0, front.width);
  for (size_t k = 0; k < words.size(); ++k) {
    Matrix of_cluster = log_softmax(words[k]);
    for (size_t row = 0; row < y.rows; ++row) {
      for (size_t i = 0; i < of_cluster.width; ++i) of_cluster.at(row, i) += head.at(row, front.width + k);
    }
    y = side_by_side(y, of_cluster);
  }
  return y;
}

Matrix side_by_side(const Matrix& a, const Matrix& b) {
  Matrix y{a.rows, a.width + b.width, {}};
  for (size_t row = 0; row < a.rows; ++row) {
    for (size_t i = 0; i < y.width; ++i) y.values.push_back(i < a.width ? a.at(row, i) : b.at(row, i - a.width));
  }
  return y;
}

namespace {

/// Returns the score of the best chain of tags in which token `forced` has the tag `tag`; -1: no token is forced.
double best_chain(const Matrix& x, const std::vector<float>& transitions, size_t forced, int tag) {
  const size_t tags = x.width;
  std::vector<double> total(tags, 0);
  for (size_t row = 0; row < x.rows; ++row) {
    std::vector<double> next(tags);
    for (size_t to = 0; to < tags; ++to) {
      double best = row == 0 ? double{transitions[to]} : -INFINITY;
      for (size_t from = 0; row > 0 && from < tags; ++from) {
        best = std::max(best, total[from] + double{transitions[(2 + from) * tags + to]});
      }
      const bool out = tag >= 0 && row == forced && to != static_cast<size_t>(tag);
      next[to] = out ? -INFINITY : best + x.values[row * tags + to];
    }
    total = std::move(next);
  }
  double best = -INFINITY;
  for (size_t to = 0; to < tags; ++to) best = std::max(best, total[to] + double{transitions[tags + to]});
  return best;
}

Matrix pool(const Matrix& x, const fb::PoolT& attributes) {
  Matrix y{1, x.width, std::vector<double>(x.values.begin(), x.values.begin() + static_cast<std::ptrdiff_t>(x.width))};
  for (size_t row = 1; row < x.rows; ++row) {
    for (size_t i = 0; i < x.width; ++i) {
      const double value = x.at(row, i);
      switch (attributes.kind) {
        case fb::PoolKind::first:
          break;
        case fb::PoolKind::last:
          y.at(0, i) = value;
          break;
        case fb::PoolKind::max:
          y.at(0, i) = std::max(y.at(0, i), value);
          break;
        case fb::PoolKind::mean:
        case fb::PoolKind::sum:
          y.at(0, i) += value;
          break;
      }
    }
  }
  const double divisor = attributes.kind == fb::PoolKind::mean ? static_cast<double>(x.rows) : 1.0;
  double square = 0;
  for (double& value : y.values) value /= divisor, square += value * value;
  if (attributes.l2) {
    for (double& value : y.values) value /= std::sqrt(square);
  }
  return y;
}

}  // namespace

/// By definition: for each token and tag, the best chain that contains it, minus the best of all chains.
Matrix chains(const Matrix& x, const std::vector<float>& transitions, const std::vector<size_t>& rows) {
  Matrix y = x;
  Matrix chain{rows.size(), x.width, {}};
  for (const size_t row : rows) {
    for (size_t tag = 0; tag < x.width; ++tag) chain.values.push_back(x.at(row, tag));
  }
  const double all = best_chain(chain, transitions, 0, -1);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t tag = 0; tag < x.width; ++tag) {
      y.at(rows[i], tag) = best_chain(chain, transitions, i, static_cast<int>(tag)) - all;
    }
  }
  return y;
}

/// Pools each part of the columns from its own rows.
Matrix pool_parts(const Matrix& all, const std::vector<int32_t>& ids, const fb::PoolT& attributes) {
  const std::vector<uint32_t>& skipped = attributes.skip_last;
  size_t end = all.rows;
  while (attributes.skip_id >= 0 && end > 1 && ids.at(end - 1) == attributes.skip_id) --end;
  const size_t begin = std::min<size_t>(attributes.skip_first, end - 1);
  const auto at = [&](size_t row) { return all.values.begin() + static_cast<std::ptrdiff_t>(row * all.width); };
  const Matrix x{end - begin, all.width, std::vector<double>(at(begin), at(end))};
  if (skipped.empty()) return pool(x, attributes);
  Matrix y{1, x.width, {}};
  for (size_t part = 0; part < skipped.size(); ++part) {
    const size_t width = x.width / skipped.size();
    Matrix own = columns(x, static_cast<uint32_t>(part * width), static_cast<uint32_t>(width));
    own.rows = skipped[part] < own.rows ? own.rows - skipped[part] : 1;
    own.values.resize(own.rows * width);
    const Matrix pooled = pool(own, attributes);
    y.values.insert(y.values.end(), pooled.values.begin(), pooled.values.end());
  }
  return y;
}

Matrix terms_of(const Matrix& scores, const fb::LinearT& layer) {
  Matrix y{1, scores.width, std::vector<double>(scores.width)};
  for (size_t row = 0; row < scores.rows; ++row) {
    for (size_t i = 0; i < scores.width; ++i) {
      double weight = scores.values[row * scores.width + i];
      for (uint32_t n = 0; n < layer.saturations; ++n) weight = std::log1p(std::max(weight, 0.0));
      y.values[i] = layer.sum_terms ? y.values[i] + weight : std::max(y.values[i], weight);
    }
  }
  return y;
}

std::vector<double> next_state(fb::Cell cell, const std::vector<double>& x, const std::vector<double>& s, size_t cells,
                               const std::vector<double>& h, std::vector<double>* c) {
  const size_t block = (cells + 15) / 16 * 16;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> out(cells);
  for (size_t i = 0; i < cells; ++i) {
    const auto both = [&](size_t gate) { return x[gate * block + i] + s[gate * block + i]; };
    if (cell == fb::Cell::lstm) {
      (*c)[i] = sigmoid(both(1)) * (*c)[i] + sigmoid(both(0)) * std::tanh(both(2));
      out[i] = sigmoid(both(3)) * std::tanh((*c)[i]);
    } else if (cell == fb::Cell::ssru) {
      const double f = sigmoid(x[i]);
      out[i] = f * h[i] + (1 - f) * x[block + i];
    } else {
      const double n = std::tanh(x[2 * block + i] + sigmoid(both(0)) * s[2 * block + i]), z = sigmoid(both(1));
      out[i] = (1 - z) * n + z * h[i];
    }
  }
  return out;
}

Matrix aligned(const fb::AlignT& align, const Matrix& q, const Matrix& keys, const Matrix& values,
               const std::vector<float>& energy, const Matrix* centre) {
  Matrix y{q.rows, values.width, std::vector<double>(q.rows * values.width)};
  const auto rows = static_cast<double>(keys.rows);
  for (size_t row = 0; row < q.rows; ++row) {
    std::vector<double> weights(keys.rows);
    double sum = 0;
    const double place = align.place == fb::AlignPlace::given ? rows * centre->at(row, 0) : static_cast<double>(row);
    for (size_t key = 0; key < keys.rows; ++key) {
      const double distance = static_cast<double>(key) - place;
      if (align.place != fb::AlignPlace::all && std::fabs(distance) > align.window) continue;
      double score = 0;
      for (size_t k = 0; k < q.width; ++k) {
        score += energy.empty() ? q.at(row, k) * keys.at(key, k)
                                : static_cast<double>(energy[k]) * std::tanh(q.at(row, k) + keys.at(key, k));
      }
      const double weight = std::exp(static_cast<double>(align.scale) * score);
      sum += weight;
      const double sigma = align.window / 2.0;
      weights[key] =
          align.place == fb::AlignPlace::given ? weight * std::exp(-distance * distance / (2 * sigma * sigma)) : weight;
    }
    for (size_t key = 0; key < keys.rows && sum > 0; ++key) {
      for (size_t i = 0; i < values.width; ++i) y.at(row, i) += weights[key] / sum * values.at(key, i);
    }
  }
  return y;
}

std::vector<double> shares_of(const fb::ExpertsT& layer, const std::vector<double>& scores,
                              const std::vector<size_t>& order) {
  std::vector<double> p(scores.size());
  const double most = scores[order[0]];
  double all = 0;
  for (const double score : scores) all += std::exp(score - most);
  for (size_t e = 0; e < p.size(); ++e) {
    p[e] = layer.shares == fb::ShareKind::sigmoid ? 1 / (1 + std::exp(-scores[e])) : std::exp(scores[e] - most) / all;
  }
  for (size_t i = 0; i < layer.top && layer.shares == fb::ShareKind::masked; ++i) {
    const double best = scores[order[i]];
    double left = 0;
    for (size_t k = i; k < order.size(); ++k) {
      const double score = scores[order[k]];
      const bool near = best - score <= double{layer.threshold} * std::max(std::abs(score), best);
      if (near || k == i) left += std::exp(score - best);
    }
    p[order[i]] = 1 / left;
  }
  return p;
}

Matrix by_own_weights(const fb::DepthwiseT& convolution, const Matrix& x, const Matrix& scores) {
  const size_t taps = size_t{convolution.before} + 1 + convolution.after;
  Matrix y{x.rows, x.width, std::vector<double>(x.rows * x.width)};
  for (size_t row = 0; row < x.rows; ++row) {
    for (size_t column = 0; column < x.width; ++column) {
      const size_t head = column / (x.width / convolution.heads);
      double most = scores.at(row, head * taps), sum = 0, product = 0;
      for (size_t tap = 1; tap < taps; ++tap) most = std::max(most, scores.at(row, head * taps + tap));
      for (size_t tap = 0; tap < taps; ++tap) {
        const double power = std::exp(scores.at(row, head * taps + tap) - most);
        sum += power;
        const size_t at = row + tap - convolution.before;  // wraps in front of the first row
        if (at < x.rows) product += power * x.at(at, column);
      }
      y.at(row, column) = product / sum;
    }
  }
  return y;
}

Matrix mixture(const fb::ExpertsT& layer, const Matrix& x, const Matrix& scores, const std::vector<float>& up,
               const std::vector<float>& down, size_t columns, const ExpertBiases& biases) {
  const auto padded = [](size_t rows) { return (rows + 15) / 16 * 16; };
  const size_t outputs = layer.outputs, count = layer.experts;
  const auto multiply = [](const std::vector<float>& w, size_t row, const std::vector<double>& by) {
    double sum = 0;
    for (size_t k = 0; k < by.size(); ++k) sum += double{w.at(row * by.size() + k)} * by[k];
    return sum;
  };
  const auto biased = [&](const std::vector<float>& w, size_t row, const std::vector<double>& by,
                          const std::vector<float>& bias) {
    return multiply(w, row, by) + (bias.empty() ? 0 : double{bias.at(row)});
  };
  const double most = layer.limit == 0 ? std::numeric_limits<double>::infinity() : double{layer.limit};
  Matrix y{x.rows, outputs, std::vector<double>(x.rows * outputs)};
  std::vector<uint32_t> tokens(count, 0);
  for (size_t row = 0; row < x.rows; ++row) {
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<double> own;
    for (size_t e = 0; e < count; ++e) own.push_back(scores.at(row, e));
    const auto sort_by = [&](const std::vector<double>& by) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return by[a] > by[b]; });
    };
    sort_by(own);
    const std::vector<double> share = shares_of(layer, own, order);
    if (!biases.choice.empty()) {
      std::vector<double> by = layer.choice_by_scores ? own : share;
      for (size_t e = 0; e < count; ++e) by[e] += double{biases.choice[e]};
      std::iota(order.begin(), order.end(), size_t{0});
      sort_by(by);
    }
    double taken = 0;
    for (size_t i = 0; i < layer.top; ++i) taken += share[order[i]];
    const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(row * x.width);
    const std::vector<double> row_of_x(begin, begin + static_cast<std::ptrdiff_t>(x.width));
    for (size_t i = 0; i < layer.top; ++i) {
      const size_t e = order[i], first = e * (layer.gated ? 2 : 1) * padded(columns);
      if (layer.capacity != 0 && ++tokens[e] > layer.capacity) continue;
      const double part = share[e] / (layer.normalized ? taken : 1);
      std::vector<double> wide(columns), in = row_of_x;
      for (double& value : in) value *= layer.scales_inputs ? part : 1;
      for (size_t c = 0; c < columns; ++c) {
        wide[c] = activate(layer.activation, std::min(biased(up, first + c, in, biases.up), most));
        if (!layer.gated) continue;
        const double gate = biased(up, first + padded(columns) + c, in, biases.up);
        wide[c] *= std::clamp(gate, -most, most) + double{layer.gate_added};
      }
      const double p = layer.scales_inputs ? 1 : part;
      for (size_t c = 0; c < outputs; ++c) y.at(row, c) += p * biased(down, e * padded(outputs) + c, wide, biases.down);
    }
  }
  return y;
}

namespace {

/// The parts of Performer's phi: products with the vectors, and half the squared length of each row.
struct Features {
  std::vector<std::vector<double>> products;
  std::vector<double> halves;

  double largest(size_t row) const { return *std::max_element(products[row].begin(), products[row].end()); }
  double largest() const {
    double most = largest(0);
    for (size_t row = 1; row < products.size(); ++row) most = std::max(most, largest(row));
    return most;
  }
  double phi(const SummedAttention& a, size_t row, size_t i, double most) const {
    const double product = products[row][i];
    const bool relu = a.kind == fb::FeatureKind::relu;
    return (relu ? std::max(product, 0.0) : std::exp(product - halves[row] - most)) + a.epsilon;
  }
};
Features features_of(const SummedAttention& a, const Matrix& x, size_t begin, const std::vector<float>& vectors) {
  Features out;
  const size_t width = vectors.size() / a.features;
  for (size_t row = 0; row < x.rows; ++row) {
    std::vector<double> products(a.features, 0.0);
    double square = 0;
    for (size_t k = 0; k < width; ++k) square += x.at(row, begin + k) * x.at(row, begin + k);
    for (size_t i = 0; i < a.features; ++i) {
      for (size_t k = 0; k < width; ++k) {
        products[i] += static_cast<double>(vectors[i * width + k]) * x.at(row, begin + k);
      }
    }
    out.products.push_back(std::move(products));
    out.halves.push_back(square / 2);
  }
  return out;
}

}  // namespace

Matrix attend_by_features(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v,
                          const std::vector<float>& vectors) {
  Matrix y{q.rows, q.width, std::vector<double>(q.values.size())};
  const size_t width = q.width / a.heads;
  for (size_t begin = 0; begin < q.width; begin += width) {
    const Features queries = features_of(a, q, begin, vectors), keys = features_of(a, k, begin, vectors);
    for (size_t row = 0; row < q.rows; ++row) {
      std::vector<double> weights(k.rows, 0.0);
      double total = 0;
      for (size_t key = 0; key < k.rows; ++key) {
        for (size_t i = 0; i < a.features; ++i) {
          weights[key] += queries.phi(a, row, i, queries.largest(row)) * keys.phi(a, key, i, keys.largest());
        }
        total += weights[key];
      }
      for (size_t key = 0; key < k.rows; ++key) {
        for (size_t i = begin; i < begin + width; ++i) y.at(row, i) += weights[key] / total * v.at(key, i);
      }
    }
  }
  return y;
}

Matrix attend_by_places(const SummedAttention& a, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& e,
                        const Matrix& f) {
  Matrix y{q.rows, q.width, std::vector<double>(q.values.size())};
  const size_t width = q.width / a.heads, padded = (a.features + 15) / 16 * 16;
  for (size_t head = 0; head < a.heads; ++head) {
    const auto sum = [&](const Matrix& x, const Matrix& by, size_t i, size_t column) {
      double total = 0;
      const size_t of_head = by.width == padded ? i : head * padded + i;
      for (size_t row = 0; row < x.rows; ++row) total += by.at(row, of_head) * x.at(row, head * width + column);
      return total;
    };
    for (size_t row = 0; row < q.rows; ++row) {
      std::vector<double> weights(a.features, 0.0);
      double total = 0;
      for (size_t i = 0; i < a.features; ++i) {
        for (size_t c = 0; c < width; ++c) weights[i] += q.at(row, head * width + c) * sum(k, e, i, c);
        total += weights[i] = std::exp(weights[i]);
      }
      for (size_t i = 0; i < a.features; ++i) {
        for (size_t c = 0; c < width; ++c) y.at(row, head * width + c) += weights[i] / total * sum(v, f, i, c);
      }
    }
  }
  return y;
}

namespace {

/// Returns the bucket of a query with these products with a round's rotations.
size_t bucket_of(const std::vector<uint32_t>& counts, const std::vector<double>& products) {
  size_t bucket = 0, times = 1, first = 0;
  for (const uint32_t buckets : counts) {
    std::vector<double> both(products.begin() + static_cast<std::ptrdiff_t>(first),
                             products.begin() + static_cast<std::ptrdiff_t>(first + buckets / 2));
    for (size_t i = 0; i < buckets / 2; ++i) both.push_back(-both[i]);
    bucket += times * static_cast<size_t>(std::max_element(both.begin(), both.end()) - both.begin());
    times *= buckets;
    first += buckets / 2;
  }
  return bucket;
}

/// Returns the tokens that each token of a text attends to in all rounds, each as often as it is visible. `orders`: the
/// tokens of each round in order, followed by -1 for the padding.
std::vector<std::vector<int64_t>> seen_in_chunks(const std::vector<std::vector<int64_t>>& orders, int64_t length,
                                                 int64_t before, int64_t after) {
  std::vector<int64_t> line;
  for (const auto& order : orders) line.insert(line.end(), order.begin(), order.end());
  const int64_t chunks = static_cast<int64_t>(line.size()) / length;
  std::vector<std::vector<int64_t>> seen(orders.front().size());
  for (int64_t place = 0; place < static_cast<int64_t>(line.size()); ++place) {
    const int64_t token = line[static_cast<size_t>(place)];
    for (int64_t away = -before; token >= 0 && away <= after; ++away) {
      const int64_t steps = std::abs(away) > chunks ? 0 : away;
      const int64_t chunk = (place / length + steps + chunks) % chunks;
      for (int64_t i = chunk * length; i < (chunk + 1) * length; ++i) {
        if (line[static_cast<size_t>(i)] >= 0) seen[static_cast<size_t>(token)].push_back(line[static_cast<size_t>(i)]);
      }
    }
  }
  return seen;
}

}  // namespace

Matrix attend_by_chunks(const fb::ChunkAttentionT& a, const Matrix& x, const std::vector<float>& rotations) {
  const bool hashed = a.rounds != 0, whole = x.rows <= a.full_until;
  const size_t heads = a.heads, width = x.width / heads / (hashed ? 2 : 3), tokens = x.rows;
  const size_t products = std::accumulate(a.buckets.begin(), a.buckets.end(), size_t{0}) / 2,
               padded = (products + 15) / 16 * 16;
  const size_t filled = whole ? tokens : (tokens + a.multiple - 1) / a.multiple * a.multiple;
  const auto part = [&](size_t token, size_t number, size_t head, size_t i) {
    return x.at(token, (number * heads + head) * width + i);
  };
  Matrix y{tokens, heads * width, std::vector<double>(tokens * heads * width)};
  for (size_t head = 0; head < heads; ++head) {
    std::vector<std::vector<int64_t>> orders;
    for (size_t round = 0; round < (hashed && !whole ? a.rounds : 1); ++round) {
      std::vector<int64_t> order(tokens);
      std::iota(order.begin(), order.end(), int64_t{0});
      std::vector<size_t> buckets(tokens, 0);
      for (size_t token = 0; token < tokens && hashed && !whole; ++token) {
        std::vector<double> sums(products, 0.0);
        for (size_t i = 0; i < products; ++i) {
          const size_t row = (head * a.rounds + round) * padded + i;
          for (size_t k = 0; k < width; ++k) sums[i] += part(token, 0, head, k) * double{rotations[row * width + k]};
        }
        buckets[token] = bucket_of(a.buckets, sums);
      }
      std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
        return buckets[static_cast<size_t>(one)] < buckets[static_cast<size_t>(other)];
      });
      order.resize(filled, -1);
      orders.push_back(std::move(order));
    }
    const auto seen = whole ? seen_in_chunks(orders, static_cast<int64_t>(tokens), 0, 0)
                            : seen_in_chunks(orders, a.chunk, a.before, a.after);
    for (size_t token = 0; token < tokens; ++token) {
      std::vector<double> scores, sums(width, 0.0);
      std::vector<size_t> keys;
      for (const int64_t one : seen[token]) {
        const auto key = static_cast<size_t>(one);
        if ((a.causal && key > token) || (hashed && key == token)) continue;
        double score = 0, squares = 0;
        for (size_t i = 0; i < width; ++i) {
          const double k = part(key, hashed ? 0 : 1, head, i);
          score += part(token, 0, head, i) * k;
          squares += k * k;
        }
        if (hashed) score /= std::sqrt(squares / static_cast<double>(width) + double{a.epsilon});
        scores.push_back(score * double{a.scale});
        keys.push_back(key);
      }
      if (keys.empty()) {  // it attends to itself
        scores = {0};
        keys = {token};
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double total = 0;
      for (size_t k = 0; k < keys.size(); ++k) {
        const double share = std::exp(scores[k] - most);
        total += share;
        for (size_t i = 0; i < width; ++i) sums[i] += share * part(keys[k], hashed ? 1 : 2, head, i);
      }
      for (size_t i = 0; i < width; ++i) y.values[token * y.width + head * width + i] = sums[i] / total;
    }
  }
  return y;
}

}  // namespace bantam::golden
