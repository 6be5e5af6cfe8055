// Text that goes on with a prompt, token by token, by a decoder whose session keeps a context.
#ifndef BANTAM_CONVERTER_RUN_GENERATE_H_
#define BANTAM_CONVERTER_RUN_GENERATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/sampling.h"
#include "run/engine.h"

namespace bantam::convert {

struct GenerateOptions {
  uint32_t max_new = 128;         // tokens
  uint32_t min_new = 0;           // of which none ends the text
  Sampling sampling;              // `banned` is not read
  std::vector<std::string> stop;  // texts that end the text, and are left out of it
  std::vector<int32_t> ends;      // tokens that end it, beside the file's
  bool special_tokens = true;     // the prompt gets those of a text's beginning
};

/// Why a text ended: a token that ends texts, one of the options' texts, so many tokens, or no room in the context.
enum class Finish { kEnd, kStop, kLength, kContext };
const char* finish_name(Finish finish);  // "end", "stop", "length", "context"

struct Generation {
  std::vector<int32_t> prompt;           // its tokens
  std::vector<int32_t> ids;              // new ones, with the one that ended the text
  std::vector<float> log_probabilities;  // of these, where the sampling asks for them
  std::string text;                      // what follows the prompt
  Finish finish = Finish::kLength;
};

/// Tokens of `prompt` as the file's tokenizer makes them, with `special` those of a text's beginning included. Throws where there is no
/// tokenizer, or no token.
std::vector<int32_t> prompt_ids(const Model& model, const std::string& prompt, bool special = true);

/// Takes text as soon as it is known.
using TakeText = std::function<void(std::string_view)>;

/// Goes on with `prompt` in context 0 of the engine's session, which begins anew. Throws (kInvalid) where the prompt leaves no room for a
/// token.
Generation generate(Engine& engine, const std::string& prompt, const GenerateOptions& options, const TakeText& take);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_GENERATE_H_
