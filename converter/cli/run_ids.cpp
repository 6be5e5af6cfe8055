// run --ids: token ids in, every output of the graph out, as JSON.
#include "cli/answers.h"
#include "cli/errors.h"
#include "cli/numbers.h"
#include "cli/run.h"

namespace bantam::cli {
void run_ids(const RunOptions& options) {
  const std::vector<int32_t> ids = parse_numbers(options.ids, "--ids");
  std::vector<int32_t> segments;
  if (!options.segments.empty()) segments = parse_numbers(options.segments, "--segments");
  if (!segments.empty() && segments.size() != ids.size()) {
    fail(ExitCode::kUsage, "--segments: {} numbers for {} ids; pass one for each", segments.size(), ids.size());
  }
  const ModelFile file(options.model);
  const Model& model = file.model();
  check_range(ids, model.vocabulary(), "--ids");
  check_range(segments, model.segment_types(), "--segments");
  if (model.max_sequence() != 0 && ids.size() > model.max_sequence()) {
    fail(ExitCode::kInvalid, "--ids: {} tokens, but the model takes at most {}; pass fewer (ids are never truncated)",
         ids.size(), model.max_sequence());
  }
  EngineOptions engine_options = options.engine;
  engine_options.max_tokens = static_cast<uint32_t>(ids.size());
  Engine engine(file, engine_options);
  Batch batch;
  batch.ids = ids.data();
  batch.segments = segments.empty() ? nullptr : segments.data();
  batch.tokens = static_cast<uint32_t>(ids.size());
  check(engine.session().run(batch), file.path());
  Json object = json_object(options.command);
  object["outputs"] = raw_outputs(engine.session(), 0);
  out().line(object);
}

}  // namespace bantam::cli
