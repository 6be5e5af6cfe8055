// The destination of a text's tokens.
#ifndef BANTAM_TEXT_TOKEN_SINK_H_
#define BANTAM_TEXT_TOKEN_SINK_H_

#include <stdint.h>

#include "bantam/tokenizer.h"
#include "linked.h"

namespace bantam::text {

/// Receives tokens. Counts every token of a text and stores those numbered [first, first + room).
struct TokenSink {
  int32_t* ids = nullptr;     // null: count only
  Offset* offsets = nullptr;  // may be null
  const uint8_t* text = nullptr;
  uint32_t first = 0;
  uint32_t room = 0;
  uint32_t stop = 0xFFFFFFFF;  // no more tokens are needed once this many were counted
  uint32_t count = 0;

  bool is_full() const { return count >= stop; }

  void emit(uint32_t id, uint32_t begin, uint32_t end) {
    const uint32_t at = count++ - first;  // wraps to a large number before `first`
    if (at >= room) return;
    ids[at] = static_cast<int32_t>(id);
    if (linked::kOffsets && offsets != nullptr) offsets[at] = {begin, end};
  }

  /// Sets the end of the tokens from number `from` on to `end`.
  void set_end(uint32_t from, uint32_t end) {
    for (uint32_t i = from; linked::kOffsets && offsets != nullptr && i < count; ++i) {
      if (i - first < room) offsets[i - first].end = end;
    }
  }

  /// Emits `size` tokens; `ranges` has begin and end of each.
  void emit_all(const uint32_t* tokens, const uint32_t (*ranges)[2], uint32_t size) {
    const uint32_t at = count - first;
    if (at < room && size <= room - at) {
      for (uint32_t i = 0; i < size; ++i) ids[at + i] = static_cast<int32_t>(tokens[i]);
      for (uint32_t i = 0; i < size && offsets != nullptr; ++i) offsets[at + i] = {ranges[i][0], ranges[i][1]};
      count += size;
    } else {
      for (uint32_t i = 0; i < size; ++i) emit(tokens[i], ranges[i][0], ranges[i][1]);
    }
  }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_TOKEN_SINK_H_
