// The settings of bantam_config.h for a model's session: its options, and the memory of an image's pixels. Only the one
// source file of a program that makes the session includes it.
#ifndef BANTAM_FIRMWARE_CONFIGURED_SESSION_H_
#define BANTAM_FIRMWARE_CONFIGURED_SESSION_H_

#include "bantam_config.h"
#include "session/state.h"
#include "terminal.h"

namespace bantam::firmware {

#if BANTAM_PIXELS != 0
inline uint8_t pixels[BANTAM_PIXELS];
alignas(16) inline float features[BANTAM_FEATURES];
inline constexpr Frame kFrame = {pixels, features};
#else
inline constexpr Frame kFrame;
#endif

/// Bytes of the arena: what the session takes on this core, and the rest, which is the same everywhere. Exactly.
inline constexpr size_t kArenaBytes = kSessionBytes + BANTAM_ARENA_REST;

inline SessionOptions configured_options() {
  SessionOptions options;
  options.max_tokens = BANTAM_MAX_TOKENS;
  options.max_context = BANTAM_MAX_CONTEXT;
  options.max_source = BANTAM_MAX_SOURCE;
  options.tile_rows = BANTAM_TILE_ROWS;
  options.block_rows = BANTAM_BLOCK_ROWS;
  options.text_offsets = BANTAM_TEXT_OFFSETS != 0;
  return options;
}

}  // namespace bantam::firmware

#endif  // BANTAM_FIRMWARE_CONFIGURED_SESSION_H_
