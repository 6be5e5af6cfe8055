#include "format/header.h"

#include <string.h>

#include "format/crc32c.h"
#include "format/verdict.h"

namespace bantam {
namespace {

constexpr uint8_t kMagic[8] = {0x89, 'B', 'A', 'N', 'T', 'A', 'M', '\n'};

static_assert(sizeof(kMagic) + sizeof(FileHeader) == kHeaderBytes && offsetof(FileHeader, file_size) == 8 &&
                  offsetof(FileHeader, graph_crc) + sizeof(kMagic) == kChecksumsBegin,
              "a FileHeader is copied from and to the file");

Status fail(Status status, const char* what, Fault* fault) { return refuse(status, what, "header", 6, fault); }

/// Checks that [offset, offset + size) is aligned, not before `begin` and inside the file. A file fits size_t, so its
/// offsets must, too.
bool section_is_valid(uint64_t offset, uint64_t size, size_t begin, size_t end) {
  const auto at = static_cast<size_t>(offset);
  const auto length = static_cast<size_t>(size);
  return at == offset && length == size && at % kFileAlignment == 0 && at >= begin && at <= end && length <= end - at;
}

}  // namespace

Status read_header(const uint8_t* bytes, size_t size, FileHeader* out, Fault* fault) {
  if (size < sizeof(kMagic)) return fail(Status::kNotAModel, "too few bytes for a bantam file", fault);
  if (memcmp(bytes, kMagic, sizeof(kMagic)) != 0) {
    return fail(Status::kNotAModel, "the magic bytes are not bantam's", fault);
  }
  if (size < kHeaderBytes) return fail(Status::kTruncated, "the file ends inside its header", fault);
  FileHeader h;
  memcpy(&h, bytes + sizeof(kMagic), sizeof(h));
  if (h.major > kMajorVersion) {
    return fail(Status::kVersionTooNew, "the major version is newer than this reader", fault);
  }
  if (h.major == 0) return fail(Status::kCorrupt, "there is no major version 0", fault);
  if (h.header_size != kHeaderBytes) return fail(Status::kCorrupt, "the header size is not 64", fault);
  if (h.file_size > size) return fail(Status::kTruncated, "the file is shorter than its header states", fault);
  if (h.file_size < size) return fail(Status::kCorrupt, "the file is longer than its header states", fault);
  if (!section_is_valid(h.graph_offset, h.graph_size, kHeaderBytes, size)) {
    return fail(Status::kCorrupt, "the graph section lies outside the file or is not aligned", fault);
  }
  if (!section_is_valid(h.data_offset, h.data_size, static_cast<size_t>(h.graph_offset + h.graph_size), size)) {
    return fail(Status::kCorrupt, "the data section lies outside the file, overlaps the graph or is not aligned",
                fault);
  }
  *out = h;
  return Status::kOk;
}

void write_header(const FileHeader& header, uint8_t out[kHeaderBytes]) {
  memcpy(out, kMagic, sizeof(kMagic));
  memcpy(out + sizeof(kMagic), &header, sizeof(header));
}

uint32_t graph_checksum(const FileHeader& header, const uint8_t* bytes) {
  const uint32_t begin = crc32c(bytes, kChecksumsBegin);
  return crc32c(bytes + kHeaderBytes, header.data_offset - kHeaderBytes, begin);
}

uint32_t data_checksum(const FileHeader& header, const uint8_t* bytes) {
  return crc32c(bytes + header.data_offset, header.file_size - header.data_offset);
}

void seal(FileHeader header, uint8_t* bytes) {
  write_header(header, bytes);
  header.graph_crc = graph_checksum(header, bytes);
  header.data_crc = data_checksum(header, bytes);
  write_header(header, bytes);
}

}  // namespace bantam
