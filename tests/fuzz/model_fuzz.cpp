// Any bytes as a .bantam file: open, create a session, run ids and text, read the outputs. Each input is tried as it
// is and with its header's sizes made true, so that changes of length reach the verifier.
#include <cstring>
#include <vector>

#include "format/header.h"
#include "tests/session/exercise.h"

namespace {

/// An exactly sized, aligned copy: sanitizers see the first byte beyond.
bantam::Status run_copy(const uint8_t* data, size_t size, bool repair) {
  static std::vector<uint8_t> arena;
  auto* bytes = static_cast<uint8_t*>(::operator new (size == 0 ? 1 : size, std::align_val_t{64}));
  if (size > 0) std::memcpy(bytes, data, size);
  if (repair) {
    const uint64_t file_size = size;
    std::memcpy(bytes + 16, &file_size, sizeof(file_size));
    uint64_t data_offset = 0;
    std::memcpy(&data_offset, bytes + 40, sizeof(data_offset));
    const uint64_t data_size = data_offset < size ? size - data_offset : 0;
    std::memcpy(bytes + 48, &data_size, sizeof(data_size));
  }
  const bantam::Status status = bantam::testing::exercise(bytes, size, &arena);
  ::operator delete (bytes, std::align_val_t{64});
  return status;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (run_copy(data, size, false) != bantam::Status::kOk && size >= bantam::kHeaderBytes) run_copy(data, size, true);
  return 0;
}
