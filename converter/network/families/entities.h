// What settings say of entities beside tokens.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_ENTITIES_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_ENTITIES_H_

#include "network/families/config.h"

namespace bantam::convert {

/// Under this key "sim" (no entities), "mix" (their vectors are added) and "norm" (and attend to each other), one a layer; layers
/// that it does not reach are "sim".
constexpr const char* kLayerTypes = "layer_types";

/// Fills in what `out`, whose layers are read, has of entities; settings that do not fit become problems.
void read_entities(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_ENTITIES_H_
