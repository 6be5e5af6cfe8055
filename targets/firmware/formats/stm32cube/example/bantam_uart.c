/* Reads lines from a UART of the HAL and writes answers to it. Call bantam_uart(&huart2) in main() after
   MX_USART2_UART_Init(); it does not return. */
#include "bantam_lines.h"
#include "main.h"

static void answer(void* context, const char* data, size_t size) {
  while (size > 0) {
    const uint16_t part = size > 0xFFFF ? 0xFFFF : (uint16_t)size;
    HAL_UART_Transmit((UART_HandleTypeDef*)context, (uint8_t*)data, part, HAL_MAX_DELAY);
    data += part;
    size -= part;
  }
}

void bantam_uart(UART_HandleTypeDef* uart) {
  uint8_t byte;
  if (bantam_lines_start(answer, uart) != 0) return;
  answer(uart, "ready\n", 6);
  for (;;) {
    if (HAL_UART_Receive(uart, &byte, 1, HAL_MAX_DELAY) == HAL_OK) bantam_lines_put(byte);
  }
}
