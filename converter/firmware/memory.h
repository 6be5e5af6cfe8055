// Estimates, by part, the flash and RAM that a model needs on a microcontroller, as far as known before linking.
#ifndef BANTAM_CONVERTER_FIRMWARE_MEMORY_H_
#define BANTAM_CONVERTER_FIRMWARE_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bantam/session.h"
#include "firmware/target.h"

namespace bantam::firmware {

/// Names and bytes, in display order.
using Parts = std::vector<std::pair<std::string, uint64_t>>;

uint64_t sum(const Parts& parts);

/// Returns the bytes of the file by part: tables (header, graph), linear weights, embeddings, tokenizer, the rest.
/// O(graph).
Parts model_parts(const Model& model);

/// Returns the session's arena by part. The part "session" contains pointers: its size is this machine's and smaller on
/// a 32-bit core, whose compiler knows it (bantam::kSessionBytes). All other parts have the same size on every machine.
/// Throws Error (internal) if the session refuses the options.
Parts arena_parts(const Model& model, const SessionOptions& options);

/// The number of rows that an image's operators compute at a time: as many as suit the kernels of microcontrollers, or
/// fewer.
constexpr uint32_t kBlockRows = 4;

/// Returns true if an image of this model generates texts: it has a decoder that keeps contexts, with or without an
/// encoder, and a tokenizer that can decode tokens.
bool goes_on(const Model& model);

/// The number of prompt tokens that such an image runs at a time.
constexpr uint32_t kPieceTokens = 16;

/// The longest text, in tokens, for a model without a limit.
constexpr uint32_t kUsualTokens = 512;
/// Returns the largest number of tokens of a text; for an encoder-decoder, of a source.
uint32_t longest_text(const Model& model);

/// Sets the lengths of runs, contexts and sources for a session that answers texts of up to `max_tokens` tokens. For a
/// decoder that continues texts, `max_tokens` is the length of its context: a text with its continuation. For an
/// encoder-decoder it is the length of a source, and the decoder has room for the number of new tokens in the file.
void set_lengths(const Model& model, uint32_t max_tokens, SessionOptions* options);

/// Returns the session options of an image: one sequence, tiles of 4 rows, offsets into the text only for tasks whose
/// answers have positions; lengths as above.
SessionOptions image_options(const Model& model, uint32_t max_tokens, uint32_t block_rows);

/// Upper bounds in bytes: main's stack for most models, the space that exceptions use, and the example's memory outside
/// the arena.
constexpr uint64_t kStackBytes = 4096;
/// Returns the bytes of main's stack for this model: more than kStackBytes if its tokenizer chains normalizers
/// (runtime/text).
uint64_t stack_bytes(const Model& model);
constexpr uint64_t kOtherRam = 3 * 1024;
/// Bytes for the tokens of a line that the example continues.
constexpr uint64_t kPromptRam = 4 * (512 + 8);

/// Bytes of an image's pixels, and of the features computed from them, for an image model. 0: the model reads texts.
uint64_t pixel_bytes(const Model& model);
uint64_t feature_bytes(const Model& model);
/// Bytes of the filter bank, for a sound model.
uint64_t sound_bytes(const Model& model);

/// Returns the RAM besides the arena in an image of this model: the stack and the example's memory, such as the tokens
/// of a line to continue, or pixels.
uint64_t other_ram(const Model& model);

/// Returns the largest number of tokens, at most `wanted` and in steps of 4, for which arena, stack and example fit the
/// target's RAM; 0 if none fits.
uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted, uint32_t block_rows);

/// Returns the largest number of tokens of a text, as passed to image_options().
inline uint32_t text_tokens(const SessionOptions& options) {
  if (options.max_source != 0) return options.max_source;
  return options.max_context != 0 ? options.max_context : options.max_tokens;
}

/// An option that would make an image's arena smaller, and the number of bytes saved.
struct Saving {
  std::string option;
  bool convert;  // an option of `bantam convert`, not of `bantam firmware`
  uint64_t bytes;
};

/// Returns the savings of at least a twentieth of the arena.
std::vector<Saving> savings(const Model& model, const SessionOptions& options);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_MEMORY_H_
