// Reads the records of a file for an index: text, id and fields.
#ifndef BANTAM_CONVERTER_SEARCH_RECORD_SOURCE_H_
#define BANTAM_CONVERTER_SEARCH_RECORD_SOURCE_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/records.h"
#include "search/index_file.h"

namespace bantam::convert {

struct SourceRecord {
  std::string text;
  std::string id;                                           // empty: the index has no ids
  std::vector<std::pair<std::string, std::string>> fields;  // names and values, JSON texts
};

/// Returns a field's value as an index stores and shows it: on one line, bytes that are not UTF-8 replaced.
std::string json_text(const Json& value);

class RecordSource {
 public:
  /// `path`: as RecordReader reads it; "-": standard input. `fields`: the names of fields to store besides those that
  /// `settings` asks for.
  RecordSource(const std::string& path, RecordSettings settings, std::vector<std::string> fields, Warn warn = nullptr,
               Prompt prompt = nullptr);

  /// Reads the next record; returns false at the end. Skips lines without text. Throws Error (kInvalid) that names the
  /// line: a record without a text or an id, or with the id of an earlier one.
  bool next(SourceRecord* record);
  /// Returns the share of the file that has been read, in [0, 1]; 0: unknown.
  double share() const { return reader_.share(); }

 private:
  std::string text_of(const Record& record) const;
  std::string id_of(const Record& record);
  std::vector<std::pair<std::string, std::string>> fields_of(const Record& record) const;

  RecordSettings settings_;
  std::vector<std::string> fields_;
  RecordReader reader_;
  std::unordered_map<std::string, size_t> lines_;  // of the ids that have been read
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_RECORD_SOURCE_H_
