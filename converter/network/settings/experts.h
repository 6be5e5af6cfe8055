// Reads the settings of layers of experts.
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_EXPERTS_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_EXPERTS_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// Fills in the expert settings of `out`, whose layers must have been read; settings that do not fit become problems.
void read_experts(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_EXPERTS_H_
