// Converts the contents of a tokenizer's files to what a .bantam file holds.
#ifndef BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_
#define BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

/// Returns the tokenizer, whose tables are added to `blobs`. Returns null after adding one or more problems to
/// `problems`.
std::unique_ptr<fb::TokenizerT> assemble_tokenizer(TokenizerSource& source, ProblemList& problems,
                                                   std::vector<RawBlob>& blobs);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_ASSEMBLER_H_
