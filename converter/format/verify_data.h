// Checks the values in the data section for `bantam verify`; Model::open only checks its bounds.
#ifndef BANTAM_CONVERTER_FORMAT_VERIFY_DATA_H_
#define BANTAM_CONVERTER_FORMAT_VERIFY_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/model.h"

namespace bantam::convert {

struct DataSummary {
  uint32_t constants = 0;
  uint64_t elements = 0;
};

/// Reads all constant tensors of a verified model and adds a line for each rule that a tensor violates: int8 weights
/// are in [-127, 127] and padding is 0; scales are finite and not negative, and positive if the weights are not all 0;
/// stored sums are correct; floats are finite. O(file size).
DataSummary verify_data(const Model& model, std::vector<std::string>* problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_VERIFY_DATA_H_
