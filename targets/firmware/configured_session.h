// The settings of a model's session in bantam_config.h: its options, and the memory for an image's pixels. Only the one
// source file that makes the session includes this header.
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

/// The exact size of the arena in bytes: the session's size on this core, and the rest, which is the same on every
/// core.
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
