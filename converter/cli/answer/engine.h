// Options of every command that runs a model.
#ifndef BANTAM_CONVERTER_CLI_ENGINE_H_
#define BANTAM_CONVERTER_CLI_ENGINE_H_

#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "run/engine.h"

namespace bantam::cli {

class Command;

using convert::Engine;
using convert::EngineOptions;
using convert::Hold;
using convert::ModelFile;
using convert::task_name;
using convert::text_limit;
using convert::to_string;

/// Adds --threads, --isa, --backend and --f32-attention.
void add_engine_options(Command& command, EngineOptions* options);

/// Adds --aggregation.
void add_aggregation_option(Command& command, Aggregation* aggregation);

/// Adds --where, for commands that search an index.
void add_where_option(Command& command, std::vector<std::string>* words);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_ENGINE_H_
