// Reads the settings of entities beside tokens.
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_ENTITIES_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_ENTITIES_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// The key of a list with one word per layer: "sim" (no entities), "mix" (their vectors are added) or "norm" (they also
/// attend to each other). Layers beyond the end of the list are "sim".
constexpr const char* kLayerTypes = "layer_types";

/// Fills in the entity settings of `out`, whose layers must have been read; settings that do not fit become problems.
void read_entities(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_ENTITIES_H_
