// The size of main's stack, and how much of it was used.
#include "board.h"
#include "system.h"

size_t stack_size(void) { return (size_t)((uintptr_t)stack_top - (uintptr_t)stack_bottom); }

size_t stack_high_water(void) {
  const volatile uint32_t* at = stack_bottom;
  while (at != stack_top && *at == STACK_PAINT) ++at;
  return (size_t)((uintptr_t)stack_top - (uintptr_t)at);
}
