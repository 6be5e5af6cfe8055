#include "format/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bantam/model.h"
#include "base/error.h"
#include "base/size.h"
#include "format/header.h"
#include "format/view.h"

namespace bantam::convert {

namespace {

/// Writes the graph of a file with a data section of `data_bytes`; returns the header with the offsets.
FileHeader write_graph(const fb::ModelT& model, uint64_t data_bytes, flatbuffers::FlatBufferBuilder& builder) {
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &model));
  FileHeader header;
  header.graph_offset = kHeaderBytes;
  header.graph_size = builder.GetSize();
  header.data_offset = round_up(header.graph_offset + header.graph_size, kFileAlignment);
  header.data_size = data_bytes;
  header.file_size = header.data_offset + header.data_size;
  return header;
}

constexpr size_t kGraphBytes = 1 << 20;

}  // namespace

FileBytes assemble_file(const fb::ModelT& model, DataSection data) {
  flatbuffers::FlatBufferBuilder builder(kGraphBytes);
  FileHeader header = write_graph(model, data.size(), builder);
  const uint64_t data_front = data.front();
  FileBytes bytes = data.take();
  bytes.reserve(in_memory(header.file_size));
  if (data_front == 0) {
    bytes.insert(bytes.begin(), in_memory(header.data_offset), 0);
  } else if (data_front != header.data_offset) {
    throw Error(ExitCode::kInternal, "the graph has another size than was counted");
  }
  std::copy_n(builder.GetBufferPointer(), builder.GetSize(), bytes.begin() + kHeaderBytes);
  if (!bytes.get_allocator().in_scratch(bytes.capacity())) {
    seal(header, bytes.data());
    return bytes;
  }
  // A file in scratch memory gets no data checksum: nobody checks it, and computing it would bring all data into
  // memory.
  write_header(header, bytes.data());
  header.graph_crc = graph_checksum(header, bytes.data());
  write_header(header, bytes.data());
  return bytes;
}

uint64_t size_of_file(const fb::ModelT& model, const DataSection& data) {
  flatbuffers::FlatBufferBuilder builder(kGraphBytes);
  return write_graph(model, data.size(), builder).file_size;
}

void check_file(const FileBytes& bytes) {
  Model model;
  Fault fault;
  const Status status = Model::open(bytes.data(), bytes.size(), &model, &fault);
  if (status == Status::kOk) return;
  throw Error(status == Status::kUnsupported ? ExitCode::kUnsupported : ExitCode::kInternal,
              fmt::format("the packed model does not pass its own verifier: {}: {} ({} {})", status_message(status),
                          fault.what, std::string(fault.name, fault.name_size), fault.index));
}

}  // namespace bantam::convert
