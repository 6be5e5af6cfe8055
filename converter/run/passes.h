// Runs given ids through every pass of a model: for an encoder-decoder, the source and then the decoder's tokens.
#ifndef BANTAM_CONVERTER_RUN_PASSES_H_
#define BANTAM_CONVERTER_RUN_PASSES_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"

namespace bantam::convert {

/// Returns the default input of an encoder-decoder's decoder: the source's tokens shifted to the right behind the
/// file's shift token, if it has one; otherwise the token that begins texts (the source's first token if the file names
/// none).
std::vector<int32_t> default_decoder_ids(const Model& model, const std::vector<int32_t>& source);

/// Returns the decoder's input if transformers is given none: the source's tokens shifted right by one, after the token
/// that begins texts; only that token if the decoder has another vocabulary.
std::vector<int32_t> shifted_decoder_ids(const Model& model, const std::vector<int32_t>& source);

/// Returns the segments of ids for which none are given: none (all are 0), or those that kSegmentEnd of the file
/// defines.
std::vector<int32_t> default_segments(const Model& model, const std::vector<int32_t>& ids);

/// Calls session.run(batch). For an encoder-decoder, calls encode(batch) and then runs decoder sequences of the same
/// number and lengths, whose ids are the source's modulo the size of the decoder's vocabulary. This is for measuring
/// time, not for answers.
Status run_all_passes(Session& session, const Batch& batch);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PASSES_H_
