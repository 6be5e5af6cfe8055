// Reads the settings of attention by sums over keys (Performer, Linformer).
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_SUMMED_KEYS_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_SUMMED_KEYS_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// Fills in `summed` of `out`, whose heads must have been read; does nothing if the family has no such attention.
/// Settings that do not fit become problems.
void read_summed_keys(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_SUMMED_KEYS_H_
