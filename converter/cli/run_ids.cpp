// run --ids: token ids in, every output of the graph out, as JSON.
#include <charconv>

#include "cli/answers.h"
#include "cli/errors.h"
#include "cli/run.h"

namespace bantam::cli {
namespace {

/// "101, 2054,102" to numbers; throws with the option's name and the place.
std::vector<int32_t> parse_numbers(const std::string& list, const char* option) {
  std::vector<int32_t> numbers;
  const char* at = list.data();
  const char* end = at + list.size();
  const auto separator = [](char c) { return c == ',' || c == ' ' || c == '\n' || c == '\t'; };
  while (at != end) {
    if (separator(*at)) {
      ++at;
      continue;
    }
    int32_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (rest != end && !separator(*rest))) {
      fail(ExitCode::kUsage, "{}: \"{}\" at position {} is no token number; write numbers with commas between them",
           option, printable(std::string(at, std::min(end, at + 12))), at - list.data() + 1);
    }
    numbers.push_back(number);
    at = rest;
  }
  if (numbers.empty()) fail(ExitCode::kUsage, "{}: no number in it; write numbers with commas between them", option);
  return numbers;
}

/// Which id is out of range, for a message better than the status alone.
void check_range(const std::vector<int32_t>& numbers, uint32_t limit, const char* option) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= 0 && static_cast<uint32_t>(numbers[i]) < limit) continue;
    fail(ExitCode::kInvalid, "{}: {} (number {} of {}) is out of range; the model takes 0 to {}", option, numbers[i],
         i + 1, numbers.size(), limit == 0 ? 0 : limit - 1);
  }
}

}  // namespace

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
