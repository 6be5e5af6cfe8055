// label: writes every record of a file with its answer, in shards; it can be resumed.
#include <charconv>
#include <memory>
#include <string_view>

#include "base/output_file.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/choices.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "score/label.h"

namespace bantam::cli {

using convert::LabelOptions;
using convert::LabelResult;
using convert::OnError;

namespace {

struct LabelArguments {
  std::string model;
  std::string shard = "1/1";
  std::string on_error = "stop";
  bool json = false;
  LabelOptions options;
};

bool read_count(std::string_view digits, uint32_t* count) {
  const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), *count);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
}

/// Parses "3/16".
void parse_shard(const std::string& text, LabelOptions* options) {
  const size_t slash = text.find('/');
  uint32_t shard = 0, shards = 0;
  if (slash == std::string::npos || !read_count(std::string_view(text).substr(0, slash), &shard) ||
      !read_count(std::string_view(text).substr(slash + 1), &shards) || shard < 1 || shard > shards) {
    fail(ExitCode::kUsage, "--shard {}: wanted a number and how many there are, such as 3/16", printable(text));
  }
  if (shards > 1 && options->input == "-") {
    fail(ExitCode::kUsage, "--shard: standard input has no size to be divided; name a file");
  }
  options->shard = shard;
  options->shards = shards;
}

void run_label(const LabelArguments& arguments) {
  LabelOptions options = arguments.options;
  parse_shard(arguments.shard, &options);
  options.on_error = arguments.on_error == "keep"   ? OnError::kKeep
                     : arguments.on_error == "skip" ? OnError::kSkip
                                                    : OnError::kStop;
  convert::refuse_input_as_output(options.output, {arguments.model, options.input});
  const ModelFile file(arguments.model, Hold::kInMemory);
  const uint32_t parts = traits(file.model().task()).parts;
  if (parts == 0 || parts == kChoicePart) {
    fail(ExitCode::kUnsupported, "{}: its task is \"{}\", which does not answer single texts", arguments.model,
         task_name(file.model().task()));
  }
  Progress progress;
  const LabelResult result = label_records(file, options, [&progress](uint64_t done, double share) {
    progress.show("records", share, fmt::format("{} records", done));
  });
  progress.clear();
  Json record = json_object("label");
  record.update({{"output", options.output}, {"shard", options.shard}, {"shards", options.shards}});
  record.update({{"records", result.records}, {"failed", result.failed}, {"resumed", result.resumed}});
  record["already_complete"] = result.already_complete;
  std::string text = fmt::format("{}: {} records", printable(options.output), result.records);
  if (result.failed > 0) text += fmt::format(", {} of them without an answer", result.failed);
  if (result.resumed > 0) text += fmt::format("; {} were there already", result.resumed);
  if (result.already_complete) {
    text = fmt::format("{}: is complete already, so that nothing was done; remove it to label again",
                       printable(options.output));
  }
  print_result(arguments.json, record, text + "\n");
}

}  // namespace

void add_label(Program& program) {
  auto arguments = std::make_shared<LabelArguments>();
  LabelOptions& options = arguments->options;
  options.engine.batch = convert::kPacked;
  options.predict.top = 1;
  Command& command = program.add_command("label", "Add an answer to every record of a file", kAnswerGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->model, "FILE.bantam", "A .bantam file").required();
  command
      .add_option("IN", options.input, "DATA",
                  "Input records: FILE.jsonl, FILE.csv or FILE.tsv; any other file: JSON objects or texts, one per "
                  "line, as its "
                  "first line says; gzip too (-: standard input)")
      .required();
  command.add_option("--text", options.text, "NAME", "Field or column with the text (default: the usual names)");
  command.add_option("--pair", options.pair, "NAME", "Field or column with the second text");
  command.add_option("--shard", arguments->shard, "I/N",
                     "Process one of several parts, such as 3/16; the outputs of all parts, one after the other, "
                     "equal those of a single run");
  command.heading("Output");
  command
      .add_option("-o,--output", options.output, "OUT",
                  "Output: FILE.csv for tables; any other file: one JSON object per line")
      .required();
  command.add_option("--as", options.as, "NAME",
                     "Field for the answer (default \"bantam\"); in tables, the beginning of the column names");
  command.add_option("--top", options.predict.top, "N", "Print at most N labels or candidates (default 1; 0: all)");
  add_aggregation_option(command, &options.predict.aggregation);
  command.add_option("--stride", options.predict.stride, "N",
                     "Read long texts in overlapping windows; neighbouring windows share N tokens");
  command.add_flag("--strict", options.predict.strict,
                   "Treat a text that does not fit as an error; by default, its end is cut");
  command.add_option(
      "--on-error", arguments->on_error, "WHAT",
      "For a record without an answer: stop (default), keep (write the error in its place) or skip (leave it out)",
      one_of({"stop", "keep", "skip"}));
  command.add_flag("--resume", options.resume,
                   "Continue an interrupted run, perhaps with another --on-error; do nothing if the output exists");
  command.add_flag("--json", arguments->json, "Print the number of records as one JSON object");
  command.heading("Running");
  add_engine_options(command, &options.engine);
  command.usual({"--text", "--pair", "--shard", "--output", "--top", "--stride", "--resume", "--json", "--threads"});
  command.footer(
      "OUT appears when it is complete. Until then, OUT.part grows, and OUT.state records the "
      "progress. The bytes are the same for any --shard, --threads and number of interruptions.\n\n"
      "Examples:\n"
      "  bantam label voice.bantam data.jsonl -o labelled.jsonl\n"
      "  bantam label voice.bantam data.csv -o labelled.csv --text utterance --on-error keep\n"
      "  bantam label voice.bantam data.jsonl -o part-2.jsonl --shard 2/4 --resume");
  command.action([arguments] { run_label(*arguments); });
}

}  // namespace bantam::cli
