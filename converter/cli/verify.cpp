// verify: checks everything about a file that can be checked without running it.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "base/printable.h"
#include "base/size.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/signature.h"
#include "format/header.h"
#include "format/verify_data.h"
#include "signing/minisign.h"

namespace bantam::cli {
namespace {

/// Compares both checksums of the header with the sections.
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

struct VerifyArguments {
  std::string path, key, signature;
  bool json = false;
};

/// Checks the signature before anything else of the file is read. Returns the comment that is signed with it.
std::string check_signature(const VerifyArguments& given) {
  const std::string signature_file = given.signature.empty() ? given.path + kSignatureEnding : given.signature;
  const convert::PublicKey key =
      convert::read_public_key(convert::read_text_file(given.key, kMostSignatureBytes), given.key);
  const std::string signature = convert::read_text_file(signature_file, kMostSignatureBytes);
  const SignedBytes bytes(given.path);
  return convert::check_signature(bytes.data(), bytes.size(), given.path, signature, signature_file, key);
}

void run_verify(const VerifyArguments& given) {
  const std::string& path = given.path;
  if (given.key.empty() && !given.signature.empty()) {
    fail(ExitCode::kUsage, "--signature {}: needs --key, the public key of who signed", given.signature);
  }
  std::optional<std::string> signed_comment;
  if (!given.key.empty()) signed_comment = check_signature(given);
  const ModelFile file(path);
  std::vector<std::string> problems;
  check_sums(file.model(), &problems);
  const convert::DataSummary summary = convert::verify_data(file.model(), &problems);
  Json record = json_object("verify");
  record.update({{"file", path}, {"ok", problems.empty()}, {"bytes", file.size()}, {"tensors", summary.constants}});
  record.update({{"weights", summary.elements}, {"problems", problems}});
  if (signed_comment) record["signed"] = *signed_comment;
  std::string text = fmt::format("{}: sound\n  {}: checksums and ranges hold of {} constants with {} elements\n", path,
                                 readable_bytes(file.size()), summary.constants, summary.elements);
  if (signed_comment)
    text += fmt::format("{}: signed by the key of {}: {}\n", path, given.key, printable(*signed_comment));
  print_result(given.json, record, problems.empty() ? text : "");
  if (problems.empty()) return;
  for (std::string& problem : problems) problem.insert(0, path + ": ");
  problems.push_back(path + ": do not use it; copy or convert the file again");
  throw Error(ExitCode::kInvalid, problems);
}

}  // namespace

void add_verify(Program& program) {
  Command& command =
      program.add_command("verify", "Check a file: structure, checksums, weights, signature", kExamineGroup);
  auto given = std::make_shared<VerifyArguments>();
  command.add_option("FILE", given->path, "FILE.bantam", "A .bantam file").required();
  command.add_option("--key", given->key, "FILE",
                     "Public key that the signature must match (from bantam sign or minisign)");
  command.add_option("--signature", given->signature, "FILE", "Signature file (default: FILE.minisig)");
  command.add_flag("--json", given->json, "Print one JSON object");
  command.footer(
      "Examples:\n  bantam verify voice.bantam\n  bantam verify voice.bantam --json\n"
      "  bantam verify voice.bantam --key release.pub");
  command.action([given] { run_verify(*given); });
}

}  // namespace bantam::cli
