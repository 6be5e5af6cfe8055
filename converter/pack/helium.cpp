#include "pack/helium.h"

#include <set>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "pack/rewrite.h"

namespace bantam::convert {
namespace {

/// Tiles [N/16][K/4][16][4] to rows [N][K], N padded to 16 and K to 4 and 16.
std::vector<uint8_t> rows_of_tiles(const std::vector<uint8_t>& tiles, uint32_t n, uint32_t k) {
  const size_t groups = kernels::pad4(k) / 4;
  const size_t width = kernels::pad16(k);
  std::vector<uint8_t> rows(kernels::pad16(n) * width, 0);
  for (size_t o = 0; o < kernels::pad16(n); ++o) {
    for (size_t i = 0; i < k; ++i) {
      rows[o * width + i] = tiles.at(((o / 16 * groups + i / 4) * 16 + o % 16) * 4 + i % 4);
    }
  }
  return rows;
}

}  // namespace

FileBytes with_helium_rows(const uint8_t* bytes, size_t size) {
  return rewrite_file(bytes, size, [](FileEditor& editor) {
    std::set<std::pair<uint64_t, uint64_t>> done;  // blobs: tensors may share one
    for (const auto& t : editor.model().tensors) {
      if (t->layout != fb::Layout::tile_k4n16) continue;
      t->layout = fb::Layout::k16n1;
      if (!done.emplace(t->data->offset(), t->data->size()).second) continue;
      std::vector<uint8_t>& weights = editor.bytes(t->data.get());
      weights = rows_of_tiles(weights, static_cast<uint32_t>(t->shape[0].b()), static_cast<uint32_t>(t->shape[1].b()));
    }
  });
}

}  // namespace bantam::convert
