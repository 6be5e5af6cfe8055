#include "data/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/printable.h"
#include "base/readable.h"
#include "base/status_error.h"

namespace bantam::convert {
namespace {

/// Returns the extension, that of x.csv.gz being .csv.
std::string extension(const std::filesystem::path& path) {
  const std::string last = path.extension().string();
  return last == ".gz" ? path.stem().extension().string() : last;
}

/// Returns true for the beginning of a JSON object, which nobody means as a text.
bool begins_as_json(const std::string& line) {
  size_t at = 0;
  const auto skip = [&] { at = std::min(line.find_first_not_of(" \t\r", at), line.size()); };
  skip();
  if (at == line.size() || line[at] != '{') return false;
  ++at;
  skip();
  return at == line.size() || line[at] == '"' || line[at] == '}';
}

/// Returns true if `line` is a JSON object with a field that holds a text, by its usual names or by `name`.
bool is_object_with_text(const std::string& line, const std::string& name) {
  Json object;
  std::string problem;
  if (!parse_json(line, &object, &problem) || !object.is_object()) return false;
  const auto has = [&object](const char* key) { return object.contains(key); };
  for (const Field field : {Field::kText, Field::kFirst, Field::kQuestion, Field::kTokens}) {
    if (std::any_of(names_of(field).begin(), names_of(field).end(), has)) return true;
  }
  return !name.empty() && has(name.c_str());
}

bool is_blank_line(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Splits `text` at any of `separators`, strips blanks from the parts, and leaves out empty parts.
std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const size_t first = text.find_first_not_of(' ', begin);
    size_t last = end;
    while (last > begin && text[last - 1] == ' ') --last;
    if (first < last) parts.push_back(text.substr(first, last - first));
    begin = end + 1;
  }
  return parts;
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

const std::vector<const char*>& names_of(Field field) {
  static const std::array<std::vector<const char*>, static_cast<size_t>(Field::kCount)> kNames = {{
      {"text", "sentence", "utterance", "content"},
      {"text_a", "sentence1", "premise", "question1"},
      {"text_b", "sentence2", "hypothesis", "question2", "pair"},
      {"label", "gold_label", "class", "category"},
      {"label_name", "label_text"},
      {"labels"},
      {"score", "similarity_score"},
      {"intent"},
      {"tokens", "words"},
      {"tags", "ner_tags", "pos_tags"},
      {"slots", "slot_labels"},
      {"question"},
      {"context"},
      {"answers", "answer"},
      {"choices", "endings"},
      {"source", "src", "document", "article"},
      {"target", "tgt", "reference", "references", "translation", "summary", "highlights"},
  }};
  return kNames.at(static_cast<size_t>(field));
}

std::vector<std::pair<std::string, std::string>> other_names() {
  std::vector<std::pair<std::string, std::string>> list;
  for (size_t i = 0; i < static_cast<size_t>(Field::kCount); ++i) {
    const std::vector<const char*>& names = names_of(static_cast<Field>(i));
    if (names.size() < 2) continue;
    const std::vector<const char*> others(names.begin() + 1, names.end());
    list.emplace_back(names[0], fmt::format("{}", fmt::join(others, ", ")));
  }
  return list;
}

Record::Record(Json object, bool table) : object_(std::move(object)), table_(table) {
  if (!object_.is_object()) throw BadRecord{"no JSON object"};
}

const Json* Record::find(Field field) const {
  for (const char* name : names_of(field)) {
    const auto it = object_.find(name);
    // A table has every column in every line, so an empty cell counts as a missing field.
    if (it != object_.end() && !it->is_null() && !(table_ && it->get_ref<const std::string&>().empty())) return &*it;
  }
  return nullptr;
}

const char* Record::name(Field field) const {
  for (const char* name : names_of(field)) {
    if (object_.contains(name)) return name;
  }
  return names_of(field).front();
}

const Json& Record::get(Field field) const {
  const Json* value = find(field);
  if (value == nullptr) throw BadRecord{fmt::format("field \"{}\" is missing", name(field))};
  return *value;
}

bool Record::is_list(Field field) const {
  const Json* value = find(field);
  if (value == nullptr) return false;
  return table_ ? value->get_ref<const std::string&>().find_first_of("[,;") != std::string::npos : value->is_array();
}

std::string Record::string(Field field) const {
  // The text of a table's cell may be empty; only its column must exist.
  const bool empty = table_ && find(field) == nullptr && object_.contains(name(field));
  if (empty) return "";
  const Json& value = get(field);
  if (!value.is_string()) throw BadRecord{fmt::format("field \"{}\" is not a string", name(field))};
  return value.get<std::string>();
}

double Record::number(Field field) const {
  const Json& value = get(field);
  if (value.is_number()) return value.get<double>();
  const std::optional<double> number = table_ ? parse_number(value.get<std::string>()) : std::nullopt;
  if (!number) throw BadRecord{fmt::format("field \"{}\" is not a number", name(field))};
  return *number;
}

std::vector<std::string> Record::list(Field field) const {
  const Json& value = get(field);
  Json cell;
  if (table_) {
    const auto& text = value.get_ref<const std::string&>();
    const bool words = field == Field::kTokens || field == Field::kTags || field == Field::kSlots;
    if (text.front() != '[' && text.front() != '{') {
      return words ? split(text, " ") : field == Field::kLabels ? split(text, ",;") : std::vector<std::string>{text};
    }
    std::string problem;
    if (!parse_json(text, &cell, &problem)) throw BadRecord{fmt::format("field \"{}\" {}", name(field), problem)};
  }
  const Json* items = table_ ? &cell : &value;
  const bool squad = field == Field::kAnswers && items->is_object() && items->contains("text");
  if (squad) items = &items->at("text");
  if ((field == Field::kAnswers || field == Field::kTarget) && items->is_string()) return {items->get<std::string>()};
  if (!items->is_array()) throw BadRecord{fmt::format("field \"{}\" is not a list", name(field))};
  std::vector<std::string> list;
  for (const Json& item : *items) {
    if (!item.is_string() && !item.is_number_integer()) {
      throw BadRecord{fmt::format("field \"{}\" holds something that is not a string", name(field))};
    }
    list.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return list;
}

std::string Record::label(Field field) const {
  const Json& value = get(field);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw BadRecord{fmt::format("field \"{}\" is neither a string nor a whole number", name(field))};
}

Json Record::raw(const std::string& name) const {
  const auto it = object_.find(name);
  return table_ || it == object_.end() ? Json() : *it;
}

std::optional<std::string> Record::text(const std::string& name) const {
  const auto it = object_.find(name);
  if (it == object_.end() || it->is_null()) return std::nullopt;
  if (!it->is_string()) throw BadRecord{fmt::format("field \"{}\" is not a string", name)};
  return it->get<std::string>();
}

bool Record::has(const std::string& name) const {
  const auto it = object_.find(name);
  return it != object_.end() && !it->is_null() && !(table_ && it->get_ref<const std::string&>().empty());
}

std::vector<std::string> Record::names(const std::string& name, bool words) const {
  const Json& value = object_.at(name);
  if (table_) return split(value.get_ref<const std::string&>(), words ? " " : ",;");
  std::vector<std::string> list;
  const auto add = [&](const Json& item) {
    if (!item.is_string() && !item.is_number_integer()) {
      throw BadRecord{fmt::format("field \"{}\" holds something that is not a name", name)};
    }
    list.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  };
  if (value.is_array()) {
    std::for_each(value.begin(), value.end(), add);
  } else {
    add(value);
  }
  return list;
}

std::string Record::first() const {
  for (const Field field : {Field::kText, Field::kFirst, Field::kQuestion}) {
    if (object_.contains(name(field))) return string(field);
  }
  if (has(Field::kTokens)) return fmt::format("{}", fmt::join(list(Field::kTokens), " "));
  throw BadRecord{"there is no text in it: no field \"text\" or \"text_a\""};
}

std::string Record::first_name() const {
  for (const Field field : {Field::kText, Field::kFirst, Field::kQuestion, Field::kTokens}) {
    if (field == Field::kTokens ? has(field) : object_.contains(name(field))) return name(field);
  }
  return "";
}

std::optional<std::string> Record::second() const {
  if (has(Field::kSecond)) return string(Field::kSecond);
  if (has(Field::kQuestion) && has(Field::kContext)) return string(Field::kContext);
  return std::nullopt;
}

RecordReader::RecordReader(const std::string& path, PlainLine plain, Warn warn, Prompt prompt)
    : lines_(path, warn, prompt), warn_(std::move(warn)), keeps_empty_(plain == PlainLine::kEveryText) {
  const std::string kind = extension(path);
  named_text_ = kind == ".txt";
  if (kind == ".csv") separator_ = ',';
  if (kind == ".tsv") separator_ = '\t';
  if (separator_ != 0) {
    form_ = Form::kTable;
  } else if (plain == PlainLine::kBad || kind == ".jsonl" || kind == ".ndjson" || kind == ".json") {
    form_ = Form::kObjects;
  }
  if (form_ != Form::kUnknown || !keeps_empty_) lines_.limit(kMostRecordBytes);
}

bool RecordReader::next_line(std::string* line) {
  while (lines_.next(line)) {
    line_ = lines_.line_number();
    offset_ = lines_.offset();
    if (!is_blank_line(*line) || (keeps_empty_ && has_texts())) return true;
  }
  return false;
}

void RecordReader::choose_form() {
  if (is_blank_line(text_)) return;
  bool is_object = begins_as_json(text_) && (!named_text_ || is_object_with_text(text_, expected_));
  if (is_object && named_text_ && keeps_empty_) {
    is_object = false;
    if (warn_) {
      warn_(
          fmt::format("{}: holds JSON lines, which are read as plain texts, as .txt says; name it .jsonl to read the "
                      "texts in them",
                      printable(name())));
    }
  }
  form_ = is_object ? Form::kObjects : Form::kTexts;
  if (!is_object) return;
  lines_.limit(kMostRecordBytes);
  if (text_.size() > kMostRecordBytes) {
    fail(ExitCode::kInvalid, "{}, line {}: is longer than {}; put each record on a line of its own", name(), line_,
         readable_bytes(kMostRecordBytes));
  }
}

bool RecordReader::next(Record* record) {
  if (!advance()) return false;
  *record = this->record();
  return true;
}

bool RecordReader::advance() {
  cells_.clear();
  if (!next_line(&text_)) return false;
  if (form_ == Form::kUnknown) choose_form();
  if (separator_ == 0) return true;
  if (header_.empty()) {
    read_header(text_);
    if (!next_line(&text_)) return false;
  }
  cells_ = split(std::move(text_));
  if (cells_.size() == header_.size()) return true;
  const size_t count = cells_.size();
  cells_.clear();
  throw BadRecord{fmt::format("{} cells, but the first line names {}", count, header_.size())};
}

Record RecordReader::record() const {
  if (separator_ == 0) {
    if (has_texts()) return Record(Json{{"text", text_}}, false);
    Json object;
    std::string problem;
    if (parse_json(text_, &object, &problem) && object.is_object()) return Record(std::move(object), false);
    if (problem.empty()) problem = "no JSON object";
    const char last = text_.back();
    const bool goes_on = line_ == 1 && (text_.front() == '[' || last == '{' || last == '[');
    throw BadRecord{problem + (goes_on ? "; wanted one object per line: jq -c '.[]' IN > OUT.jsonl" : "")};
  }
  Json object = Json::object();
  for (size_t i = 0; i < cells_.size(); ++i) object[header_[i]] = cells_[i];
  return Record(std::move(object), true);
}

void RecordReader::read_header(const std::string& line) {
  const bool semicolons = line.find(',') == std::string::npos && line.find(';') != std::string::npos;
  if (separator_ == ',' && semicolons) separator_ = ';';
  header_ = split(line);
  if (!expected_.empty() && std::find(header_.begin(), header_.end(), expected_) != header_.end()) return;
  for (size_t i = 0; i < static_cast<size_t>(Field::kCount); ++i) {
    for (const char* name : names_of(static_cast<Field>(i))) {
      if (std::find(header_.begin(), header_.end(), name) != header_.end()) return;
    }
  }
  std::string names;
  for (const std::string& column : header_) names += (names.empty() ? "" : ", ") + printable(column);
  fail(ExitCode::kInvalid,
       "{}: its first line names no known field ({}); a table begins with the names of its columns, such as "
       "text{}label{}",
       name(), names, separator_ == '\t' ? ' ' : separator_, next_step_);
}

/// Splits a line of a table into cells. In CSV, quoted cells may contain line breaks (RFC 4180); TSV has no quotes.
std::vector<std::string> RecordReader::split(std::string line) {
  const bool quotes = separator_ != '\t';
  std::vector<std::string> cells(1);
  bool quoted = false;
  size_t bytes = line.size();
  for (size_t i = 0;; ++i) {
    if (i == line.size()) {
      std::string more;
      if (!quoted) return cells;
      if (!lines_.next(&more)) throw BadRecord{"a quotation mark has no end"};
      bytes += 1 + more.size();
      if (bytes > kMostRecordBytes) {
        fail(ExitCode::kInvalid, "{}, line {}: a quoted cell is longer than {}; is a quotation mark missing?", name(),
             line_, readable_bytes(kMostRecordBytes));
      }
      line = "\n" + more;
      i = 0;
    }
    const char c = line[i];
    const bool doubled = quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      cells.back() += c;
      ++i;
    } else if (quotes && c == '"' && (quoted || cells.back().empty())) {
      quoted = !quoted;
    } else if (!quoted && c == separator_) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
}

}  // namespace bantam::convert
