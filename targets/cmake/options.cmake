# Compiler settings shared by every target of the project: link bantam_options (PRIVATE).
add_library(bantam_options INTERFACE)
target_compile_features(bantam_options INTERFACE cxx_std_17)
target_compile_options(bantam_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -ffp-contract=off $<$<BOOL:${BANTAM_WERROR}>:-Werror>)

# On 32-bit systems files and inode numbers are larger than a pointer: without this, opening one is refused.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  target_compile_definitions(bantam_options INTERFACE _FILE_OFFSET_BITS=64)
endif()

# What the runtime may not use: see the runtime rules in CONTRIBUTING.md.
add_library(bantam_runtime_options INTERFACE)
target_link_libraries(bantam_runtime_options INTERFACE bantam_options)
target_compile_options(bantam_runtime_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
  -ffunction-sections -fdata-sections -fvisibility=hidden)
# A shared libbantam exports the public API (bantam/export.h).
target_compile_definitions(bantam_runtime_options INTERFACE $<$<BOOL:${BUILD_SHARED_LIBS}>:BANTAM_EXPORTS>)

# Sanitizers instrument everything that is built, tests included, so they are set for the directory tree.
if(BANTAM_SANITIZE)
  add_compile_options(-fsanitize=${BANTAM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BANTAM_SANITIZE})
  add_compile_definitions(BANTAM_SANITIZED)  # tests of many rounds do fewer
  if(BANTAM_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr)  # needs RTTI, which the runtime has not
  endif()
endif()
# An emulator runs a test twenty times as long as the processor does: tests of many rounds do fewer there.
if(CMAKE_CROSSCOMPILING_EMULATOR)
  add_compile_definitions(BANTAM_EMULATED)
endif()
# What fuzzers search links bantam_fuzzed (PRIVATE): what reads files and texts. Its counters would only slow the rest.
add_library(bantam_fuzzed INTERFACE)
if(BANTAM_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BANTAM_FUZZERS needs clang (libFuzzer): use `cmake --preset fuzz`, "
      "or configure with -DBANTAM_FUZZERS=OFF")
  endif()
  target_compile_options(bantam_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
endif()
# What is compiled with sanitizers before every commit and reads memory through containers alone links this: AddressSanitizer
# stops at a wrong address, so what UndefinedBehaviorSanitizer asks of each pointer is left to the runtime and to `./dev test all`,
# and accesses are checked by calls. Three fifths of the compiler's time (the importers, clang 14).
add_library(bantam_quick_to_sanitize INTERFACE)
if(BANTAM_FUZZERS)
  target_compile_options(bantam_quick_to_sanitize INTERFACE -fno-sanitize=null,alignment,object-size,pointer-overflow
    "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
endif()

# Build type of the sanitizer presets: quick to compile, readable stacks, asserts on. project() has left these two in the cache
# already, empty; tests/style/flags.py checks what is compiled with.
foreach(language C CXX)
  if(NOT CMAKE_${language}_FLAGS_SANITIZE)
    set(CMAKE_${language}_FLAGS_SANITIZE "-O1 -g1" CACHE STRING "Flags of the build type Sanitize" FORCE)
  endif()
  mark_as_advanced(CMAKE_${language}_FLAGS_SANITIZE)
endforeach()

# Sources whose speed nobody waits for, such as the command line, pages and tests, link bantam_quick_to_compile (PRIVATE):
# releases compile them at -Os, in three quarters of the time that -O3 takes and to three fifths of its size; ./dev compiles
# them at -Og, in a fifth less time.
set(BANTAM_QUICK_OPTIMISATION "-Os" CACHE STRING "Optimisation of sources whose speed nobody waits for, in releases")
mark_as_advanced(BANTAM_QUICK_OPTIMISATION)
add_library(bantam_quick_to_compile INTERFACE)
target_link_libraries(bantam_quick_to_compile INTERFACE bantam_quick_to_sanitize)
target_compile_options(bantam_quick_to_compile INTERFACE $<$<CONFIG:Release>:${BANTAM_QUICK_OPTIMISATION}>)
# Theirs is what strangers' bytes reach first: accesses of containers are checked, at no time that anybody waits for.
target_compile_definitions(bantam_quick_to_compile INTERFACE $<$<CONFIG:Release>:_GLIBCXX_ASSERTIONS>)

# The converter and its programs link bantam_hardened (PRIVATE): an overrun ends a release instead of going on. The runtime has
# no buffer of its own to overrun, and no byte to spare.
add_library(bantam_hardened INTERFACE)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT BANTAM_SANITIZE)
  target_compile_options(bantam_hardened INTERFACE $<$<CONFIG:Release>:-fstack-protector-strong>)
  # Programs that use a part of the converter leave the rest out (targets/portable).
  target_compile_options(bantam_hardened INTERFACE $<$<CONFIG:Release>:-ffunction-sections>
    $<$<CONFIG:Release>:-fdata-sections>)
  target_compile_definitions(bantam_hardened INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
  target_link_options(bantam_hardened INTERFACE $<$<CONFIG:Release>:LINKER:-z,relro,-z,now>)
endif()
