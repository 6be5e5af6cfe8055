// Reads pickles of state dicts without executing anything: it supports only the part of Python's pickle that builds
// plain values and tensors, and refuses every other function that a pickle would call, by name.
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
  std::string dtype;    // named as in safetensors: "F32", ...
  std::string storage;  // key of the storage
  uint64_t storage_elements = 0;
  uint64_t offset = 0;  // in elements
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;  // in elements
};

/// Returns the tensors of a pickled dict by name. Messages call the pickle `where`. Throws Error: kInvalid if it is not
/// such a pickle, kUnsupported if it calls or holds anything else, or if its values exceed the MemoryBudget of its
/// file, which has `source` bytes. Time is linear in its size.
std::map<std::string, PickledTensor> read_state_dict(std::string_view pickle, const std::string& where,
                                                     uint64_t source);

/// Bytes per element of a PickledTensor's dtype.
uint32_t element_bytes(const std::string& dtype);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_PICKLE_H_
