// Constraints on generated texts: one of a list of answers, or JSON.
#ifndef BANTAM_CONVERTER_RUN_TEXT_CONSTRAINT_H_
#define BANTAM_CONVERTER_RUN_TEXT_CONSTRAINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/constraint.h"
#include "run/decoding.h"

namespace bantam::convert {

/// Returns the names of the values of JsonKind: "any", "string", ...
const std::vector<std::string>& json_kind_names();

/// Parses "NAME:KIND" as a field; KIND is "any" if it is absent. Throws (kUsage).
TextForm::Field read_field(const std::string& text);

/// The constraint on the text after one prompt.
class TextConstraint {
 public:
  /// `given`: the text of `prompt`; empty if it is not the decoder's. `room`: the largest number of tokens of the text.
  /// Throws kInvalid if no tokens spell an answer after this prompt or no answer fits, and kUnsupported if the model's
  /// tokenizer cannot decide this.
  TextConstraint(const Model& model, const Decoding& decoding, const std::string& given,
                 const std::vector<int32_t>& prompt, uint32_t room);
  TextConstraint(const TextConstraint&) = delete;
  TextConstraint& operator=(const TextConstraint&) = delete;

  const Constraint& constraint() const { return constraint_; }
  uint32_t room() const { return room_; }
  /// Returns true if only an end token may follow these tokens.
  bool must_end(const std::vector<int32_t>& made);
  /// Returns the tokens of each answer, in the given order.
  const std::vector<std::vector<int32_t>>& answers() const { return tokens_; }

 private:
  void open_answers(const Model& model, const Decoding& decoding, const std::string& given,
                    const std::vector<int32_t>& prompt);
  void open_json(const Tokenizer& tokenizer, const Decoding& decoding, const std::vector<int32_t>& prompt);

  uint32_t room_;
  std::vector<int32_t> end_ids_;
  std::vector<std::vector<int32_t>> tokens_;
  std::vector<int32_t> ids_;
  std::vector<uint32_t> offsets_, memory_;
  Answers answers_;
  std::vector<JsonField> fields_;
  JsonText json_;
  Constraint constraint_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TEXT_CONSTRAINT_H_
