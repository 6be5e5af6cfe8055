// How much flash and RAM a model takes on a microcontroller, by part, as far as it is known before linking.
#ifndef BANTAM_CONVERTER_FIRMWARE_MEMORY_H_
#define BANTAM_CONVERTER_FIRMWARE_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bantam/session.h"
#include "firmware/target.h"

namespace bantam::firmware {

/// Name and bytes, in the order in which they are shown.
using Parts = std::vector<std::pair<std::string, uint64_t>>;

uint64_t sum(const Parts& parts);

/// The file's bytes: tables (header, graph), linear weights, embeddings, tokenizer, the rest. O(graph).
Parts model_parts(const Model& model);

/// The session's arena. The part called "session" holds pointers: it is this machine's size here and smaller on a 32-bit
/// core, whose compiler knows it (bantam::kSessionBytes); everything else is the same on every machine.
/// Throws Error (internal) when the session refuses the options.
Parts arena_parts(const Model& model, const SessionOptions& options);

/// Rows that operators of an image compute at a time: as many as the kernels of microcontrollers like, or fewer.
constexpr uint32_t kBlockRows = 4;

/// Does an image of this model make texts: a decoder that keeps contexts, alone or behind an encoder, with a tokenizer whose tokens become
/// text?
bool goes_on(const Model& model);

/// Tokens of a prompt that such an image runs at a time.
constexpr uint32_t kPieceTokens = 16;

/// Tokens of texts that a model without a limit takes.
constexpr uint32_t kUsualTokens = 512;
/// Most tokens of a text; of an encoder-decoder, of a source.
uint32_t longest_text(const Model& model);

/// How long runs, contexts and sources are in a session that answers texts of up to `max_tokens`. Of a decoder that goes on with texts that
/// is what its context holds, a text with what follows it; of an encoder-decoder what a source has, and its decoder has room for as many
/// tokens as the file says that it makes.
void set_lengths(const Model& model, uint32_t max_tokens, SessionOptions* options);

/// The session of an image: one sequence, tiles of 4 rows, offsets into the text only for tasks that answer with places; lengths as above.
SessionOptions image_options(const Model& model, uint32_t max_tokens, uint32_t block_rows);

/// Stack of main for most models, what exceptions use, and what the example keeps outside the arena, at most.
constexpr uint64_t kStackBytes = 4096;
/// Bytes of main's stack for this model: more than kStackBytes where its tokenizer has normalisers in a row (runtime/text).
uint64_t stack_bytes(const Model& model);
constexpr uint64_t kOtherRam = 3 * 1024;
/// The tokens of a line that the example goes on with.
constexpr uint64_t kPromptRam = 4 * (512 + 8);

/// Of a model of images: bytes of one's pixels, and of the numbers that they become. 0: it reads texts.
uint64_t pixel_bytes(const Model& model);
uint64_t feature_bytes(const Model& model);
/// Of a model of sounds: bytes of the filter bank.
uint64_t sound_bytes(const Model& model);

/// Beside the arena, of an image of this model: the stack and the example, which keeps the tokens of a line to go on with, or pixels.
uint64_t other_ram(const Model& model);

/// Most tokens, at most `wanted`, in steps of 4, for which arena, stack and the example fit the target's RAM; 0: none.
uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted, uint32_t block_rows);

/// Most tokens of a text, as image_options() was told.
inline uint32_t text_tokens(const SessionOptions& options) {
  if (options.max_source != 0) return options.max_source;
  return options.max_context != 0 ? options.max_context : options.max_tokens;
}

/// What would make an image's arena smaller, and by how many bytes.
struct Saving {
  std::string option;
  bool convert;  // of `bantam convert`, not of `bantam firmware`
  uint64_t bytes;
};

/// Nothing that saves less than a twentieth of the arena.
std::vector<Saving> savings(const Model& model, const SessionOptions& options);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_MEMORY_H_
