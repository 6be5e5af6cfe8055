// Computes the memory plan that a file would have if it had been converted for little memory.
#ifndef BANTAM_CONVERTER_FIRMWARE_SMALL_PLAN_H_
#define BANTAM_CONVERTER_FIRMWARE_SMALL_PLAN_H_

#include "bantam/model.h"
#include "bantam_generated.h"

namespace bantam::firmware {

/// Returns the tables (fb::Model) of `model`, whose file has int8 or int4 layers, as `bantam convert --residual i8
/// --plan small` would plan them; for a file with static activations, as `--plan small` would. They serve lay_out of
/// session/layout.h: constants have their types and shapes, but no offsets in a file. O(graph). Throws Error as the
/// passes of pack/ do.
flatbuffers::DetachedBuffer small_plan_tables(const Model& model);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_SMALL_PLAN_H_
