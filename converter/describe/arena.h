// The arena of a session, by part.
#ifndef BANTAM_CONVERTER_DESCRIBE_ARENA_H_
#define BANTAM_CONVERTER_DESCRIBE_ARENA_H_

#include "bantam/session.h"
#include "base/ordered_json.h"

namespace bantam::convert {

/// Returns the arena of a session with these options: its settings, its bytes and its parts. Throws Error (usage) if a
/// session cannot have these options.
OrderedJson arena_json(const Model& model, const SessionOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_ARENA_H_
