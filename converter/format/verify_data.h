// The data section's values: what Model::open, which only bounds-checks it, leaves to `bantam verify`.
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

/// Reads every constant tensor of a verified model and adds one line for each rule that a tensor breaks:
/// int8 weights lie in [-127, 127] with zeros as padding; scales are finite and not negative, positive where
/// the weights are not all zero; stated sums are the sums; floats are finite. O(file size).
DataSummary verify_data(const Model& model, std::vector<std::string>* problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_VERIFY_DATA_H_
