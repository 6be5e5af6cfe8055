// A byte-by-byte JSON (RFC 8259) automaton: which bytes may follow in an incomplete value, and how few bytes would
// complete it.
#ifndef BANTAM_TASKS_JSON_AUTOMATON_H_
#define BANTAM_TASKS_JSON_AUTOMATON_H_

#include <stdint.h>

#include "bantam/constraint.h"

namespace bantam::tasks {

/// A pushdown automaton whose stack has one bit per level. A copy remembers a state. Every value that it accepts is
/// valid JSON if its bytes from 0x80 on are valid UTF-8. It rejects what many readers refuse (unpaired surrogates
/// written with `\u`, exponents of more than two digits, numbers of more than kMostDigits digits, integers of more than
/// kMostOfInteger) and more than kMostBlanks blanks in a row, which models tend to repeat.
class JsonAutomaton {
 public:
  static constexpr uint32_t kMostDepth = 64;
  static constexpr uint32_t kMostBlanks = 32;
  static constexpr uint32_t kMostDigits = 64;
  static constexpr uint32_t kMostOfInteger = 18;  // digits that fit 64 bits

  /// Accepts a value of this kind with at most `depth` (up to kMostDepth) nested arrays and objects. `blanks`: blanks
  /// may precede it.
  JsonAutomaton(JsonKind kind, uint32_t depth, bool blanks);
  JsonAutomaton() : JsonAutomaton(JsonKind::kAny, kMostDepth, true) {}

  /// Takes the next byte. Returns false, and changes nothing, if no value continues with it.
  bool push(uint8_t byte);
  /// Returns true if the bytes so far are a whole value.
  bool is_complete() const { return depth_ == 0 && (state_ == kAfter || is_number_end()); }
  /// Returns true if more bytes of the value may follow: it is not complete, or is a number that may become another
  /// one.
  bool can_go_on() const;
  /// Returns true if the next byte belongs to a string.
  bool is_in_string() const { return state_ == kString; }
  /// Returns the fewest bytes that complete the value.
  uint32_t least() const;
  /// Returns the fewest bytes of a value of this kind.
  static uint32_t least_of(JsonKind kind);

 private:
  enum State : uint8_t {
    kValue,         // a value
    kFirstElement,  // a value, or the end of an array
    kFirstName,     // a name, or the end of an object
    kName,          // a name
    kColon,
    kAfter,  // a value has ended
    kString,
    kEscape,
    kHex,        // digits of \u, left_ of which remain
    kSurrogate,  // the digit after a leading D, which must be less than 8
    kMinus,
    kZero,
    kDigits,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kLiteral  // true, false, null: left_ letters remain
  };

  bool is_number_end() const {
    return state_ == kZero || state_ == kDigits || state_ == kFraction || state_ == kExponentDigits;
  }
  /// Returns true if this is a number that must not have a point or an exponent.
  bool is_whole() const { return depth_ == 0 && kind_ == JsonKind::kInteger; }
  bool has_room() const { return digits_ < (is_whole() ? kMostOfInteger : kMostDigits); }
  bool in_object() const { return depth_ != 0 && (objects_ >> (depth_ - 1) & 1u) != 0; }
  bool begin_value(uint8_t byte);
  bool begin_literal(const char* text, JsonKind kind);
  bool begin_string(bool name);
  bool open(bool object);
  bool close(bool object);
  bool go_on(State state) {
    state_ = state;
    return true;
  }
  bool is_wanted(JsonKind kind) const { return depth_ != 0 || kind_ == JsonKind::kAny || kind_ == kind; }
  bool push_blank();
  bool push_string(uint8_t byte);
  bool push_escape(uint8_t byte);
  bool push_hex(uint8_t byte);
  bool push_digit(State state);
  bool push_number(uint8_t byte, bool* ended);
  bool push_after(uint8_t byte);

  uint64_t objects_ = 0;  // bit i: level i is an object, else an array
  const char* literal_ = "";
  State state_ = kValue;
  JsonKind kind_;  // of the whole value
  uint8_t depth_ = 0;
  uint8_t most_depth_;
  uint8_t blanks_ = 0;  // blanks that may still follow here
  uint8_t left_ = 0;    // remaining digits of \u or of an exponent, or letters
  uint8_t digits_ = 0;  // digits of a number without its exponent
  bool name_ = false;   // the string is a name
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_JSON_AUTOMATON_H_
