// Changes the content of a finished file as an attacker would: through the schema's object form.
#ifndef BANTAM_TESTS_SESSION_EDIT_FILE_H_
#define BANTAM_TESTS_SESSION_EDIT_FILE_H_

#include <functional>
#include <stdexcept>
#include <vector>

#include "format/header.h"
#include "tests/session/model_builder.h"

namespace bantam::testing {

/// Returns the well-formed `file` after `edit` of its graph and its data section, with correct sizes and checksums.
inline std::vector<uint8_t> edit_file(const std::vector<uint8_t>& file,
                                      const std::function<void(fb::ModelT&, std::vector<uint8_t>&)>& edit) {
  const FileBytes aligned(file);
  FileHeader header;
  if (read_header(aligned.data(), aligned.size(), &header, nullptr) != Status::kOk) {
    throw std::runtime_error("not a file");
  }
  fb::ModelT model;
  fb::GetModel(aligned.data() + header.graph_offset)->UnPackTo(&model);
  const uint8_t* data = aligned.data() + header.data_offset;
  std::vector<uint8_t> bytes(data, data + header.data_size);
  edit(model, bytes);
  return assemble(model, bytes);
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_EDIT_FILE_H_
