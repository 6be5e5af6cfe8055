// Conveniences for hosts with an operating system (Linux, Windows, macOS): a mapped file, a thread pool, XNNPACK. They
// allocate; link bantam::host for them. The runtime itself does not depend on them.
#ifndef BANTAM_HOST_H_
#define BANTAM_HOST_H_

#include "bantam/session.h"

namespace bantam::host {

/// A file's bytes, page-aligned and read-only: mapped, or read into memory of their own.
///
/// A model is verified once, when it is opened, and read from these bytes on every run. While a file is mapped, nobody
/// may write to it or truncate it: the verified bytes would change under the runtime, which could then access wild
/// addresses or receive SIGBUS. Replacing the file by a rename is safe (bantam convert does that): the mapping keeps
/// the old file; on Windows the rename fails while the file is mapped. If others may write to the file, use read().
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile() { close(); }
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    swap(other);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Maps a regular file; an empty file yields zero bytes. `path` is UTF-8 on Windows. kIo: another failure, and
  /// `reason` (if given) explains it in a text that stays valid until the next failing call of this thread.
  Status open(const char* path, const char** reason = nullptr);
  /// Reads the file once into private memory that no other process can change. Takes the time of a copy, and memory of
  /// the file's size that processes do not share.
  Status read(const char* path, const char** reason = nullptr);
  void close();

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  enum class How : uint8_t { kMap, kRead };
  Status load(const char* path, How how, const char** reason);
  void swap(MappedFile& other) {
    const uint8_t* data = data_;
    const size_t size = size_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = data;
    other.size_ = size;
  }

  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// Processors that this process may use: those of its affinity mask, limited by the CPU quota of its container. At
/// least 1.
uint32_t processors();

/// Threads for SessionOptions::parallel, including the caller's. A run waits for the tasks that threads have begun, not
/// for the threads themselves: if processors() is smaller, or other work occupies the processors, the calling thread
/// runs the remaining tasks, and after such delays it wakes fewer threads for a while. Idle threads poll for some
/// microseconds, then sleep. If sessions on several threads share a pool, one at a time uses its threads; meanwhile the
/// others run serially.
class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Number of worker ids that tasks see; SessionOptions::workers must be at least this. It is smaller than requested
  /// if the system provides fewer threads.
  uint32_t threads() const { return threads_; }
  /// Null if there is only one thread: the session then runs serially.
  const Parallel* parallel() const { return threads_ > 1 ? &parallel_ : nullptr; }

 private:
  struct Threads;
  Parallel parallel_;
  Threads* handle_ = nullptr;
  uint32_t threads_ = 1;
};

/// Runs the linear layers of all-float files with XNNPACK, for SessionOptions::backend. Results differ from the native
/// kernels' in the last bits. Keeps its own packed f32 copy of the weights. Serves one session at a time.
class XnnpackBackend {
 public:
  /// Returns true if this build has XNNPACK (CMake option BANTAM_XNNPACK).
  static bool available();

  XnnpackBackend() = default;
  ~XnnpackBackend();
  XnnpackBackend(const XnnpackBackend&) = delete;
  XnnpackBackend& operator=(const XnnpackBackend&) = delete;

  /// Packs the weights of `model`; call it once. kUnavailable: the build has no XNNPACK, the file has int8 layers, or
  /// layers that share weights would need more than four times the file's bytes; run those files with the native
  /// kernels. The backend has `threads` threads of its own (pthreadpool), including the caller's.
  Status create(const Model& model, uint32_t threads = 1);

  /// Null before create() has succeeded: the session then uses the native kernels.
  const LinearBackend* backend() const { return layers_ == nullptr ? nullptr : &backend_; }

 private:
  struct Layers;
  LinearBackend backend_;
  Layers* layers_ = nullptr;
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_H_
