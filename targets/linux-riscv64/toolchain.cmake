# 64-bit RISC-V Linux (RV64GC, as all boards that run Linux have it), by Debian's cross compiler.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/linux_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
linux_cross(riscv64-linux-gnu riscv64 qemu-riscv64-static)
