# The files that `bantam firmware` writes into projects become part of the command: a generated C++ file takes each in by
# the assembler's .incbin. bantam_firmware_resources(TARGET) adds it to TARGET.

function(bantam_firmware_resources target)
  # The schema's header without the object interface, which only the converter uses.
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/firmware)
  add_custom_command(OUTPUT ${generated}/bantam_generated.h
    COMMAND ${BANTAM_FLATC} --cpp --scoped-enums -o ${generated} ${PROJECT_SOURCE_DIR}/schemas/bantam.fbs
    DEPENDS ${PROJECT_SOURCE_DIR}/schemas/bantam.fbs COMMENT "flatc bantam.fbs, for firmware")

  # Names in the project, and the files they are here. A firmware target is a folder with a target.json.
  file(GLOB boards CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/targets/*/target.json
    ${PROJECT_SOURCE_DIR}/targets/boards/*/target.json)
  list(TRANSFORM boards REPLACE "target\\.json$" "*")
  file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/runtime/*.h ${PROJECT_SOURCE_DIR}/runtime/*.inc ${PROJECT_SOURCE_DIR}/runtime/*.cpp
    ${PROJECT_SOURCE_DIR}/targets/firmware/* ${boards})
  # What only an operating system or another processor family has.
  list(FILTER names EXCLUDE REGEX "^runtime/host/|^runtime/empty.cpp|/host\\.h$|^targets/firmware/reader/|/README\\.md$|__pycache__")
  list(FILTER names EXCLUDE REGEX "^runtime/kernels/(avx|vnni|neon|armv7|aarch64)")
  list(APPEND names LICENSE targets/packages/facts.json)
  set(files)
  foreach(name ${names})
    list(APPEND files ${PROJECT_SOURCE_DIR}/${name})
  endforeach()
  list(APPEND names generated/bantam_generated.h)
  list(APPEND files ${generated}/bantam_generated.h)
  list(APPEND names generated/bantam_structure.inc)
  list(APPEND files ${BANTAM_GENERATED}/bantam_structure.inc)
  # In place of FlatBuffers' own headers, which want a C++ library.
  list(APPEND names generated/flatbuffers/flatbuffers.h)
  list(APPEND files ${PROJECT_SOURCE_DIR}/targets/firmware/reader/flatbuffers/flatbuffers.h)

  set(assembly "")
  set(declarations "")
  set(entries "")
  set(number 0)
  foreach(name file IN ZIP_LISTS names files)
    set(symbol bantam_resource_${number})
    math(EXPR number "${number} + 1")
    string(APPEND assembly "\"${symbol}: .incbin \\\"${file}\\\"\\n${symbol}_end:\\n\"\n")
    # Hidden: an address by way of the linker's table of addresses would lose its place in the section on aarch64.
    foreach(label ${symbol} ${symbol}_end)
      string(APPEND declarations "extern const char ${label}[] __attribute__((visibility(\"hidden\")));\n")
    endforeach()
    string(APPEND entries "      entry(\"${name}\", ${symbol}, ${symbol}_end),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${generated}/resource_table.cpp @ONLY CONTENT [[
// Written by converter/firmware/resources.cmake.
#include <algorithm>

#include "firmware/resources.h"

__asm__(".pushsection .rodata\n"
@assembly@".byte 0\n.popsection\n");

extern "C" {
@declarations@}

namespace bantam::firmware {
namespace {

Resource entry(const char* path, const char* begin, const char* end) {
  return {path, {begin, static_cast<size_t>(end - begin)}};
}

std::vector<Resource> table() {
  std::vector<Resource> all = {
@entries@  };
  std::sort(all.begin(), all.end(), [](const Resource& a, const Resource& b) { return a.path < b.path; });
  return all;
}

}  // namespace

const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = table();
  return all;
}

}  // namespace bantam::firmware
]])
  set_source_files_properties(${generated}/resource_table.cpp PROPERTIES OBJECT_DEPENDS "${files}"
    SKIP_UNITY_BUILD_INCLUSION ON)  # which would drop what it depends on
  target_sources(${target} PRIVATE ${generated}/resource_table.cpp)
endfunction()
