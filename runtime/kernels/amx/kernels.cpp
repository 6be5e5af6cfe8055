// AMX: products of several rows use tiles; everything else is AVX-512's.
#define BANTAM_KERNEL_NAMESPACE amx
#define BANTAM_KERNEL_ISA kAmx

#include "kernels/avx512/dot.h"
// The products with tiles, after the vectors.
#include "kernels/amx/linear.h"
#include "kernels/generic/unpack.h"
#include "kernels/tables.h"
#include "linked.h"

namespace bantam::kernels::amx {
namespace {

/// With fewer rows a layer waits for its weights, which arrive faster by cache line than by tile.
constexpr uint32_t kLeastRows = 12;
/// Weights arrive from memory more slowly than tiles multiply: read them once for as many rows as possible.
constexpr uint8_t kLinearRows = 128;

/// Unpacks one panel at a time to int8.
bool linear_unpacked(const LinearQ8& a) {
  LinearQ8 one = a;
  one.w = a.scratch;
  one.n = 16;
  one.factors = nullptr;
  one.ternary = false;
  one.masks = nullptr;
  bool finite = true;
  Unpacker unpacker(a);
  for (uint32_t panel = 0; panel < a.n / 16; ++panel) {
    unpacker.take(panel, 0, a.k, a.scratch);
    finite &= TiledLinear(one).run();
    one.w_scale += 16;
    one.w_sum += 16;
    one.y += 16;
    if (one.bias != nullptr) one.bias += 16;
  }
  return finite;
}

bool linear_q8(const LinearQ8& a) {
  if (a.rows < kLeastRows || a.k16 || a.sparse.ends != nullptr) return avx512::shared::linear_q8(a);
  if (a.row_maximum != nullptr) memset(a.row_maximum, 0, a.rows * 16 * sizeof(int32_t));
  return Unpacker::wanted(a) ? linear_unpacked(a) : TiledLinear(a).run();
}

bool static_linear(const StaticLinear& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.rows < kLeastRows || a.k16 || a.sparse.ends != nullptr) return avx512::shared::static_linear(a);
  return TiledLinear(a).run();
}

}  // namespace

/// The kernels of the table: AVX-512's, except this instruction set's own.
namespace others {
using namespace avx512::shared;  // NOLINT(google-build-using-namespace): the rows of kernels.inc
using amx::linear_q8;
using amx::static_linear;
}  // namespace others

}  // namespace bantam::kernels::amx

// The table of these kernels and AVX-512's.
#include "kernels/generic/table_of_others.h"
