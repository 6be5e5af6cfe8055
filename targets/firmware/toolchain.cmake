# What the toolchain files of all Cortex-M targets share. Before including this they set BANTAM_TARGET,
# BANTAM_FIRMWARE_CPU (compiler flags), BANTAM_FIRMWARE_ISA (enumerator of bantam::Isa) and BANTAM_QEMU_MACHINE.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # no linker script yet
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_C_FLAGS_INIT "-mthumb ${BANTAM_FIRMWARE_CPU}")
set(CMAKE_CXX_FLAGS_INIT "-mthumb ${BANTAM_FIRMWARE_CPU}")
set(CMAKE_ASM_FLAGS_INIT "-mthumb ${BANTAM_FIRMWARE_CPU}")
# bantam_firmware_library and bantam_firmware_image choose the optimisation of each file.
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_RELEASE_INIT "-DNDEBUG")
  set(CMAKE_${language}_FLAGS_RELEASE "-DNDEBUG" CACHE STRING "")
endforeach()
