// with_helium_rows: a finished file for processors with Helium.
#ifndef BANTAM_CONVERTER_PACK_HELIUM_H_
#define BANTAM_CONVERTER_PACK_HELIUM_H_

#include "pack/file.h"

namespace bantam::convert {

/// The file with its int8 linear weights, also those of the integer-only form, in rows (layout k16n1) rather than in
/// tiles (tile_k4n16): the same values, scales and sums, the same bits of every result, a few bytes more where K is no
/// multiple of 16. Every build executes the result; it is fast on Cortex-M55 and slow elsewhere. A file without such
/// weights comes back as it is. Throws Error as rewrite_file does.
FileBytes with_helium_rows(const uint8_t* bytes, size_t size);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_HELIUM_H_
