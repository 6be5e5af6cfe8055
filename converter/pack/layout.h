// Layout: constants in their stored types and memory order, one aligned blob after the other.
#ifndef BANTAM_CONVERTER_PACK_LAYOUT_H_
#define BANTAM_CONVERTER_PACK_LAYOUT_H_

#include "format/data_section.h"
#include "graph/graph.h"

namespace bantam::convert {

/// Lays out every constant as its type and its use say (Linear weights in tiles, tables in rows, vectors
/// padded to 16 elements), in the order in which ops use them, then the tokenizers' blobs; fills layout,
/// blobs, scale kind and error of the tensors. The quantised values are decided here. Memory: the section, and of a matrix some rows. `front`: see
/// DataSection::reserve.
DataSection lay_out(Graph& graph, DataSection::In in = DataSection::In::kMemory, uint64_t front = 0);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_LAYOUT_H_
