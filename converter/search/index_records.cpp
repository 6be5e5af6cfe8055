#include "search/index_records.h"

#include <set>
#include <unordered_map>

#include "base/fail.h"

namespace bantam::convert {
namespace {

using Strings = std::vector<flatbuffers::Offset<flatbuffers::String>>;

/// Stores each different value of field number `f` once.
flatbuffers::Offset<fb::IndexField> put_field(flatbuffers::FlatBufferBuilder& builder, const IndexContents& contents,
                                              size_t f) {
  Strings values;
  std::vector<uint32_t> of;
  std::unordered_map<std::string, uint32_t> numbers;
  of.reserve(contents.records.size());
  for (const IndexedRecord& record : contents.records) {
    if (f >= record.values.size() || record.values[f].empty()) {
      of.push_back(0);
      continue;
    }
    const auto [at, is_new] = numbers.emplace(record.values[f], static_cast<uint32_t>(values.size() + 1));
    if (is_new) values.push_back(builder.CreateString(record.values[f]));
    of.push_back(at->second);
  }
  const auto name = builder.CreateString(contents.fields[f]);
  const auto value_vector = builder.CreateVector(values);
  return fb::CreateIndexField(builder, name, value_vector, builder.CreateVector(of));
}

}  // namespace

RecordVectors put_records(flatbuffers::FlatBufferBuilder& builder, const IndexContents& contents) {
  RecordVectors put;
  std::vector<uint32_t> numbers;
  bool plain = contents.last_record == contents.records.size();
  for (const IndexedRecord& record : contents.records) {
    plain = plain && record.texts.size() == 1;  // then numbers, which ascend, are 1, 2, ...
    numbers.insert(numbers.end(), record.texts.size(), record.number);
  }
  if (!plain) {
    put.numbers = builder.CreateVector(numbers);
    put.last = contents.last_record;
  }
  const RecordSettings& settings = contents.settings;
  if (!settings.id_field.empty()) {
    Strings ids;
    for (const IndexedRecord& record : contents.records) ids.push_back(builder.CreateString(record.id));
    put.ids = builder.CreateVector(ids);
    put.id_field = builder.CreateString(settings.id_field);
  }
  std::vector<flatbuffers::Offset<fb::IndexField>> fields;
  for (size_t f = 0; f < contents.fields.size(); ++f) fields.push_back(put_field(builder, contents, f));
  if (!fields.empty()) put.fields = builder.CreateVector(fields);
  if (!settings.text_field.empty()) put.text_field = builder.CreateString(settings.text_field);
  return put;
}

size_t most_record_bytes(const IndexContents& contents) {
  constexpr size_t kOfString = 16;  // its length, its end, its padding and the offset to it
  size_t bytes = 0;
  for (const std::string& name : contents.fields) bytes += name.size() + 64 + contents.records.size() * 4;
  for (const IndexedRecord& record : contents.records) {
    bytes += record.texts.size() * 4 + record.id.size() + kOfString;
    for (const std::string& value : record.values) bytes += value.size() + kOfString;
  }
  return bytes + contents.settings.text_field.size() + contents.settings.id_field.size();
}

void refuse_index(const std::string& path, const char* what) {
  fail(ExitCode::kInvalid, "{}: not a sound search index ({}); make it again with bantam index", path, what);
}

void SearchIndex::check_records(const std::string& name) {
  const auto* const numbers = index_->records();
  records_ = count_;
  if (numbers != nullptr) {
    if (numbers->size() != count_) refuse_index(name, "records");
    places_.reserve(count_);
    uint32_t last = 0;
    records_ = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t number = numbers->Get(i);
      if (number == 0 || number < last) refuse_index(name, "records");
      if (number > last) ++records_;
      places_.push_back(records_ - 1);
      last = number;
    }
    if (index_->last_record() < last) refuse_index(name, "last_record");
  }
  const auto* const ids = index_->ids();
  if ((ids != nullptr) != (index_->id_field() != nullptr)) refuse_index(name, "id_field");
  if (ids != nullptr) {
    if (ids->size() != records_) refuse_index(name, "ids");
    for (uint32_t r = 0; r < records_; ++r) {
      if (ids->Get(r)->size() == 0) refuse_index(name, "ids");
    }
  }
  check_fields(name);
}

void SearchIndex::check_fields(const std::string& name) const {
  std::set<std::string_view> names;
  for (uint32_t f = 0; f < field_count(); ++f) {
    if (!names.insert(field(f)).second) refuse_index(name, "fields");
    const auto* const of = field_at(f).of();
    if (of->size() != records_) refuse_index(name, "fields");
    for (uint32_t r = 0; r < records_; ++r) {
      if (of->Get(r) > value_count(f)) refuse_index(name, "fields");
    }
  }
}

uint32_t SearchIndex::number(uint32_t i) const {
  return index_->records() == nullptr ? i + 1 : index_->records()->Get(i);
}

bool SearchIndex::has_ids() const { return index_->ids() != nullptr; }

std::string_view SearchIndex::id(uint32_t place) const {
  return has_ids() ? index_->ids()->Get(place)->string_view() : std::string_view();
}

const fb::IndexField& SearchIndex::field_at(uint32_t f) const { return *index_->fields()->Get(f); }

uint32_t SearchIndex::field_count() const { return index_->fields() == nullptr ? 0 : index_->fields()->size(); }

std::string_view SearchIndex::field(uint32_t f) const { return field_at(f).name()->string_view(); }

uint32_t SearchIndex::value_count(uint32_t f) const { return field_at(f).values()->size(); }

std::string_view SearchIndex::value(uint32_t f, uint32_t number) const {
  return field_at(f).values()->Get(number - 1)->string_view();
}

uint32_t SearchIndex::value_of(uint32_t f, uint32_t place) const { return field_at(f).of()->Get(place); }

RecordSettings SearchIndex::settings() const {
  RecordSettings settings;
  if (index_->text_field() != nullptr) settings.text_field = index_->text_field()->str();
  if (index_->id_field() != nullptr) settings.id_field = index_->id_field()->str();
  settings.keeps_all = index_->keeps_all();
  if (index_->stride().has_value()) settings.stride = *index_->stride();
  return settings;
}

}  // namespace bantam::convert
