// verify: everything that can be checked about a file without running it.
#include <memory>
#include <vector>

#include "base/size.h"
#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "format/header.h"
#include "format/verify_data.h"
#include "format/view.h"

namespace bantam::cli {
namespace {

/// Both checksums of the header against the sections.
void check_sums(const Model& model, std::vector<std::string>* problems) {
  FileHeader header;
  if (read_header(model.bytes(), convert::in_memory(model.size()), &header, nullptr) != Status::kOk) {
    problems->push_back("header: unreadable");
    return;
  }
  const auto compare = [&](const char* name, uint32_t found, uint32_t stated) {
    if (found == stated) return;
    problems->push_back(
        fmt::format("{}: CRC-32C is {:08x}, the header states {:08x}: bytes have changed", name, found, stated));
  };
  compare("header and graph", graph_checksum(header, model.bytes()), header.graph_crc);
  compare("data", data_checksum(header, model.bytes()), header.data_crc);
}

void run_verify(const std::string& path, bool json) {
  const ModelFile file(path);
  std::vector<std::string> problems;
  check_sums(file.model(), &problems);
  const convert::DataSummary summary = convert::verify_data(file.model(), &problems);
  if (json) {
    Json object = json_object("verify");
    object["file"] = path;
    object["ok"] = problems.empty();
    object["bytes"] = file.size();
    object["tensors"] = summary.constants;
    object["weights"] = summary.elements;
    object["problems"] = problems;
    out().line(object);
  } else if (problems.empty() && !quiet()) {
    out().print("{}: sound; {}, {} constant tensors with {} elements, checksums and ranges hold\n", path,
                readable_bytes(file.size()), summary.constants, summary.elements);
  }
  out().flush();
  if (problems.empty()) return;
  for (std::string& problem : problems) problem.insert(0, path + ": ");
  problems.push_back(path + ": do not use it; copy or convert the file again");
  throw Error(ExitCode::kInvalid, problems);
}

}  // namespace

void add_verify(Program& program) {
  Command& command = program.add_command("verify", "Check a file: structure, checksums, weights, scales");
  command.group(kExamineGroup);
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command.add_option("FILE", *path, "A .bantam file").required().value("FILE.bantam");
  command.add_flag("--json", *json, "Print one JSON object");
  command.footer("Examples:\n  bantam verify voice.bantam\n  bantam verify voice.bantam --json");
  command.action([path, json] { run_verify(*path, *json); });
}

}  // namespace bantam::cli
