#include "base/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// Names of the existing temporary files, each pointing to its OutputFile's string; a signal handler reads them.
constexpr size_t kMostOpen = 16;
std::atomic<const char*> g_temporaries[kMostOpen];

void announce(const char* name) {
  for (std::atomic<const char*>& slot : g_temporaries) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, name)) return;
  }
}

void withdraw(const char* name) {
  for (std::atomic<const char*>& slot : g_temporaries) {
    const char* own = name;
    if (slot.compare_exchange_strong(own, nullptr)) return;
  }
}

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void sync_directory(const fs::path& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);  // best effort: some file systems do not support it
  close(descriptor);
}

/// Returns `path` with all symbolic links resolved; the target of the last link need not exist.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target : parent_of(path) / target;
  }
  return path;
}

constexpr time_t kYoungSeconds = 60;

/// Returns true if `name` is "PREFIX.PID.part", the form of temporary files for one output.
bool is_temporary_of(const std::string& prefix, const std::string& name) {
  constexpr std::string_view kEnd = ".part";
  if (name.size() <= prefix.size() + kEnd.size() || name.compare(0, prefix.size(), prefix) != 0) return false;
  if (name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) != 0) return false;
  const std::string pid = name.substr(prefix.size(), name.size() - prefix.size() - kEnd.size());
  return pid.find_first_not_of("0123456789") == std::string::npos;
}

/// Removes leftover files and folders that no process has locked, except recent ones, whose process may be about to
/// lock them.
void remove_stale(const fs::path& directory, const std::string& prefix) {
  // std::filesystem's iterator terminates the process when memory is exhausted.
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(directory.c_str()), closedir);
  if (folder == nullptr) return;
  const int place = dirfd(folder.get());
  while (const dirent* entry = readdir(folder.get())) {
    if (!is_temporary_of(prefix, entry->d_name)) continue;
    const int descriptor = openat(place, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    struct stat status = {};
    const bool old = fstat(descriptor, &status) == 0 && time(nullptr) - status.st_mtime > kYoungSeconds;
    if (old && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      std::error_code ignored;
      S_ISDIR(status.st_mode) ? void(fs::remove_all(directory / entry->d_name, ignored))
                              : void(unlinkat(place, entry->d_name, 0));
    }
    close(descriptor);
  }
}

std::string prefix_of(const fs::path& target) { return fmt::format(".{}.", target.filename().string()); }

/// Creates a temporary file or folder beside `target` and returns its name. make(name) creates it and fails with EEXIST
/// if the name is taken, which happens with equal process ids in two containers, or after a process was killed. Returns
/// an empty path with errno set if no name works.
template <typename Make>
fs::path make_beside(const fs::path& target, const Make& make) {
  constexpr int kMostTried = 100;
  remove_stale(parent_of(target), prefix_of(target));
  for (int i = 0; i < kMostTried; ++i) {
    fs::path beside = parent_of(target) / fmt::format("{}{}.part", prefix_of(target), getpid() + i);
    if (make(beside.c_str())) return beside;
    if (errno != EEXIST) break;
  }
  return {};
}

std::atomic<bool> g_standard_output_taken{false};

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

[[noreturn]] void fail_at(const fs::path& path, const char* action, int cause) {
  if (cause == EPIPE) throw ClosedOutput(path.string());
  const bool full = is_out_of_space(cause);
  throw Error(full ? ExitCode::kOutOfSpace : ExitCode::kIo,
              fmt::format("{}: {}: {}; {}", path.string(), action, std::strerror(cause),
                          full ? "free some space or choose another place" : "choose a writable place with -o"));
}

}  // namespace

bool is_out_of_space(int cause) { return cause == ENOSPC || cause == EDQUOT || cause == EFBIG; }

int write_all(int descriptor, const void* bytes, size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(descriptor, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    next += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

bool standard_output_is_taken() { return g_standard_output_taken; }

OutputPlace output_place(const fs::path& path) {
  if (path.empty()) throw Error(ExitCode::kUsage, "-o: the output's name is empty");
  OutputPlace place;
  struct stat named = {}, own = {}, found = {};
  // Follows links as the system does: of links in /proc, such as /dev/stdout, the text may name no file.
  const bool exists = path != "-" && stat(path.c_str(), &named) == 0;
  const bool is_own = exists && fstat(STDOUT_FILENO, &own) == 0 && is_same(named, own);
  if (path == "-" || (is_own && !S_ISDIR(named.st_mode))) {
    place.stream = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (place.stream < 0) fail_at("standard output", "cannot open", errno);
    g_standard_output_taken = true;
    return place;
  }
  place.file = followed(path);
  if (exists && S_ISDIR(named.st_mode)) fail_at(path, "cannot write", EISDIR);
  const bool found_it = exists && stat(place.file.c_str(), &found) == 0 && is_same(named, found);
  if (exists && !(S_ISREG(named.st_mode) && found_it)) {
    place.stream = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (place.stream < 0) fail_at(path, "cannot open", errno);
  } else if (exists && access(place.file.c_str(), W_OK) != 0) {
    fail_at(path, "cannot replace", errno);
  }
  return place;
}

void unlink_temporaries() {
  for (const std::atomic<const char*>& slot : g_temporaries) {
    const char* name = slot.load();
    if (name != nullptr) unlink(name);
  }
}

void OutputFile::fail(const char* action, int cause) const { fail_at(shown_, action, cause); }

OutputFile::OutputFile(const fs::path& path, Kind kind)
    : shown_(path == "-" ? "standard output" : path), target_(path) {
  if (kind != Kind::kOwn) {
    const OutputPlace place = output_place(path);
    target_ = place.file;
    descriptor_ = place.stream;
    if (descriptor_ >= 0) return;
  }
  const mode_t mode = kind == Kind::kProgram ? 0777 : kind == Kind::kSecret ? 0600 : 0666;
  const fs::path beside = make_beside(target_, [&](const char* name) {
    descriptor_ = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return descriptor_ >= 0;
  });
  if (descriptor_ < 0) fail("cannot create", errno);
  flock(descriptor_, LOCK_EX | LOCK_NB);  // best effort: some file systems have no locks
  temporary_ = beside.string();
  announce(temporary_.c_str());
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  withdraw(temporary_.c_str());
}

void OutputFile::commit(const void* bytes, size_t size) {
  commit({std::string_view(static_cast<const char*>(bytes), size)});
}

void OutputFile::commit(const std::vector<std::string_view>& pieces) {
  // Write large pieces whole: Linux then caches the file in large folios, which map ten times as fast.
  for (const std::string_view piece : pieces) {
    const int cause = write_all(descriptor_, piece.data(), piece.size());
    if (cause != 0) fail("cannot write", cause);
  }
  if (!temporary_.empty() && fsync(descriptor_) != 0) fail("cannot flush to the disk", errno);
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot close", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename", errno);
  withdraw(temporary_.c_str());
  temporary_.clear();
  sync_directory(parent_of(target_));
}

OutputFolder::OutputFolder(const fs::path& path)
    : shown_(path), target_(path.has_filename() ? path : path.parent_path()) {
  std::error_code error;
  fs::create_directories(parent_of(target_), error);
  if (error) fail_at(shown_, "cannot create", error.value());
  path_ = make_beside(target_, [](const char* name) { return mkdir(name, 0777) == 0; });
  if (path_.empty()) fail_at(shown_, "cannot create", errno);
  descriptor_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX | LOCK_NB);
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFolder::commit() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) fail_at(shown_, "cannot rename", errno);
  path_.clear();
  sync_directory(parent_of(target_));
}

void refuse_input_as_output(const fs::path& output, const std::vector<fs::path>& inputs) {
  struct stat replaced = {}, other = {};
  const bool replaces =
      output != "-" && stat(output.c_str(), &replaced) == 0 && (S_ISREG(replaced.st_mode) || S_ISDIR(replaced.st_mode));
  if (!replaces) return;
  const auto check = [&](const fs::path& input) {
    if (stat(input.c_str(), &other) != 0 || !is_same(other, replaced)) return;
    throw Error(ExitCode::kUsage,
                fmt::format("-o {}: that is an input ({}); choose another name", output.string(), input.string()));
  };
  for (const fs::path& input : inputs) {
    if (input.empty()) continue;
    check(input);
    std::error_code error;  // ignored: a regular file has no entries
    fs::recursive_directory_iterator it(input, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
      // Files with this extension are never read as inputs, so that replacing an earlier result is fine.
      if (it->path().extension() != ".bantam") check(it->path());
    }
  }
}

}  // namespace bantam::convert
