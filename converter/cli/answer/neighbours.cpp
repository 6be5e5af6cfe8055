#include "cli/answer/neighbours.h"

#include <algorithm>

#include "base/status_error.h"
#include "cli/answer/search.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "run/prompts.h"
#include "run/text_stream.h"

namespace bantam::cli {

using convert::Neighbours;
using convert::SearchIndex;

namespace {

/// The index with the model that made it.
class Library {
 public:
  Library(const std::string& path, const std::string& embedder, const ModelFile& file, uint32_t count,
          const EngineOptions& options)
      : path_(path),
        index_(path),
        embedder_((require_same_model(index_, path, embedder), embedder)),
        model_(file.model()),
        count_(count),
        engine_(embedder_, own(options)),
        predictor_(engine_, searched_parts(embedder_), for_queries(index_)) {
    convert::check(Tokenizer::open(model_, 0, &tokenizer_), file.path());
  }

  Neighbours find(const std::vector<int32_t>& ids) {
    const std::string text = text_of(ids);
    Neighbours texts;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return texts;
    const convert::Prediction query = predictor_.predict({{text, std::nullopt}}).at(0);
    for (const convert::Found& found :
         find_texts(index_, path_, query, count_, engine_.session().isa(), searched_length(embedder_))) {
      std::vector<int32_t> tokens = tokens_from(found.entry);
      if (!tokens.empty()) texts.push_back(std::move(tokens));
    }
    return texts;
  }

 private:
  static EngineOptions own(const EngineOptions& options) {
    EngineOptions out;
    out.threads = options.threads;
    out.isa = options.isa;
    return out;
  }

  std::string text_of(const std::vector<int32_t>& ids) const {
    const std::vector<std::string> no_stop;
    const convert::TakeText silent;
    convert::TextStream stream(tokenizer_, {}, no_stop, silent);
    for (const int32_t id : ids) stream.add(id);
    return stream.finish();
  }

  /// A line and those behind it, up to as many tokens as the model takes.
  std::vector<int32_t> tokens_from(uint32_t entry) const {
    const uint32_t most = convert::most_neighbour_tokens(model_);
    std::string text(index_.text(entry));
    for (;;) {
      std::vector<int32_t> ids = convert::text_ids(model_, 0, text, 0, false).ids;
      if (ids.size() < most && ++entry < index_.count()) {
        text.append(" ").append(index_.text(entry));
        continue;
      }
      if (ids.size() > most) ids.resize(most);
      return ids;
    }
  }

  std::string path_;
  SearchIndex index_;
  ModelFile embedder_;
  const Model& model_;
  uint32_t count_;
  Engine engine_;
  convert::Predictor predictor_;
  Tokenizer tokenizer_;
};

}  // namespace

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
                                   ? model_beside(SearchIndex(arguments.index), arguments.index, "--embedder")
                                   : arguments.embedder;
  const auto library = std::make_shared<Library>(arguments.index, embedder, file, count, options);
  return [library](uint32_t, const std::vector<int32_t>& ids) { return library->find(ids); };
}

}  // namespace bantam::cli
