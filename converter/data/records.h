// Data as people have them: JSON lines, CSV and TSV, whose fields have several names.
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

/// What a field holds.
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

/// The names that a field may have, the one that documents use first.
const std::vector<const char*>& names_of(Field field);
/// Of each field with several names the one that documents use, and the others, for help.
std::vector<std::pair<std::string, std::string>> other_names();

/// What is wrong with one record; who reads adds the place.
struct BadRecord {
  std::string what;
};

/// The fields of one example.
class Record {
 public:
  Record() = default;
  /// `table`: values are text as a table holds it. Throws BadRecord where `object` is no object.
  Record(Json object, bool table);

  bool has(Field field) const { return find(field) != nullptr; }
  /// Also where a table's cell is empty.
  bool has_column(Field field) const { return object_.contains(name(field)); }
  bool is_list(Field field) const;
  /// Below: throw BadRecord, by the name that the data use, for a missing field or one of another kind.
  std::string string(Field field) const;
  double number(Field field) const;
  /// Strings and whole numbers of a list. Cells of a table hold JSON's [...], else words (tokens, tags, slots), names with commas
  /// or semicolons between them (labels), or one item.
  std::vector<std::string> list(Field field) const;
  /// A label: its name, or its number in digits.
  std::string label(Field field) const;

  /// Fields by a name that a file gives: a name or a number in digits, or a list of them; of a table names with blanks between
  /// them (`words`), else with commas or semicolons. Throws as the others do.
  bool has(const std::string& name) const;
  std::vector<std::string> names(const std::string& name, bool words) const;

  /// What stands under a name, as it is; null where nothing does, and in tables.
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

/// What a line is that holds no JSON object, where it is not a table's.
enum class PlainLine : uint8_t { kBad, kText };

/// Bytes of a record's line: nlohmann's values of the shortest JSON take sixteen times its bytes.
constexpr size_t kMostRecordBytes = size_t{16} << 20;

/// Reads records one by one. FILE.csv (commas or semicolons, quotes as in RFC 4180) and FILE.tsv (as it stands, no quotes) begin
/// with a line of names; all else has a JSON object a line. Empty lines are left out.
class RecordReader {
 public:
  /// "-": standard input. Throws Error as LineReader does.
  explicit RecordReader(const std::string& path, PlainLine plain = PlainLine::kBad, Warn warn = nullptr);

  /// False at the end. Throws BadRecord, after which the next call goes on; Error where a table's first line has no known name.
  bool next(Record* record);
  /// The same in two steps, for who looks at some records alone: to the next one, and what it holds.
  bool advance();
  Record record() const;
  /// LineReader::ready of the record's first line.
  bool ready() { return lines_.ready(); }
  /// As it stands in the file: a JSON object or a plain line; of a table its cells, and the names of the columns.
  const std::string& text() const { return text_; }
  const std::vector<std::string>& cells() const { return cells_; }
  const std::vector<std::string>& columns() const { return header_; }
  bool is_table() const { return separator_ != 0; }
  /// Where the record begins in the file.
  uint64_t offset() const { return offset_; }
  /// A table that has this column needs no other that is known.
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

/// Is this a file of records by its name: .jsonl, .csv, .tsv?
bool holds_records(const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_RECORDS_H_
