// bantam sensitivity: measures the loss from quantizing each matrix of a model alone.
#include <filesystem>
#include <memory>

#include "base/output_file.h"
#include "base/sha256.h"
#include "calibrate/sensitivity.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "import/hugging_face.h"
#include "pages/sensitivity_html.h"

namespace bantam::cli {
namespace {

constexpr const char* kSensitivityExamples =
    "Examples:\n"
    "  bantam sensitivity minilm-sst2 dev.jsonl -o costs.json --html costs.html\n"
    "  bantam convert minilm-sst2 -o sst2.bantam --budget size=21MB --sensitivity costs.json\n\n"
    "DATA has texts, one per line, or JSON lines as for `bantam eval`; if it has labels, they define the loss.";

struct SensitivityArguments {
  std::string model, data, output, html, task;
  std::vector<std::string> types = {"int8", "int4"};
  size_t limit = 256;
  bool json = false;
};

std::vector<fb::DType> parse_types(const std::vector<std::string>& names) {
  std::vector<fb::DType> types;
  types.reserve(names.size());
  for (const std::string& name : names) {
    const auto type = convert::find_type(name);
    if (!type || *type == fb::DType::f32) {
      throw Error(ExitCode::kUsage,
                  fmt::format("--types {}: types to measure against f32 are int8, int4 and f16", name));
    }
    types.push_back(*type);
  }
  return types;
}

void print_costs(const convert::Sensitivity& measured) {
  std::vector<std::vector<std::string>> rows = {{"matrix", "type", "divergence", "loss", "flips", "saved"}};
  for (const convert::MatrixCosts& matrix : measured.matrices) {
    for (const convert::TypeCost& cost : matrix.types) {
      rows.push_back({matrix.name, convert::type_name(cost.type), fmt::format("{:.3g}", cost.divergence),
                      measured.has_loss ? fmt::format("{:+.5f}", cost.loss) : "", fmt::format("{}", cost.flips),
                      readable_bytes(cost.saved)});
    }
  }
  print_table(rows);
}

/// Returns the path of `file` relative to the folder of `from`, so that both can be moved together.
std::string path_from(const std::filesystem::path& from, const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path folder = from.has_parent_path() ? from.parent_path() : std::filesystem::path(".");
  const std::filesystem::path relative = std::filesystem::proximate(file, folder, error);
  return (error ? file : relative).generic_string();
}

void run_sensitivity(const SensitivityArguments& arguments) {
  convert::refuse_input_as_output(arguments.output, {arguments.model, arguments.data});
  convert::OutputFile output(arguments.output);
  std::unique_ptr<convert::OutputFile> page;
  if (!arguments.html.empty()) {
    convert::refuse_input_as_output(arguments.html, {arguments.model, arguments.data});
    page = std::make_unique<convert::OutputFile>(arguments.html);
  }
  const std::vector<fb::DType> types = parse_types(arguments.types);
  const auto texts = convert::spread(convert::read_labelled("DATA", arguments.data), arguments.limit);
  convert::ImportOptions import;
  import.task = arguments.task;
  const convert::Graph graph = convert::import_hugging_face(arguments.model, import);
  Progress progress;
  convert::Sensitivity measured = convert::measure_sensitivity(
      graph, texts, types, [&progress](double done) { progress.show("measuring each matrix", done); });
  progress.clear();
  measured.model = arguments.model;
  measured.data = path_from(arguments.output, arguments.data);
  measured.data_sha256 = convert::sha256_of_file(arguments.data);
  const std::string json = convert::sensitivity_json(measured);
  output.commit(json.data(), json.size());
  if (page) {
    const std::string html = convert::sensitivity_html(measured);
    page->commit(html.data(), html.size());
  }
  if (arguments.json) {
    out().write(convert::Json::parse(json).dump() + "\n");
  } else if (!quiet()) {
    print_costs(measured);
  }
  out().flush();
}

}  // namespace

void add_sensitivity(Program& program) {
  auto arguments = std::make_shared<SensitivityArguments>();
  Command& command = program.add_command("sensitivity", "Measure the cost of quantizing each matrix alone", kMakeGroup);
  command.footer(kSensitivityExamples);
  command.add_option("MODEL", arguments->model, "DIR", "Directory of the model").required();
  command.add_option("DATA", arguments->data, "DATA", "Texts, or labelled data").required();
  command.add_option("-o,--output", arguments->output, "FILE.json", "File for the costs, for convert --sensitivity")
      .required();
  command.add_option("--html", arguments->html, "FILE.html", "Also write a page with a plot");
  command.add_option("--types", arguments->types, "TYPE", "Types to measure (default: int8 int4)");
  command.add_option("--limit", arguments->limit, "N", "Use at most N texts, spread over DATA (default 256)",
                     between(size_t{1}, size_t{1} << 24));
  command.add_option("--task", arguments->task, "TASK", "Task of the model, if MODEL does not state it");
  command.add_flag("--json", arguments->json, "Print the costs as one JSON object");
  command.action([arguments] { run_sensitivity(*arguments); });
}

}  // namespace bantam::cli
