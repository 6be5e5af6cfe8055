// with_helium_rows: a finished file for processors with Helium.
#ifndef BANTAM_CONVERTER_PACK_HELIUM_H_
#define BANTAM_CONVERTER_PACK_HELIUM_H_

#include "format/file.h"

namespace bantam::convert {

struct HeliumOptions {
  uint32_t tokens = 4;               // that layers compute at a time
  bool keep_sparse = false;          // whatever the time
  uint64_t most_bytes = UINT64_MAX;  // that zeros may make the file have
};

struct HeliumFile {
  FileBytes bytes;
  /// Layers that were stored without their zeros: with them now, which is faster; still without, which is faster; still
  /// without though that is slower, because of keep_sparse or most_bytes.
  uint32_t expanded = 0;
  uint32_t sparse = 0;
  uint32_t slower = 0;
  /// By which `expanded` made the file larger, and `slower` would.
  int64_t expanded_bytes = 0;
  int64_t slower_bytes = 0;
};

/// The file with its int8 linear weights, also those of static quantization, in rows (layout k16n1) rather than in
/// tiles (tile_k4n16), and with the zeros of sparse ones where that is faster (helium_costs of prune/costs.h) and fits: the same
/// values, scales and sums, the same bits of every result, a few bytes more where K is no multiple of 16. Every build executes
/// the result; it is fast on Cortex-M55 and slow elsewhere. A file without such weights comes back as it is. Throws Error as
/// rewrite_file does.
HeliumFile with_helium_rows(const uint8_t* bytes, size_t size, const HeliumOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_HELIUM_H_
