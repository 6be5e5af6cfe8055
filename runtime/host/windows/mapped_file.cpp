#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <climits>
#include <cstring>
#include <new>

#include "bantam/host.h"

namespace bantam::host {
namespace {

/// data() of an empty file points to these bytes.
alignas(64) constexpr uint8_t kNothing[64] = {};

constexpr const char* kNoMemory = "Not enough memory";

Status fail(const char* why, const char** reason) {
  if (reason != nullptr) *reason = why;
  return Status::kIo;
}

/// A path for functions of Windows that take UTF-16.
class WidePath {
 public:
  explicit WidePath(const char* utf8) {
    const int size = MultiByteToWideChar(CP_UTF8, 0, utf8, -1, nullptr, 0);
    if (size > 0) text_ = new (std::nothrow) wchar_t[static_cast<size_t>(size)];
    if (text_ != nullptr) MultiByteToWideChar(CP_UTF8, 0, utf8, -1, text_, size);
  }
  ~WidePath() { delete[] text_; }
  WidePath(const WidePath&) = delete;
  WidePath& operator=(const WidePath&) = delete;
  const wchar_t* text() const { return text_; }

 private:
  wchar_t* text_ = nullptr;
};

bool is_directory(const wchar_t* path) {
  const DWORD found = GetFileAttributesW(path);
  return found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/// Maps the open file at `out`. Returns null, or the reason of the failure.
const char* map_whole(int descriptor, const void** out) {
  auto* const file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  HANDLE const section = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (section == nullptr) return "Cannot be mapped";
  *out = MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0);
  CloseHandle(section);  // the view keeps it
  return *out != nullptr ? nullptr : kNoMemory;
}

/// Reads the open file into new memory at `out`. Returns null, or the reason of the failure.
const char* read_whole(int descriptor, size_t size, void* out) {
  for (size_t done = 0; done < size;) {
    const size_t left = size - done;
    const int got = _read(descriptor, static_cast<uint8_t*>(out) + done,
                          left < INT_MAX ? static_cast<unsigned>(left) : static_cast<unsigned>(INT_MAX));
    if (got < 0) return std::strerror(errno);
    if (got == 0) return "Ended while it was read";
    done += static_cast<size_t>(got);
  }
  DWORD before = 0;
  return VirtualProtect(out, size, PAGE_READONLY, &before) != 0 ? nullptr : "Cannot be protected from changes";
}

}  // namespace

Status MappedFile::load(const char* path, How how, const char** reason) {
  close();
  const WidePath wide(path);
  if (wide.text() == nullptr) return fail(kNoMemory, reason);
  if (is_directory(wide.text())) return fail("Is a directory", reason);
  const int descriptor = _wopen(wide.text(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) return fail(std::strerror(errno), reason);
  struct _stat64 status = {};
  const char* why = nullptr;
  if (_fstat64(descriptor, &status) != 0) {
    why = std::strerror(errno);
  } else if ((status.st_mode & S_IFMT) != S_IFREG) {
    why = "Is not a regular file";
  } else if (status.st_size == 0) {
    data_ = kNothing;
  } else {
    const auto size = static_cast<size_t>(status.st_size);
    const void* memory = nullptr;
    if (how == How::kMap) {
      why = map_whole(descriptor, &memory);
    } else {
      void* copy = VirtualAlloc(nullptr, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
      why = copy != nullptr ? read_whole(descriptor, size, copy) : kNoMemory;
      memory = copy;
    }
    if (memory != nullptr) {
      data_ = static_cast<const uint8_t*>(memory);
      size_ = size;
    }
  }
  _close(descriptor);
  if (why == nullptr) return Status::kOk;
  close();
  return fail(why, reason);
}

Status MappedFile::open(const char* path, const char** reason) { return load(path, How::kMap, reason); }

Status MappedFile::read(const char* path, const char** reason) { return load(path, How::kRead, reason); }

void MappedFile::close() {
  MEMORY_BASIC_INFORMATION kind = {};
  if (size_ > 0 && VirtualQuery(data_, &kind, sizeof(kind)) != 0) {
    if (kind.Type == MEM_MAPPED) {
      UnmapViewOfFile(data_);
    } else {
      VirtualFree(const_cast<uint8_t*>(data_), 0, MEM_RELEASE);
    }
  }
  data_ = nullptr;
  size_ = 0;
}

}  // namespace bantam::host
