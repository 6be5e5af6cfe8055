// Small tokenizers of byte pairs for tests.
#ifndef BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_
#define BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/text/vocabulary.h"

namespace bantam::tests {

/// Bytes as the letters that stand for them in files.
std::string letters(const std::string& bytes);

using Merges = std::vector<std::pair<std::string, std::string>>;

/// An importable tokenizer.json: <s>, </s>, <mask> with ids 0 to 2, the bytes with ids 3 to 258, then what each merge of
/// two byte strings makes. GPT-2's words, RoBERTa's template and offsets.
nlohmann::json bpe_json(const Merges& merges);

/// Byte pairs of code points: <unk> 0, <0x00> to <0xFF> 1 to 256, then these pieces.
nlohmann::json pieces_json(const std::vector<std::string>& pieces, const nlohmann::json& decoder);
/// Llama's decoder, which leaves out `strip` blanks at a text's beginning.
nlohmann::json llama_decoder(int strip);

/// A text is one word, and nothing stands around it.
nlohmann::json whole_text_json(const Merges& merges);

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_BPE_VOCABULARY_H_
