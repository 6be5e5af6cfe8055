// From what the files of a tokenizer say to what a .bantam file holds.
#ifndef BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_
#define BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

/// The tokenizer, and its tables in `blobs`. Null after a problem, of which `problems` then has one more or several.
std::unique_ptr<fb::TokenizerT> assemble_tokenizer(TokenizerSource& source, ProblemList& problems,
                                                   std::vector<RawBlob>& blobs);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_
