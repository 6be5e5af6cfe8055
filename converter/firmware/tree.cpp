#include "firmware/tree.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "base/error.h"
#include "base/output_file.h"
#include "base/sha256.h"

namespace bantam::firmware {
namespace fs = std::filesystem;
namespace {

using convert::Error;
using convert::ExitCode;

constexpr const char* kManifest = ".bantam-firmware";
constexpr const char* kHeading = "# What bantam firmware wrote here, by SHA-256; --force replaces nothing else.\n";

/// For each path, the digests of the contents that the command wrote: two while a replacement is in progress.
using Manifest = std::map<std::string, std::set<std::string>>;

[[noreturn]] void fail_io(const fs::path& path, int cause) {
  const bool full = convert::is_out_of_space(cause);
  throw Error(full ? ExitCode::kOutOfSpace : ExitCode::kIo,
              fmt::format("{}: cannot write: {}; {}", path.string(), std::strerror(cause),
                          full ? "free some space or choose another place" : "choose a writable place with -o"));
}

[[noreturn]] void fail_io(const fs::path& path, const std::error_code& error) { fail_io(path, error.value()); }

std::string digest_of(const std::string& contents) {
  convert::Sha256 sha;
  sha.update(contents.data(), contents.size());
  return sha.finish();
}

Manifest manifest_of(const Tree& tree) {
  Manifest manifest;
  for (const auto& [path, contents] : tree) manifest[path].insert(digest_of(contents));
  return manifest;
}

std::string to_text(const Manifest& manifest) {
  std::string text = kHeading;
  for (const auto& [path, digests] : manifest) {
    for (const std::string& digest : digests) text.append(digest).append(" ").append(path).append("\n");
  }
  return text;
}

Manifest read_manifest(const fs::path& directory) {
  constexpr size_t kDigits = 64;
  Manifest manifest;
  std::ifstream file(directory / kManifest, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.size() <= kDigits + 1 || line[0] == '#' || line[kDigits] != ' ') continue;
    const fs::path name = line.substr(kDigits + 1);
    if (name.is_absolute() || *name.lexically_normal().begin() == "..") continue;
    manifest[name.string()].insert(line.substr(0, kDigits));
  }
  return manifest;
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_io(folder, error);
}

/// Makes a script, which begins with #!, executable for everybody who can read it.
void allow_execution(const fs::path& path, const std::string& contents) {
  if (contents.compare(0, 2, "#!") != 0) return;
  std::error_code error;
  const auto readers = static_cast<unsigned>(fs::status(path, error).permissions()) & 0444u;
  if (!error) fs::permissions(path, static_cast<fs::perms>(readers >> 2), fs::perm_options::add, error);
  if (error) fail_io(path, error);
}

/// Writes the files below `directory`, which is new and will be renamed to `shown`.
void fill(const fs::path& directory, const fs::path& shown, const Tree& tree) {
  for (const auto& [name, contents] : tree) {
    const fs::path path = directory / name;
    make_folders(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    if (!file) fail_io(shown / name, errno);
    allow_execution(path, contents);
  }
}

void create(const fs::path& directory, Tree tree) {
  tree[kManifest] = to_text(manifest_of(tree));
  convert::OutputFolder folder(directory);
  fill(folder.path(), directory, tree);
  folder.commit();
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const fs::path& path, const std::string& contents) {
  convert::OutputFile(path).commit(contents.data(), contents.size());
  allow_execution(path, contents);
}

bool has_entry(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Refuses the tree if one of its files exists and was not written by an earlier call.
void refuse_foreign(const fs::path& directory, const Tree& tree, const Manifest& before) {
  std::vector<std::string> problems;
  for (const auto& [name, contents] : tree) {
    if (before.count(name) != 0 || !has_entry(directory / name)) continue;
    problems.push_back(fmt::format("{}: bantam firmware did not write this; move it away or choose another -o",
                                   (directory / name).string()));
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, problems);
}

Written replace(const fs::path& directory, const Tree& tree) {
  const Manifest before = read_manifest(directory);
  refuse_foreign(directory, tree, before);
  const Manifest after = manifest_of(tree);
  Manifest both = before;
  for (const auto& [name, digests] : after) both[name].insert(digests.begin(), digests.end());
  put(directory / kManifest, to_text(both));  // so that an interrupted replacement can be repeated
  Written written;
  for (const auto& [name, contents] : tree) {
    const fs::path path = directory / name;
    make_folders(path.parent_path());
    ++written.files;
    if (has_entry(path)) {
      const std::string digest = digest_of(contents_of(path));
      if (after.at(name).count(digest) != 0) {
        allow_execution(path, contents);
        continue;
      }
      if (both.at(name).count(digest) == 0) {
        written.kept.push_back(name);
        --written.files;
        continue;
      }
    }
    put(path, contents);
  }
  for (const auto& [name, digests] : before) {
    const fs::path path = directory / name;
    if (tree.count(name) != 0 || !has_entry(path)) continue;
    std::error_code ignored;
    if (digests.count(digest_of(contents_of(path))) != 0) fs::remove(path, ignored);
  }
  put(directory / kManifest, to_text(after));
  return written;
}

}  // namespace

Written write_tree(const fs::path& directory, const Tree& tree, bool force) {
  std::error_code error;
  fs::path place = directory.lexically_normal();
  if (place.has_relative_path() && !place.has_filename()) place = place.parent_path();  // "DIR/"
  if (place.empty()) throw Error(ExitCode::kUsage, "-o: the output's name is empty");
  const fs::file_status status = fs::status(place, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw Error(ExitCode::kUsage, fmt::format("-o {}: that is a file, a project is a directory", directory.string()));
  }
  const bool holds_something = fs::is_directory(status) && !fs::is_empty(place, error);
  if (error && error != std::errc::no_such_file_or_directory) fail_io(place, error);
  if (!holds_something && !fs::is_symlink(place) && place != ".") {
    create(place, tree);
    return {tree.size(), {}};
  }
  if (holds_something && !force) {
    throw Error(ExitCode::kUsage,
                fmt::format("-o {}: the directory is not empty; --force replaces what bantam firmware "
                            "wrote there, nothing else",
                            directory.string()));
  }
  if (holds_something && !has_entry(place / kManifest)) {
    throw Error(ExitCode::kUsage,
                fmt::format("-o {}: bantam firmware did not write this directory; choose another", directory.string()));
  }
  return replace(place, tree);
}

}  // namespace bantam::firmware
