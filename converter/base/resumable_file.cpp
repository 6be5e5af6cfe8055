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

namespace bantam::convert {
namespace {

constexpr int64_t kMarkEvery = 1000;  // milliseconds: what a killed process has to make again

int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

uint64_t number_of(const Json& state, const char* name) {
  const auto it = state.find(name);
  return it != state.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

}  // namespace

ResumableFile::ResumableFile(std::filesystem::path path, const std::string& key, bool resume)
    : path_(std::move(path)), part_(path_.string() + ".part"), state_(path_.string() + ".state"), key_(key) {
  const bool begun = is_there(part_);
  if (begun && !resume) {
    fail(ExitCode::kUsage, "{}: is left of a run that was stopped; go on with --resume, or remove it and {}",
         part_.string(), state_.string());
  }
  if (resume && !begun && is_there(path_)) {
    done_ = true;
    return;
  }
  descriptor_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_io("cannot be written", errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    fail(ExitCode::kUsage, "{}: another process is writing it; wait for that one, or stop it", part_.string());
  }
  cut_to_mark();
}

ResumableFile::~ResumableFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void ResumableFile::cut_to_mark() {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) fail_io("cannot be read", errno);
  if (status.st_size > 0 && is_there(state_)) {
    const Json state = read_json_object(state_);
    if (state.value("key", "") != key_) {
      fail(ExitCode::kUsage,
           "{}: was begun with another input, model or options; remove it and {}, or name another output",
           part_.string(), state_.string());
    }
    progress_ = {number_of(state, "records"), number_of(state, "failed"), number_of(state, "bytes")};
    if (progress_.bytes > static_cast<uint64_t>(status.st_size)) {
      fail(ExitCode::kIo, "{}: is shorter than {} says; remove both", part_.string(), state_.string());
    }
  }
  if (ftruncate(descriptor_, static_cast<off_t>(progress_.bytes)) != 0 ||
      lseek(descriptor_, static_cast<off_t>(progress_.bytes), SEEK_SET) < 0) {
    fail_io("cannot be cut", errno);
  }
}

void ResumableFile::append(std::string_view bytes, uint64_t records, uint64_t failed) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("cannot be written", errno);
    done += static_cast<size_t>(n);
  }
  progress_.bytes += bytes.size();
  progress_.records += records;
  progress_.failed += failed;
  if (now() - marked_ >= kMarkEvery) mark();
}

/// What the mark says is on the disk before it is.
void ResumableFile::mark() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail_io("cannot be written", errno);
  const std::string text =
      Json{{"key", key_}, {"records", progress_.records}, {"failed", progress_.failed}, {"bytes", progress_.bytes}}
          .dump();
  OutputFile(state_).commit(text.data(), text.size());
  marked_ = now();
}

void ResumableFile::commit() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail_io("cannot be written", errno);
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) fail_io("cannot be renamed", error.value());
  std::filesystem::remove(state_, error);
}

void ResumableFile::fail_io(const char* action, int cause) const {
  const bool full = cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
  fail(full ? ExitCode::kOutOfSpace : ExitCode::kIo, "{}: {}: {}", part_.string(), action, std::strerror(cause));
}

}  // namespace bantam::convert
