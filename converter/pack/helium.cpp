#include "pack/helium.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "format/header.h"
#include "format/rewrite.h"
#include "format/stored_matrix.h"
#include "format/view.h"
#include "format/weight_codec.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "prune/costs.h"

namespace bantam::convert {
namespace {

/// Offset and size of a blob, which several tensors may share.
using Range = std::pair<uint64_t, uint64_t>;
Range place_of(const fb::Tensor& t) { return {t.data()->offset(), t.data()->size()}; }

bool without_zeros(const fb::Tensor& t) { return sparse_weights(t) || bitmask_weights(t); }

/// Changes the layout of weights for which wanted(tensor) is true to rows.
template <class Wanted>
void lay_in_rows(FileEditor& editor, const Wanted& wanted) {
  std::set<Range> done;
  auto& tensors = editor.model().tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const fb::Tensor& t = bantam::tensor(root(editor.original()), static_cast<int32_t>(i));
    if (!wanted(t)) continue;
    tensors[i]->layout = fb::Layout::k16n1;
    if (!done.insert(place_of(t)).second) continue;
    const std::vector<int8_t> integers = stored_integers(editor.original(), t);
    editor.bytes(tensors[i]->data.get()) =
        weight_codec(fb::Layout::k16n1).encode(integers.data(), extent(t, 0), extent(t, 1));
  }
}

/// Sparse weights, and the smallest number of tokens at a time in layers that read them.
struct SparseWeights {
  const fb::Tensor* tensor = nullptr;
  uint32_t tokens = 0;

  /// Returns true if the weights are slower than in rows.
  bool slower() const {
    if (bitmask_weights(*tensor)) return true;
    const uint32_t padded = kernels::pad16(extent(*tensor, 0));
    const uint64_t blocks = uint64_t{padded} * (kernels::pad4(bantam::width(*tensor)) / 4);
    const auto stored = static_cast<double>(sparse_steps(*tensor, padded) * 4);
    return 1 - stored / static_cast<double>(blocks) <= least_zero_blocks_helium(tokens, bantam::width(*tensor));
  }

  /// The number of bytes by which the file grows if these weights are stored in rows.
  int64_t growth() const {
    const uint64_t rows = uint64_t{kernels::pad16(extent(*tensor, 0))} * kernels::pad16(bantam::width(*tensor));
    return static_cast<int64_t>(round_up(rows, kFileAlignment)) -
           static_cast<int64_t>(round_up(tensor->data()->size(), kFileAlignment));
  }
};

std::map<Range, SparseWeights> find_sparse(const fb::Model& model, uint32_t tokens) {
  std::map<Range, SparseWeights> found;
  for (const fb::Step* step : *graph(model).steps()) {
    // Layers that run once per text (a pooled layer) have one row.
    const uint32_t rows = step->rows() == kTokens ? tokens : 1;
    for (uint32_t i = 0; i < step->op_count(); ++i) {
      const fb::Op& op = *graph(model).ops()->Get(step->first_op() + i);
      if (ops::executed_kind(op) != fb::OpAttributes::Linear) continue;
      const fb::Tensor& weights = bantam::tensor(model, operand(op.inputs(), 1));
      if (!without_zeros(weights)) continue;
      const auto at = found.try_emplace(place_of(weights), SparseWeights{&weights, rows}).first;
      at->second.tokens = std::min(at->second.tokens, rows);
    }
  }
  return found;
}

}  // namespace

HeliumFile with_helium_rows(const uint8_t* bytes, size_t size, const HeliumOptions& options) {
  const FileBytes dense = rewrite_file(bytes, size, [](FileEditor& editor) {
    lay_in_rows(editor, [](const fb::Tensor& t) { return t.layout() == fb::Layout::tile_k4n16; });
  });
  HeliumFile result;
  result.bytes = rewrite_file(dense.data(), dense.size(), [&](FileEditor& editor) {
    std::vector<SparseWeights> slower;
    for (const auto& [place, weights] : find_sparse(root(editor.original()), options.tokens)) {
      if (weights.slower()) slower.push_back(weights);
      result.sparse += weights.slower() ? 0u : 1u;
    }
    // Bitmasks gain most; then expand as many others as fit.
    std::stable_sort(slower.begin(), slower.end(), [](const SparseWeights& a, const SparseWeights& b) {
      return std::make_pair(!bitmask_weights(*a.tensor), a.growth()) <
             std::make_pair(!bitmask_weights(*b.tensor), b.growth());
    });
    std::set<Range> expanded;
    auto now = static_cast<int64_t>(dense.size());
    for (const SparseWeights& weights : slower) {
      const bool fits = static_cast<uint64_t>(now + weights.growth()) <= options.most_bytes;
      if (options.keep_sparse || !fits) {
        ++result.slower;
        result.slower_bytes += weights.growth();
      } else {
        now += weights.growth();
        expanded.insert(place_of(*weights.tensor));
      }
    }
    result.expanded = static_cast<uint32_t>(expanded.size());
    lay_in_rows(editor, [&](const fb::Tensor& t) { return without_zeros(t) && expanded.count(place_of(t)) != 0; });
  });
  result.expanded_bytes = static_cast<int64_t>(result.bytes.size()) - static_cast<int64_t>(dense.size());
  return result;
}

}  // namespace bantam::convert
