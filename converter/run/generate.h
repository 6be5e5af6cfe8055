// Generates texts: a decoder continues a text, an encoder-decoder makes a text from another one.
#ifndef BANTAM_CONVERTER_RUN_GENERATE_H_
#define BANTAM_CONVERTER_RUN_GENERATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/chunks.h"
#include "run/decoding.h"
#include "run/engine.h"
#include "run/text_stream.h"

namespace bantam::convert {

/// Why a text ended: a token that ends texts, one of the options' texts, so many tokens, or no room in the context.
enum class Finish { kEnd, kStop, kLength, kContext };
const char* finish_name(Finish finish);  // "end", "stop", "length", "context"

/// An answer that a text could have become.
struct AnswerScore {
  std::string text;
  uint32_t tokens = 0;
  double log_probability = 0;  // of its tokens, as the model sees them; not of the text's end behind them
};

/// A text that has been made.
struct Made {
  uint32_t given_tokens = 0;             // of the prompt, or of the source
  uint32_t cut_tokens = 0;               // of a source that was too long
  std::vector<int32_t> ids;              // new ones, with the one that ended the text
  std::vector<float> log_probabilities;  // of these, where they are asked for
  float score = 0;   // of beams, or of the best of several: the sum of these over their number to a power
  std::string text;  // what follows the prompt
  Finish finish = Finish::kLength;
  std::vector<AnswerScore> answers;  // in the order given, where they are asked for
};

/// Tokens of `prompt` as the file's tokenizer makes them, with `special` those of a text's beginning included. Throws where there is no
/// tokenizer, or no token.
std::vector<int32_t> prompt_ids(const Model& model, const std::string& prompt, bool special = true);

/// Tokens of a context for which nobody asked, or `asked`: as many as the model has places for, up to 2048.
uint32_t default_context(const Model& model, uint32_t asked);

/// The options of an engine whose session has room for a decoding: `texts` at a time (one, where there are beams), and contexts of
/// `context` tokens; 0: as many as there are places, up to 2048, and no more than an encoder-decoder's texts can have.
EngineOptions with_contexts(const Model& model, const Decoding& decoding, EngineOptions options, uint32_t texts,
                            uint32_t context);

/// Goes on with `texts` (at most as many as with_contexts() made room for), or makes others of them. `take`: what is handed on of a
/// text as it is made, where there is one text, without beams, tried once; may be null. Throws (kInvalid) where one is empty or
/// leaves no room: then none is made. `retrieve`: texts for the chunks of what is made of one text, without beams, tried once, and without
/// scores of answers; may be null.
std::vector<Made> generate(Engine& engine, const Decoding& decoding, const std::vector<std::string>& texts,
                           const TakeText& take, const Retrieve& retrieve = nullptr);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_GENERATE_H_
