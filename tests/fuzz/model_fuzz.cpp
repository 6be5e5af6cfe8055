// Bytes as a model file: open refuses them or they run. The checksum of the graph is not checked by open, so that
// mutations reach the verifier.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/session/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::vector<uint8_t> arena;
  // Exactly as long as the input, at an aligned address: a read past the end is seen.
  std::vector<uint8_t> storage(size + 64);
  uint8_t* bytes = storage.data() + storage.size() - size;
  bytes -= reinterpret_cast<uintptr_t>(bytes) % 16;
  if (size > 0) std::memcpy(bytes, data, size);
  bantam::testing::exercise(bytes, size, &arena);
  return 0;
}
