// What generated texts may become: one of a list of answers, or JSON.
#ifndef BANTAM_CONVERTER_RUN_TEXT_CONSTRAINT_H_
#define BANTAM_CONVERTER_RUN_TEXT_CONSTRAINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/constraint.h"
#include "run/decoding.h"

namespace bantam::convert {

/// The words of JsonKind: "any", "string", ...
const std::vector<std::string>& json_kind_names();

/// "NAME:KIND" as a field, KIND "any" where there is none. Throws (kUsage).
TextForm::Field read_field(const std::string& text);

/// What the text behind one prompt may become.
class TextConstraint {
 public:
  /// `given`: the text of `prompt`, empty where it is none of the decoder's. `room`: most tokens of the text. Throws where an answer has
  /// no tokens that are it behind this prompt, or none will fit (kInvalid), and where the model cannot tell (kUnsupported).
  TextConstraint(const Model& model, const Decoding& decoding, const std::string& given,
                 const std::vector<int32_t>& prompt, uint32_t room);
  TextConstraint(const TextConstraint&) = delete;
  TextConstraint& operator=(const TextConstraint&) = delete;

  const Constraint& constraint() const { return constraint_; }
  uint32_t room() const { return room_; }
  /// Whether nothing may follow these tokens but an end.
  bool must_end(const std::vector<int32_t>& made);
  /// Tokens of each answer, in the order given.
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
