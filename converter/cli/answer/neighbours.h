// Options of what a model that reads texts retrieved for its chunks (RETRO) retrieves from an index, and the search.
#ifndef BANTAM_CONVERTER_CLI_NEIGHBOURS_H_
#define BANTAM_CONVERTER_CLI_NEIGHBOURS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/answer/engine.h"
#include "run/chunks.h"

namespace bantam::cli {

class Command;

struct NeighbourArguments {
  std::string index, embedder;
  std::optional<uint32_t> count;
};

/// --index, --embedder and --neighbours.
void add_neighbour_options(Command& command, NeighbourArguments* arguments);

/// The function that finds texts for chunks of texts of `file`, which outlives it: the nearest lines of the index, each
/// with the lines behind it. Null without --index. Fails where the file takes no such texts or not so many, and where
/// the index was made with another model.
convert::Retrieve retriever(const NeighbourArguments& arguments, const ModelFile& file, const EngineOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_NEIGHBOURS_H_
