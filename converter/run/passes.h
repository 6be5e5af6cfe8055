// A run of given ids through every pass that a model has: an encoder-decoder reads a source, then its decoder's tokens.
#ifndef BANTAM_CONVERTER_RUN_PASSES_H_
#define BANTAM_CONVERTER_RUN_PASSES_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::convert {

/// What the decoder of an encoder-decoder reads where nobody says it: the source's own tokens behind the file's, where it is made for
/// that, else the token that its texts begin with (the source's first one where the file names none).
std::vector<int32_t> default_decoder_ids(const Model& model, const std::vector<int32_t>& source);

/// session.run(batch); of an encoder-decoder encode(batch), then a run of as many sequences of the same lengths, whose tokens are the
/// source's, less the number of the decoder's where there are fewer. For measuring time, not for answers.
Status run_all_passes(Session& session, const Batch& batch);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PASSES_H_
