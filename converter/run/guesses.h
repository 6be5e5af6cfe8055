// Guesses of the next tokens of texts that are generated (bantam/guesses.h): from repetitions in the text, or from a
// smaller model.
#ifndef BANTAM_CONVERTER_RUN_GUESSES_H_
#define BANTAM_CONVERTER_RUN_GUESSES_H_

#include <cstdint>
#include <vector>

#include "bantam/sampling.h"
#include "run/engine.h"

namespace bantam::convert {

/// A smaller decoder that guesses what a model generates. It keeps one context per text, which follows the text.
class DraftModel {
 public:
  /// Opens a session for `texts` texts of `context` tokens. `file` must outlive the draft. Throws (kUnsupported) if the
  /// file is not a decoder that keeps contexts, or if its tokens are not those of `target`.
  DraftModel(const ModelFile& file, const ModelFile& target, const EngineOptions& options, uint32_t texts,
             uint32_t context);

  /// Writes up to `most` guesses of what follows `ids` to *out. They are chosen as `sampling` says, with the same
  /// random numbers as the model's own choices. None: the draft's context has no room.
  void guess(uint32_t text, const std::vector<int32_t>& ids, Sampling sampling, uint32_t most,
             std::vector<int32_t>* out);

 private:
  /// Runs the tokens of `ids` that the context does not hold yet, at least the last one.
  void follow(uint32_t context, const std::vector<int32_t>& ids);
  void run(uint32_t context, const int32_t* ids, uint32_t count);

  Engine engine_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_GUESSES_H_
