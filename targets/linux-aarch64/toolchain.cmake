# 64-bit ARM Linux (Raspberry Pi 3 and later with a 64-bit system, phones, servers), by Debian's cross compiler.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/linux_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
linux_cross(aarch64-linux-gnu arm64 qemu-aarch64-static)
