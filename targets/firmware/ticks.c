// SysTick as a free-running counter: 24 bits in hardware, and an interrupt that counts the wraps.
#include "board.h"
#include "system.h"

static volatile uint32_t wraps;

void ticks_init(void) {
  SYST_RVR = 0xFFFFFFu;
  SYST_CVR = 0;
  SYST_CSR = 7;  // enable: core clock, interrupt, counter
}

void ticks_wrapped(void) { wraps = wraps + 1; }

uint32_t board_ticks(void) {
  uint32_t before;
  uint32_t left;
  do {
    before = wraps;
    left = SYST_CVR;
  } while (before != wraps);
  return (before << 24) + (0xFFFFFFu - left);
}
