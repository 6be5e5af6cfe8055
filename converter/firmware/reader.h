// The reading half of flatc's header, which compiles for a core without a C++ library.
#ifndef BANTAM_CONVERTER_FIRMWARE_READER_H_
#define BANTAM_CONVERTER_FIRMWARE_READER_H_

#include <string>
#include <string_view>

namespace bantam::firmware {

/// Returns `generated`, flatc's C++ header, without builders, verifiers and the check of FlatBuffers' version. The rest
/// needs only targets/firmware/reader/flatbuffers/flatbuffers.h.
std::string reader_of(std::string_view generated);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_READER_H_
