// report: compares files side by side on one HTML page.
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
#include "describe/report_json.h"
#include "pages/html.h"

namespace bantam::cli {
namespace {

constexpr const char* kDefaultOutput = "report.html";

constexpr const char* kReportExamples =
    "The page works without a network. It shows how the file's bytes are distributed, the type, "
    "layout, zeros and error of each matrix, and the time of each operator; for several files, "
    "also the trade-offs between them, with the Pareto front.\n\n"
    "Examples:\n"
    "  bantam report voice.bantam                        writes report.html\n"
    "  bantam report f32.bantam int8.bantam int4.bantam --data test.jsonl -o compare.html\n"
    "  bantam report int4.bantam --source path/to/model --tokens 64 -o int4.html\n"
    "  bantam report voice.bantam --no-times --json";

/// Refuses to overwrite any file but an earlier report unless --output names it.
void refuse_foreign(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string ours = convert::kPageStart;
  std::string start(ours.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start != ours)
    fail(ExitCode::kUsage, "{}: the file exists and is not a page of bantam; name another with -o", path);
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
  if (options.json) out().line(convert::report_json(data));
  out().flush();
}

}  // namespace

void add_report(Program& program) {
  Command& command =
      program.add_command("report", "Write a web page on files: bytes, layers, times, scores", kExamineGroup);
  auto options = std::make_shared<ReportOptions>();
  command.add_option("FILE", options->files, "FILE.bantam", ".bantam files").required();
  command.add_option("-o,--output", options->output, "FILE.html",
                     "Page to write (default: report.html; none with --json)");
  command.add_option("--data", options->data, "FILE.jsonl",
                     "Labelled examples as for bantam eval, for scores and plots");
  command.add_option("--metric", options->metric, "NAME",
                     "Score to plot, such as slot_f1 (default: the most informative one)");
  command.add_option("--limit", options->limit, "N", "Use only the first N examples");
  command.add_flag("--skip-bad", options->skip_bad, "Skip malformed lines of the data");
  command.add_option("--source", options->source, "DIR",
                     "Directory that the files were converted from, for the errors of the weights");
  command.add_option("--tokens", options->tokens, "N",
                     "Tokens of the timed pass (default: 32, or as many as the files take)", between(1, 1 << 20));
  command.add_option("--repetitions", options->repetitions, "N",
                     "Number of timed passes (default: about a second of passes)");
  command.add_flag("--no-times", options->no_times, "Measure no times; the same files then give the same page");
  command.add_option("--batch", options->engine.batch, "N", "Texts per forward pass while scoring", between(1, 4096));
  add_engine_options(command, &options->engine);
  command.add_flag("--json", options->json, "Print the report as one JSON object");
  command.usual({"--output", "--data", "--source", "--no-times", "--threads", "--json"});
  command.footer(kReportExamples);
  command.action([options] { run_report(*options); });
}

}  // namespace bantam::cli
