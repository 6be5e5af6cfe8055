// AVX-512 VNNI with VBMI, which looks up 64 bytes of a table at once: static layers with an activation. Everything else
// is AVX-512's.
#define BANTAM_KERNEL_NAMESPACE avx512vbmi
#define BANTAM_KERNEL_ISA kAvx512Vnni

#include "kernels/avx512/dot.h"
// Static layers, after the vectors.
#include "kernels/generic/static/static_linear.h"
#include "kernels/tables.h"

namespace bantam::kernels::avx512vbmi {
namespace {

/// The same number as in AVX-512's table.
constexpr uint8_t kLinearRows = 16;

bool with_table(const StaticLinear& a) {
  if (a.table == nullptr || a.k16 || a.sparse.ends != nullptr) return avx512::shared::static_linear(a);
  return static_linear_with(a);
}

}  // namespace

/// The kernels of the table: AVX-512's, except this instruction set's own.
namespace others {
using namespace avx512::shared;  // NOLINT(google-build-using-namespace): the rows of kernels.inc
constexpr auto static_linear = with_table;
}  // namespace others

}  // namespace bantam::kernels::avx512vbmi

// The table of these kernels and AVX-512's.
#include "kernels/generic/table_of_others.h"
