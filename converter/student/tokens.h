// The files of a WordPiece tokenizer: which tokens they list, and the same files with fewer of them.
#ifndef BANTAM_CONVERTER_STUDENT_TOKENS_H_
#define BANTAM_CONVERTER_STUDENT_TOKENS_H_

#include <string>
#include <vector>

#include "student/draft.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// The model's vocabulary by id; "" where an id has no token. Files that import_tokenizer accepts.
std::vector<std::string> tokens_of(const TokenizerFiles& files);

/// Token kept[i] becomes token i, in all files and in the settings' special ids; other tokens leave.
void renumber_tokens(const Indices& kept, TokenizerFiles& files, Json& settings);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_TOKENS_H_
