// Reads the positional settings of each layer: rotary positions with their scalings, and windows.
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_PLACES_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_PLACES_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// Fills in `places` of `out`, whose layers and heads must have been read; settings that do not fit become problems.
void read_places(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_PLACES_H_
