// A test program's input and output: the UART of a board, or standard input and output of a host.
#ifndef BANTAM_TESTS_FIRMWARE_IMAGES_CONSOLE_H_
#define BANTAM_TESTS_FIRMWARE_IMAGES_CONSOLE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(BANTAM_FIRMWARE)
#include "board.h"
#else
#include <stdio.h>
#endif

namespace bantam::test {

inline void put(const char* text, size_t size) {
#if defined(BANTAM_FIRMWARE)
  board_write(text, size);
#else
  fwrite(text, 1, size, stdout);
#endif
}

inline void put(const char* text) { put(text, strlen(text)); }

inline void put_number(uint32_t value) {
  char text[10];
  size_t at = sizeof text;
  do {
    text[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  put(text + at, sizeof text - at);
}

inline void put_hex(uint64_t value) {
  char text[16];
  for (size_t at = sizeof text; at > 0; value >>= 4) text[--at] = "0123456789abcdef"[value & 15];
  put(text, sizeof text);
}

/// Returns the next byte of the input, or -1.
inline int get() {
#if defined(BANTAM_FIRMWARE)
  return board_read();
#else
  return getchar();
#endif
}

/// Reads a line with a decimal number.
inline uint32_t get_number() {
  uint32_t value = 0;
  for (int c = get(); c >= '0' && c <= '9'; c = get()) value = value * 10 + static_cast<uint32_t>(c - '0');
  return value;
}

/// The 64-bit FNV-1a hash.
class Hash {
 public:
  void add(const void* data, size_t size) {
    const uint8_t* bytes = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 1099511628211u;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

}  // namespace bantam::test

#endif  // BANTAM_TESTS_FIRMWARE_IMAGES_CONSOLE_H_
