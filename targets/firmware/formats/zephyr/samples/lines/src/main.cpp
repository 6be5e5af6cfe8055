// Reads lines from the console and writes their answers to it.
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>

#include "bantam_lines.h"

static const struct device* const console = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));

static void write(void*, const char* data, size_t size) {
  for (size_t i = 0; i < size; ++i) uart_poll_out(console, static_cast<unsigned char>(data[i]));
}

int main() {
  if (bantam_lines_start(write, nullptr) != 0) return 1;
  write(nullptr, "ready\n", 6);
  for (;;) {
    unsigned char byte;
    if (uart_poll_in(console, &byte) == 0) {
      bantam_lines_put(byte);
    } else {
      k_msleep(1);
    }
  }
}
