# Finds everything that the chosen options need, before any target is declared, and reports all that is missing at
# once: with the Debian 12 package and the option that does without.
set(bantam_missing "")
set(bantam_missing_packages "")

# bantam_missing(WHAT PACKAGES WITHOUT): WHAT was not found; PACKAGES (space separated) have it; WITHOUT is the option.
function(bantam_missing what packages without)
  set(line "  ${what}: Debian package ${packages}")
  if(without)
    string(APPEND line ", or do without: -D${without}")
  endif()
  set(bantam_missing "${bantam_missing}${line}\n" PARENT_SCOPE)
  set(bantam_missing_packages "${bantam_missing_packages} ${packages}" PARENT_SCOPE)
endfunction()

# bantam_library(NAME LIBRARY HEADER): the imported target bantam::NAME for a library without a CMake package of its
# own; sets NAME_FOUND. The installed package uses the same function, so that no machine path enters an export.
include(${CMAKE_CURRENT_LIST_DIR}/bantam_library.cmake)

find_program(BANTAM_FLATC flatc)
find_path(BANTAM_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
if(NOT BANTAM_FLATC OR NOT BANTAM_FLATBUFFERS_INCLUDE)
  bantam_missing("FlatBuffers (flatc and headers)" "flatbuffers-compiler libflatbuffers-dev" "")
endif()

if(BANTAM_CONVERTER)
  find_path(BANTAM_PROTOZERO_INCLUDE protozero/pbf_reader.hpp)  # headers only, without a CMake package
  if(NOT BANTAM_PROTOZERO_INCLUDE)
    bantam_missing(protozero libprotozero-dev "BANTAM_CONVERTER=OFF")
  endif()
  find_package(CLI11 QUIET)
  find_package(nlohmann_json QUIET)
  find_package(fmt QUIET)
  foreach(pair CLI11:libcli11-dev nlohmann_json:nlohmann-json3-dev fmt:libfmt-dev)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 package)
    list(GET pair 1 debian)
    if(NOT ${package}_FOUND)
      bantam_missing(${package} ${debian} "BANTAM_CONVERTER=OFF")
    endif()
  endforeach()
endif()

if(BANTAM_CONVERTER)
  bantam_library(zlib z zlib.h)
endif()

if(BANTAM_CONVERTER AND BANTAM_IMAGES)
  bantam_library(png png png.h)
  bantam_library(jpeg turbojpeg turbojpeg.h)
endif()

# libtorch's own CMake package asks for much that is not used (protobuf, MKL); two libraries and the headers are enough.
if(BANTAM_TRAIN STREQUAL AUTO AND NOT BANTAM_CONVERTER)
  set(BANTAM_TRAIN OFF)
endif()
# Its libraries are not built with sanitizers, nor for the machines that are built for.
if(BANTAM_TRAIN STREQUAL AUTO AND (BANTAM_SANITIZE OR CMAKE_CROSSCOMPILING))
  set(BANTAM_TRAIN OFF)
endif()
if(BANTAM_TRAIN)
  bantam_library(torch torch torch/csrc/api/include/torch/torch.h)
  find_library(BANTAM_TORCH_CPU_LIBRARY torch_cpu)
  find_library(BANTAM_C10_LIBRARY c10)
  mark_as_advanced(BANTAM_TORCH_CPU_LIBRARY BANTAM_C10_LIBRARY)
  if(torch_FOUND AND BANTAM_TORCH_CPU_LIBRARY AND BANTAM_C10_LIBRARY)
    set_target_properties(bantam::torch PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${BANTAM_TORCH_INCLUDE};${BANTAM_TORCH_INCLUDE}/torch/csrc/api/include"
      INTERFACE_LINK_LIBRARIES "${BANTAM_TORCH_CPU_LIBRARY};${BANTAM_C10_LIBRARY}")
    set(BANTAM_TRAIN ON)
  elseif(BANTAM_TRAIN STREQUAL AUTO)
    set(BANTAM_TRAIN OFF)
  else()
    bantam_missing("libtorch" "libtorch-dev libopenblas0-pthread" "BANTAM_TRAIN=OFF")
  endif()
endif()

if(BANTAM_SIGN STREQUAL AUTO AND (NOT BANTAM_CONVERTER OR CMAKE_CROSSCOMPILING))
  set(BANTAM_SIGN OFF)
endif()
if(BANTAM_SIGN)
  bantam_library(sodium libsodium.a sodium.h)  # of which few functions are linked; no other command loads the library
  if(NOT sodium_FOUND)
    unset(BANTAM_SODIUM_LIBRARY CACHE)
    bantam_library(sodium sodium sodium.h)
  endif()
  if(sodium_FOUND)
    set(BANTAM_SIGN ON)
  elseif(BANTAM_SIGN STREQUAL AUTO)
    set(BANTAM_SIGN OFF)
  else()
    bantam_missing("libsodium" "libsodium-dev" "BANTAM_SIGN=OFF")
  endif()
endif()

if(BANTAM_XNNPACK)
  bantam_library(xnnpack XNNPACK xnnpack.h)
  if(NOT xnnpack_FOUND)
    bantam_missing("XNNPACK" "libxnnpack-dev" "BANTAM_XNNPACK=OFF")
  endif()
  bantam_library(pthreadpool pthreadpool pthreadpool.h)
  if(NOT pthreadpool_FOUND)
    bantam_missing("pthreadpool" "libpthreadpool-dev" "BANTAM_XNNPACK=OFF")
  endif()
endif()

if(BANTAM_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    bantam_missing("GoogleTest" "libgtest-dev libgmock-dev" "BANTAM_TESTS=OFF")
  endif()
  find_package(rapidcheck QUIET)
  # Debian 12 has none for riscv64 and Windows; tests/CMakeLists.txt leaves out the folders that use it.
  if(NOT rapidcheck_FOUND AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64" AND NOT WIN32)
    bantam_missing("RapidCheck" "librapidcheck-dev" "BANTAM_TESTS=OFF")
  endif()
endif()

if(BANTAM_BENCHMARKS AND NOT CMAKE_CROSSCOMPILING)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    bantam_missing("Google Benchmark" "libbenchmark-dev" "BANTAM_BENCHMARKS=OFF")
  endif()
endif()

if(bantam_missing)
  message(FATAL_ERROR "bantam: not found on this machine:\n${bantam_missing}\n"
    "All of them:\n  sudo apt-get install${bantam_missing_packages}\n"
    "targets/packages/debian.txt says what each is for.")
endif()
