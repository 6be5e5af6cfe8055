// Reads users' data: JSON lines, CSV and TSV, whose fields have several names.
#ifndef BANTAM_CONVERTER_DATA_RECORDS_H_
#define BANTAM_CONVERTER_DATA_RECORDS_H_

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "data/text_source.h"

namespace bantam::convert {

/// The content of a field.
enum class Field : uint8_t {
  kText,
  kFirst,   // of a pair
  kSecond,  // of a pair
  kLabel,   // name or number
  kLabelName,
  kLabels,  // a list; one label alone is kLabel
  kScore,
  kIntent,
  kTokens,
  kTags,
  kSlots,
  kQuestion,
  kContext,
  kAnswers,
  kChoices,
  kSource,  // what a text is made of
  kTarget,  // a text, or a list of texts of which each is as good
  kCount
};

/// Returns the names that a field may have, with the one that the documentation uses first.
const std::vector<const char*>& names_of(Field field);
/// Returns, for each field with several names, the name that the documentation uses and the others, for the help text.
std::vector<std::pair<std::string, std::string>> other_names();

/// The error in one record; the reader adds the place.
struct BadRecord {
  std::string what;
};

/// The fields of one example.
class Record {
 public:
  Record() = default;
  /// `table`: the values are text from the cells of a table. Throws BadRecord if `object` is no object.
  Record(Json object, bool table);

  bool has(Field field) const { return find(field) != nullptr; }
  /// Returns true also if a table's cell is empty.
  bool has_column(Field field) const { return object_.contains(name(field)); }
  bool is_list(Field field) const;
  /// The functions below throw BadRecord, with the name that the data use, for a missing field or one of another kind.
  std::string string(Field field) const;
  double number(Field field) const;
  /// Strings and whole numbers of a list. Cells of a table hold JSON's [...], else words (tokens, tags, slots), names with commas
  /// or semicolons between them (labels), or one item.
  std::vector<std::string> list(Field field) const;
  /// A label: its name, or its number in digits.
  std::string label(Field field) const;

  /// Fields by a name that a file gives: a name or a number in digits, or a list of them. In a table, blanks separate
  /// the names (`words`), else commas or semicolons. Throws as the others do.
  bool has(const std::string& name) const;
  std::vector<std::string> names(const std::string& name, bool words) const;

  /// The raw value under a name; null if there is none, and in tables.
  Json raw(const std::string& name) const;

  /// The text or the first of a pair: also tokens joined by blanks, or a question. Throws BadRecord where there is none.
  std::string first() const;
  /// The second of a pair, or a context.
  std::optional<std::string> second() const;

 private:
  const Json* find(Field field) const;
  const Json& get(Field field) const;
  const char* name(Field field) const;  // in these data

  Json object_ = Json::object();
  bool table_ = false;
};

/// The meaning of a line that holds no JSON object, outside tables.
enum class PlainLine : uint8_t { kBad, kText };

/// Bytes of a record's line: nlohmann's values of the shortest JSON take sixteen times its bytes.
constexpr size_t kMostRecordBytes = size_t{16} << 20;

/// Reads records one by one. FILE.csv (commas or semicolons, quotes as in RFC 4180) and FILE.tsv (verbatim, no quotes)
/// begin with a line of names; all other files have a JSON object a line. Skips empty lines.
class RecordReader {
 public:
  /// "-": standard input. Throws Error as LineReader does.
  explicit RecordReader(const std::string& path, PlainLine plain = PlainLine::kBad, Warn warn = nullptr);

  /// Returns false at the end. Throws BadRecord, after which the next call continues with the next record; Error if a
  /// table's first line has no known name.
  bool next(Record* record);
  /// next() in two steps, for callers that read only some records: advance() moves to the next record, record() parses
  /// it.
  bool advance();
  Record record() const;
  /// LineReader::ready of the record's first line.
  bool ready() { return lines_.ready(); }
  /// The record verbatim from the file: a JSON object or a plain line; in a table its cells, and the names of the
  /// columns.
  const std::string& text() const { return text_; }
  const std::vector<std::string>& cells() const { return cells_; }
  const std::vector<std::string>& columns() const { return header_; }
  bool is_table() const { return separator_ != 0; }
  /// Where the record begins in the file.
  uint64_t offset() const { return offset_; }
  /// Lets a table that has this column do without any known one.
  void expect(const std::string& column) { expected_ = column; }
  /// Number of the record's first line, from 1.
  size_t line_number() const { return line_; }
  const std::string& name() const { return lines_.name(); }

 private:
  bool next_line(std::string* line);
  std::vector<std::string> split(std::string line);
  void read_header(const std::string& line);

  LineReader lines_;
  PlainLine plain_;
  size_t line_ = 0;
  uint64_t offset_ = 0;
  std::string text_;
  std::vector<std::string> cells_;
  std::string expected_;
  char separator_ = 0;  // of a table; 0: it is none
  std::vector<std::string> header_;
};

/// Returns true if the file's name says that it holds records: .jsonl, .csv, .tsv.
bool holds_records(const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_RECORDS_H_
