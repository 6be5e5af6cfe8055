#include "bantam/host.h"

#if defined(BANTAM_HAS_XNNPACK)

#include <pthreadpool.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xnnpack.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "format/view.h"
#include "ops/ops.h"

namespace bantam::host {

namespace {

/// The key of a packed layer: offsets of its weights and its bias in the file, type, outputs, inputs.
using Source = std::tuple<uint64_t, uint64_t, fb::DType, uint32_t, uint32_t>;

}  // namespace

struct XnnpackBackend::Layers {
  std::map<Source, xnn_operator_t> packed;  // packed once, however many layers share the same weights
  std::vector<xnn_operator_t> operators;    // the packed operator of each Linear, in file order
  pthreadpool_t pool = nullptr;

  ~Layers() {
    for (const auto& layer : packed) {
      if (layer.second != nullptr) xnn_delete_operator(layer.second);
    }
    if (pool != nullptr) pthreadpool_destroy(pool);
  }
};

namespace {

/// f16 weights double in size as f32, and layers may share weights but not biases; an untrusted file may have thousands
/// of such layers.
constexpr uint64_t kMostCopies = 4;

constexpr size_t kHugePage = size_t{2} << 20;

/// Allocates XNNPACK's packed weights in huge pages: every pass reads all of them, and with 4 KiB pages that costs a
/// fifth of the time for a short text.
void* allocate_aligned(void*, size_t alignment, size_t size) {
  const size_t pages = (size + kHugePage / 2) / kHugePage;  // a remainder below half a huge page uses small pages
  const size_t unit = pages == 0 ? alignment : kHugePage;
  const uint64_t padded = round_up(size, unit);
  if (padded > PTRDIFF_MAX) return nullptr;
  void* block = std::aligned_alloc(unit, static_cast<size_t>(padded));
  // Only a hint: it also works without huge pages.
  if (block != nullptr && pages != 0) ::madvise(block, pages * kHugePage, MADV_HUGEPAGE);
  return block;
}

constexpr xnn_allocator kAllocator = {nullptr,
                                      [](void*, size_t size) { return std::malloc(size); },
                                      [](void*, void* block, size_t size) { return std::realloc(block, size); },
                                      [](void*, void* block) { std::free(block); },
                                      allocate_aligned,
                                      [](void*, void* block) { std::free(block); }};

float from_half(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t magnitude = half & 0x7FFFu;
  if (magnitude < 0x400u) {
    const float value = static_cast<float>(magnitude) / 16777216.0f;
    return sign != 0 ? -value : value;
  }
  const uint32_t exponent_and_fraction =
      magnitude >= 0x7C00u ? (magnitude << 13) + (224u << 23) : (magnitude << 13) + (112u << 23);
  const uint32_t bits = sign | exponent_and_fraction;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Converts [N/16][K][16] to [N][K].
std::vector<float> row_major(const fb::Tensor& w, const uint8_t* data) {
  const uint32_t n = extent(w, 0);
  const uint32_t k = extent(w, 1);
  const uint8_t* tiles = data + w.data()->offset();
  std::vector<float> rows(size_t{n} * k);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < k; ++j) {
      const size_t at = (size_t{i / 16} * k + j) * 16 + i % 16;
      float value = 0;
      if (w.type() == fb::DType::f16) {
        uint16_t half = 0;
        std::memcpy(&half, tiles + at * sizeof(half), sizeof(half));
        value = from_half(half);
      } else {
        std::memcpy(&value, tiles + at * sizeof(value), sizeof(value));
      }
      rows[size_t{i} * k + j] = value;
    }
  }
  return rows;
}

Source source_of(const fb::Model& model, const fb::Op& op) {
  const fb::Tensor& w = tensor(model, operand(op.inputs(), 1));
  const int32_t bias = operand(op.inputs(), 2);
  return {w.data()->offset(), bias < 0 ? UINT64_MAX : tensor(model, bias).data()->offset(), w.type(), extent(w, 0),
          extent(w, 1)};
}

bool create_operator(const fb::Model& model, const fb::Op& op, const uint8_t* data, xnn_operator_t* out) {
  const fb::Tensor& w = tensor(model, operand(op.inputs(), 1));
  const int32_t bias = operand(op.inputs(), 2);
  const float* bias_values =
      bias < 0 ? nullptr : reinterpret_cast<const float*>(data + tensor(model, bias).data()->offset());
  const uint32_t n = extent(w, 0);
  const uint32_t k = extent(w, 1);
  const std::vector<float> rows = row_major(w, data);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return xnn_create_fully_connected_nc_f32(k, n, kernels::pad16(k), kernels::pad16(n), rows.data(), bias_values,
                                           -kInfinity, kInfinity, 0, out) == xnn_status_success;
}

/// libcpuinfo, which XNNPACK uses, crashes if it cannot read these files.
bool knows_processors() {
#if defined(__linux__)
  for (const char* list : {"/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/present"}) {
    if (access(list, R_OK) != 0) return false;
  }
#endif
  return true;
}

}  // namespace

bool XnnpackBackend::available() { return true; }

XnnpackBackend::~XnnpackBackend() { delete layers_; }

Status XnnpackBackend::create(const Model& model, uint32_t threads) {
  if (!model.is_open() || layers_ != nullptr) return Status::kInvalidArgument;
  // The first initialization of XNNPACK in a process determines the allocator.
  if (!knows_processors() || xnn_initialize(&kAllocator) != xnn_status_success) return Status::kUnavailable;
  const fb::Model& m = root(model);
  auto* layers = new Layers;
  uint64_t packed_bytes = 0;
  for (const fb::Op* op : *graph(m).ops()) {
    if (ops::executed_kind(*op) != fb::OpAttributes::Linear) continue;
    const fb::Tensor& weights = tensor(m, operand(op->inputs(), 1));
    bool made = weights.layout() == fb::Layout::tile_n16;
    if (made) {
      xnn_operator_t& packed = layers->packed[source_of(m, *op)];
      if (packed == nullptr) {
        packed_bytes += uint64_t{extent(weights, 0)} * extent(weights, 1) * sizeof(float);
        made = packed_bytes <= kMostCopies * model.size() && create_operator(m, *op, model.data(), &packed);
      }
      layers->operators.push_back(packed);
    }
    if (!made) {
      delete layers;
      return Status::kUnavailable;
    }
  }
  if (threads > 1) layers->pool = pthreadpool_create(threads);  // null: one thread
  layers_ = layers;
  backend_.context = layers;
  backend_.linear = [](void* context, uint32_t op, const float* x, size_t, uint32_t rows, float* y, size_t) {
    const auto& all = *static_cast<const Layers*>(context);
    xnn_operator_t layer = all.operators[op];
    if (xnn_setup_fully_connected_nc_f32(layer, rows, x, y, all.pool) != xnn_status_success) return Status::kInternal;
    return xnn_run_operator(layer, all.pool) == xnn_status_success ? Status::kOk : Status::kInternal;
  };
  return Status::kOk;
}

}  // namespace bantam::host

#else

namespace bantam::host {

struct XnnpackBackend::Layers {};

bool XnnpackBackend::available() { return false; }
XnnpackBackend::~XnnpackBackend() = default;
Status XnnpackBackend::create(const Model&, uint32_t) { return Status::kUnavailable; }

}  // namespace bantam::host

#endif
