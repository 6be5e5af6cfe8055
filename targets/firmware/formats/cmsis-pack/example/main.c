/* Reads lines from a UART and writes answers to it, through two functions of your board. */
#include "bantam_lines.h"

extern int uart_read(void); /* returns the next byte; negative if there is none yet */
extern void uart_write(const char* data, size_t size);

static void answer(void* context, const char* data, size_t size) {
  (void)context;
  uart_write(data, size);
}

int main(void) {
  if (bantam_lines_start(answer, NULL) != 0) return 1;
  uart_write("ready\n", 6);
  for (;;) {
    const int byte = uart_read();
    if (byte >= 0) bantam_lines_put((uint8_t)byte);
  }
}
