// Normalisers in a row: from what a tokenizer's files name to the tables of runtime/text/code_table.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_
#define BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

/// The blob `forms` for `stages`, whose rules get the numbers of their tables. Deterministic.
std::vector<uint8_t> build_forms(std::vector<NormalStage>& stages, const std::string& charsmap);

/// Normalises a text that stands alone with the runtime's own normalisers.
std::string normalize_in_row(const std::vector<NormalStage>& stages, const std::vector<uint8_t>& forms,
                             const std::string& charsmap, const std::string& text);

/// Returns true if the bytes are as large as a precompiled_charsmap states in its beginning.
bool is_charsmap(const std::string& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_
