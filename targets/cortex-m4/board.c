// Arm's MPS2 board with FPGA image AN386, QEMU's mps2-an386.
#define BOARD_UART 0x40004000u
#define BOARD_CLOCK_HZ 25000000u
#include "mps_board.h"
