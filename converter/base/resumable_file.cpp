#include "base/resumable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/fail.h"
#include "base/is_there.h"
#include "base/json_file.h"
#include "base/output_file.h"
#include "base/sha256.h"

namespace bantam::convert {
namespace {

constexpr int64_t kMarkEvery = 1000;  // in milliseconds: the work that is lost when the process is killed

int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

uint64_t number_of(const Json& state, const char* name, const std::filesystem::path& file) {
  const Json& value = member(state, name);
  if (!value.is_number_unsigned()) {
    fail(ExitCode::kInvalid, "{}: \"{}\" is not a number, so this is not a state of a run; remove it and what it is of",
         file.string(), name);
  }
  return value.get<uint64_t>();
}

std::string string_of(const Json& object, const std::string& name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

ResumableFile::ResumableFile(const std::filesystem::path& path, Key key, bool resume) : key_(std::move(key)) {
  for (auto& [name, value] : key_) value = sha256_of(value);  // a value may hold any bytes, which JSON does not
  OutputPlace place = output_place(path);
  path_ = place.file;
  descriptor_ = place.stream;
  streams_ = descriptor_ >= 0;
  if (streams_) {
    part_ = path == "-" ? "standard output" : path;  // name in messages
    if (!resume) return;
    close(descriptor_);
    fail(ExitCode::kUsage, "--resume: {} keeps nothing that could be continued; name a file", part_.string());
  }
  part_ = path_.string() + ".part";
  state_ = path_.string() + ".state";
  std::error_code error;
  const bool begun = std::filesystem::exists(std::filesystem::symlink_status(part_, error));
  if (resume && !begun && is_there(path_)) {
    done_ = true;
    return;
  }
  open_part(begun, resume);
  cut_to_mark();
}

/// Anyone who can write to the folder may have put anything there, so links are not followed, and the file must have no
/// other hard link.
void ResumableFile::open_part(bool begun, bool resume) {
  descriptor_ =
      open(part_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (begun ? 0 : O_CREAT | O_EXCL), 0666);
  const int cause = errno;
  if (descriptor_ < 0 && cause != ELOOP && cause != ENXIO) fail_io("cannot be written", cause);
  struct stat status = {};
  if (descriptor_ >= 0 && fstat(descriptor_, &status) != 0) fail_io("cannot be written", errno);
  if (!S_ISREG(status.st_mode) || status.st_nlink > 1) {
    if (descriptor_ >= 0) close(descriptor_);
    fail(ExitCode::kIo, "{}: is a link or no regular file, so no run has left it; remove it, or name another output",
         part_.string());
  }
  struct stat named = {};
  const bool locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  // The process that held the lock may have renamed the file just now.
  const bool own =
      locked && lstat(part_.c_str(), &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev;
  if (own && (resume || !begun || status.st_size == 0)) return;
  close(descriptor_);
  if (!own) fail(ExitCode::kUsage, "{}: another process is writing it; wait for that one, or stop it", part_.string());
  fail(ExitCode::kUsage, "{}: is left of a run that was stopped; continue it with --resume, or remove it and {}",
       part_.string(), state_.string());
}

ResumableFile::~ResumableFile() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  const bool is_empty = !streams_ && !done_ && progress_.records == 0;
  if (is_empty && std::filesystem::remove(part_, ignored)) std::filesystem::remove(state_, ignored);
  close(descriptor_);
}

void ResumableFile::refuse(const std::string& what) const {
  fail(ExitCode::kUsage,
       "{}: was begun with another {}; repeat the command with the same, or remove this file and {} to start again",
       part_.string(), what, state_.string());
}

void ResumableFile::cut_to_mark() {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) fail_io("cannot be written", errno);
  if (status.st_size > 0 && is_there(state_)) {
    const Json state = read_json_object(state_);
    const Json& key = member(state, "run");
    if (!key.is_object()) {
      fail(ExitCode::kInvalid, "{}: \"run\" is not an object, so this is not a state of a run; remove it and {}",
           state_.string(), part_.string());
    }
    std::string differ;
    for (const auto& [name, value] : key_) {
      if (string_of(key, name) != value) differ += (differ.empty() ? "" : ", ") + name;
    }
    if (!differ.empty()) refuse(differ);
    progress_ = {number_of(state, "records", state_), number_of(state, "failed", state_),
                 number_of(state, "bytes", state_), string_of(state, "read")};
    if (progress_.bytes > static_cast<uint64_t>(status.st_size)) {
      fail(ExitCode::kIo, "{}: is shorter than {} says; remove both", part_.string(), state_.string());
    }
  }
  if (ftruncate(descriptor_, static_cast<off_t>(progress_.bytes)) != 0 ||
      lseek(descriptor_, static_cast<off_t>(progress_.bytes), SEEK_SET) < 0) {
    fail_io("cannot be cut", errno);
  }
}

void ResumableFile::append(std::string_view bytes, uint64_t records, uint64_t failed, const std::string& read) {
  const int cause = write_all(descriptor_, bytes.data(), bytes.size());
  if (cause != 0) fail_io("cannot be written", cause);
  progress_.bytes += bytes.size();
  progress_.records += records;
  progress_.failed += failed;
  progress_.read = read;
  if (now() - marked_ >= kMarkEvery) mark();
}

/// Flushes the data to the disk before it writes the mark that covers them.
void ResumableFile::mark() {
  if (streams_) return;
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail_io("cannot be written", errno);
  Json state = {{"records", progress_.records}, {"failed", progress_.failed}, {"bytes", progress_.bytes}};
  state["read"] = progress_.read;
  state["run"] = Json::object();
  for (const auto& [name, value] : key_) state["run"][name] = value;
  const std::string text = state.dump();
  OutputFile(state_, OutputFile::Kind::kOwn).commit(text.data(), text.size());
  marked_ = now();
}

void ResumableFile::commit() {
  if (streams_) return;
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail_io("cannot be written", errno);
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) fail_io("cannot be renamed", error.value());
  std::filesystem::remove(state_, error);
  done_ = true;
}

void ResumableFile::fail_io(const char* action, int cause) const {
  if (cause == EPIPE) throw ClosedOutput(part_.string());
  fail(is_out_of_space(cause) ? ExitCode::kOutOfSpace : ExitCode::kIo, "{}: {}: {}", part_.string(), action,
       std::strerror(cause));
}

}  // namespace bantam::convert
