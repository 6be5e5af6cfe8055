// Lists the parts of an arena.
#ifndef BANTAM_CONVERTER_CLI_INSPECT_ARENA_H_
#define BANTAM_CONVERTER_CLI_INSPECT_ARENA_H_

#include "bantam/session.h"
#include "cli/inspect_tables.h"

namespace bantam::cli {

/// The arena of a session with these options, by part. Throws Error (usage) when they cannot be served.
Json arena_json(const Model& model, const SessionOptions& options);

/// The arena as a table.
Table arena_table(const Json& arena);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_INSPECT_ARENA_H_
