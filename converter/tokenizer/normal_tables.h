// Sequences of normalizers: converts those in a tokenizer's files to the tables of runtime/text/code_table.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_
#define BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

/// Returns the blob `forms` for `stages`, and sets the numbers of the tables in their rules. Deterministic.
std::vector<uint8_t> build_forms(std::vector<NormalStage>& stages, const std::string& charsmap);

/// Normalizes a separate text with the runtime's own normalizers.
std::string normalize_in_row(const std::vector<NormalStage>& stages, const std::vector<uint8_t>& forms,
                             const std::string& charsmap, const std::string& text);

/// Returns true if the size of the bytes matches the one stated at the start of a precompiled_charsmap.
bool is_charsmap(const std::string& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_NORMAL_TABLES_H_
