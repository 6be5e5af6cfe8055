// Reads users' data: JSON lines, CSV and TSV. Fields may have alternative names.
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
  kFirst,   // the first text of a pair
  kSecond,  // the second text of a pair
  kLabel,   // a name or a number
  kLabelName,
  kLabels,  // a list of labels; a single label is kLabel
  kScore,
  kIntent,
  kTokens,
  kTags,
  kSlots,
  kQuestion,
  kContext,
  kAnswers,
  kChoices,
  kSource,  // the source that a text is generated from
  kTarget,  // a text, or a list of equally good texts
  kCount
};

/// Returns the names of a field, starting with the one that the documentation uses.
const std::vector<const char*>& names_of(Field field);
/// Returns the name in the documentation and the other names of each field that has several, for the help text.
std::vector<std::pair<std::string, std::string>> other_names();

/// The error in a record; the reader adds the position.
struct BadRecord {
  std::string what;
};

/// The fields of one example.
class Record {
 public:
  Record() = default;
  /// `table`: the values are texts of table cells. Throws BadRecord if `object` is not an object.
  Record(Json object, bool table);

  bool has(Field field) const { return find(field) != nullptr; }
  /// Returns true if the field is present or, in a table, has a column, even if the cell is empty.
  bool has_column(Field field) const { return object_.contains(name(field)); }
  bool is_list(Field field) const;
  /// The functions below throw BadRecord if a field is missing or has another type; the error uses the field's name in
  /// the data.
  std::string string(Field field) const;
  double number(Field field) const;
  /// Returns the strings and integers of a list. A table's cell contains a JSON list [...], or blank-separated words
  /// (tokens, tags, slots), or names separated by commas or semicolons (labels), or one item.
  std::vector<std::string> list(Field field) const;
  /// Returns a label's name, or its number in digits.
  std::string label(Field field) const;

  /// Access to fields by a name that a file defines. The value is a name, a number in digits, or a list of these. In a
  /// table, the names are separated by blanks (`words`), otherwise by commas or semicolons. Throws BadRecord as above.
  bool has(const std::string& name) const;
  std::vector<std::string> names(const std::string& name, bool words) const;

  /// Returns the raw value of a name; null if there is none, and always in tables.
  Json raw(const std::string& name) const;
  /// Returns the string or cell of a name; nullopt if there is none. Throws BadRecord if it is not a string.
  std::optional<std::string> text(const std::string& name) const;
  /// Returns all fields; in a table, all cells.
  const Json& fields() const { return object_; }

  /// Returns the text, the first text of a pair, a question, or tokens joined by blanks. Throws BadRecord if there is
  /// none.
  std::string first() const;
  /// Returns the name in these data of the field that first() reads; "" if there is none.
  std::string first_name() const;
  /// Returns the second text of a pair, or a context.
  std::optional<std::string> second() const;

 private:
  const Json* find(Field field) const;
  const Json& get(Field field) const;
  const char* name(Field field) const;  // its name in these data

  Json object_ = Json::object();
  bool table_ = false;
};

/// How to treat lines outside tables that are not JSON objects, in files whose name does not say what they hold.
enum class PlainLine : uint8_t {
  kBad,        // an error
  kText,       // if the first line is a text, each line is one; empty lines are skipped
  kEveryText,  // the same, but empty lines are empty texts
};

/// The largest size in bytes of a record's line. nlohmann's values of the shortest JSON need sixteen times the bytes of
/// their text.
constexpr size_t kMostRecordBytes = size_t{16} << 20;

/// Reads records one by one. FILE.csv (commas or semicolons, quotes as in RFC 4180) and FILE.tsv (verbatim, no quotes)
/// begin with a line of column names; FILE.jsonl, .ndjson and .json have one JSON object per line. In all other files
/// the first line that is not empty decides whether the lines are JSON objects or texts. The lines of FILE.txt are
/// texts, with a warning if they are objects with a text; PlainLine::kText reads those as objects. An ending .gz behind
/// these says nothing. Skips empty lines of records.
class RecordReader {
 public:
  /// "-": standard input. Throws Error as LineReader does.
  explicit RecordReader(const std::string& path, PlainLine plain = PlainLine::kBad, Warn warn = nullptr,
                        Prompt prompt = nullptr);

  /// Returns false at the end. Throws BadRecord; the next call then continues with the next record. Throws Error if the
  /// first line of a table has no known name.
  bool next(Record* record);
  /// next() in two steps, for callers that parse only some records: advance() moves to the next record, and record()
  /// parses it.
  bool advance();
  Record record() const;
  /// See LineReader::ready, for the first line of the record.
  bool ready() { return lines_.ready(); }
  /// Returns the record as it is in the file: a JSON object or a plain line. For a table, cells() returns the record's
  /// cells, and names() the columns.
  const std::string& text() const { return text_; }
  const std::vector<std::string>& cells() const { return cells_; }
  const std::vector<std::string>& columns() const { return header_; }
  bool is_table() const { return separator_ != 0; }
  /// Returns true if the lines are texts: text() is the one that advance() moved to.
  bool has_texts() const { return form_ == Form::kTexts || form_ == Form::kUnknown; }
  /// See LineReader.
  double share() const { return lines_.share(); }
  bool is_compressed() const { return lines_.is_compressed(); }
  /// Returns the byte offset in the file at which the record begins.
  uint64_t offset() const { return offset_; }
  /// Accepts a table with this column even if it has no known column.
  void expect(const std::string& column) { expected_ = column; }
  /// Completes the error about a table without known columns, as in "; or name one by --text".
  void advise(const std::string& step) { next_step_ = step; }
  /// Returns the number of the record's first line, counted from 1.
  size_t line_number() const { return line_; }
  const std::string& name() const { return lines_.name(); }

 private:
  bool next_line(std::string* line);
  std::vector<std::string> split(std::string line);
  void read_header(const std::string& line);
  void choose_form();

  enum class Form : uint8_t { kUnknown, kTable, kObjects, kTexts };

  LineReader lines_;
  Warn warn_;
  bool keeps_empty_;
  Form form_ = Form::kUnknown;
  bool named_text_ = false;  // FILE.txt
  size_t line_ = 0;
  uint64_t offset_ = 0;
  std::string text_;
  std::vector<std::string> cells_;
  std::string expected_;
  std::string next_step_;
  char separator_ = 0;  // of a table; 0: the file is not a table
  std::vector<std::string> header_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_RECORDS_H_
