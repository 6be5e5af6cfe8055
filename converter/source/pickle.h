// Pickles of state dicts, read without executing anything: of Python's pickle only what builds plain values and tensors is
// known, and every other function that a pickle would call is refused by name.
// Format: https://github.com/python/cpython/blob/main/Lib/pickletools.py
#ifndef BANTAM_CONVERTER_SOURCE_PICKLE_H_
#define BANTAM_CONVERTER_SOURCE_PICKLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A tensor as torch.save describes it: a view of a storage.
struct PickledTensor {
  std::string dtype;    // as safetensors writes it: "F32", ...
  std::string storage;  // key of the storage
  uint64_t storage_elements = 0;
  uint64_t offset = 0;  // elements
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;  // elements
};

/// The tensors of a pickled dict by name. `where` is what messages call the pickle. Throws Error: kInvalid for what is no
/// such pickle, kUnsupported for one that calls or holds anything else, or whose values exceed the MemoryBudget of the file that it is of,
/// of `source` bytes. Time is linear in its size.
std::map<std::string, PickledTensor> read_state_dict(std::string_view pickle, const std::string& where,
                                                     uint64_t source);

/// Bytes of an element of a PickledTensor's dtype.
uint32_t element_bytes(const std::string& dtype);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_PICKLE_H_
