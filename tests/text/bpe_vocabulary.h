// Small BPE tokenizers for tests.
#ifndef BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_
#define BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/text/vocabulary.h"

namespace bantam::tests {

/// Returns bytes as the letters that represent them in files.
std::string letters(const std::string& bytes);

using Merges = std::vector<std::pair<std::string, std::string>>;

/// Returns an importable tokenizer.json: <s>, </s>, <mask> with ids 0 to 2, the bytes with ids 3 to 258, then the
/// result of each merge of two byte strings. Words as in GPT-2, template and offsets as in RoBERTa.
nlohmann::json bpe_json(const Merges& merges);

/// Returns BPE of code points: <unk> 0, <0x00> to <0xFF> 1 to 256, then these pieces.
nlohmann::json pieces_json(const std::vector<std::string>& pieces, const nlohmann::json& decoder);
/// Returns Llama's decoder, which removes `strip` blanks at the beginning of a text.
nlohmann::json llama_decoder(int strip);

/// Returns a tokenizer for which a text is one word, without special tokens.
nlohmann::json whole_text_json(const Merges& merges);

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_
