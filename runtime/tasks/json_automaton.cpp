#include "tasks/json_automaton.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam::tasks {
namespace {

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

uint8_t letters(const char* text) {
  uint8_t count = 0;
  while (text[count] != '\0') ++count;
  return count;
}

}  // namespace

JsonAutomaton::JsonAutomaton(JsonKind kind, uint32_t depth, bool blanks)
    : kind_(kind),
      most_depth_(static_cast<uint8_t>(depth < kMostDepth ? depth : kMostDepth)),
      blanks_(blanks ? kMostBlanks : 0) {}

bool JsonAutomaton::push_blank() {
  if (blanks_ == 0) return false;
  --blanks_;
  return true;
}

bool JsonAutomaton::begin_string(bool name) {
  name_ = name;
  return go_on(kString);
}

bool JsonAutomaton::begin_literal(const char* text, JsonKind kind) {
  if (!is_wanted(kind)) return false;
  literal_ = text;
  left_ = static_cast<uint8_t>(letters(text) - 1);
  return go_on(kLiteral);
}

bool JsonAutomaton::open(bool object) {
  if (!is_wanted(object ? JsonKind::kObject : JsonKind::kArray) || depth_ >= most_depth_) return false;
  const uint64_t bit = uint64_t{1} << depth_;
  objects_ = object ? objects_ | bit : objects_ & ~bit;
  ++depth_;
  blanks_ = kMostBlanks;
  return go_on(object ? kFirstName : kFirstElement);
}

bool JsonAutomaton::close(bool object) {
  if (depth_ == 0 || in_object() != object) return false;
  --depth_;
  blanks_ = depth_ == 0 ? 0 : kMostBlanks;
  return go_on(kAfter);
}

bool JsonAutomaton::begin_value(uint8_t byte) {
  const bool number = is_wanted(JsonKind::kNumber) || is_wanted(JsonKind::kInteger);
  switch (byte) {
    case '"':
      return is_wanted(JsonKind::kString) && begin_string(false);
    case '{':
      return open(true);
    case '[':
      return open(false);
    case 't':
      return begin_literal("true", JsonKind::kBoolean);
    case 'f':
      return begin_literal("false", JsonKind::kBoolean);
    case 'n':
      return begin_literal("null", JsonKind::kNull);
    case '-':
      digits_ = 0;
      return number && go_on(kMinus);
    default:
      digits_ = 1;
      return number && is_digit(byte) && go_on(byte == '0' ? kZero : kDigits);
  }
}

bool JsonAutomaton::push_string(uint8_t byte) {
  if (byte < 0x20) return false;
  if (byte == '\\') return go_on(kEscape);
  if (byte != '"') return true;
  blanks_ = depth_ == 0 ? 0 : kMostBlanks;
  return go_on(name_ ? kColon : kAfter);
}

bool JsonAutomaton::push_escape(uint8_t byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return go_on(kString);
    case 'u':
      left_ = 4;
      return go_on(kHex);
    default:
      return false;
  }
}

bool JsonAutomaton::push_hex(uint8_t byte) {
  const auto lower = static_cast<uint8_t>(byte | 0x20);
  const bool letter = lower >= 'a' && lower <= 'f';
  if (!is_digit(byte) && !letter) return false;
  if (state_ == kSurrogate && !(byte < '8')) return false;
  const bool first = left_ == 4;
  --left_;
  return go_on(left_ == 0 ? kString : first && lower == 'd' ? kSurrogate : kHex);
}

/// Takes a digit before the exponent.
bool JsonAutomaton::push_digit(State state) {
  if (!has_room()) return false;
  ++digits_;
  return go_on(state);
}

bool JsonAutomaton::can_go_on() const {
  if (depth_ != 0) return true;
  switch (state_) {
    case kAfter:
      return false;
    case kZero:
      return !is_whole();
    case kDigits:
      return !is_whole() || has_room();
    case kExponentDigits:
      return left_ != 0;
    default:
      return true;
  }
}

/// Returns false if the byte does not belong to the number; *ended: the number was complete before it.
bool JsonAutomaton::push_number(uint8_t byte, bool* ended) {
  const bool digit = is_digit(byte);
  const bool exponent = (byte == 'e' || byte == 'E') && !is_whole();
  constexpr uint8_t kExponentDigitsMost = 2;
  switch (state_) {
    case kMinus:
      return digit && push_digit(byte == '0' ? kZero : kDigits);
    case kPoint:
      return digit && push_digit(kFraction);
    case kExponent:
      if (byte == '+' || byte == '-') return go_on(kExponentSign);
      left_ = kExponentDigitsMost - 1;
      return digit && go_on(kExponentDigits);
    case kExponentSign:
      left_ = kExponentDigitsMost - 1;
      return digit && go_on(kExponentDigits);
    case kZero:
    case kDigits:
      if (byte == '.' && !is_whole() && has_room()) return go_on(kPoint);
      if (exponent) return go_on(kExponent);
      if (state_ == kDigits && digit) return push_digit(kDigits);
      break;
    case kFraction:
      if (exponent) return go_on(kExponent);
      if (digit) return push_digit(kFraction);
      break;
    default:
      if (digit && left_ == 0) return false;
      if (digit) --left_;
      if (digit) return true;
  }
  *ended = !digit && depth_ != 0;
  return false;
}

bool JsonAutomaton::push_after(uint8_t byte) {
  if (byte == ',' && depth_ != 0) {
    blanks_ = kMostBlanks;
    return go_on(in_object() ? kName : kValue);
  }
  if (byte == '}') return close(true);
  return byte == ']' && close(false);
}

bool JsonAutomaton::push(uint8_t byte) {
  const bool blank = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
  switch (state_) {
    case kString:
      return push_string(byte);
    case kEscape:
      return push_escape(byte);
    case kHex:
    case kSurrogate:
      return push_hex(byte);
    case kLiteral:
      if (byte != static_cast<uint8_t>(literal_[letters(literal_) - left_])) return false;
      if (--left_ != 0) return true;
      blanks_ = depth_ == 0 ? 0 : kMostBlanks;
      return go_on(kAfter);
    case kValue:
      return blank ? push_blank() : begin_value(byte);
    case kFirstElement:
      if (blank) return push_blank();
      return byte == ']' ? close(false) : begin_value(byte);
    case kFirstName:
      if (blank) return push_blank();
      return byte == '}' ? close(true) : byte == '"' && begin_string(true);
    case kName:
      return blank ? push_blank() : byte == '"' && begin_string(true);
    case kColon:
      if (blank) return push_blank();
      if (byte != ':') return false;
      blanks_ = kMostBlanks;
      return go_on(kValue);
    case kAfter:
      return blank ? push_blank() : push_after(byte);
    default:
      break;
  }
  bool ended = false;
  if (push_number(byte, &ended)) return true;
  if (!ended) return false;
  const JsonAutomaton before = *this;
  blanks_ = kMostBlanks;
  if (blank ? push_blank() && go_on(kAfter) : push_after(byte)) return true;
  *this = before;
  return false;
}

uint32_t JsonAutomaton::least_of(JsonKind kind) {
  switch (kind) {
    case JsonKind::kString:
    case JsonKind::kArray:
    case JsonKind::kObject:
      return 2;
    case JsonKind::kBoolean:
    case JsonKind::kNull:
      return 4;
    default:
      return 1;
  }
}

uint32_t JsonAutomaton::least() const {
  const uint32_t closed = depth_;  // one byte closes each level
  const uint32_t string = name_ ? 3 : 1;
  switch (state_) {
    case kValue:
      return closed + (depth_ == 0 ? least_of(kind_) : 1);
    case kName:
      return closed + 4;  // "":0
    case kColon:
      return closed + 2;
    case kString:
      return closed + string;
    case kEscape:
      return closed + 1 + string;
    case kHex:
    case kSurrogate:
      return closed + left_ + string;
    case kLiteral:
      return closed + left_;
    case kMinus:
    case kPoint:
    case kExponent:
    case kExponentSign:
      return closed + 1;
    default:
      return closed;
  }
}

}  // namespace bantam::tasks

#endif  // BANTAM_IF_LINKED(Contexts)
