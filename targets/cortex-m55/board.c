// Arm's MPS3 board with FPGA image AN547 (Corstone SSE-300), QEMU's mps3-an547; secure state.
#define BOARD_UART 0x59303000u
#define BOARD_CLOCK_HZ 32000000u
#include "mps_board.h"
