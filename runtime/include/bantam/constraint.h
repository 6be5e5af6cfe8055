// Constraints on generated texts: a text becomes one of a list of answers, or JSON. A constraint says of each token
// whether it may come next; choices (Sampling) and searches (BeamOptions) take no other. It looks at all tokens so far
// each time and remembers none of them, so that texts can be copied, cut and continued, and one constraint serves all
// that begin alike.
#ifndef BANTAM_CONSTRAINT_H_
#define BANTAM_CONSTRAINT_H_

#include "bantam/decode.h"
#include "bantam/export.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Says if a text may end at its present length, or must.
enum class TextEnd : uint8_t { kNo = 0, kMay = 1, kMust = 2 };

/// Made by Answers and JsonText, or the caller's own.
struct Constraint {
  /// Looks at a text: ids[0, count), the tokens chosen behind the prompt. `room`: how many more tokens it may have.
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

/// One of a list of answers, as tokens. The list, sorted, is the automaton: a text so far is a range of it.
class Answers {
 public:
  /// Bytes of memory for so many answers.
  static size_t bytes(uint32_t count) { return size_t{count} * sizeof(uint32_t); }

  /// Answer i is ids[offsets[i], offsets[i + 1]); some may be the same. All pointers outlive the object; memory is 4-byte aligned.
  /// kInvalidArgument: there is none; one is empty, or has a token below 0 or one that ends texts; or one is the beginning of another,
  /// and nothing ends texts, so that it could not be chosen. kBufferTooSmall. O(tokens * log(answers)).
  Status open(const int32_t* ids, const uint32_t* offsets, uint32_t count, EndTokens ends, void* memory, size_t size);

  /// A text that is no beginning of an answer is kInvalidArgument, an answer that has no room kTooManyTokens. Following is
  /// O(tokens * log(answers)), allowing O(log(answers)). It points to this object.
  Constraint constraint();

  /// The first answer that is these tokens; `count` of open(): none. O(tokens * log(answers)).
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
  uint32_t* order_ = nullptr;  // of the answers
  EndTokens ends_;
  uint32_t count_ = 0;
  uint32_t longest_ = 0;
  // The text that was followed last: answers order_[begin_, end_) begin with its place_ tokens.
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
  JsonKind kind = JsonKind::kAny;     // of the text; with fields it is an object
  const JsonField* fields = nullptr;  // all that the object has, in this order; outlive the constraint
  uint32_t field_count = 0;
  uint32_t depth = 32;  // 1 to 64: arrays and objects in each other, of each field's value
};

/// JSON (RFC 8259), checked byte by byte as tokens make text. Where a text has a limit, tokens are left out behind which it could not be
/// ended in time: it is always a whole value. With fields it is {"a": ..., "b": ...}, a blank behind colons and commas.
class JsonText {
 public:
  /// Behind prompt[0, count). `tokenizer` and what options point to outlive the object. kInvalidArgument: options out of range.
  /// kUnsupported: the tokenizer does not say how its tokens become text, or lacks tokens of one character that are needed to end
  /// every value in time. O(vocabulary + count).
  Status open(const Tokenizer& tokenizer, const JsonOptions& options, EndTokens ends, const int32_t* prompt,
              uint32_t count);

  /// A text that is no beginning of such JSON is kInvalidArgument, one without room for the shortest kTooManyTokens. Following is O(bytes
  /// of the text), allowing O(bytes of the token). It points to this object.
  Constraint constraint();

 private:
  friend struct JsonTextAccess;  // runtime/tasks/json_text.cpp
  TextDecoder prompt_, text_;    // behind the prompt, and behind the text that was followed last
  uint64_t place_[6] = {};       // which this is: tasks::JsonPlace
  JsonOptions options_;
  EndTokens ends_;
  uint32_t room_ = 0;  // tokens behind it
  TextEnd end_ = TextEnd::kNo;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_CONSTRAINT_H_
