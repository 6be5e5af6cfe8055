// RISC-V, one hart in machine mode: start-up code, physical memory protection, faults and the cycle counter.
#include "board.h"
#include "board_config.h"
#include "fill_memory.h"
#include "put.h"
#include "system.h"

int main(void);

// For sections.ld: the constraint on the sizes of regions.
__asm__(".global mpu_power_of_two\n .set mpu_power_of_two, 0\n");

// The first instruction of flash.
void __attribute__((naked, noreturn, used, section(".vectors"))) reset(void) {
  __asm__ volatile(
      "csrw mie, zero\n"
      "la sp, handler_stack_top\n"
      "j prepare\n");
}

static void __attribute__((noreturn, used)) run(void) {
  board_init();
  board_exit(main());
}

// Runs on the handlers' stack, before any data is initialized.
static void __attribute__((noreturn, used)) prepare(void) {
  CSR_WRITE(mtvec, fault_entry);
  fill_memory();
  mpu_init();
  ticks_init();
  // main gets its own stack, so that a fault is handled even after that has overflowed.
  CSR_WRITE(mscratch, handler_stack_top);
  __asm__ volatile(
      "mv sp, %0\n"
      "j run\n" ::"r"(stack_top)
      : "memory");
  __builtin_unreachable();
}

enum { kRead = 1, kWrite = 2, kExecute = 4, kUpTo = 1 << 3, kLocked = 1 << 7 };  // bits of pmpcfg

// Flash for code and constants, and RAM for data, each from one bound to the next. The entries are locked, so they
// apply to machine mode too. They do not cover a model in its own memory. Addresses without an entry stay accessible:
// peripherals, and other memories that a board may have.
void mpu_init(void) {
  CSR_WRITE(pmpaddr0, (uint32_t)flash_begin >> 2);
  CSR_WRITE(pmpaddr1, ((uint32_t)flash_begin + (uint32_t)flash_bytes) >> 2);
  CSR_WRITE(pmpaddr2, (uint32_t)ram_begin >> 2);
  CSR_WRITE(pmpaddr3, ((uint32_t)ram_begin + (uint32_t)ram_bytes) >> 2);
  CSR_WRITE(pmpcfg0, (uint32_t)(kLocked | kUpTo | kRead | kExecute) << 8 | (uint32_t)(kLocked | kUpTo | kRead | kWrite)
                                                                               << 24);
}

void ticks_init(void) {}

uint32_t board_ticks(void) {
  uint32_t cycles;
  __asm__ volatile("csrr %0, mcycle" : "=r"(cycles));
  return cycles;
}

static const char* fault_name(uint32_t cause) {
  static const char* const kNames[] = {"instruction address", "instruction access", "illegal instruction",
                                       "breakpoint",          "load address",       "load access",
                                       "store address",       "store access"};
  return cause < sizeof kNames / sizeof kNames[0] ? kNames[cause] : "unexpected exception";
}

// Reports a fault: cause, pc and address are mcause, mepc and mtval; sp is main's, or a handler's.
static void __attribute__((noreturn, used))
fault_report(uint32_t cause, uint32_t pc, uint32_t address, const uint32_t* sp) {
  enum { kStoreAccess = 7, kLoadAccess = 5, kBelow = 4096 };
  const uint32_t bottom = (uint32_t)stack_bottom;
  const int access = cause == kStoreAccess || cause == kLoadAccess;
  const int overflow = sp < stack_bottom || (access && address < bottom && bottom - address <= kBelow);
  put("\nfault: ");
  put(overflow ? "stack overflow, " : "");
  put(fault_name(cause));
  put_hex(", pc", pc);
  put_hex(", address", address);
  put_hex(", sp", (uint32_t)sp);
  put("\n");
  board_exit(128 + (int)(cause & 63));
}

void __attribute__((naked, aligned(4))) fault_entry(void) {
  __asm__ volatile(
      "csrrw sp, mscratch, sp\n"
      "csrr a0, mcause\n"
      "csrr a1, mepc\n"
      "csrr a2, mtval\n"
      "csrr a3, mscratch\n"
      "j fault_report\n");
}
