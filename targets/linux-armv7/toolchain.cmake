# 32-bit ARM Linux, Debian's armhf: ARMv7-A with VFPv3-D16, Thumb-2, neither NEON nor fused multiply-add taken for granted.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/linux_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
linux_cross(arm-linux-gnueabihf armhf qemu-arm-static)
# Notes about a change of the calling convention in gcc 7.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
