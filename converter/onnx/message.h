// A protobuf message of an untrusted file. protozero's getters assume that a field has the requested wire type (builds
// with assertions abort, others misread), so this reader checks it.
#ifndef BANTAM_CONVERTER_ONNX_MESSAGE_H_
#define BANTAM_CONVERTER_ONNX_MESSAGE_H_

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>

namespace bantam::convert::onnx {

/// Throws protozero::exception if a field has another type, or if the message ends within a field.
class Message : private protozero::pbf_reader {
  using Reader = protozero::pbf_reader;
  using Wire = protozero::pbf_wire_type;

 public:
  using Reader::get_packed_double;
  using Reader::get_packed_float;
  using Reader::get_packed_int32;
  using Reader::get_packed_int64;
  using Reader::get_packed_uint64;
  using Reader::next;
  using Reader::skip;
  using Reader::tag;
  using Reader::wire_type;

  explicit Message(const protozero::data_view& bytes) : Reader(bytes) {}

  protozero::data_view get_view() { return of(Wire::length_delimited).get_view(); }
  std::string get_string() { return of(Wire::length_delimited).get_string(); }
  std::string get_bytes() { return of(Wire::length_delimited).get_bytes(); }
  Message get_message() { return Message(get_view()); }
  int32_t get_int32() { return of(Wire::varint).get_int32(); }
  int64_t get_int64() { return of(Wire::varint).get_int64(); }
  uint64_t get_uint64() { return of(Wire::varint).get_uint64(); }
  float get_float() { return of(Wire::fixed32).get_float(); }
  double get_double() { return of(Wire::fixed64).get_double(); }

 private:
  Reader& of(Wire type) {
    if (!has_wire_type(type)) throw protozero::unknown_pbf_wire_type_exception();
    return *this;
  }
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_MESSAGE_H_
