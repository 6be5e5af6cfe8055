#include "cli/answer/neighbours.h"

#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "search/text_index.h"

namespace bantam::cli {

using convert::SearchIndex;

void add_neighbour_options(Command& command, NeighbourArguments* arguments) {
  command.add_option("--index", arguments->index, "FILE.index",
                     "Models that read retrieved texts (RETRO): index of these texts, written by bantam index; "
                     "without it, the model retrieves nothing");
  command.add_option("--embedder", arguments->embedder, "FILE.bantam",
                     "Model that made the index (default: the file that the index names, next to the index)");
  command.add_option("--neighbours", arguments->count, "N",
                     "Texts to retrieve for each chunk of the text (default: as many as the model takes)",
                     between(1, 64));
}

convert::Retrieve retriever(const NeighbourArguments& arguments, const ModelFile& file, const EngineOptions& options) {
  if (arguments.index.empty()) {
    if (!arguments.embedder.empty() || arguments.count) {
      fail(ExitCode::kUsage,
           "--index: missing; name what bantam index wrote, or leave --embedder and --neighbours out");
    }
    return nullptr;
  }
  if (file.model().chunk_tokens() == 0) {
    fail(ExitCode::kUsage, "--index: {} reads no texts that are found for it; leave the option out", file.path());
  }
  const uint32_t most = convert::most_neighbours(file.model()), count = arguments.count.value_or(most);
  if (count > most) fail(ExitCode::kUsage, "--neighbours {}: {} takes up to {} texts", count, file.path(), most);
  const std::string embedder = arguments.embedder.empty()
                                   ? convert::model_beside(SearchIndex(arguments.index), arguments.index, "--embedder")
                                   : arguments.embedder;
  return convert::retrieve_from(arguments.index, embedder, file, count, options);
}

}  // namespace bantam::cli
