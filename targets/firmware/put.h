// Functions that write the parts of fault reports.
#ifndef BANTAM_TARGETS_FIRMWARE_PUT_H_
#define BANTAM_TARGETS_FIRMWARE_PUT_H_

#include "board.h"

#include <string.h>

static void put(const char* text) { board_write(text, strlen(text)); }

static void put_hex(const char* name, uint32_t value) {
  char text[8];
  for (int i = 7; i >= 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  put(name);
  put(" 0x");
  board_write(text, sizeof text);
}

#endif  // BANTAM_TARGETS_FIRMWARE_PUT_H_
