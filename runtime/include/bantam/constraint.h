// Constraints on generated texts: a text becomes one of a list of answers, or JSON. A constraint decides for each token
// whether it may come next; sampling (Sampling) and beam search (BeamOptions) choose only allowed tokens. It reads all
// tokens so far each time and stores none of them, so that texts can be copied, truncated and continued, and beams with
// a common beginning share one constraint.
#ifndef BANTAM_CONSTRAINT_H_
#define BANTAM_CONSTRAINT_H_

#include "bantam/decode.h"
#include "bantam/export.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Says whether a text may end (kMay) or must end (kMust) at its present length.
enum class TextEnd : uint8_t { kNo = 0, kMay = 1, kMust = 2 };

/// Created by Answers or JsonText, or provided by the caller.
struct Constraint {
  /// Reads a text: ids[0, count) are the tokens chosen after the prompt. `room`: the most tokens that may still follow.
  Status (*follow)(void* state, const int32_t* ids, uint32_t count, uint32_t room, TextEnd* end) = nullptr;
  /// Returns true if this token may come next in the text that follow() saw last. It may be a token that ends texts.
  bool (*allows)(void* state, int32_t id) = nullptr;
  void* state = nullptr;
};

/// Tokens that end a text. A constraint allows them where the text may end.
struct EndTokens {
  const int32_t* ids = nullptr;
  uint32_t count = 0;

  bool has(int32_t id) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (ids[i] == id) return true;
    }
    return false;
  }
};
/// Returns the end tokens that the file names; they point into the file.
EndTokens end_tokens(const Model& model);

/// Allows one of a list of answers, given as tokens. The sorted list is the automaton: the answers that begin with the
/// text so far are a range of it.
class Answers {
 public:
  /// Bytes of memory for `count` answers.
  static size_t bytes(uint32_t count) { return size_t{count} * sizeof(uint32_t); }

  /// Answer i is ids[offsets[i], offsets[i + 1]); answers may repeat. All pointers must outlive the object; memory is
  /// 4-byte aligned. kInvalidArgument: there is no answer; an answer is empty or contains a negative token or an end
  /// token; or an answer is a prefix of another and there are no end tokens, so that it could not be chosen.
  /// kBufferTooSmall. O(tokens * log(answers)).
  Status open(const int32_t* ids, const uint32_t* offsets, uint32_t count, EndTokens ends, void* memory, size_t size);

  /// Returns a constraint that refers to this object. follow() returns kInvalidArgument if the text is not a prefix of
  /// an answer, and kTooManyTokens if no answer fits into `room`. follow() is O(tokens * log(answers)), allows()
  /// O(log(answers)).
  Constraint constraint();

  /// Returns the index of the first answer with exactly these tokens; `count` of open() if there is none. O(tokens *
  /// log(answers)).
  uint32_t find(const int32_t* ids, uint32_t count) const;

 private:
  int32_t at(uint32_t rank, uint32_t place) const;
  uint32_t length(uint32_t rank) const;
  bool is_before(uint32_t a, uint32_t b) const;
  void sink(uint32_t root, uint32_t count);
  uint32_t lower_bound(uint32_t begin, uint32_t end, uint32_t place, int32_t id) const;
  bool narrow(const int32_t* ids, uint32_t count, uint32_t* begin, uint32_t* end) const;
  static Status follow(void* state, const int32_t* ids, uint32_t count, uint32_t room, TextEnd* end);
  static bool allows(void* state, int32_t id);

  const int32_t* ids_ = nullptr;
  const uint32_t* offsets_ = nullptr;
  uint32_t* order_ = nullptr;  // indices of the answers, sorted
  EndTokens ends_;
  uint32_t count_ = 0;
  uint32_t longest_ = 0;
  // The text that follow() saw last: answers order_[begin_, end_) begin with its place_ tokens.
  uint32_t begin_ = 0, end_ = 0, place_ = 0;
};

/// The type of a JSON value.
enum class JsonKind : uint8_t { kAny = 0, kString, kNumber, kInteger, kBoolean, kNull, kArray, kObject };

/// A member of an object.
struct JsonField {
  Text name;  // printable ASCII without '"' and '\'
  JsonKind kind = JsonKind::kAny;
};

struct JsonOptions {
  JsonKind kind = JsonKind::kAny;     // type of the text; with fields it is an object
  const JsonField* fields = nullptr;  // all members of the object, in this order; must outlive the constraint
  uint32_t field_count = 0;
  uint32_t depth = 32;  // 1 to 64: most nesting of arrays and objects in a value, per field
};

/// Allows JSON (RFC 8259), checked byte by byte as tokens become text. If a text has a token limit, tokens after which
/// it could not be completed in time are excluded: the text is always a complete value. With fields it is {"a": ...,
/// "b": ...}, with a blank after colons and commas.
class JsonText {
 public:
  /// Allows JSON after prompt[0, count). `tokenizer` and what the options point to must outlive the object.
  /// kInvalidArgument: an option is out of range. kUnsupported: the file does not say how tokens become text, or the
  /// vocabulary lacks a one-character token that is needed to complete every value in time. O(vocabulary + count).
  Status open(const Tokenizer& tokenizer, const JsonOptions& options, EndTokens ends, const int32_t* prompt,
              uint32_t count);

  /// Returns a constraint that refers to this object. follow() returns kInvalidArgument if the text is not a prefix of
  /// such JSON, and kTooManyTokens if the shortest completion does not fit into `room`. follow() is O(bytes of the
  /// text), allows() O(bytes of the token).
  Constraint constraint();

 private:
  friend struct JsonTextAccess;  // runtime/tasks/json_text.cpp
  TextDecoder prompt_, text_;    // their state after the prompt, and after the text that follow() saw last
  uint64_t place_[6] = {};       // the state of the JSON automaton there: tasks::JsonPlace
  JsonOptions options_;
  EndTokens ends_;
  uint32_t room_ = 0;  // tokens that may still follow
  TextEnd end_ = TextEnd::kNo;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_CONSTRAINT_H_
