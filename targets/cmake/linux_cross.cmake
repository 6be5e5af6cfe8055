# What the toolchain files of Linux ARM share: Debian's cross compiler, libraries from a folder of the build, and qemu-user,
# by which ctest runs what was built. QEMU_CPU in the environment chooses the emulated processor.
#
#   BANTAM_SYSROOT  the libraries: targets/packages/sysroot.sh makes it, `./dev test aarch64` and `./dev test armv7` call that

# linux_cross(TRIPLET DEBIAN QEMU): TRIPLET of the compiler, DEBIAN name of the architecture, QEMU program that runs it.
macro(linux_cross triplet debian qemu)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_C_COMPILER ${triplet}-gcc)
  set(CMAKE_CXX_COMPILER ${triplet}-g++)
  set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
  # CMake reads a toolchain file again for its small test projects, which have folders of their own.
  list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BANTAM_SYSROOT)
  set(BANTAM_SYSROOT ${CMAKE_BINARY_DIR}/sysroot CACHE PATH "Libraries of Debian ${debian}")
  if(NOT EXISTS ${BANTAM_SYSROOT}/usr)
    message(FATAL_ERROR "bantam: no libraries of Debian ${debian} in ${BANTAM_SYSROOT}; get them with\n"
      "  targets/packages/sysroot.sh ${debian} ${BANTAM_SYSROOT}")
  endif()
  # Libraries and headers of that machine only, programs (flatc, python3) of this one.
  set(CMAKE_FIND_ROOT_PATH ${BANTAM_SYSROOT} /usr/${triplet})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
  endforeach()
  # Where the linker finds what a shared library needs, and the emulated loader after it.
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${BANTAM_SYSROOT}/usr/lib/${triplet}")
  set(CMAKE_CROSSCOMPILING_EMULATOR
    ${qemu} -L /usr/${triplet} -E LD_LIBRARY_PATH=${BANTAM_SYSROOT}/usr/lib/${triplet}:${BANTAM_SYSROOT}/lib/${triplet})
endmacro()
