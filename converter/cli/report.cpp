// report: files side by side as one HTML page.
#include "cli/report.h"
#include "cli/frame/appearance.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/output_file.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "describe/report_html.h"
#include "pages/html.h"

namespace bantam::cli {
namespace {

constexpr const char* kDefaultOutput = "report.html";

constexpr const char* kReportExamples =
    "The page needs no network: where the file's bytes are, each matrix's type, layout, zeros and error, time by "
    "operator;\n"
    "of several files also what is gained for what, with the Pareto front.\n\n"
    "Examples:\n"
    "  bantam report voice.bantam                        writes report.html\n"
    "  bantam report f32.bantam int8.bantam int4.bantam --data test.jsonl -o compare.html\n"
    "  bantam report int4.bantam --source path/to/model --tokens 64 -o int4.html\n"
    "  bantam report voice.bantam --no-times --json";

/// An earlier report may be replaced without being asked for by name, nothing else.
void refuse_foreign(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string ours = convert::kPageStart;
  std::string start(ours.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start != ours)
    fail(ExitCode::kUsage, "{}: there is such a file, which is no page of bantam's; name another with -o", path);
}

void run_report(const ReportOptions& options) {
  std::string path = options.output;
  if (path.empty() && !options.json) {
    path = kDefaultOutput;
    refuse_foreign(path);
  }
  std::unique_ptr<convert::OutputFile> output;
  if (!path.empty()) {
    std::vector<std::filesystem::path> inputs(options.files.begin(), options.files.end());
    inputs.insert(inputs.end(), {options.data, options.source});
    convert::refuse_input_as_output(path, inputs);
  }
  if (!options.metric.empty() && options.data.empty()) fail(ExitCode::kUsage, "--metric: goes with --data");
  if (options.data == "-") fail(ExitCode::kUsage, "--data -: each file reads it anew; save it and name the file");
  if (options.no_times && (options.tokens != 0 || options.repetitions != 0))
    fail(ExitCode::kUsage, "--no-times: measures nothing; leave out --tokens and --repetitions");
  if (!path.empty()) output = std::make_unique<convert::OutputFile>(path);
  const convert::ReportData data = gather_report(options);
  if (output) {
    const std::string page = convert::report_html(data);
    output->commit(page.data(), page.size());
    if (!options.json && !quiet()) {
      out().print("{}: {} file{}, {}; open it in a browser\n", printable(path), data.files.size(),
                  data.files.size() == 1 ? "" : "s", readable_bytes(page.size()));
      for (const convert::Missing& entry : data.missing)
        out().print("not in it: {}\n  {}\n", printable(entry.what), printable(entry.how));
    }
  }
  if (options.json) out().line(report_json(data));
  out().flush();
}

}  // namespace

void add_report(Program& program) {
  Command& command = program.add_command("report", "Show files on a page: bytes, layers, times, scores");
  command.group(kExamineGroup);
  auto options = std::make_shared<ReportOptions>();
  command.add_option("FILE", options->files, ".bantam files").required().value("FILE.bantam");
  command.add_option("-o,--output", options->output, "The page (default: report.html; with --json none)")
      .value("FILE.html");
  command.add_option("--data", options->data, "Labelled examples as for bantam eval: scores, and plots of them")
      .value("FILE.jsonl");
  command.add_option("--metric", options->metric, "The score to plot, such as slot_f1 (default: what says most)")
      .value("NAME");
  command.add_option("--limit", options->limit, "Use the first N examples only").value("N");
  command.add_flag("--skip-bad", options->skip_bad, "Leave malformed lines of the data out");
  command.add_option("--source", options->source, "Directory that the files were converted from: errors of the weights")
      .value("DIR");
  command
      .add_option("--tokens", options->tokens, "Tokens of the pass that is timed (default: 32, or what the files take)")
      .takes(between(1, 1 << 20))
      .value("N");
  command.add_option("--repetitions", options->repetitions, "Timed passes (default: about a second of them)")
      .value("N");
  command.add_flag("--no-times", options->no_times, "Measure no times: the same files give the same page");
  command.add_option("--batch", options->engine.batch, "Texts of one forward pass while scoring")
      .takes(between(1, 4096))
      .value("N");
  add_engine_options(command, &options->engine);
  command.add_flag("--json", options->json, "Print the same as one JSON object");
  command.usual({"--output", "--data", "--source", "--no-times", "--threads", "--json"});
  command.footer(kReportExamples);
  command.action([options] { run_report(*options); });
}

}  // namespace bantam::cli
