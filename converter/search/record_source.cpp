#include "search/record_source.h"

#include <fmt/format.h>

#include "base/fail.h"
#include "base/printable.h"

namespace bantam::convert {

std::string json_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

RecordSource::RecordSource(const std::string& path, RecordSettings settings, std::vector<std::string> fields, Warn warn,
                           Prompt prompt)
    : settings_(std::move(settings)),
      fields_(std::move(fields)),
      reader_(path, PlainLine::kEveryText, std::move(warn), prompt) {
  if (!settings_.text_field.empty()) reader_.expect(settings_.text_field);
  reader_.advise("; or name the column with the text by --text");
}

std::string RecordSource::text_of(const Record& record) const {
  if (settings_.text_field.empty()) return record.first();
  std::optional<std::string> text = record.text(settings_.text_field);
  if (!text) throw BadRecord{fmt::format("field \"{}\" is missing, which holds the text", settings_.text_field)};
  return std::move(*text);
}

std::string RecordSource::id_of(const Record& record) {
  const std::string& name = settings_.id_field;
  if (name.empty()) return "";
  if (!record.has(name)) throw BadRecord{fmt::format("field \"{}\" is missing, which holds the id", name)};
  const Json& value = record.fields().at(name);
  if (!value.is_string() && !value.is_number_integer())
    throw BadRecord{fmt::format("field \"{}\", the id, is neither a string nor a whole number", name)};
  std::string id = value.is_string() ? value.get<std::string>() : value.dump();
  if (id.empty()) throw BadRecord{fmt::format("field \"{}\", the id, is empty", name)};
  const auto [at, is_new] = lines_.emplace(id, reader_.line_number());
  if (!is_new) throw BadRecord{fmt::format("line {} has the same id, \"{}\"", at->second, printable(id))};
  return id;
}

std::vector<std::pair<std::string, std::string>> RecordSource::fields_of(const Record& record) const {
  std::vector<std::pair<std::string, std::string>> found;
  const auto keep = [&](const std::string& name) {
    if (record.has(name)) found.emplace_back(name, json_text(record.fields().at(name)));
  };
  if (!settings_.keeps_all) {
    for (const std::string& name : fields_) keep(name);
    return found;
  }
  const std::string text = settings_.text_field.empty() ? record.first_name() : settings_.text_field;
  for (const auto& [name, value] : record.fields().items()) {
    if (name != text && name != settings_.id_field) keep(name);
  }
  return found;
}

bool RecordSource::next(SourceRecord* record) {
  const auto bad = [&](const BadRecord& problem, const char* step) {
    fail(ExitCode::kInvalid, "{}, line {}: {}{}", reader_.name(), reader_.line_number(), problem.what, step);
  };
  for (;;) {
    Record read;
    try {
      if (!reader_.advance()) return false;
      if (reader_.has_texts() && !settings_.id_field.empty())
        throw BadRecord{
            fmt::format("is a text alone, and the index takes ids from the field \"{}\": name JSON lines or "
                        "a table (.csv, .tsv)",
                        settings_.id_field)};
      read = reader_.record();
      record->text = text_of(read);
    } catch (const BadRecord& problem) {
      const bool names_field = !settings_.id_field.empty() || !settings_.text_field.empty();
      bad(problem, names_field ? "" : "; lines that are texts themselves belong in a .txt file");
    }
    if (record->text.empty()) continue;
    try {
      record->id = id_of(read);
      record->fields = fields_of(read);
    } catch (const BadRecord& problem) {
      bad(problem, "");
    }
    return true;
  }
}

}  // namespace bantam::convert
