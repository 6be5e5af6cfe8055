// A board for bench_answers.py: the target's own board, which after each line's end reports how many thousand
// instructions the answer took, including its output over the UART, before it reads on. For QEMU's -icount shift=0: 1
// ns per instruction.
#define board_read next_byte
#include "uart_board.c"
#undef board_read

int board_read(void);

static void write_number(uint32_t value) {
  char text[10];
  size_t at = sizeof text;
  do {
    text[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  board_write(text + at, sizeof text - at);
}

int board_read(void) {
  static int answering;
  static uint32_t begin;
  if (answering) {
    const uint32_t ticks = board_ticks() - begin;
    write_number(ticks / (board_ticks_per_second() / 1000000u));
    board_write(" thousand instructions\n", 23);
  }
  const int byte = next_byte();
  answering = byte == '\n';
  begin = board_ticks();
  return byte;
}
