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

/// The session of an image: one sequence, tiles of 4 rows, offsets into the text only for tasks that answer with places.
SessionOptions image_options(const Model& model, uint32_t max_tokens, uint32_t block_rows);

/// Stack of main, what exceptions use, and what the example keeps outside the arena, at most.
constexpr uint64_t kStackBytes = 4096;
constexpr uint64_t kOtherRam = 3 * 1024;

/// Most tokens, at most `wanted`, in steps of 4, for which arena, stack and the example fit the target's RAM; 0: none.
uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted, uint32_t block_rows);

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
