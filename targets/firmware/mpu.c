// The memory map as the MPU sees it: flash and model read-only, the model and RAM not executable, peripherals, and
// nothing else; code that was copied to a memory of its own is read-only there. main's stack lies at the bottom of RAM, so that what runs over it leaves the map and traps. Below the
// handlers' stack 32 bytes are out of bounds on Armv7-M; Armv8-M has a limit register for each stack instead (startup.c), and
// the regions of Armv6-M are too large: there only the fault report tells (fault.c).
#include "system.h"

static void fence(void) { __asm__ volatile("dsb\n isb" ::: "memory"); }

enum { kPeripherals = 0x40000000, kPeripheralBytes = 0x20000000 };

#if __ARM_ARCH >= 8

// For sections.ld: what a region may be.
__asm__(".global mpu_power_of_two\n .set mpu_power_of_two, 0\n");

enum { kReadWrite = 1 << 1, kReadOnly = 3 << 1, kNoExecute = 1 };
enum { kFlashMemory = 0, kRamMemory = 1, kDeviceMemory = 2 };

static void region(uint32_t number, uint32_t begin, uint32_t bytes, uint32_t access, uint32_t memory) {
  MPU_RNR = number;
  MPU_RBAR = begin | access;
  MPU_RLAR = ((begin + bytes - 1) & ~31u) | memory << 1 | 1;
}

void mpu_init(void) {
  const uint32_t flash = (uint32_t)flash_begin;
  const uint32_t model = (uint32_t)model_begin;
  MPU_MAIR0 = 0x0004FFAAu;  // write-through, write-back, device
  region(0, flash, (uint32_t)flash_bytes, kReadOnly, kFlashMemory);
  if (model != flash) region(1, model, (uint32_t)model_bytes, kReadOnly | kNoExecute, kFlashMemory);
  region(2, (uint32_t)ram_begin, (uint32_t)ram_bytes, kReadWrite | kNoExecute, kRamMemory);
  region(3, kPeripherals, kPeripheralBytes, kReadWrite | kNoExecute, kDeviceMemory);
#if defined(BOARD_HAS_HOT)
  region(4, (uint32_t)hot_begin, (uint32_t)hot_bytes, kReadOnly, kFlashMemory);
#endif
  MPU_CTRL = 1;
  fence();
}

#else

__asm__(".global mpu_power_of_two\n .set mpu_power_of_two, 1\n");

enum { kReadWrite = 3 << 24, kReadOnly = 6 << 24, kNoExecute = 1 << 28 };
enum { kFlashMemory = 2 << 16, kRamMemory = 11 << 16, kDeviceMemory = 1 << 16 };  // TEX, C, B

// `base` and `shape` of sections.ld.
static void region(uint32_t number, const uint32_t* base, uint32_t attributes, const uint32_t* shape) {
  MPU_RNR = number;
  MPU_RBAR = (uint32_t)base;
  MPU_RASR = attributes | (uint32_t)shape;
}

void mpu_init(void) {
  enum { kHalfGigabyte = 28 << 1 | 1, k32Bytes = 4 << 1 | 1 };
  if (MPU_TYPE == 0) return;  // a Cortex-M0+ may lack it
  // Of overlapping regions the one with the highest number counts: flash, where the model lies there.
  region(0, model_region_base, kReadOnly | kNoExecute | kFlashMemory, model_region);
  region(1, flash_region_base, kReadOnly | kFlashMemory, flash_region);
  region(2, ram_region_base, kReadWrite | kNoExecute | kRamMemory, ram_region);
  region(3, (const uint32_t*)kPeripherals, kReadWrite | kNoExecute | kDeviceMemory, (const uint32_t*)kHalfGigabyte);
#if __ARM_ARCH >= 7
  region(4, stack_top, kNoExecute, (const uint32_t*)k32Bytes);  // no access
#endif
#if defined(BOARD_HAS_HOT)
  region(5, hot_region_base, kReadOnly | kFlashMemory, hot_region);
#endif
  MPU_CTRL = 1;
  fence();
}

#endif
