// run --ids: reads token ids and prints every output of the graph as JSON.
#include "cli/answer/answers.h"
#include "cli/answer/run.h"
#include "cli/frame/errors.h"
#include "cli/frame/numbers.h"
#include "run/passes.h"

namespace bantam::cli {
void run_ids(const RunOptions& options) {
  const std::vector<int32_t> ids = parse_numbers(options.ids, "--ids");
  std::vector<int32_t> segments;
  if (!options.segments.empty()) segments = parse_numbers(options.segments, "--segments");
  if (!segments.empty() && segments.size() != ids.size()) {
    fail(ExitCode::kUsage, "--segments: {} numbers for {} ids; pass one for each", segments.size(), ids.size());
  }
  std::vector<int32_t> marks;
  if (!options.marks.empty()) marks = parse_numbers(options.marks, "--marks");
  if (!marks.empty() && marks.size() != ids.size()) {
    fail(ExitCode::kUsage, "--marks: {} numbers for {} ids; pass one for each", marks.size(), ids.size());
  }
  const ModelFile file(options.model);
  const Model& model = file.model();
  if (!marks.empty() && model.mark_types() == 1) {
    fail(ExitCode::kUsage, "--marks: {} takes none; leave them out", file.path());
  }
  if (model.feature_width() != 0 && model.chunk_tokens() == 0) {
    fail(ExitCode::kUsage, "--ids: {} reads images; name one by its file, or use --raw with it", file.path());
  }
  const bool pair = model.source_vocabulary() != 0;
  std::vector<int32_t> decoder_ids;
  if (!options.decoder_ids.empty()) {
    if (!pair)
      fail(ExitCode::kUsage, "--decoder-ids: {} is not an encoder-decoder; pass its ids by --ids", file.path());
    decoder_ids = parse_numbers(options.decoder_ids, "--decoder-ids");
    check_range(decoder_ids, model.vocabulary(), "--decoder-ids");
  }
  check_range(ids, pair ? model.source_vocabulary() : model.vocabulary(), "--ids");
  if (pair && decoder_ids.empty()) decoder_ids = convert::shifted_decoder_ids(model, ids);
  if (segments.empty()) segments = convert::default_segments(model, ids);
  check_range(segments, model.segment_types(), "--segments");
  check_range(marks, model.mark_types(), "--marks");
  const auto require_room = [](const char* option, const std::vector<int32_t>& given, uint32_t most) {
    if (most == 0 || given.size() <= most) return;
    fail(ExitCode::kInvalid, "{}: {} tokens, but the model takes at most {}; pass fewer (ids are never truncated)",
         option, given.size(), most);
  };
  require_room("--ids", ids, pair ? model.max_source() : model.max_sequence());
  require_room("--decoder-ids", decoder_ids, model.max_sequence());
  const std::vector<int32_t>& main_ids = pair ? decoder_ids : ids;
  EngineOptions engine_options = options.engine;
  engine_options.max_tokens = static_cast<uint32_t>(main_ids.size());
  engine_options.max_source = static_cast<uint32_t>(ids.size());
  Engine engine(file, engine_options);
  Batch batch;
  if (pair) {
    batch.ids = ids.data();
    batch.tokens = static_cast<uint32_t>(ids.size());
    check(engine.session().encode(batch), file.path());
  }
  batch.ids = main_ids.data();
  batch.segments = segments.empty() ? nullptr : segments.data();
  batch.marks = marks.empty() ? nullptr : marks.data();
  batch.tokens = static_cast<uint32_t>(main_ids.size());
  check(engine.session().run(batch), file.path());
  Json object = json_object(options.command);
  object["outputs"] = raw_outputs(engine.session(), 0);
  out().line(object);
}

}  // namespace bantam::cli
