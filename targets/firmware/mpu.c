// The memory map that the MPU enforces: flash and the model are read-only, the model and RAM are not executable,
// peripherals are accessible, and nothing else is; code that was copied to its own memory is read-only there. main's
// stack is at the bottom of RAM, so that an overflow leaves the map and traps. Below the handlers' stack, 32 bytes are
// inaccessible on Armv7-M; Armv8-M has a limit register for each stack instead (startup.c). The regions of Armv6-M are
// too large for this: there, only the fault report detects an overflow (fault.c).
#include "board_config.h"
#include "system.h"

static void fence(void) { __asm__ volatile("dsb\n isb" ::: "memory"); }

enum { kPeripherals = 0x40000000, kPeripheralBytes = 0x20000000 };

#if __ARM_ARCH >= 8

// For sections.ld: the constraint on the sizes of regions.
__asm__(".global mpu_power_of_two\n .set mpu_power_of_two, 0\n");

enum { kReadWrite = 1 << 1, kReadOnly = 3 << 1, kNoExecute = 1 };
enum { kFlashMemory = 0, kRamMemory = 1, kDeviceMemory = 2 };

static void __attribute__((noinline))
region(uint32_t number, uint32_t begin, uint32_t bytes, uint32_t access, uint32_t memory) {
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

enum { kHalfGigabyte = 28 << 1 | 1, k32Bytes = 4 << 1 | 1 };

// Values for MPU_RBAR and MPU_RASR, as sums of symbols of sections.ld, which the linker adds.
typedef struct {
  const uint8_t* base;
  const uint8_t* shape;
} Region;

enum { kOwnNumber = 1 << 4 };  // in MPU_RBAR: the region's number is in the lowest bits
#define REGION(number, begin, attributes, bytes) \
  { (const uint8_t*)(begin) + (kOwnNumber | (number)), (const uint8_t*)(bytes) + (attributes) }

// Where regions overlap, the one with the highest number applies: flash, if it contains the model.
static const Region kRegions[] = {
    REGION(0, model_region_base, kReadOnly | kNoExecute | kFlashMemory, model_region),
    REGION(1, flash_region_base, kReadOnly | kFlashMemory, flash_region),
    REGION(2, ram_region_base, kReadWrite | kNoExecute | kRamMemory, ram_region),
    REGION(3, kPeripherals, kReadWrite | kNoExecute | kDeviceMemory, kHalfGigabyte),
#if __ARM_ARCH >= 7
    REGION(4, stack_top, kNoExecute, k32Bytes),  // no access
#endif
#if defined(BOARD_HAS_HOT)
    REGION(5, hot_region_base, kReadOnly | kFlashMemory, hot_region),
#endif
};

void mpu_init(void) {
  if (MPU_TYPE == 0) return;  // a Cortex-M0+ may have no MPU
  for (uint32_t i = 0; i < sizeof kRegions / sizeof kRegions[0]; ++i) {
    MPU_RBAR = (uint32_t)kRegions[i].base;
    MPU_RASR = (uint32_t)kRegions[i].shape;
  }
  MPU_CTRL = 1;
  fence();
}

#endif
