// Converts the tokenizer of a GGUF file ("tokenizer.ggml.*") to files of a directory.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_

#include "source/gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// "bert": WordPiece with a leading space mark on tokens that begin words; "gpt2": byte-level BPE with the splits of
/// "tokenizer.ggml.pre"; "llama": SentencePiece's BPE, which merges by scores; "t5": SentencePiece's unigram model.
/// Errors and unsupported features are added to `unreadable` with the key's name. Empty if the file has no tokens.
TokenizerFiles read_gguf_tokenizer(const GgufFile& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_
