// Layout: writes constants in their stored types and memory order as aligned blobs.
#ifndef BANTAM_CONVERTER_PACK_LAYOUT_H_
#define BANTAM_CONVERTER_PACK_LAYOUT_H_

#include "format/data_section.h"
#include "graph/graph.h"

namespace bantam::convert {

/// Lays out all constants according to their type and use (Linear weights in tiles, tables in rows, vectors padded to
/// 16 elements), in the order in which ops use them, followed by the tokenizers' blobs. Sets layout, blobs, scale kind
/// and error of the tensors. Determines the quantized values. Memory: the section, and some rows of a matrix. `front`:
/// see DataSection::reserve.
DataSection lay_out(Graph& graph, DataSection::In in = DataSection::In::kMemory, uint64_t front = 0);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_LAYOUT_H_
