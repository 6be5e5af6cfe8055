// sign: creates signatures of files and the keys that make them. `verify --key` checks signatures.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/json_file.h"
#include "base/output_file.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/signature.h"
#include "signing/minisign.h"

namespace bantam::cli {
namespace {

namespace fs = std::filesystem;
using convert::OutputFile;

struct SignArguments {
  std::string file, key, output, new_keys, password_file;
  std::optional<std::string> comment;
  bool json = false;
};

/// Returns the first line of the file.
std::string password_of(const std::string& file) {
  if (file.empty()) return "";
  std::string text = convert::read_text_file(file, kMostSignatureBytes);
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.empty()) fail(ExitCode::kUsage, "--password-file {}: its first line, the password, is empty", file);
  return text;
}

void refuse_present(const std::string& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    fail(ExitCode::kUsage, "--new-keys: {} is there already, and a lost key signs nothing anew; choose another name",
         path);
  }
}

void make_pair(const SignArguments& given) {
  const std::string secret = given.new_keys + ".key", open = given.new_keys + ".pub";
  refuse_present(secret);
  refuse_present(open);
  const convert::KeyFiles keys = convert::make_keys(password_of(given.password_file));
  OutputFile secret_file(secret, OutputFile::Kind::kSecret);
  OutputFile open_file(open);
  secret_file.commit(keys.secret.data(), keys.secret.size());
  open_file.commit(keys.open.data(), keys.open.size());
  Json record = json_object("sign");
  record.update({{"secret_key", secret}, {"public_key", open}});
  print_result(given.json, record,
               fmt::format("{}: the secret key, which signs; keep it where nobody else reads\n"
                           "{}: the public key, which checks; give it to whom gets your files\n",
                           secret, open));
}

void sign_file(const SignArguments& given) {
  const std::string output = given.output.empty() ? given.file + kSignatureEnding : given.output;
  convert::refuse_input_as_output(output, {given.file, given.key});
  const std::string key_text = convert::read_text_file(given.key, kMostSignatureBytes);
  const convert::SecretKey key = convert::read_secret_key(key_text, given.key, password_of(given.password_file));
  OutputFile file(output);
  const SignedBytes bytes(given.file);
  const std::string comment = given.comment.value_or(fmt::format("file:{}", fs::path(given.file).filename().string()));
  const std::string text = convert::sign(bytes.data(), bytes.size(), key, comment);
  file.commit(text.data(), text.size());
  const std::string shown = convert::shown(key.id);
  Json record = json_object("sign");
  record.update({{"file", given.file}, {"signature", output}, {"key", shown}, {"comment", comment}});
  print_result(given.json, record, fmt::format("{}: the signature of {} by key {}\n", output, given.file, shown));
}

void run_sign(const SignArguments& given) {
  const bool makes = !given.new_keys.empty();
  if (makes && (!given.file.empty() || !given.key.empty() || !given.output.empty() || given.comment)) {
    fail(ExitCode::kUsage, "--new-keys: makes keys alone; sign a file with them in a second command");
  }
  if (!makes && (given.file.empty() || given.key.empty())) {
    fail(ExitCode::kUsage, "sign: needs a FILE and --key SECRET.key; bantam sign --new-keys NAME makes keys");
  }
  makes ? make_pair(given) : sign_file(given);
}

}  // namespace

void add_sign(Program& program) {
  Command& command = program.add_command("sign", "Sign a file, so that verify --key can check who made it", kMakeGroup);
  auto given = std::make_shared<SignArguments>();
  command.add_option("FILE", given->file, "FILE", "File to sign, usually a .bantam file");
  command.add_option("--key", given->key, "FILE", "Secret key, from bantam sign --new-keys or minisign -G");
  command.add_option("-o,--output", given->output, "PATH", "Signature to write (default: FILE.minisig)");
  command.add_option("--comment", given->comment, "TEXT",
                     "Line to sign with the file (default: \"file:\" and the file's name)");
  command.add_option("--new-keys", given->new_keys, "NAME", "Make a key pair, NAME.key and NAME.pub, and sign nothing");
  command.add_option("--password-file", given->password_file, "FILE",
                     "File whose first line is the password of the secret key; without it, a new key has no password");
  command.add_flag("--json", given->json, "Print one JSON object");
  command.footer(
      "Keys and signatures have minisign's format; `minisign -Vm FILE -p NAME.pub` also checks them.\n\n"
      "Examples:\n"
      "  bantam sign --new-keys release\n"
      "  bantam sign voice.bantam --key release.key\n"
      "  bantam verify voice.bantam --key release.pub");
  command.action([given] { run_sign(*given); });
}

}  // namespace bantam::cli
