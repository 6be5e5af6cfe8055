/* kleidiai_calls KERNEL ROWS INPUTS OUTPUTS CALLS: calls of one of KleidiAI's matrix products of int8 rows (dynamic
 * scales) and int8 weights (one scale per output), after all packing. Only for peers_instructions.py, which builds it with
 * KleidiAI's sources. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp1x4_qsi8cxp4x4_1x4_neon_dotprod.h"
#include "kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod.h"
#include "kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod.h"
#include "kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm.h"
#include "kai/ukernels/matmul/pack/kai_lhs_quant_pack_qai8dxp_f32.h"
#include "kai/ukernels/matmul/pack/kai_rhs_pack_nxk_qsi8cxp_qsi8cx_neon.h"

typedef size_t (*Number)(void);
typedef struct {
  const char* name;
  Number mr, nr, kr, sr;
  void (*run)(size_t, size_t, size_t, const void*, const void*, float*, size_t, size_t, float, float);
} Kernel;

#define KERNEL(name, long_name)                                                             \
  {                                                                                         \
    name, kai_get_mr_matmul_clamp_f32_##long_name, kai_get_nr_matmul_clamp_f32_##long_name, \
        kai_get_kr_matmul_clamp_f32_##long_name, kai_get_sr_matmul_clamp_f32_##long_name,   \
        kai_run_matmul_clamp_f32_##long_name                                                \
  }
static const Kernel kKernels[] = {
    KERNEL("dotprod-1x4", qai8dxp1x4_qsi8cxp4x4_1x4_neon_dotprod),
    KERNEL("dotprod-1x8", qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod),
    KERNEL("dotprod-16x4", qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod),
    KERNEL("i8mm-16x4", qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm),
};

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Kernel* kernel = NULL;
  for (size_t i = 0; i < sizeof kKernels / sizeof *kKernels; ++i) {
    if (strcmp(argv[1], kKernels[i].name) == 0) kernel = &kKernels[i];
  }
  if (kernel == NULL) return 2;
  const size_t m = strtoul(argv[2], NULL, 10), k = strtoul(argv[3], NULL, 10), n = strtoul(argv[4], NULL, 10);
  const size_t mr = kernel->mr(), nr = kernel->nr(), kr = kernel->kr(), sr = kernel->sr();
  float* rows = calloc(m * k, sizeof *rows);
  int8_t* weights = calloc(n * k, 1);
  float* scales = calloc(n, sizeof *scales);
  float* bias = calloc(n, sizeof *bias);
  for (size_t i = 0; i < m * k; ++i) rows[i] = (float)(i * 37 % 101) - 50;
  for (size_t i = 0; i < n * k; ++i) weights[i] = (int8_t)(i * 31 % 255 - 127);
  for (size_t i = 0; i < n; ++i) scales[i] = 0.01f;
  void* lhs = aligned_alloc(64, (kai_get_lhs_packed_size_lhs_quant_pack_qai8dxp_f32(m, k, mr, kr, sr) + 63) / 64 * 64);
  void* rhs =
      aligned_alloc(64, (kai_get_rhs_packed_size_rhs_pack_nxk_qsi8cxp_qsi8cx_neon(n, k, nr, kr, sr) + 63) / 64 * 64);
  float* y = calloc(m * n, sizeof *y);
  const struct kai_rhs_pack_qsi8cx_params params = {1, 1.0f};
  kai_run_lhs_quant_pack_qai8dxp_f32(m, k, mr, kr, sr, 0, rows, k * sizeof *rows, lhs);
  kai_run_rhs_pack_nxk_qsi8cxp_qsi8cx_neon(1, n, k, nr, kr, sr, weights, bias, scales, rhs, 0, &params);
  for (unsigned long call = strtoul(argv[5], NULL, 10); call != 0; --call) {
    kernel->run(m, n, k, lhs, rhs, y, n * sizeof *y, sizeof *y, -FLT_MAX, FLT_MAX);
  }
  /* The first value in exact arithmetic, except that rows are rounded to 8 bits. */
  double expected = 0;
  double most = 1;
  for (size_t i = 0; i < k; ++i) {
    expected += (double)rows[i] * weights[i] * 0.01;
    most += (rows[i] < 0 ? -rows[i] : rows[i]) * 0.01 * 127;
  }
  if (y[0] - expected > 0.01 * most || expected - y[0] > 0.01 * most) {
    fprintf(stderr, "%s: %f instead of %f\n", kernel->name, (double)y[0], expected);
    return 1;
  }
  return 0;
}
