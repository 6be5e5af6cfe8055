// Runs given ids through every pass of a model: an encoder-decoder reads a source, then its decoder's tokens.
#ifndef BANTAM_CONVERTER_RUN_PASSES_H_
#define BANTAM_CONVERTER_RUN_PASSES_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::convert {

/// The default input of an encoder-decoder's decoder: the source's own tokens shifted behind the file's shift token, if
/// it has one, else the token that its texts begin with (the source's first one if the file names none).
std::vector<int32_t> default_decoder_ids(const Model& model, const std::vector<int32_t>& source);

/// Returns what transformers gives a decoder that is given nothing: the source's tokens, one place further, behind the token that
/// texts begin with; that token alone where the decoder has other words.
std::vector<int32_t> shifted_decoder_ids(const Model& model, const std::vector<int32_t>& source);

/// Returns the segments of ids that come without any: none (all are 0), or those that the file's kSegmentEnd says.
std::vector<int32_t> default_segments(const Model& model, const std::vector<int32_t>& ids);

/// Calls session.run(batch); for an encoder-decoder calls encode(batch), then runs as many sequences of the same
/// lengths, whose ids are the source's modulo the size of the decoder's vocabulary. For measuring time, not for
/// answers.
Status run_all_passes(Session& session, const Batch& batch);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PASSES_H_
