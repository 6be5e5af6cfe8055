// with_helium_rows: converts a finished file for processors with Helium.
#ifndef BANTAM_CONVERTER_PACK_HELIUM_H_
#define BANTAM_CONVERTER_PACK_HELIUM_H_

#include "format/file.h"

namespace bantam::convert {

struct HeliumOptions {
  uint32_t tokens = 4;               // number of tokens that layers compute at a time
  bool keep_sparse = false;          // keep sparse layouts even if they are slower
  uint64_t most_bytes = UINT64_MAX;  // maximum size of the file after expansion
};

struct HeliumFile {
  FileBytes bytes;
  /// Numbers of layers that were stored without zeros: `expanded` now have them, which is faster; `sparse` do not,
  /// which is faster; `slower` do not although that is slower, because of keep_sparse or most_bytes.
  uint32_t expanded = 0;
  uint32_t sparse = 0;
  uint32_t slower = 0;
  /// The bytes by which expansion enlarged the file, and by which it would have for `slower`.
  int64_t expanded_bytes = 0;
  int64_t slower_bytes = 0;
};

/// Returns the file with its int8 linear weights, also those of static quantization, in rows (layout k16n1) instead of
/// tiles (tile_k4n16), and with sparse weights expanded if that is faster (helium_costs of prune/costs.h) and fits.
/// Values, scales and sums are the same, and so are the bits of all results; the file grows by a few bytes if K is not
/// a multiple of 16. All builds can execute the result; it is fast on Cortex-M55 and slow elsewhere. A file without
/// such weights is returned unchanged. Throws Error as rewrite_file does.
HeliumFile with_helium_rows(const uint8_t* bytes, size_t size, const HeliumOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_HELIUM_H_
