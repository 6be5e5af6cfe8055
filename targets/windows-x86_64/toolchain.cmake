# 64-bit Windows 10 and later, by Debian's mingw-w64; ctest runs what was built by Wine.
#
#   BANTAM_SYSROOT  the libraries, and Wine's folder: targets/packages/sysroot.sh makes it, `./dev test windows` calls that
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triplet x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${triplet}-gcc-posix)  # threads as POSIX has them, which the C++ library needs
set(CMAKE_CXX_COMPILER ${triplet}-g++-posix)
set(CMAKE_RC_COMPILER ${triplet}-windres)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BANTAM_SYSROOT)
set(BANTAM_SYSROOT ${CMAKE_BINARY_DIR}/sysroot CACHE PATH "Libraries for Windows")
if(NOT EXISTS ${BANTAM_SYSROOT}/usr)
  message(FATAL_ERROR "bantam: no libraries for Windows in ${BANTAM_SYSROOT}; get them with\n"
    "  targets/packages/sysroot.sh windows ${BANTAM_SYSROOT}")
endif()
set(CMAKE_FIND_ROOT_PATH ${BANTAM_SYSROOT} ${BANTAM_SYSROOT}/usr /usr/${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# Windows aligns stacks to 16 bytes, and gcc takes a register of 32 or 64 bytes that it stores there for aligned (its bug 54412): the
# assembler makes every aligned vector move one that takes any address, which costs nothing where the address is aligned.
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-Wa,-muse-unaligned-vector-move")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine.sh ${BANTAM_SYSROOT}/wine)
