// Initializes RAM before main: .data, .bss, and the fill pattern of the stacks. The start-up code of each family
// includes it.
#ifndef BANTAM_TARGETS_FIRMWARE_FILL_MEMORY_H_
#define BANTAM_TARGETS_FIRMWARE_FILL_MEMORY_H_

#include "board_config.h"
#include "system.h"

static inline void fill_memory(void) {
  const uint32_t* from = data_load;
  for (uint32_t* to = data_begin; to != data_end; ++to) *to = *from++;
#if defined(BOARD_HAS_HOT)
  from = hot_load;
  for (uint32_t* to = hot_code; to != hot_code_end; ++to) *to = *from++;
#endif
  for (uint32_t* to = bss_begin; to != bss_end; ++to) *to = 0;
  for (uint32_t* to = stack_bottom; to != handler_stack_bottom; ++to)
    *to = STACK_PAINT;  // including the space between the stacks
}

#endif  // BANTAM_TARGETS_FIRMWARE_FILL_MEMORY_H_
