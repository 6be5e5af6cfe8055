// Table rows that ids, segments and positions select: code that both forms of an embedding share.
#ifndef BANTAM_OPS_INDICES_H_
#define BANTAM_OPS_INDICES_H_

#include "ops/operands.h"

namespace bantam::ops {

/// Bytes of the row numbers of one table's block: 4 each, rounded up to 16.
inline size_t index_bytes(uint32_t block_rows) { return size_t{(block_rows + 3) / 4} * 16; }
/// Writes the row numbers of `table` that rows [first, first + n) of the run look up.
void fill_indices(const TileRun& run, const fb::EmbedTable& table, uint32_t first, uint32_t n, int32_t* out);
/// Returns the number of columns of an embedding: that of its first table.
uint32_t embed_width(const fb::Model& model, const fb::Op& op);
/// Checks the conditions of both forms of an embedding, except those on each table: 1 to kMaxEmbedTables tables, the
/// first one a matrix.
Verdict check_embed(const Site& site);
/// Checks that no index that `table.source` can yield exceeds the table's rows.
Verdict check_indices(const Site& site, const fb::EmbedTable& table);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_INDICES_H_
