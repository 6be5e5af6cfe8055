// Small versions of the functions that the compiler and the runtime need from the C library. Newlib's are one kilobyte
// larger on an Armv7-M, to be fast with long blocks, which an image does not have. Compiler options ensure that no loop
// in this file becomes a call of the function that contains it. This file also has the functions of the compiler's
// library that a core without floating-point instructions needs.
#include <stddef.h>
#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) Word;

static int aligned(const void* a, const void* b) { return (((uintptr_t)a | (uintptr_t)b) & 3) == 0; }

// Also works if both ranges overlap and `to` is before `from`.
void* memcpy(void* to, const void* from, size_t size) {
  uint8_t* t = to;
  const uint8_t* f = from;
  if (aligned(t, f)) {
    for (; size >= 4; size -= 4, t += 4, f += 4) *(Word*)t = *(const Word*)f;
  }
  while (size-- != 0) *t++ = *f++;
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  if ((uintptr_t)to - (uintptr_t)from >= size) return memcpy(to, from, size);
  uint8_t* t = to;
  const uint8_t* f = from;
  while (size-- != 0) t[size] = f[size];
  return to;
}

void* memset(void* to, int value, size_t size) {
  uint8_t* t = to;
  const uint32_t byte = (uint8_t)value;
  if (aligned(t, t)) {
    for (; size >= 4; size -= 4, t += 4) *(Word*)t = byte * 0x01010101u;
  }
  while (size-- != 0) *t++ = (uint8_t)byte;
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const uint8_t* x = a;
  const uint8_t* y = b;
  for (; size-- != 0; ++x, ++y) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}

void* memchr(const void* bytes, int byte, size_t size) {
  for (const uint8_t* at = bytes; size-- != 0; ++at) {
    if (*at == (uint8_t)byte) return (void*)at;
  }
  return NULL;
}

size_t strlen(const char* text) {
  const char* end = text;
  while (*end != 0) ++end;
  return (size_t)(end - text);
}

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
// Computes a - b as a + -b, with the same bits except for the sign of a NaN. The library's own subtraction is 800
// bytes, a copy of its addition.
__asm__(
    "  .syntax unified\n"
    "  .section .text.__aeabi_fsub, \"ax\", %progbits\n"
    "  .global __aeabi_fsub\n"
    "  .type __aeabi_fsub, %function\n"
    "  .thumb_func\n"
    "__aeabi_fsub:\n"
    "  push {r4, lr}\n"
    "  movs r2, #1\n"
    "  lsls r2, r2, #31\n"
    "  eors r1, r2\n"
    "  bl __aeabi_fadd\n"
    "  pop {r4, pc}\n"
    "  .size __aeabi_fsub, . - __aeabi_fsub\n"
    "  .text\n");
#endif
