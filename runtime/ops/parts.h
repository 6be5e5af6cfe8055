// Runs one operator on several threads: each computes some of a layer's columns, or some of the heads, for all rows.
#ifndef BANTAM_OPS_PARTS_H_
#define BANTAM_OPS_PARTS_H_

#include "format/view.h"
#include "ops/ops.h"

namespace bantam::ops {

/// Moves sparse weights to panel `panel`; returns false if the weights are not sparse. A template, because `sparse` has
/// no members to set if sparse weights are not linked.
template <class Layer>
bool move_sparse(Layer* layer, uint32_t panel) {
  if constexpr (linked::kSparse) {
    if (layer->sparse.ends == nullptr) return false;
    layer->sparse = kernels::blocks_from(layer->sparse, panel * 16);
    return true;
  }
  return false;
}

/// Returns columns [16 panel, 16 (panel + panels)) of a layer. For sparse weights `panel` must begin a span
/// (kPanelsTogether).
inline kernels::LinearQ8 part_of(kernels::LinearQ8 layer, uint32_t panel, uint32_t panels) {
  const size_t first = size_t{panel} * 16;
  if (layer.factors != nullptr) {
    layer.w += first * (kernels::pad8(layer.k) / 2);
    layer.factors += first * kernels::int4_groups(layer.k, layer.group);
  } else if (linked::kTernary && layer.ternary) {
    layer.w += first * (kernels::pad16(layer.k) / 4);
  } else if (!move_sparse(&layer, panel)) {
    layer.w += first * layer.k;
  }
  layer.w_scale += first;
  layer.w_sum += first;
  if (layer.bias != nullptr) layer.bias += first;
  layer.y += first;
  layer.n = panels * 16;
  return layer;
}
inline kernels::LinearF32 part_of(kernels::LinearF32 layer, uint32_t panel, uint32_t panels) {
  const size_t first = size_t{panel} * 16;
  const size_t bytes = layer.w_type == kernels::Element::kF16 ? 2 : 4;
  layer.w = static_cast<const uint8_t*>(layer.w) + first * layer.k * bytes;
  if (layer.bias != nullptr) layer.bias += first;
  layer.y += first;
  layer.n = panels * 16;
  return layer;
}

#if BANTAM_IF_LINKED(Static)
inline kernels::StaticLinear part_of(kernels::StaticLinear layer, uint32_t panel, uint32_t panels) {
  const size_t first = size_t{panel} * 16;
  if (!move_sparse(&layer, panel)) layer.w += first * layer.k;
  layer.w_sum += first;
  if (layer.requantise.bias != nullptr) layer.requantise.bias += first;
  if (layer.y_f32 != nullptr) {
    layer.scale += first;
    layer.y_f32 += first;
  } else {
    layer.requantise.multiplier += first;
    if (layer.y16 != nullptr) {
      layer.y16 += first;
    } else {
      layer.y8 += first;
    }
  }
  layer.n = panels * 16;
  return layer;
}
#endif

/// Smaller weights are not distributed: one thread reads them in less time than a hand-over takes.
constexpr uint64_t kLeastShared = 128 << 10;
/// More parts gain little, and each needs its own result.
constexpr uint32_t kMostParts = 16;
/// Panels that kernels process together: the panels of a part are a multiple of it.
constexpr uint32_t kPanelsTogether = 4;
static_assert(kPanelsTogether * 16 % kernels::kSparseSpan == 0, "groups of sparse weights are sorted within a span");

/// Runs task(part) for each part below `parts` (at most kMostParts) on the available threads. Returns false if a task
/// returned false. Clears *all_run unless `helpers` ran each part exactly once.
template <class Task>
bool run_by_parts(const Helpers& helpers, uint32_t parts, const Task& task, bool* all_run) {
  struct All {
    const Task& task;
    bool good[kMostParts];
  } all = {task, {}};
  const auto run = [](void* arg, uint32_t part) {
    All& own = *static_cast<All*>(arg);
    own.good[part] = own.task(part);
  };
  *all_run &= helpers.run(helpers.session, parts, run, &all);
  bool good = true;
  for (uint32_t part = 0; part < parts; ++part) good &= all.good[part];
  return good;
}

/// Number of `helpers` to use for work of at most `most` pieces.
inline uint32_t parts_of(const Helpers& helpers, uint32_t most) {
  const uint32_t parts = helpers.parts < kMostParts ? helpers.parts : kMostParts;
  return parts < most ? parts : most;
}

/// Returns true if a layer's columns can be computed separately: the weights of each column begin at a known offset.
inline bool has_parts(const fb::Tensor& weights) {
  return weights.layout() != fb::Layout::bitmask_k4n16 && weights.layout() != fb::Layout::k16n1;
}

/// Returns the part's own memory for the maxima of its rows.
inline int32_t* measured_rows(const kernels::LinearQ8& layer, size_t stride, uint32_t part) {
  return reinterpret_cast<int32_t*>(reinterpret_cast<uint8_t*>(layer.row_maximum) + part * stride);
}
inline void keep_apart(kernels::LinearQ8* layer, size_t stride, uint32_t part) {
  if (layer->row_maximum != nullptr) layer->row_maximum = measured_rows(*layer, stride, part);
  layer->scratch += part * stride;
}
inline void keep_apart(kernels::LinearF32*, size_t, uint32_t) {}
template <class Layer>
void keep_apart(Layer* layer, size_t stride, uint32_t part) {
  if constexpr (linked::kSparse) {
    if (layer->sparse.ends != nullptr) layer->scratch += part * stride;
  }
}

/// Merges the maxima of all parts into those of the first. O(parts * rows).
inline void gather(const kernels::LinearQ8& layer, size_t stride, uint32_t parts) {
  for (uint32_t part = 1; part < parts && layer.row_maximum != nullptr; ++part) {
    const int32_t* other = measured_rows(layer, stride, part);
    for (uint32_t i = 0; i < layer.rows * 16; ++i) {
      layer.row_maximum[i] = other[i] > layer.row_maximum[i] ? other[i] : layer.row_maximum[i];
    }
  }
}
inline void gather(const kernels::LinearF32&, size_t, uint32_t) {}
inline void gather(const kernels::StaticLinear&, size_t, uint32_t) {}

/// Number of a layer's `panels` that precede those of part `part` of `parts`.
inline uint32_t first_panel(uint32_t panels, uint32_t part, uint32_t parts) {
  const uint32_t groups = (panels + kPanelsTogether - 1) / kPanelsTogether;
  const uint32_t at = groups * part / parts * kPanelsTogether;
  return at < panels ? at : panels;
}

/// Runs kernel(layer) on as many threads as there are columns for. The result equals that of one call bit by bit,
/// because columns are independent. Clears *all_run unless `helpers` ran each part exactly once.
template <class Kernel, class Layer>
bool multiply_parts(const Helpers& helpers, const Kernel& kernel, const Layer& layer, bool* all_run) {
  const uint32_t panels = layer.n / 16;
  const uint32_t parts = parts_of(helpers, panels / kPanelsTogether);
  if (parts < 2 || uint64_t{layer.n} * layer.k < kLeastShared) return kernel(layer);
  const auto columns = [&](uint32_t part) {
    const uint32_t first = first_panel(panels, part, parts);
    Layer own = part_of(layer, first, first_panel(panels, part + 1, parts) - first);
    keep_apart(&own, helpers.stride, part);
    return kernel(own);
  };
  const bool finite = run_by_parts(helpers, parts, columns, all_run);
  gather(layer, helpers.stride, parts);
  return finite;
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_PARTS_H_
