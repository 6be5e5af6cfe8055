// A PyTorch checkpoint: the reader reads it or throws its own Error. The bytes are tried as a whole file and as a
// pickle alone, because a fuzzer would seldom find the right checksum.
#include <cstdint>
#include <string_view>

#include "source/pickle.h"
#include "source/torch_file.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const bantam::fuzz::Limits limits(size);
  static const bantam::fuzz::InputFile place(".bin");
  const auto* text = reinterpret_cast<const char*>(data);
  bantam::fuzz::may_refuse([&] { bantam::convert::read_state_dict(std::string_view(text, size), "pickle", size); });
  place.write(data, size);
  bantam::fuzz::may_refuse([] {
    const bantam::convert::TorchFile file(place.path());
    // Like the importer, reads only tensors whose sizes are valid.
    for (const auto& [name, tensor] : file.tensors()) file.read_bytes(name);
  });
  return 0;
}
