// The files of a WordPiece tokenizer: the tokens that they list, and the same files with fewer tokens.
#ifndef BANTAM_CONVERTER_STUDENT_TOKENS_H_
#define BANTAM_CONVERTER_STUDENT_TOKENS_H_

#include <string>
#include <vector>

#include "student/draft.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// Returns the vocabulary by id; "" for ids without a token. The files must be those that import_tokenizer accepts.
std::vector<std::string> tokens_of(const TokenizerFiles& files);

/// Token kept[i] becomes token i, in all files and in the special ids of the settings; other tokens are removed.
void renumber_tokens(const Indices& kept, TokenizerFiles& files, Json& settings);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_TOKENS_H_
