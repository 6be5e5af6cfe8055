#include "golden/evaluate.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "format/view.h"
#include "golden/formulas.h"
#include "graph/access.h"

namespace bantam::golden {
namespace {

class Evaluator {
 public:
  Evaluator(const convert::Graph& graph, std::vector<int32_t> ids, std::vector<int32_t> segments,
            const std::vector<int32_t>& marks)
      : graph_(graph), ids_(std::move(ids)), segments_(std::move(segments)), marks_(marks) {}

  std::map<std::string, Matrix> run(const std::vector<int32_t>& decoder_ids, const Retrieved& retrieved) {
    const auto& ops = graph_.model.subgraphs.at(0)->ops;
    const auto of_source = [](const auto& op) { return convert::phase_of(*op) == fb::Phase::source; };
    if (graph_.model.chunk != 0) {
      retrieve(retrieved);
    } else if (std::any_of(ops.begin(), ops.end(), of_source)) {
      for (const auto& op : ops) {
        if (of_source(op)) step(*op);
      }
      if (decoder_ids.empty()) {
        const int32_t start = graph_.model.task->shift_id;
        ids_.insert(ids_.begin(), start == kLastInFront ? ids_.back() : start);
        ids_.pop_back();
      } else {
        ids_ = decoder_ids;
      }
    }
    // An op that reads the previous token uses the results of the previous pass over the ops. After as many passes as
    // there are tokens, all rows are correct.
    const auto goes_back = [](const auto& op) { return op->attributes.type == fb::OpAttributes::Previous; };
    const size_t passes = std::any_of(ops.begin(), ops.end(), goes_back) ? ids_.size() : 1;
    for (size_t pass = 0; pass < passes; ++pass) {
      for (const auto& op : ops) {
        if (!of_source(op)) step(*op);
      }
    }
    std::map<std::string, Matrix> outputs;
    for (const auto& output : graph_.model.outputs) outputs[output->name] = tensors_.at(output->tensor);
    return outputs;
  }

 private:
  /// Runs the encoder's pass over the texts retrieved for each chunk. The chunks' own rows do not depend on them.
  void retrieve(const Retrieved& retrieved) {
    const size_t chunk = graph_.model.chunk;
    const auto& ops = graph_.model.subgraphs.at(0)->ops;
    const auto run = [&](fb::Phase phase) {
      for (const auto& op : ops) {
        if (convert::phase_of(*op) == phase) step(*op);
      }
    };
    run(fb::Phase::main);
    const Matrix rows = tensors_.at(graph_.model.outputs.back()->tensor);
    const std::vector<int32_t> ids = ids_, segments = segments_;
    for (size_t u = 0; u < retrieved.size() && (u + 1) * chunk <= ids.size(); ++u) {
      ids_.assign(chunk, 0);
      segments_.assign(chunk, 0);
      for (size_t i = 0; i < retrieved[u].size(); ++i) {
        ids_.insert(ids_.end(), retrieved[u][i].begin(), retrieved[u][i].end());
        segments_.insert(segments_.end(), retrieved[u][i].size(), static_cast<int32_t>(i + 1));
      }
      features_ = Matrix{ids_.size(), rows.width, std::vector<double>(ids_.size() * rows.width)};
      const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(u * chunk * rows.width);
      std::copy(first, first + static_cast<std::ptrdiff_t>(chunk * rows.width), features_.values.begin());
      run(fb::Phase::source);
      encoded_.push_back({tensors_, segments_});
    }
    ids_ = ids;
    segments_ = segments;
  }

  /// Returns the source that row `row` attends to in attention to retrieved texts; null if there is none.
  const auto* source_of(size_t row) const {
    const size_t chunk = (row + 1) / graph_.model.chunk;
    return chunk == 0 || chunk > encoded_.size() ? nullptr : &encoded_[chunk - 1];
  }
  static int64_t place_in_run(const std::vector<int32_t>& segments, size_t row) {
    size_t first = row;
    while (first > 0 && segments[first - 1] == segments[row]) --first;
    return static_cast<int64_t>(row - first);
  }
  static bool same_run(const std::vector<int32_t>& segments, size_t a, size_t b) {
    const auto at = [&](size_t row) { return segments.begin() + static_cast<std::ptrdiff_t>(row); };
    return std::all_of(at(std::min(a, b)), at(std::max(a, b)),
                       [&](int32_t s) { return s == segments[std::max(a, b)]; });
  }

  const std::vector<float>& constant(int32_t tensor) const {
    return graph_.constants.at(static_cast<size_t>(tensor))->values;
  }

  size_t extent(int32_t tensor, size_t dimension) const {
    return static_cast<size_t>(graph_.model.tensors.at(static_cast<size_t>(tensor))->shape.at(dimension).b());
  }

  /// Returns true if the op reads a state with a single row in a step of tokens.
  bool takes_state(const fb::OpT& op) const {
    const auto& tensors = graph_.model.tensors;
    const auto at = [&](int32_t t) -> const fb::TensorT& { return *tensors.at(static_cast<size_t>(t)); };
    return convert::is_state(at(op.inputs.at(0))) && at(op.outputs.at(0)).shape.front().symbol() == int32_t{kTokens};
  }
  Matrix of_each_token(const Matrix& row) const {
    Matrix out{ids_.size(), row.width, {}};
    for (size_t i = 0; i < ids_.size(); ++i) out.values.insert(out.values.end(), row.values.begin(), row.values.end());
    return out;
  }

  void step(const fb::OpT& op) {
    Matrix y;
    switch (op.attributes.type) {
      case fb::OpAttributes::Embed:
        y = embed(op);
        break;
      case fb::OpAttributes::Linear:
        y = linear(op);
        for (size_t row = 0; row < y.rows && op.attributes.AsLinear()->only_globals; ++row) {
          for (size_t i = 0; i < y.width && !is_global(row); ++i) y.at(row, i) = 0;
        }
        if (op.attributes.AsLinear()->saturations != 0) y = terms_of(y, *op.attributes.AsLinear());
        break;
      case fb::OpAttributes::Features:
        y = features_;
        break;
      case fb::OpAttributes::Row:
        y = tensors_.at(op.inputs.at(0));
        break;
      case fb::OpAttributes::SplitHeads:
        return split(op);
      case fb::OpAttributes::Attention:
        y = attention(op, *op.attributes.AsAttention());
        break;
      case fb::OpAttributes::Pool:
        y = pool_parts(tensors_.at(op.inputs.at(0)), ids_, *op.attributes.AsPool());
        break;
      case fb::OpAttributes::Slice: {
        const fb::SliceT& slice = *op.attributes.AsSlice();
        y = columns(tensors_.at(op.inputs.at(0)), slice.begin, slice.width);
        if (takes_state(op)) y = of_each_token(y);
        break;
      }
      case fb::OpAttributes::Unfold: {
        const fb::UnfoldT& unfold = *op.attributes.AsUnfold();
        y = neighbours(tensors_.at(op.inputs.at(0)), int64_t{unfold.before}, int64_t{unfold.after});
        break;
      }
      case fb::OpAttributes::Depthwise: {
        const fb::DepthwiseT& convolution = *op.attributes.AsDepthwise();
        if (convolution.heads != 0) {
          y = by_own_weights(convolution, tensors_.at(op.inputs.at(0)), tensors_.at(op.inputs.at(1)));
          break;
        }
        y = by_column(tensors_.at(op.inputs.at(0)), constant(op.inputs.at(1)), int64_t{convolution.before},
                      int64_t{convolution.after});
        break;
      }
      case fb::OpAttributes::Fourier:
        y = transformed(tensors_.at(op.inputs.at(0)));
        break;
      case fb::OpAttributes::Scan: {
        const auto rows = [&](size_t at) {
          return at < op.inputs.size() && op.inputs[at] >= 0 ? &tensors_.at(op.inputs[at]) : nullptr;
        };
        const std::vector<float> skip =
            op.inputs.size() > 5 && op.inputs[5] >= 0 ? constant(op.inputs[5]) : std::vector<float>();
        tensors_[op.outputs.at(0)] =
            scan(*op.attributes.AsScan(), *rows(0), *rows(1), constant(op.inputs.at(2)), rows(3), rows(4), skip);
        return;
      }
      case fb::OpAttributes::Join:
        y = side_by_side(tensors_.at(op.inputs.at(0)), tensors_.at(op.inputs.at(1)));
        break;
      case fb::OpAttributes::Experts: {
        const fb::ExpertsT& layer = *op.attributes.AsExperts();
        const auto bias = [&](int8_t position) {
          const int32_t tensor = convert::named_input(op, position);
          return tensor < 0 ? std::vector<float>() : constant(tensor);
        };
        y = mixture(layer, tensors_.at(op.inputs.at(0)), tensors_.at(op.inputs.at(1)), constant(op.inputs.at(2)),
                    constant(op.inputs.at(3)), extent(op.inputs.at(3), 1),
                    {bias(layer.choice_bias), bias(layer.up_bias), bias(layer.down_bias)});
        break;
      }
      case fb::OpAttributes::AdaptiveSoftmax: {
        std::vector<Matrix> words;
        for (size_t i = 2; i < op.inputs.size(); ++i) words.push_back(tensors_.at(op.inputs[i]));
        tensors_[op.outputs.at(0)] =
            adaptive_softmax(tensors_.at(op.inputs.at(0)), tensors_.at(op.inputs.at(1)), words);
        return;
      }
      case fb::OpAttributes::Recurrent:
        return recurrent(op);
      case fb::OpAttributes::RecurrentCell:
        return recurrent_cell(op);
      case fb::OpAttributes::Previous:
        y = previous(op);
        break;
      case fb::OpAttributes::Align: {
        const auto at = [&](size_t i) -> const Matrix& { return tensors_.at(op.inputs.at(i)); };
        const std::vector<float> energy = op.inputs.at(3) < 0 ? std::vector<float>() : constant(op.inputs[3]);
        y = aligned(*op.attributes.AsAlign(), at(0), at(1), at(2), energy, op.inputs.at(4) < 0 ? nullptr : &at(4));
        break;
      }
      case fb::OpAttributes::ChunkAttention: {
        const std::vector<float> rotations = op.inputs.at(1) < 0 ? std::vector<float>() : constant(op.inputs[1]);
        tensors_[op.outputs.at(0)] =
            attend_by_chunks(*op.attributes.AsChunkAttention(), tensors_.at(op.inputs.at(0)), rotations);
        return;
      }
      case fb::OpAttributes::KeySums:
        sums_[op.outputs.at(0)] = &op;  // the queries are processed by the reader of these sums
        return;
      case fb::OpAttributes::LinearAttention:
        y = linear_attention(op, *op.attributes.AsLinearAttention());
        break;
      case fb::OpAttributes::Select:
        y = select(op, *op.attributes.AsSelect());
        break;
      case fb::OpAttributes::Spans:
        return spans(op);
      case fb::OpAttributes::Tree:
        tensors_[op.outputs.at(0)] =
            tree(tensors_.at(op.inputs.at(0)), graph_.constants.at(static_cast<size_t>(op.inputs.at(1)))->numbers);
        return;
      case fb::OpAttributes::Crf:
        y = chains(tensors_.at(op.inputs.at(0)), constant(op.inputs.at(1)), members(op));
        break;
      default:
        throw std::logic_error("operator without an evaluation: " + op.name);
    }
    finish(y, convert::epilogue_of(op));
    tensors_[op.outputs.at(0)] = std::move(y);
  }

  /// Returns W h + bias, by definition, for a matrix [rows, columns].
  std::vector<double> product(int32_t weights, int32_t bias, const std::vector<double>& h) const {
    const std::vector<float>& w = constant(weights);
    std::vector<double> y(extent(weights, 0));
    for (size_t n = 0; n < y.size(); ++n) {
      y[n] = bias < 0 ? 0.0 : double{constant(bias)[n]};
      for (size_t k = 0; k < h.size(); ++k) y[n] += double{w[n * h.size() + k]} * h[k];
    }
    return y;
  }

  /// Adds to each row the row of the sequence that the scores select.
  Matrix select(const fb::OpT& op, const fb::SelectT& attributes) const {
    const Matrix &scores = tensors_.at(op.inputs.at(0)), &from = tensors_.at(op.inputs.at(2));
    std::vector<size_t> order(scores.rows);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto score = [&](size_t row) { return scores.at(row, 0); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) > score(b); });
    std::vector<double> shares(scores.rows, 0.0);
    if (!attributes.mean) {
      shares[order[std::min<size_t>(attributes.rank, scores.rows - 1)]] = 1;
    } else {
      double sum = 0;
      for (size_t row = 0; row < scores.rows; ++row) sum += shares[row] = std::exp(score(row) - score(order.front()));
      for (double& share : shares) share /= sum;
    }
    Matrix y = tensors_.at(op.inputs.at(1));
    for (size_t row = 0; row < y.rows; ++row) {
      for (size_t other = 0; other < from.rows; ++other) {
        for (size_t k = 0; k < y.width; ++k) y.at(row, k) += shares[other] * from.at(other, k);
      }
    }
    return y;
  }

  /// Returns the sums of logarithms from the root down to each column.
  static Matrix tree(const Matrix& x, const std::vector<int32_t>& nodes) {
    const size_t inner = nodes.size() / 2;
    Matrix y{x.rows, inner + 1, std::vector<double>(x.rows * (inner + 1))};
    for (size_t row = 0; row < x.rows; ++row) {
      std::vector<double> sums(2 * inner + 1, 0.0);
      for (size_t n = inner; n-- > 0;) {
        for (const size_t side : {size_t{0}, size_t{1}}) {
          const auto child = static_cast<size_t>(nodes[2 * n + side]);
          sums[child] = sums[inner + 1 + n] + std::log(x.at(row, side == 0 ? inner + n : n));
        }
      }
      for (size_t column = 0; column <= inner; ++column) y.at(row, column) = sums[column];
    }
    return y;
  }

  uint32_t mark(size_t row) const { return marks_.empty() ? 0 : static_cast<uint32_t>(marks_.at(row)); }

  /// Scores each span of words against each label, as GLiNER does.
  void spans(const fb::OpT& op) {
    const fb::SpansT& attributes = *op.attributes.AsSpans();
    const Matrix &starts = tensors_.at(op.inputs.at(0)), &ends = tensors_.at(op.inputs.at(1)),
                 &labels = tensors_.at(op.inputs.at(2));
    const size_t columns = size_t{attributes.width} * attributes.labels;
    Matrix y{starts.rows, columns, std::vector<double>(starts.rows * columns)};
    std::vector<size_t> words, given;
    for (size_t row = 0; row < starts.rows; ++row) {
      if (mark(row) == 1) given.push_back(row);
      if (mark(row) == 2) words.push_back(row);
    }
    for (size_t first = 0; first < words.size(); ++first) {
      for (size_t last = first; last < words.size() && last < first + attributes.width; ++last) {
        for (size_t label = 0; label < given.size() && label < attributes.labels; ++label) {
          double& score = y.at(words[first], (last - first) * attributes.labels + label);
          for (size_t k = 0; k < starts.width; ++k) {
            score += std::max(starts.at(words[first], k) + ends.at(words[last], k), 0.0) * labels.at(given[label], k);
          }
        }
      }
    }
    tensors_[op.outputs.at(0)] = std::move(y);
  }

  bool is_member(const fb::RecurrentT& layer, int32_t members, size_t row) const {
    if (layer.mark != 0 && mark(row) != layer.mark) return false;
    const auto before = ids_.begin() + static_cast<std::ptrdiff_t>(row);
    if (layer.after >= 0 && std::find(ids_.begin(), before, layer.after) == before) return false;
    const auto id = static_cast<uint32_t>(ids_.at(row));
    if (members < 0) return true;
    const auto& words = graph_.constants.at(static_cast<size_t>(members))->numbers;
    return (static_cast<uint32_t>(words.at(id / 32)) >> id % 32 & 1U) != 0;
  }

  /// LSTM and GRU as PyTorch defines them, SSRU as in its paper, row by row; ids are one sequence.
  void recurrent(const fb::OpT& op) {
    const fb::RecurrentT& layer = *op.attributes.AsRecurrent();
    const auto input = [&](size_t at) { return at < op.inputs.size() ? op.inputs[at] : -1; };
    const Matrix& x = tensors_.at(op.inputs.at(0));
    const bool lstm = layer.cell == fb::Cell::lstm, both = layer.direction == fb::Direction::both;
    const bool ssru = layer.cell == fb::Cell::ssru;
    const size_t directions = both ? 2 : 1;
    const size_t state = ssru ? extent(op.outputs.at(0), 1) / directions : extent(op.inputs.at(1), 1);
    const size_t cells = input(3) < 0 ? state : extent(input(3), 1), block = (cells + 15) / 16 * 16;
    const size_t gates = (lstm ? 4 : ssru ? 2 : 3) * block;
    Matrix y{x.rows, directions * state, std::vector<double>(x.rows * directions * state)};
    Matrix last{1, directions * state, {}}, last_cells{1, directions * cells, {}};
    for (size_t d = 0; d < directions; ++d) {
      const auto begin = [&](size_t at, size_t width) {
        std::vector<double> values(width, 0.0);
        for (size_t i = 0; i < width && input(at) >= 0; ++i) values[i] = tensors_.at(input(at)).at(0, d * width + i);
        return values;
      };
      std::vector<double> h = begin(7, state), c = begin(8, cells);
      const bool reverse = d == 1 || layer.direction == fb::Direction::reverse;
      for (size_t step = 0; step < x.rows; ++step) {
        const size_t row = reverse ? x.rows - 1 - step : step;
        if (!is_member(layer, input(9), row)) continue;
        const std::vector<double> s =
            ssru ? std::vector<double>(gates) : product(input(1 + 3 * d), input(2 + 3 * d), h);
        std::vector<double> given;
        for (size_t i = 0; i < gates; ++i) given.push_back(x.at(row, d * gates + i));
        const std::vector<double> out = next_state(layer.cell, given, s, cells, h, &c);
        h = input(3) < 0 ? out : product(input(3 + 3 * d), -1, out);
        for (size_t i = 0; i < state; ++i) y.at(row, d * state + i) = h[i];
      }
      last.values.insert(last.values.end(), h.begin(), h.end());
      last_cells.values.insert(last_cells.values.end(), c.begin(), c.end());
    }
    tensors_[op.outputs.at(0)] = std::move(y);
    if (op.outputs.size() > 2) tensors_[op.outputs[2]] = std::move(last);
    if (op.outputs.size() > 3) tensors_[op.outputs[3]] = std::move(last_cells);
  }

  static std::vector<double> row_of(const Matrix& x, size_t row) {
    const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(row * x.width);
    return {begin, begin + static_cast<std::ptrdiff_t>(x.width)};
  }

  void recurrent_cell(const fb::OpT& op) {
    const fb::Cell cell = op.attributes.AsRecurrentCell()->cell;
    const Matrix &x = tensors_.at(op.inputs.at(0)), &s = tensors_.at(op.inputs.at(1)),
                 &before = tensors_.at(op.inputs.at(2));
    Matrix y{x.rows, before.width, {}}, cells{x.rows, before.width, {}};
    for (size_t row = 0; row < x.rows; ++row) {
      std::vector<double> c = row_of(before, row);
      const std::vector<double> h = next_state(cell, row_of(x, row), row_of(s, row), before.width, c, &c);
      y.values.insert(y.values.end(), h.begin(), h.end());
      cells.values.insert(cells.values.end(), c.begin(), c.end());
    }
    tensors_[op.outputs.at(0)] = std::move(y);
    if (op.outputs.size() > 2) tensors_[op.outputs[2]] = std::move(cells);
  }

  /// Returns the row of the previous token, as far as it is known.
  Matrix previous(const fb::OpT& op) const {
    const size_t width = extent(op.outputs.at(0), 1);
    Matrix y{ids_.size(), width, std::vector<double>(ids_.size() * width)};
    const auto x = tensors_.find(op.inputs.at(0));
    for (size_t i = 0; i < width; ++i) {
      if (op.inputs.at(1) >= 0) y.at(0, i) = tensors_.at(op.inputs[1]).at(0, i);
      for (size_t row = 1; row < y.rows && x != tensors_.end(); ++row) y.at(row, i) = x->second.at(row - 1, i);
    }
    return y;
  }

  /// Returns the rows that a chain includes.
  std::vector<size_t> members(const fb::OpT& op) const {
    const fb::CrfT& crf = *op.attributes.AsCrf();
    std::vector<size_t> rows;
    for (size_t row = 0; row < ids_.size(); ++row) {
      if (row < crf.skip_first || ids_.size() - row <= crf.skip_last) continue;
      const auto id = static_cast<size_t>(ids_[row]);
      if (op.inputs.at(2) >= 0) {
        const auto& words = graph_.constants.at(static_cast<size_t>(op.inputs[2]))->numbers;
        if ((static_cast<uint32_t>(words.at(id / 32)) >> id % 32 & 1U) == 0) continue;
      }
      rows.push_back(row);
    }
    return rows;
  }

  Matrix embed(const fb::OpT& op) const {
    const fb::EmbedT& attributes = *op.attributes.AsEmbed();
    const size_t width = extent(convert::tables_of(op).at(0), 1);
    Matrix y{ids_.size(), width, std::vector<double>(ids_.size() * width)};
    for (const auto& table : attributes.tables) {
      const std::vector<float>& values = constant(convert::named_input(op, table->tensor));
      for (size_t row = 0; row < y.rows; ++row) {
        int32_t index = ids_[row];
        if (table->source == fb::IndexSource::segments) index = segments_.empty() ? 0 : segments_[row];
        if (table->source == fb::IndexSource::positions) index = static_cast<int32_t>(row);
        if (table->source == fb::IndexSource::zero) index = 0;
        if (table->source == fb::IndexSource::marks) index = static_cast<int32_t>(mark(row));
        if (table->source == fb::IndexSource::marked) index = mark(row) != 0 || row == 0 ? 1 : 0;
        if (table->source == fb::IndexSource::part) {
          index += table->offset;
          if (index < 0 || static_cast<size_t>(index) >= values.size() / width) continue;
        }
        const bool next = table->source == fb::IndexSource::next;
        if (next || table->source == fb::IndexSource::previous) {
          const bool none = row == (next ? y.rows - 1 : 0);
          index = none ? static_cast<int32_t>(graph_.model.inputs.at(0)->limit) : ids_[next ? row + 1 : row - 1];
        }
        for (size_t i = 0; i < width; ++i) {
          y.at(row, i) += static_cast<double>(table->scale) *
                          static_cast<double>(values.at(static_cast<size_t>(index) * width + i));
        }
      }
    }
    return y;
  }

  Matrix linear(const fb::OpT& op) const {
    const Matrix& x = tensors_.at(op.inputs.at(0));
    const std::vector<float>& weight = constant(op.inputs.at(1));
    const size_t width = extent(op.inputs.at(1), 0);
    Matrix y{x.rows, width, std::vector<double>(x.rows * width)};
    for (size_t row = 0; row < x.rows; ++row) {
      for (size_t n = 0; n < width; ++n) {
        double sum = op.inputs.at(2) < 0 ? 0.0 : static_cast<double>(constant(op.inputs[2])[n]);
        for (size_t k = 0; k < x.width; ++k) sum += x.at(row, k) * static_cast<double>(weight[n * x.width + k]);
        y.at(row, n) = sum;
      }
    }
    return y;
  }

  void split(const fb::OpT& op) {
    const Matrix& x = tensors_.at(op.inputs.at(0));
    const fb::SplitHeadsT& heads = *op.attributes.AsSplitHeads();
    size_t begin = 0;
    for (size_t part = 0; part < 3; ++part) {
      const size_t width = size_t{part == 0 ? heads.heads : heads.kv_heads} * heads.head_width;
      if (op.outputs.at(part) < 0) continue;
      tensors_[op.outputs.at(part)] = columns(x, begin, width);
      begin += width;
    }
    for (size_t part = 0; part < 2; ++part) {
      Matrix& rows = tensors_[op.outputs.at(part)];
      const auto norm = [&] { norm_rows(rows, convert::named_input(op, heads.norms), 2 * part, heads); };
      if (heads.norms >= 0 && !heads.norms_behind) norm();
      if (heads.rotary >= 0) rotate(rows, convert::named_input(op, heads.rotary), heads);
      if (heads.norms_behind) norm();
    }
  }

  /// Normalizes all heads of a row together, or each head, with rows `first` (gamma) and `first` + 1 (beta) of a table.
  void norm_rows(Matrix& x, int32_t table, size_t first, const fb::SplitHeadsT& heads) const {
    const float* gamma = constant(table).data() + first * extent(table, 1);
    const float* beta = gamma + extent(table, 1);
    const size_t part = heads.each_head ? heads.head_width : x.width;
    const bool rms = heads.norm == fb::NormKind::rms;
    const auto width = static_cast<double>(part);
    for (size_t begin = 0; begin < x.values.size(); begin += part) {
      double* values = x.values.data() + begin;
      double mean = 0, square = 0;
      for (size_t i = 0; i < part && !rms; ++i) mean += values[i] / width;
      for (size_t i = 0; i < part; ++i) square += (values[i] - mean) * (values[i] - mean) / width;
      for (size_t i = 0; i < part; ++i) {
        const double unit = (values[i] - mean) / std::sqrt(square + static_cast<double>(heads.epsilon));
        values[i] = unit * static_cast<double>(gamma[i]) + (rms ? 0.0 : static_cast<double>(beta[i]));
      }
    }
  }

  /// Rotates the points (i, half + i) of each head as complex numbers.
  void rotate(Matrix& x, int32_t table, const fb::SplitHeadsT& heads) const {
    const size_t half = extent(table, 1) / 2;
    for (size_t row = 0; row < x.rows; ++row) {
      for (size_t head = 0; head < x.width / heads.head_width; ++head) {
        for (size_t i = 0; i < half; ++i) {
          const float* angle = constant(table).data() + row * 2 * half + i;
          const std::complex<double> turn(static_cast<double>(angle[0]), static_cast<double>(angle[half]));
          double& real = x.at(row, head * heads.head_width + i);
          double& imaginary = x.at(row, head * heads.head_width + half + i);
          const std::complex<double> turned = std::complex<double>(real, imaginary) * turn;
          real = turned.real();
          imaginary = turned.imag();
        }
      }
    }
  }

  /// Returns the bias of the score of a key `distance` positions behind its query; minus infinity if the key is masked.
  double bias(const fb::OpT& op, const fb::AttentionT& attributes, size_t head, int64_t distance) const {
    const bool causal = attributes.mask == fb::MaskKind::causal || attributes.mask == fb::MaskKind::causal_window;
    const bool window = attributes.mask == fb::MaskKind::window || attributes.mask == fb::MaskKind::causal_window ||
                        attributes.mask == fb::MaskKind::window_fillers;
    if ((causal && distance > 0) || (window && std::abs(distance) > int64_t{attributes.window})) {
      return -std::numeric_limits<double>::infinity();
    }
    double sum = 0;
    if (attributes.distance_bias >= 0) {
      const int32_t table = convert::named_input(op, attributes.distance_bias);
      const auto most = static_cast<int64_t>(extent(table, 1) / 2);
      const int64_t element = std::clamp(distance, -most, most) + most;
      sum += static_cast<double>(constant(table)[head * extent(table, 1) + static_cast<size_t>(element)]);
    }
    if (attributes.slopes >= 0) {
      sum -= static_cast<double>(constant(convert::named_input(op, attributes.slopes))[head]) *
             static_cast<double>(std::abs(distance));
    }
    return sum;
  }

  size_t place_row(const fb::AttentionT& attributes, int32_t table, size_t head, size_t place) const {
    return attributes.shared_places ? place : head * (extent(table, 0) / attributes.heads) + place;
  }

  /// Returns true if this token is global.
  bool is_global(size_t token) const {
    const fb::GlobalsT& globals = *graph_.model.globals;
    if (globals.kind == fb::GlobalTokens::first) return token == 0;
    if (globals.kind == fb::GlobalTokens::marked) return mark(token) != 0;
    const auto found = std::find(ids_.begin(), ids_.end(), globals.separator);
    const auto separator = static_cast<size_t>(found - ids_.begin());
    if (globals.kind == fb::GlobalTokens::none || found == ids_.end()) return false;
    return globals.kind == fb::GlobalTokens::before ? token < separator : token > separator + 1;
  }

  /// Returns how often a query sees a key in a mask of globals or blocks; 1 for other masks.
  size_t times_seen(const fb::OpT& op, const fb::AttentionT& a, size_t head, size_t query, size_t key) const {
    if (a.mask == fb::MaskKind::of_globals) return is_global(query) ? 1 : 0;
    if (a.mask == fb::MaskKind::globals) {
      const size_t distance = query > key ? query - key : key - query;
      const bool near = distance <= size_t{a.window} * a.dilation && distance % a.dilation == 0;
      return !is_global(query) && (near || is_global(key)) ? 1 : 0;
    }
    if (a.mask != fb::MaskKind::blocks || ids_.size() <= a.full_until) return 1;
    const size_t own = query / a.block, other = key / a.block, last = (ids_.size() - 1) / a.block;
    if (own == 0 || own == last) return 1;
    size_t times = other == 0 || other == last || (other + 1 >= own && other <= own + 1) ? 1 : 0;
    if (a.random == 0) return times;
    const std::vector<int32_t>& list =
        graph_.constants[static_cast<size_t>(convert::named_input(op, a.random_blocks))]->numbers;
    const size_t blocks = (graph_.model.max_sequence + a.block - 1) / a.block;
    const size_t row = list.size() == blocks * a.random ? own : head * blocks + own;
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(row * a.random);
    times += static_cast<size_t>(std::count(first, first + a.random, static_cast<int32_t>(other)));
    return times;
  }

  /// Returns true if this token is one of the trailing fillers.
  bool fills(const fb::AttentionT& attributes, size_t key) const {
    if (attributes.filler < 0 || key == 0) return false;
    return std::all_of(ids_.begin() + static_cast<std::ptrdiff_t>(key), ids_.end(),
                       [&](int32_t id) { return id == attributes.filler; });
  }

  /// Returns true if this token and all tokens before it belong to the first segment.
  bool in_prefix(size_t key) const {
    return segments_.empty() || std::all_of(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(key) + 1,
                                            [](int32_t segment) { return segment == 0; });
  }

  Matrix attention(const fb::OpT& op, const fb::AttentionT& attributes) const {
    const Matrix& q = tensors_.at(op.inputs.at(0));
    const bool retrieves = attributes.cross && graph_.model.chunk != 0;
    Matrix y{q.rows, q.width, std::vector<double>(q.values.size())};
    for (size_t head = 0; head < attributes.heads; ++head) {
      const size_t begin = head * attributes.head_width, end = begin + attributes.head_width;
      // Several heads share keys and values, whose columns begin this many columns before the head's own.
      const size_t shared = begin - head / (attributes.heads / attributes.kv_heads) * attributes.head_width;
      for (size_t row = 0; row < q.rows; ++row) {
        if (retrieves && source_of(row) == nullptr) continue;
        const std::map<int32_t, Matrix>& tensors = retrieves ? source_of(row)->tensors : tensors_;
        const std::vector<int32_t>& segments = retrieves ? source_of(row)->segments : segments_;
        const Matrix &k = tensors.at(op.inputs.at(1)), &v = tensors.at(op.inputs.at(2));
        std::vector<double> score(k.rows);
        for (size_t key = 0; key < k.rows; ++key) {
          for (size_t i = begin; i < end; ++i) score[key] += q.at(row, i) * k.at(key, i - shared);
          score[key] *= static_cast<double>(attributes.scale);
          int64_t distance = static_cast<int64_t>(key) - static_cast<int64_t>(row);
          bool hidden = attributes.mask == fb::MaskKind::segments && !same_run(segments, row, key);
          if (attributes.mask == fb::MaskKind::first_segment) {
            hidden = segments.front() != 0 || segments[key] != 0 || !same_run(segments, 0, key);
            distance = static_cast<int64_t>(key) - place_in_run(segments, row);
          }
          if (retrieves) {
            const auto chunk = static_cast<int64_t>(graph_.model.chunk), at = static_cast<int64_t>(row) + 1;
            hidden = segments[key] == 0;
            distance = place_in_run(segments, key) - (at % chunk + chunk - 1);
          }
          if (hidden) score[key] = -std::numeric_limits<double>::infinity();
          score[key] += bias(op, attributes, head, distance);
          if (attributes.mask == fb::MaskKind::marked && key != 0 && mark(key) == 0) score[key] -= 10000;
          const bool behind = attributes.mask == fb::MaskKind::prefix && distance > 0 && !in_prefix(key);
          if (behind || fills(attributes, key)) score[key] = -std::numeric_limits<double>::infinity();
          score[key] += std::log(static_cast<double>(times_seen(op, attributes, head, row, key)));
          if (attributes.segment_keys >= 0 && !segments_.empty() && segments_[row] != segments_[key]) {
            const float* keys =
                constant(convert::named_input(op, attributes.segment_keys)).data() + head * (attributes.head_width + 1);
            score[key] += static_cast<double>(keys[attributes.head_width]);
            for (size_t i = begin; i < end; ++i) score[key] += q.at(row, i) * static_cast<double>(keys[i - begin]);
          }
          if (attributes.place_rows < 0) continue;
          const int32_t places = convert::named_input(op, attributes.place_rows);
          const auto most = static_cast<int64_t>(extent(places, 0) / 2);
          const auto place =
              static_cast<size_t>(constant(places)[static_cast<size_t>(std::clamp(distance, -most, most) + most)]);
          const size_t width = attributes.head_width;
          for (size_t i = 0; i < width; ++i) {
            if (attributes.place_keys >= 0) {
              const int32_t keys = convert::named_input(op, attributes.place_keys);
              score[key] += q.at(row, begin + i) *
                            static_cast<double>(constant(keys)[place_row(attributes, keys, head, place) * width + i]);
            }
            if (attributes.place_queries >= 0) {
              const int32_t queries = convert::named_input(op, attributes.place_queries);
              score[key] +=
                  k.at(key, begin - shared + i) *
                  static_cast<double>(constant(queries)[place_row(attributes, queries, head, place) * width + i]);
            }
          }
        }
        const auto cap = static_cast<double>(attributes.soft_cap);
        for (double& value : score) value = cap > 0 && !std::isinf(value) ? cap * std::tanh(value / cap) : value;
        const double best = *std::max_element(score.begin(), score.end());
        if (std::isinf(best)) continue;  // no key is visible
        double sum = 0;
        if (attributes.sinks >= 0) {
          sum = std::exp(static_cast<double>(constant(convert::named_input(op, attributes.sinks))[head]) - best);
        }
        for (double& value : score) sum += value = std::exp(value - best);
        for (size_t key = 0; key < k.rows; ++key) {
          for (size_t i = begin; i < end; ++i) y.at(row, i) += score[key] / sum * v.at(key, i - shared);
        }
      }
    }
    return y;
  }

  /// Attends from all queries to all keys: the definition that the sums are derived from.
  Matrix linear_attention(const fb::OpT& op, const fb::LinearAttentionT& attributes) const {
    const fb::OpT& sums = *sums_.at(op.inputs.at(1));
    const Matrix &q = tensors_.at(op.inputs.at(0)), &both = tensors_.at(sums.inputs.at(0));
    const SummedAttention by{attributes.kind, attributes.heads, attributes.features, double{attributes.epsilon}};
    const Matrix k = columns(both, 0, q.width), v = columns(both, q.width, q.width);
    if (attributes.kind == fb::FeatureKind::places) {
      const auto matrix = [&](int32_t t) {
        const std::vector<float>& values = constant(t);
        return Matrix{extent(t, 0), extent(t, 1), {values.begin(), values.end()}};
      };
      const Matrix e = matrix(sums.inputs.at(1));
      return attend_by_places(by, q, k, v, e, sums.inputs.at(2) < 0 ? e : matrix(sums.inputs[2]));
    }
    return attend_by_features(by, q, k, v, constant(sums.inputs.at(1)));
  }

  void finish(Matrix& y, const convert::EpilogueSpec& epilogue) const {
    for (double& value : y.values) value = activate(epilogue.activation, value);
    if (epilogue.gate >= 0) {
      const Matrix& gate = tensors_.at(epilogue.gate);
      for (size_t i = 0; i < y.values.size(); ++i) y.values[i] *= gate.values[i];
    }
    if (epilogue.residual >= 0) {
      const Matrix& residual = tensors_.at(epilogue.residual);
      for (size_t i = 0; i < y.values.size(); ++i) y.values[i] += residual.values[i];
    }
    if (epilogue.norm == fb::NormKind::none) return;
    const auto width = static_cast<double>(y.width);
    for (size_t row = 0; row < y.rows; ++row) {
      double mean = 0, square = 0;
      if (epilogue.norm == fb::NormKind::affine) {
        for (size_t i = 0; i < y.width; ++i) {
          const double beta = epilogue.beta < 0 ? 0.0 : static_cast<double>(constant(epilogue.beta)[i]);
          y.at(row, i) = y.at(row, i) * static_cast<double>(constant(epilogue.gamma)[i]) + beta;
        }
        continue;
      }
      if (epilogue.norm == fb::NormKind::layer) {
        for (size_t i = 0; i < y.width; ++i) mean += y.at(row, i) / width;
      }
      for (size_t i = 0; i < y.width; ++i) square += (y.at(row, i) - mean) * (y.at(row, i) - mean) / width;
      for (size_t i = 0; i < y.width; ++i) {
        double value = (y.at(row, i) - mean) / std::sqrt(square + static_cast<double>(epilogue.epsilon));
        if (epilogue.gamma >= 0) value *= static_cast<double>(constant(epilogue.gamma)[i]);
        if (epilogue.beta >= 0) value += static_cast<double>(constant(epilogue.beta)[i]);
        y.at(row, i) = value;
      }
    }
  }

  const convert::Graph& graph_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> segments_;
  const std::vector<int32_t>& marks_;
  std::map<int32_t, Matrix> tensors_;
  Matrix features_;
  struct Encoded {
    std::map<int32_t, Matrix> tensors;
    std::vector<int32_t> segments;
  };
  std::vector<Encoded> encoded_;            // of each chunk
  std::map<int32_t, const fb::OpT*> sums_;  // by the tensor that they write
};

}  // namespace

std::map<std::string, Matrix> evaluate(const convert::Graph& graph, const std::vector<int32_t>& ids,
                                       const std::vector<int32_t>& segments, const std::vector<int32_t>& decoder_ids,
                                       const std::vector<int32_t>& marks, const Retrieved& retrieved) {
  return Evaluator(graph, ids, segments, marks).run(decoder_ids, retrieved);
}

}  // namespace bantam::golden
