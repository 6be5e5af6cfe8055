// Conveniences for hosts with an operating system (Linux): a mapped file, a thread pool, XNNPACK. They allocate;
// link bantam::host for them. The runtime itself knows none of this.
#ifndef BANTAM_HOST_H_
#define BANTAM_HOST_H_

#include "bantam/session.h"

namespace bantam::host {

/// A file's bytes, page-aligned and read-only: mapped, or read into memory of their own.
///
/// A model is verified once, when it is opened, and read from these bytes on every run. So while it is mapped nobody
/// may write into the file or cut it short: what the verifier has seen would change under the runtime, up to reads and
/// writes at wild addresses, or SIGBUS. Replacing it by a rename is fine (bantam convert does): the mapping keeps the
/// old file. Where others may write the file, read() it.
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

  /// Maps a regular file; an empty one gives zero bytes. kIo otherwise, and `reason` (if given) says why in
  /// words that stay valid until the next failing call of this thread.
  Status open(const char* path, const char** reason = nullptr);
  /// The same bytes, read once into memory that nobody else can write: takes the time of a copy and the file's size of
  /// memory, which processes then do not share.
  Status read(const char* path, const char** reason = nullptr);
  void close();

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  enum class How : uint8_t { kMap, kRead };
  Status load(const char* path, How how, const char** reason);
  const char* take(int descriptor, size_t size, How how);
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

/// Processors that this process may use: those of its affinity mask, and no more than a container's quota gives time for.
/// At least 1.
uint32_t processors();

/// Threads for SessionOptions::parallel, the caller's among them. What a run waits for are tasks that a thread has begun, not
/// threads: where processors() are fewer, or other work has them, the calling thread does what the others do not, and after
/// losses asks fewer of them for a while. Threads without work look for some for some microseconds, then they sleep. Of
/// sessions on several threads that share a pool one at a time has its threads; the others run on their own meanwhile.
class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Worker ids that tasks see: SessionOptions::workers is at least this. Fewer than asked for where the system gives fewer.
  uint32_t threads() const { return threads_; }
  /// Null when there is but one thread: the session runs serially.
  const Parallel* parallel() const { return threads_ > 1 ? &parallel_ : nullptr; }

 private:
  struct Threads;
  Parallel parallel_;
  Threads* handle_ = nullptr;
  uint32_t threads_ = 1;
};

/// Linear layers of all-float files through XNNPACK, for SessionOptions::backend. Results differ from the
/// native kernels' in the last bits. Keeps its own packed f32 copy of the weights. One session at a time.
class XnnpackBackend {
 public:
  /// Returns true if this build has XNNPACK (CMake option BANTAM_XNNPACK).
  static bool available();

  XnnpackBackend() = default;
  ~XnnpackBackend();
  XnnpackBackend(const XnnpackBackend&) = delete;
  XnnpackBackend& operator=(const XnnpackBackend&) = delete;

  /// Packs the weights of `model`; once. kUnavailable without XNNPACK, for files with int8 layers, and where layers that
  /// share weights would take more than four times the file's bytes: run those with the native kernels. The
  /// backend has `threads` of its own (pthreadpool), the caller's among them.
  Status create(const Model& model, uint32_t threads = 1);

  /// Null before create() has succeeded: native kernels.
  const LinearBackend* backend() const { return layers_ == nullptr ? nullptr : &backend_; }

 private:
  struct Layers;
  LinearBackend backend_;
  Layers* layers_ = nullptr;
};

}  // namespace bantam::host

#endif  // BANTAM_HOST_H_
