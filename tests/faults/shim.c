// Preloaded into a process, makes one kind of system call fail: LD_PRELOAD=libbantam_faults.so BANTAM_FAULT="KIND HOW
// FIRST LAST EVERY".
//   KIND   one of kNames
//   HOW    an errno; or "short": half of the bytes; "end": no bytes, as at the end of a file;
//          "torn": the call succeeds, and the file that it maps is truncated to 0 bytes
//   FIRST, LAST, EVERY  numbers of the calls that fail, counted from 1 after the beginning of main
// With BANTAM_FAULT_TRACE, the first call that fails prints its callers.
// BANTAM_FAULT_COUNTS names a file for the number of calls of each kind: one line "KIND COUNT" per kind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/// With "system", every call fails that opens a file of /sys or /proc. Calls on such files do not count for other
/// kinds, because the libraries that read them are not part of bantam.
enum Kind {
  kSystem,
  kOpen,
  kStat,
  kRead,
  kWrite,
  kMap,
  kRename,
  kSync,
  kCut,
  kClose,
  kFolder,
  kThread,
  kMemory,
  kKinds
};
static const char* const kNames[kKinds] = {"system", "open", "stat",  "read",   "write",  "map",   "rename",
                                           "sync",   "cut",  "close", "folder", "thread", "memory"};
enum How { kErrno, kShort, kEnd, kTorn };

static atomic_bool counts;
static atomic_long calls[kKinds];
static int failing = kKinds;
static enum How how;
static int cause;
static long first, last, every;
static bool traces;

/// Prints the callers.
static void trace(void) {
  void* callers[64];
  atomic_store(&counts, false);
  backtrace_symbols_fd(callers, backtrace(callers, 64), STDERR_FILENO);
  atomic_store(&counts, true);
}

/// Counts a call. Returns true if it must fail.
static bool fails(enum Kind kind) {
  if (!atomic_load_explicit(&counts, memory_order_relaxed)) return false;
  const long number = atomic_fetch_add(&calls[kind], 1) + 1;
  if ((int)kind != failing || number < first || number > last || (number - first) % every != 0) return false;
  if (traces && number == first) trace();
  return true;
}

static bool is_of_system(const char* path) { return strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/", 6) == 0; }

/// One bit for each descriptor below 64: whether it is a file of /sys or /proc.
static _Atomic unsigned long long of_system;

/// Like fails(), for calls that cannot be done by half; sets errno.
static bool fails_whole(enum Kind kind) {
  if (!fails(kind)) return false;
  errno = cause;
  return true;
}

static bool opens(const char* path) { return !fails_whole(is_of_system(path) ? kSystem : kOpen); }

static int opened(const char* path, int descriptor) {
  if (descriptor < 0 || descriptor >= 64) return descriptor;
  const unsigned long long bit = 1ULL << descriptor;
  if (is_of_system(path)) atomic_fetch_or(&of_system, bit);
  if (!is_of_system(path)) atomic_fetch_and(&of_system, ~bit);
  return descriptor;
}

static bool reads_system(int descriptor) {
  return descriptor >= 0 && descriptor < 64 && (atomic_load(&of_system) >> descriptor & 1) != 0;
}

/// Returns the bytes that a call may transfer instead of `size`; -1: the call fails.
static ssize_t allowed(enum Kind kind, size_t size) {
  if (!fails(kind)) return (ssize_t)size;
  if (how == kShort) return (ssize_t)(size > 1 ? size / 2 : size);
  if (how == kEnd) return 0;
  errno = cause;
  return -1;
}

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static mode_t mode_of(int flags, va_list* rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(*rest, mode_t) : 0;
}

#define OPEN(name)                                                   \
  int name(const char* path, int flags, ...) {                       \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    const mode_t mode = mode_of(flags, &rest);                       \
    va_end(rest);                                                    \
    REAL(name);                                                      \
    return opens(path) ? opened(path, real(path, flags, mode)) : -1; \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                         \
  int name(int folder, const char* path, int flags, ...) {                   \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    const mode_t mode = mode_of(flags, &rest);                               \
    va_end(rest);                                                            \
    REAL(name);                                                              \
    return opens(path) ? opened(path, real(folder, path, flags, mode)) : -1; \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                \
  FILE* name(const char* path, const char* mode) { \
    REAL(name);                                    \
    return opens(path) ? real(path, mode) : NULL;  \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define MKOSTEMP(name)                           \
  int name(char* path, int flags) {              \
    REAL(name);                                  \
    return opens(path) ? real(path, flags) : -1; \
  }
MKOSTEMP(mkostemp)
MKOSTEMP(mkostemp64)

int access(const char* path, int mode) {
  REAL(access);
  return opens(path) ? real(path, mode) : -1;
}

#define FSTAT(name, Status)                                    \
  int name(int descriptor, struct Status* status) {            \
    REAL(name);                                                \
    return fails_whole(kStat) ? -1 : real(descriptor, status); \
  }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define STAT(name, Status)                               \
  int name(const char* path, struct Status* status) {    \
    REAL(name);                                          \
    return fails_whole(kStat) ? -1 : real(path, status); \
  }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

ssize_t read(int descriptor, void* bytes, size_t size) {
  REAL(read);
  if (reads_system(descriptor)) return real(descriptor, bytes, size);
  const ssize_t may = allowed(kRead, size);
  return may < 0 ? -1 : real(descriptor, bytes, (size_t)may);
}

#define PREAD(name, Offset)                                               \
  ssize_t name(int descriptor, void* bytes, size_t size, Offset offset) { \
    REAL(name);                                                           \
    const ssize_t may = allowed(kRead, size);                             \
    return may < 0 ? -1 : real(descriptor, bytes, (size_t)may, offset);   \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

ssize_t write(int descriptor, const void* bytes, size_t size) {
  REAL(write);
  const ssize_t may = allowed(kWrite, size);
  return may < 0 ? -1 : real(descriptor, bytes, (size_t)may);
}

ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  REAL(writev);
  const ssize_t may = allowed(kWrite, pieces[0].iov_len);
  if (may < 0) return -1;
  const struct iovec begin = {pieces[0].iov_base, (size_t)may};
  return (size_t)may == pieces[0].iov_len ? real(descriptor, pieces, count) : real(descriptor, &begin, 1);
}

#define SEND(name, Offset)                                     \
  ssize_t name(int out, int in, Offset* offset, size_t size) { \
    REAL(name);                                                \
    const ssize_t may = allowed(kWrite, size);                 \
    return may < 0 ? -1 : real(out, in, offset, (size_t)may);  \
  }
ssize_t sendfile(int out, int in, off_t* offset, size_t size);
ssize_t sendfile64(int out, int in, off64_t* offset, size_t size);
SEND(sendfile, off_t)
SEND(sendfile64, off64_t)

static void tear(int descriptor) {
  char link[32], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  path[size > 0 ? size : 0] = 0;
  if (truncate(path, 0) != 0) abort();
}

#define MMAP(name, Offset)                                                                  \
  void* name(void* at, size_t size, int access, int flags, int descriptor, Offset offset) { \
    REAL(name);                                                                             \
    const bool failed = fails_whole(kMap);                                                  \
    if (failed && how != kTorn) return MAP_FAILED;                                          \
    if (failed && descriptor >= 0) tear(descriptor);                                        \
    return real(at, size, access, flags, descriptor, offset);                               \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int rename(const char* from, const char* to) {
  REAL(rename);
  return fails_whole(kRename) ? -1 : real(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  REAL(renameat);
  return fails_whole(kRename) ? -1 : real(from_folder, from, to_folder, to);
}

int fsync(int descriptor) {
  REAL(fsync);
  return fails_whole(kSync) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  return fails_whole(kSync) ? -1 : real(descriptor);
}

#define CUT(name, Offset)                                   \
  int name(int descriptor, Offset size) {                   \
    REAL(name);                                             \
    return fails_whole(kCut) ? -1 : real(descriptor, size); \
  }
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

#define ALLOCATE(name, Offset)                                   \
  int name(int descriptor, Offset offset, Offset size) {         \
    REAL(name);                                                  \
    return fails(kCut) ? cause : real(descriptor, offset, size); \
  }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

/// The descriptor is free whatever close returns.
int close(int descriptor) {
  REAL(close);
  const int closed = real(descriptor);
  if (reads_system(descriptor)) return closed;
  return fails_whole(kClose) ? -1 : closed;
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  return fails_whole(kFolder) ? -1 : real(path, mode);
}

int chmod(const char* path, mode_t mode) {
  REAL(chmod);
  return fails_whole(kFolder) ? -1 : real(path, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*), void* argument) {
  REAL(pthread_create);
  return fails(kThread) ? cause : real(thread, attributes, begin, argument);
}

// The C library's own names, because dlsym allocates.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) { return fails_whole(kMemory) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails_whole(kMemory) ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails_whole(kMemory) ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails_whole(kMemory) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (fails(kMemory)) return ENOMEM;
  void* memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

static const char* counts_file;

__attribute__((destructor)) static void tell(void) {
  atomic_store(&counts, false);
  if (counts_file == NULL) return;
  FILE* out = fopen(counts_file, "we");
  for (int kind = 0; out != NULL && kind < kKinds; ++kind) {
    fprintf(out, "%s %ld\n", kNames[kind], atomic_load(&calls[kind]));
  }
  if (out != NULL) fclose(out);
}

static int (*real_main)(int, char**, char**);

static int begin(int count, char** words, char** environment) {
  char kind[16], manner[16];
  const char* fault = getenv("BANTAM_FAULT");
  counts_file = getenv("BANTAM_FAULT_COUNTS");
  traces = getenv("BANTAM_FAULT_TRACE") != NULL;
  if (fault != NULL && sscanf(fault, "%15s %15s %ld %ld %ld", kind, manner, &first, &last, &every) == 5) {
    while (failing > 0 && strcmp(kNames[failing - 1], kind) != 0) --failing;
    --failing;
    how = strcmp(manner, "short") == 0  ? kShort
          : strcmp(manner, "end") == 0  ? kEnd
          : strcmp(manner, "torn") == 0 ? kTorn
                                        : kErrno;
    cause = atoi(manner);
  }
  unsetenv("LD_PRELOAD");
  atomic_store(&counts, true);
  return real_main(count, words, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(void),
                      void (*finish)(void), void (*loader)(void), void* stack) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return real(begin, count, words, init, finish, loader, stack);
}
