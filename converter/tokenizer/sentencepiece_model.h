// A SentencePiece model file: the fields of its protocol buffer that define how texts become ids.
#ifndef BANTAM_CONVERTER_TOKENIZER_SENTENCEPIECE_MODEL_H_
#define BANTAM_CONVERTER_TOKENIZER_SENTENCEPIECE_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// ModelProto.SentencePiece. `kind` has the values of the field `type`.
struct SentencePiece {
  enum Kind : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  std::string text;
  float score = 0;
  int32_t kind = kNormal;
};

/// ModelProto, with the defaults of its definition. `type` has the values of TrainerSpec's field `model_type`.
struct SentencePieceModel {
  enum Type : int32_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  std::vector<SentencePiece> pieces;
  int32_t type = kUnigram;
  bool byte_fallback = false;
  bool blanks_end_words = false;  // treat_whitespace_as_suffix
  // NormalizerSpec
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_blanks = true;
  bool escape_blanks = true;
};

/// Parses the bytes of a model file. Throws std::invalid_argument that names the field that is truncated, of the wrong
/// type, or too large. O(bytes).
SentencePieceModel parse_sentencepiece(const std::string& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_SENTENCEPIECE_MODEL_H_
