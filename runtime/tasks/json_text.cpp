#include <string.h>

#include "bantam/constraint.h"
#include "linked.h"
#include "tasks/json_automaton.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace tasks {
namespace {

/// The fixed text before a field's value, or after the last value: {"a": , "b": }
struct FixedText {
  const char* open;
  Text name;
  const char* close;
  uint32_t open_size, close_size;

  uint32_t size() const { return open_size + static_cast<uint32_t>(name.size) + close_size; }
  uint8_t at(uint32_t place) const {
    if (place < open_size) return static_cast<uint8_t>(open[place]);
    place -= open_size;
    if (place < name.size) return static_cast<uint8_t>(name.data[place]);
    return static_cast<uint8_t>(close[place - name.size]);
  }
};

FixedText fixed_text(const JsonOptions& options, uint32_t field) {
  if (field == options.field_count) return {"}", {}, "", 1, 0};
  const Text name = options.fields[field].name;
  return field == 0 ? FixedText{"{\"", name, "\": ", 2, 3} : FixedText{", \"", name, "\": ", 3, 3};
}

JsonAutomaton value_of(const JsonOptions& options, uint32_t field) {
  if (options.field_count == 0) return {options.kind, options.depth, true};
  return {field < options.field_count ? options.fields[field].kind : JsonKind::kAny, options.depth, false};
}

bool is_known(JsonKind kind) { return kind <= JsonKind::kObject; }

bool is_valid(const JsonOptions& options) {
  constexpr uint32_t kMostFields = 1024, kMostName = 256;
  bool valid = is_known(options.kind) && options.depth >= 1 && options.depth <= JsonAutomaton::kMostDepth &&
               options.field_count <= kMostFields && (options.fields != nullptr || options.field_count == 0);
  if (options.field_count != 0) {
    valid = valid && (options.kind == JsonKind::kAny || options.kind == JsonKind::kObject);
  }
  for (uint32_t i = 0; valid && i < options.field_count; ++i) {
    const JsonField& field = options.fields[i];
    valid = is_known(field.kind) && field.name.data != nullptr && field.name.size <= kMostName;
    for (size_t k = 0; valid && k < field.name.size; ++k) {
      const char c = field.name.data[k];
      valid = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    }
  }
  return valid;
}

}  // namespace

/// The state of a text.
struct JsonPlace {
  JsonAutomaton value;  // state of the current field's value, or of the whole value
  uint32_t field = 0;
  uint32_t fixed = 0;   // bytes read of the fixed text before the value
  uint32_t behind = 0;  // fewest bytes that must still follow, without the value's own

  static JsonPlace first(const JsonOptions& options) {
    JsonPlace place;
    place.value = value_of(options, 0);
    for (uint32_t i = 0; options.field_count != 0 && i <= options.field_count; ++i) {
      place.behind += fixed_text(options, i).size();
      if (i != 0 && i < options.field_count) place.behind += JsonAutomaton::least_of(options.fields[i].kind);
    }
    return place;
  }

  /// Returns false if the text is not valid here; the state is then unusable.
  bool push(const JsonOptions& options, uint8_t byte) {
    if (options.field_count == 0) return value.push(byte);
    if (field <= options.field_count && fixed == fixed_text(options, field).size()) {
      if (field == options.field_count) return false;
      if (value.push(byte)) return true;
      if (!value.is_complete()) return false;
      ++field;
      fixed = 0;
      value = value_of(options, field);
      if (field < options.field_count) behind -= JsonAutomaton::least_of(options.fields[field].kind);
    }
    if (byte != fixed_text(options, field).at(fixed)) return false;
    ++fixed;
    --behind;
    return true;
  }
  bool is_in_string(const JsonOptions& options) const { return is_in_value(options) && value.is_in_string(); }
  bool is_in_value(const JsonOptions& options) const {
    return options.field_count == 0 || (field < options.field_count && fixed == fixed_text(options, field).size());
  }
  uint32_t least(const JsonOptions& options) const {
    return options.field_count != 0 && field == options.field_count ? behind : behind + value.least();
  }
  TextEnd end(const JsonOptions& options) const {
    if (options.field_count != 0) return behind == 0 ? TextEnd::kMust : TextEnd::kNo;
    if (!value.is_complete()) return TextEnd::kNo;
    return value.can_go_on() ? TextEnd::kMay : TextEnd::kMust;
  }
};

namespace {

/// Receives the text of a token.
struct JsonSink {
  const JsonOptions& options;
  JsonPlace place;
  uint32_t bytes = 0;
  bool failed = false;

  static void write(void* target, const char* text, size_t size) {
    auto& self = *static_cast<JsonSink*>(target);
    // A decoder writes U+FFFD for bytes that are not a character.
    self.failed = self.failed || (size == 3 && memcmp(text, "\xEF\xBF\xBD", 3) == 0);
    for (size_t i = 0; i < size && !self.failed; ++i) {
      self.failed = !self.place.push(self.options, static_cast<uint8_t>(text[i]));
    }
    self.bytes += static_cast<uint32_t>(size);
  }
};

/// Receives the byte of a token that is a single byte.
struct ByteSink {
  uint32_t size = 0;
  uint8_t byte = 0;

  static void write(void* target, const char* text, size_t size) {
    auto& self = *static_cast<ByteSink*>(target);
    if (size != 0) self.byte = static_cast<uint8_t>(text[0]);
    self.size += static_cast<uint32_t>(size < 2 ? size : 2);
  }
};

void ignore(void*, const char*, size_t) {}

/// A set of ASCII characters.
struct Letters {
  uint64_t bits[2] = {};

  void add(uint8_t byte) {
    if (byte < 128) bits[byte / 64] |= uint64_t{1} << byte % 64;
  }
  void add(const char* text) {
    for (; *text != '\0'; ++text) add(static_cast<uint8_t>(*text));
  }
  bool has_all_of(const Letters& other) const {
    return (other.bits[0] & ~bits[0]) == 0 && (other.bits[1] & ~bits[1]) == 0;
  }
};

}  // namespace
}  // namespace tasks

struct JsonTextAccess {
  JsonText& self;

  tasks::JsonPlace place() const {
    tasks::JsonPlace place;
    static_assert(sizeof(place) <= sizeof(self.place_));
    memcpy(static_cast<void*>(&place), self.place_, sizeof(place));
    return place;
  }
  void keep(const tasks::JsonPlace& place) { memcpy(self.place_, &place, sizeof(place)); }

  /// Returns a decoder in the middle of a text, because decoders may strip blanks at the beginning.
  TextDecoder in_text(const Tokenizer& tokenizer) const {
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      tasks::ByteSink sink;
      TextDecoder decoder = self.prompt_;
      decoder.write_to(tasks::ByteSink::write, &sink);
      decoder.add(static_cast<int32_t>(id));
      if (sink.size == 0 || decoder.missing() != 0) continue;
      decoder.write_to(tasks::ignore, nullptr);
      return decoder;
    }
    return self.prompt_;
  }

  /// Returns true if each byte that may be needed to complete a value is a token of its own.
  bool has_bytes(const Tokenizer& tokenizer) const {
    tasks::Letters needed, found;
    needed.add("{}[]\":,0truefalsn");
    for (uint32_t i = 0; i <= self.options_.field_count && self.options_.field_count != 0; ++i) {
      const tasks::FixedText fixed = tasks::fixed_text(self.options_, i);
      for (uint32_t k = 0; k < fixed.size(); ++k) needed.add(fixed.at(k));
    }
    TextDecoder begun = in_text(tokenizer);
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      tasks::ByteSink sink;
      TextDecoder decoder = begun;
      decoder.write_to(tasks::ByteSink::write, &sink);
      decoder.add(static_cast<int32_t>(id));
      if (sink.size == 1) found.add(sink.byte);
    }
    return found.has_all_of(needed);
  }

  static Status follow(void* state, const int32_t* ids, uint32_t count, uint32_t room, TextEnd* end) {
    auto& self = *static_cast<JsonText*>(state);
    if ((ids == nullptr && count != 0) || end == nullptr) return Status::kInvalidArgument;
    tasks::JsonSink sink{self.options_, tasks::JsonPlace::first(self.options_)};
    if (count == 0 && sink.place.least(self.options_) > room) return Status::kTooManyTokens;
    TextDecoder decoder = self.prompt_;
    decoder.write_to(tasks::JsonSink::write, &sink);
    for (uint32_t i = 0; i < count && !sink.failed; ++i) decoder.add(ids[i]);
    if (sink.failed) return Status::kInvalidArgument;
    decoder.write_to(tasks::ignore, nullptr);
    self.text_ = decoder;
    JsonTextAccess{self}.keep(sink.place);
    self.end_ = self.text_.missing() != 0 ? TextEnd::kNo : sink.place.end(self.options_);
    self.room_ = room;
    *end = self.end_;
    return Status::kOk;
  }

  static bool allows(void* state, int32_t id) {
    auto& self = *static_cast<JsonText*>(state);
    if (self.ends_.has(id)) return self.end_ != TextEnd::kNo;
    if (self.room_ == 0) return false;
    tasks::JsonSink sink{self.options_, JsonTextAccess{self}.place()};
    TextDecoder decoder = self.text_;
    decoder.write_to(tasks::JsonSink::write, &sink);
    decoder.add(id);
    if (sink.failed) return false;
    const uint32_t missing = decoder.missing();
    const bool same = sink.bytes == 0 && missing == self.text_.missing();
    if (same) return false;  // special tokens, which could repeat forever
    if (missing != 0 && !sink.place.is_in_string(self.options_)) return false;
    return sink.place.least(self.options_) + missing < self.room_;
  }
};

Status JsonText::open(const Tokenizer& tokenizer, const JsonOptions& options, EndTokens ends, const int32_t* prompt,
                      uint32_t prompt_count) {
  if (!tasks::is_valid(options) || (prompt == nullptr && prompt_count != 0) ||
      (ends.ids == nullptr && ends.count != 0)) {
    return Status::kInvalidArgument;
  }
  *this = {};
  const Status status = TextDecoder::open(tokenizer, true, tasks::ignore, nullptr, &prompt_);
  if (status != Status::kOk) return status;
  for (uint32_t i = 0; i < prompt_count; ++i) prompt_.add(prompt[i]);
  options_ = options;
  ends_ = ends;
  return JsonTextAccess{*this}.has_bytes(tokenizer) ? Status::kOk : Status::kUnsupported;
}

Constraint JsonText::constraint() { return {JsonTextAccess::follow, JsonTextAccess::allows, this}; }

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
