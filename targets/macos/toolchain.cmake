# macOS 11 and later on arm64 and x86-64, by the clang, linker and headers of the PyPI package ziglang. Built, not run: nothing here
# runs programs of macOS.
#
#   BANTAM_ZIG    the program zig of that package
#   BANTAM_MACOS  arm64 or x86_64
set(CMAKE_SYSTEM_NAME Darwin)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BANTAM_ZIG BANTAM_MACOS)
set(BANTAM_ZIG ${CMAKE_BINARY_DIR}/zig CACHE FILEPATH "The program zig")
set(CMAKE_SYSTEM_PROCESSOR ${BANTAM_MACOS})
if(NOT EXISTS ${BANTAM_ZIG})
  message(FATAL_ERROR "bantam: no zig at ${BANTAM_ZIG}; `./dev test macos` installs it, or name it by -DBANTAM_ZIG=FILE")
endif()
string(REPLACE arm64 aarch64 machine ${BANTAM_MACOS})
# What CMake starts: zig's name for each tool, and the machine. zig.sh.in changes the options that zig takes otherwise.
foreach(tool cc c++ ar ranlib)
  set(BANTAM_ZIG_TOOL ${tool})
  if(tool MATCHES "^c")
    string(APPEND BANTAM_ZIG_TOOL " -target ${machine}-macos.11.0")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/zig.sh.in ${CMAKE_BINARY_DIR}/zig-${tool} @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${CMAKE_BINARY_DIR}/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig-c++)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig-ar CACHE FILEPATH "Archiver")
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig-ranlib CACHE FILEPATH "Index of archives")
set(CMAKE_INSTALL_NAME_TOOL true CACHE FILEPATH "Not needed: nothing is installed")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
