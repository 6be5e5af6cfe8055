// Directories of recurrent encoder-decoders (docs/recurrent.md): converts the two vocabularies in config.json to two
// tokenizers, and token names to the settings that all encoder-decoders have.
#ifndef BANTAM_CONVERTER_SOURCE_SEQ2SEQ_H_
#define BANTAM_CONVERTER_SOURCE_SEQ2SEQ_H_

#include "base/json_file.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Returns true if config.json describes a recurrent encoder-decoder.
bool is_seq2seq(const Json& config);

/// Changes the source's settings and tokenizer. Throws Error with all problems of the vocabularies.
void settle_seq2seq(ModelSource* source);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SEQ2SEQ_H_
