// The reading half of flatc's header, which a core without a C++ library can compile.
#ifndef BANTAM_CONVERTER_FIRMWARE_READER_H_
#define BANTAM_CONVERTER_FIRMWARE_READER_H_

#include <string>
#include <string_view>

namespace bantam::firmware {

/// `generated`, flatc's C++ header, without builders, verifiers and the test of FlatBuffers' version: what is left needs no more than
/// targets/firmware/reader/flatbuffers/flatbuffers.h.
std::string reader_of(std::string_view generated);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_READER_H_
