#include "cli/answer/engine.h"

#include "cli/frame/build_info.h"
#include "cli/frame/choices.h"
#include "cli/frame/command.h"
#include "graph/aggregation.h"

namespace bantam::cli {

void add_engine_options(Command& command, EngineOptions* options) {
  command.add_option("--threads", options->threads, "N",
                     "Threads per forward pass (default 1; 0: all processors; limited to the number of processors)",
                     between(0, 1024));
  std::vector<std::string> sets;
  for (const Isa isa : kInstructionSets) sets.emplace_back(isa_name(isa));
  command.add_option("--isa", options->isa, "NAME",
                     "Instruction set, such as avx2 (default: $BANTAM_ISA, else the best one available)",
                     usual_words(sets));
  command.add_option("--backend", options->backend, "NAME",
                     "Backend: native (default), or xnnpack for f32 and f16 files", one_of({"native", "xnnpack"}));
  command.add_flag("--f32-attention", options->f32_attention,
                   "Compute the attention of int8 files in f32, for comparison: slower, with more memory");
}

void add_aggregation_option(Command& command, Aggregation* aggregation) {
  command.add_option("--aggregation", *aggregation, "STRATEGY",
                     "How token labels become entities: none, simple, first, average or max, as in transformers' "
                     "pipeline, or words (default: the file's setting)",
                     choices(convert::aggregation_words()));
}

void add_where_option(Command& command, std::vector<std::string>* words) {
  command
      .add_option("--where", *words, "NAME=VALUE",
                  "Only records whose field has this value, or a list with it; given several times, all must hold")
      .one_at_a_time();
}
}  // namespace bantam::cli
