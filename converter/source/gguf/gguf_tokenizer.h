// The tokenizer of a GGUF file ("tokenizer.ggml.*") as files of a directory.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_

#include "source/gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

/// "bert": WordPiece, whose tokens that begin words have a mark of a blank in front; "gpt2": byte-level BPE, with splits by
/// "tokenizer.ggml.pre"; "llama": SentencePiece's BPE, merges by scores; "t5": SentencePiece's unigram. What is wrong or not
/// supported goes to `unreadable`, naming the key. Nothing where the file has no tokens.
TokenizerFiles read_gguf_tokenizer(const GgufFile& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_TOKENIZER_H_
