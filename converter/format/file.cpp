#include "format/file.h"

#include <fmt/format.h>

#include "bantam/model.h"
#include "base/error.h"
#include "base/size.h"
#include "format/header.h"
#include "format/view.h"

namespace bantam::convert {

FileBytes assemble_file(const fb::ModelT& model, const std::vector<uint8_t>& data) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &model));
  FileHeader header;
  header.graph_offset = kHeaderBytes;
  header.graph_size = builder.GetSize();
  header.data_offset = round_up(header.graph_offset + header.graph_size, kFileAlignment);
  header.data_size = data.size();
  header.file_size = header.data_offset + header.data_size;
  FileBytes bytes;
  bytes.reserve(in_memory(header.file_size));
  bytes.resize(kHeaderBytes);
  bytes.insert(bytes.end(), builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  bytes.resize(in_memory(header.data_offset));
  bytes.insert(bytes.end(), data.begin(), data.end());
  seal(header, bytes.data());
  return bytes;
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
