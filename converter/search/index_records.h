// The part of an index file that describes records: their numbers, ids and fields.
#ifndef BANTAM_CONVERTER_SEARCH_INDEX_RECORDS_H_
#define BANTAM_CONVERTER_SEARCH_INDEX_RECORDS_H_

#include <flatbuffers/flatbuffers.h>
#include <index_generated.h>

#include <cstddef>
#include <string>

#include "search/index_file.h"

namespace bantam::convert {

/// Parts of a file; null where it has none, as files of plain texts.
struct RecordVectors {
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> numbers;
  uint32_t last = 0;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> ids;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::IndexField>>> fields;
  flatbuffers::Offset<flatbuffers::String> text_field, id_field;
};

RecordVectors put_records(flatbuffers::FlatBufferBuilder& builder, const IndexContents& contents);

/// Returns an upper bound of the bytes that put_records adds.
size_t most_record_bytes(const IndexContents& contents);

/// Throws Error (kInvalid) about the part `what` of the file `path`.
[[noreturn]] void refuse_index(const std::string& path, const char* what);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_INDEX_RECORDS_H_
