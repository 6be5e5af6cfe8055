// Options and search for models that read texts retrieved from an index for each chunk of a text (RETRO).
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

/// Adds --index, --embedder and --neighbours.
void add_neighbour_options(Command& command, NeighbourArguments* arguments);

/// Returns the function that finds texts for each chunk of a text of `file`, which must outlive it: the nearest lines
/// of the index, each with the lines that follow it. Returns null without --index. Fails if the file takes no such
/// texts or fewer of them, or if the index was made with another model.
convert::Retrieve retriever(const NeighbourArguments& arguments, const ModelFile& file, const EngineOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_NEIGHBOURS_H_
