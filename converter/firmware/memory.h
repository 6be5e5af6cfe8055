// Estimates the flash and RAM that a model takes on a microcontroller, by part, as far as known before linking.
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

/// The file's bytes: tables (header, graph), linear weights, embeddings, tokenizer, the rest. O(graph).
Parts model_parts(const Model& model);

/// The session's arena. The part called "session" holds pointers: it is this machine's size here and smaller on a 32-bit
/// core, whose compiler knows it (bantam::kSessionBytes); everything else is the same on every machine.
/// Throws Error (internal) when the session refuses the options.
Parts arena_parts(const Model& model, const SessionOptions& options);

/// Rows that operators of an image compute at a time: as many as suit the kernels of microcontrollers, or fewer.
constexpr uint32_t kBlockRows = 4;

/// Returns true if an image of this model generates texts: it has a decoder that keeps contexts, alone or behind an
/// encoder, and a tokenizer whose tokens become text.
bool goes_on(const Model& model);

/// The number of a prompt's tokens that such an image runs at a time.
constexpr uint32_t kPieceTokens = 16;

/// The longest text, in tokens, for a model without a limit.
constexpr uint32_t kUsualTokens = 512;
/// The largest number of tokens in a text; for an encoder-decoder, in a source.
uint32_t longest_text(const Model& model);

/// Sets the lengths of runs, contexts and sources in a session that answers texts of up to `max_tokens`. For a decoder
/// that continues texts, `max_tokens` is the length of its context: a text with its continuation. For an
/// encoder-decoder it is the length of a source, and the decoder has room for as many tokens as the file says that it
/// generates.
void set_lengths(const Model& model, uint32_t max_tokens, SessionOptions* options);

/// Returns the session options of an image: one sequence, tiles of 4 rows, offsets into the text only for tasks that
/// answer with places; lengths as above.
SessionOptions image_options(const Model& model, uint32_t max_tokens, uint32_t block_rows);

/// Upper bounds in bytes: main's stack for most models, what exceptions use, and what the example keeps outside the
/// arena.
constexpr uint64_t kStackBytes = 4096;
/// Bytes of main's stack for this model: more than kStackBytes if its tokenizer chains normalisers (runtime/text).
uint64_t stack_bytes(const Model& model);
constexpr uint64_t kOtherRam = 3 * 1024;
/// Bytes for the tokens of a line that the example continues.
constexpr uint64_t kPromptRam = 4 * (512 + 8);

/// Bytes of an image's pixels, and of the numbers computed from them, for a model of images. 0: the model reads texts.
uint64_t pixel_bytes(const Model& model);
uint64_t feature_bytes(const Model& model);
/// Bytes of the filter bank, for a model of sounds.
uint64_t sound_bytes(const Model& model);

/// RAM besides the arena in an image of this model: the stack and the example, which keeps the tokens of a line to
/// continue, or pixels.
uint64_t other_ram(const Model& model);

/// The largest number of tokens, at most `wanted` and in steps of 4, for which arena, stack and example fit the
/// target's RAM; 0: none fits.
uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted, uint32_t block_rows);

/// The largest number of tokens in a text, as passed to image_options().
inline uint32_t text_tokens(const SessionOptions& options) {
  if (options.max_source != 0) return options.max_source;
  return options.max_context != 0 ? options.max_context : options.max_tokens;
}

/// An option that would make an image's arena smaller, and by how many bytes.
struct Saving {
  std::string option;
  bool convert;  // of `bantam convert`, not of `bantam firmware`
  uint64_t bytes;
};

/// Lists the savings, except those of less than a twentieth of the arena.
std::vector<Saving> savings(const Model& model, const SessionOptions& options);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_MEMORY_H_
