#include "model/header.h"

#include "model/crc32c.h"
#include "model/verdict.h"

namespace bantam {
namespace {

constexpr uint8_t kMagic[8] = {0x89, 'B', 'A', 'N', 'T', 'A', 'M', '\n'};

/// Where the checksums, which they do not cover, begin.
constexpr uint64_t kChecksumOffset = 56;

template <typename T>
T load(const uint8_t* at) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= uint64_t{at[i]} << (8 * i);
  return static_cast<T>(value);
}

template <typename T>
void store(T value, uint8_t* at) {
  for (size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<uint8_t>(uint64_t{value} >> (8 * i));
}

Status fail(Status status, const char* what, Fault* fault) { return refuse(status, what, "header", 6, fault); }

/// [offset, offset + size) is aligned, behind `begin` and inside the file.
bool section_is_valid(uint64_t offset, uint64_t size, uint64_t begin, uint64_t end) {
  return offset % kFileAlignment == 0 && offset >= begin && offset <= end && size <= end - offset;
}

}  // namespace

Status read_header(const uint8_t* bytes, size_t size, FileHeader* out, Fault* fault) {
  if (size < sizeof(kMagic)) return fail(Status::kNotAModel, "too few bytes for a bantam file", fault);
  for (size_t i = 0; i < sizeof(kMagic); ++i) {
    if (bytes[i] != kMagic[i]) return fail(Status::kNotAModel, "the magic bytes are not bantam's", fault);
  }
  if (size < kHeaderBytes) return fail(Status::kTruncated, "the file ends inside its header", fault);
  FileHeader h;
  h.major = load<uint16_t>(bytes + 8);
  h.minor = load<uint16_t>(bytes + 10);
  if (h.major > kMajorVersion) {
    return fail(Status::kVersionTooNew, "the major version is newer than this reader", fault);
  }
  if (h.major == 0) return fail(Status::kCorrupt, "there is no major version 0", fault);
  if (load<uint32_t>(bytes + 12) != kHeaderBytes) return fail(Status::kCorrupt, "the header size is not 64", fault);
  h.file_size = load<uint64_t>(bytes + 16);
  h.graph_offset = load<uint64_t>(bytes + 24);
  h.graph_size = load<uint64_t>(bytes + 32);
  h.data_offset = load<uint64_t>(bytes + 40);
  h.data_size = load<uint64_t>(bytes + 48);
  h.graph_crc = load<uint32_t>(bytes + kChecksumOffset);
  h.data_crc = load<uint32_t>(bytes + kChecksumOffset + 4);
  if (h.file_size > size) return fail(Status::kTruncated, "the file is shorter than its header states", fault);
  if (h.file_size < size) return fail(Status::kCorrupt, "the file is longer than its header states", fault);
  if (!section_is_valid(h.graph_offset, h.graph_size, kHeaderBytes, h.file_size)) {
    return fail(Status::kCorrupt, "the graph section lies outside the file or is not aligned", fault);
  }
  if (!section_is_valid(h.data_offset, h.data_size, h.graph_offset + h.graph_size, h.file_size)) {
    return fail(Status::kCorrupt, "the data section lies outside the file, overlaps the graph or is not aligned",
                fault);
  }
  *out = h;
  return Status::kOk;
}

void write_header(const FileHeader& header, uint8_t out[kHeaderBytes]) {
  for (size_t i = 0; i < sizeof(kMagic); ++i) out[i] = kMagic[i];
  store(header.major, out + 8);
  store(header.minor, out + 10);
  store(kHeaderBytes, out + 12);
  store(header.file_size, out + 16);
  store(header.graph_offset, out + 24);
  store(header.graph_size, out + 32);
  store(header.data_offset, out + 40);
  store(header.data_size, out + 48);
  store(header.graph_crc, out + kChecksumOffset);
  store(header.data_crc, out + kChecksumOffset + 4);
}

uint32_t graph_checksum(const FileHeader& header, const uint8_t* bytes) {
  const uint32_t begin = crc32c(bytes, kChecksumOffset);
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
