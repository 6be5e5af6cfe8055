// Reads lines from the console and writes their answers to it.
#include <stdio.h>

#include "bantam_lines.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

static void write(void*, const char* data, size_t size) {
  fwrite(data, 1, size, stdout);
  fflush(stdout);
}

extern "C" void app_main(void) {
  if (bantam_lines_start(write, nullptr) != 0) return;
  write(nullptr, "ready\n", 6);
  for (;;) {
    const int byte = getchar();
    if (byte >= 0) {
      bantam_lines_put(static_cast<uint8_t>(byte));
    } else {
      vTaskDelay(1);
    }
  }
}
