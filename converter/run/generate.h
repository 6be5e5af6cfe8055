// Generates texts: a decoder continues a text, an encoder-decoder generates a text from a source.
#ifndef BANTAM_CONVERTER_RUN_GENERATE_H_
#define BANTAM_CONVERTER_RUN_GENERATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/chunks.h"
#include "run/decoding.h"
#include "run/engine.h"
#include "run/generated_sequence.h"
#include "run/guesses.h"
#include "run/text_stream.h"

namespace bantam::convert {

const char* finish_name(Finish finish);  // "end", "stop", "length", "context"

/// An answer that a text could have become.
struct AnswerScore {
  std::string text;
  uint32_t tokens = 0;
  double log_probability = 0;  // of its tokens under the model, without the end of the text
};

/// A generated text.
struct Made {
  uint32_t given_tokens = 0;             // of the prompt or of the source
  uint32_t cut_tokens = 0;               // tokens cut from a source that was too long
  std::vector<int32_t> ids;              // new ids, including the one that ended the text
  std::vector<float> log_probabilities;  // of these ids, if requested
  // With beams or several tries: the sum of the log-probabilities divided by a power of their number.
  float score = 0;
  std::string text;  // the text after the prompt
  Finish finish = Finish::kLength;
  uint32_t passes = 0;               // of the model over new tokens of this text; with guesses fewer than tokens
  std::vector<AnswerScore> answers;  // in the given order, if requested
};

/// Returns the tokens of `prompt` from the file's tokenizer; `special`: with the special tokens that begin a text.
/// Throws if there is no tokenizer, or if the text has no tokens.
std::vector<int32_t> prompt_ids(const Model& model, const std::string& prompt, bool special = true);

/// Returns the size of a context in tokens: `asked`, or by default the number of the model's positions, at most 2048.
uint32_t default_context(const Model& model, uint32_t asked);

/// Returns the options of an engine whose session has room for a decoding: for `texts` at a time (one with beams) and
/// contexts of `context` tokens. 0: the number of positions, at most 2048, and not more than an encoder-decoder's texts
/// can have.
EngineOptions with_contexts(const Model& model, const Decoding& decoding, EngineOptions options, uint32_t texts,
                            uint32_t context);

/// Continues `texts` (at most as many as with_contexts() made room for), or generates texts from them. `take` receives
/// parts of the text as they are generated, if there is a single text without beams and with one try; it may be null.
/// Throws (kInvalid) if a text is empty or leaves no room; then nothing is generated. `retrieve` finds texts for the
/// chunks of the generated text, if there is a single text without beams, with one try and without scores of answers;
/// it may be null. `draft` guesses tokens, without beams and without `retrieve`; null: no draft. The texts are the same
/// with and without it.
std::vector<Made> generate(Engine& engine, const Decoding& decoding, const std::vector<std::string>& texts,
                           const TakeText& take, const Retrieve& retrieve = nullptr, DraftModel* draft = nullptr);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_GENERATE_H_
