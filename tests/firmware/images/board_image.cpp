// Tests the board support alone: each byte of the input is a command. Accesses that must trap cause a report.
#include <stdint.h>
#include <string.h>

#include "board.h"

namespace {

const uint32_t kConstant = 7;
uint32_t initialised = 0x12345678;
uint32_t cleared[4];

void say(const char* text) { board_write(text, strlen(text)); }

void say_number(uint32_t value) {
  char text[11];
  size_t at = sizeof text;
  do {
    text[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  board_write(text + at, sizeof text - at);
}

// An interrupt raised by software, whose handler needs more than the handlers' stack.
__attribute__((noinline)) uint32_t dive(uint32_t levels);
void handler() { say_number(dive(100)); }
[[gnu::used, gnu::section(".vectors.board")]] void (*const kInterrupts[])() = {handler};

void raise_interrupt() {
  *reinterpret_cast<volatile uint32_t*>(0xE000E100) = 1;  // NVIC: enabled,
  *reinterpret_cast<volatile uint32_t*>(0xE000E200) = 1;  // pending
  __asm__ volatile("dsb\n isb" ::: "memory");
}

// Uses about `levels` * 64 bytes of stack.
__attribute__((noinline)) uint32_t dive(uint32_t levels) {
  volatile uint32_t local[12] = {levels};
  return levels == 0 ? local[0] : dive(levels - 1) + local[0];
}

void obey(int order) {
  switch (order) {
    case 'd':  // checks that .data and .bss are set up
      say(initialised == 0x12345678 && (cleared[0] | cleared[3]) == 0 ? "data\n" : "no data\n");
      break;
    case 't': {  // times 1000 loops of 5 instructions
      const uint32_t begin = board_ticks();
      uint32_t rounds = 1000;
      __asm__ volatile(".syntax unified\n1: nop\n nop\n nop\n subs %0, %0, #1\n bne 1b\n" : "+l"(rounds) : : "cc");
      const uint32_t ticks = board_ticks() - begin;
      say_number(static_cast<uint32_t>(uint64_t{ticks} * 1000000000u / board_ticks_per_second()));
      say(" instructions\n");
      break;
    }
    case 's':  // reports how deep the stack was, from the fill pattern
      say_number(static_cast<uint32_t>(stack_high_water()));
      say(dive(20) != 0 ? " then " : "");
      say_number(static_cast<uint32_t>(stack_high_water()));
      say(" of ");
      say_number(static_cast<uint32_t>(stack_size()));
      say(" bytes\n");
      break;
    case 'o':  // overflows the stack
      say_number(dive(1000));
      break;
    case 'h':  // overflows the handlers' stack
      raise_interrupt();
      break;
    case 'c': {  // writes to a constant
      const uintptr_t constant = reinterpret_cast<uintptr_t>(&kConstant);
      *reinterpret_cast<volatile uint32_t*>(constant) = 1;
      break;
    }
    case 'x':  // executes RAM: bx lr
      cleared[0] = 0x47704770;
      reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(cleared) | 1)();
      break;
    case 'n':  // reads an unmapped address
      say_number(*reinterpret_cast<volatile uint32_t*>(0x90000000));
      break;
    case 'u':
      __asm__ volatile("udf #0");
      break;
    default:
      say("?\n");
  }
}

}  // namespace

int main() {
  for (int order = board_read(); order >= 0; order = board_read()) {
    if (order != '\n') obey(order);
  }
  say("end\n");
  return 3;
}
