// Reads the settings of layers whose tokens see neighboring chunks (Reformer, arXiv 2001.04451).
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_CHUNKS_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_CHUNKS_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// Reads which layers there are ("attn_layers"), their chunks, hashes and positions, and whether they are causal.
void read_chunks(const Fields& config, EncoderConfig& out);

/// Counts of hash buckets for texts of up to `tokens` tokens: from the settings, or as transformers chooses them for
/// the first text.
std::vector<uint32_t> bucket_counts(const ChunkedLayers& chunked, uint32_t tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_CHUNKS_H_
