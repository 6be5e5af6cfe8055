# The files that `bantam firmware` writes into projects become part of the command: resource_table.cpp takes them in by the
# assembler's .incbin. bantam_firmware_resources(TARGET) makes what that source of TARGET needs.

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

  # One file of them all, compressed where zlib is there to read it, and a table of their names and sizes; in a folder of
  # their own, since the schema's header above is not the one that the converter includes.
  set(generated ${generated}/resources)
  set(packed ${generated}/all.bin)
  if(TARGET bantam::zlib)
    set(packed ${generated}/all.bin.gz)
    target_compile_definitions(${target} PRIVATE BANTAM_HAS_ZLIB)
    target_link_libraries(${target} PRIVATE bantam::zlib)
  endif()
  list(JOIN names "\n" names)
  list(JOIN files "\n" paths)
  file(CONFIGURE OUTPUT ${generated}/resources.names @ONLY CONTENT "@names@\n")
  file(CONFIGURE OUTPUT ${generated}/resources.files @ONLY CONTENT "@paths@\n")
  set(pack ${CMAKE_CURRENT_SOURCE_DIR}/firmware/pack_resources.cmake)
  add_custom_command(OUTPUT ${packed} ${generated}/resources.inc
    COMMAND ${CMAKE_COMMAND} -D folder=${generated} -D packed=${packed} -P ${pack}
    DEPENDS ${files} ${generated}/resources.names ${generated}/resources.files ${pack}
    COMMENT "Sources that bantam firmware writes")
  set(table ${CMAKE_CURRENT_SOURCE_DIR}/firmware/resource_table.cpp)
  set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS "${packed};${generated}/resources.inc"
    COMPILE_DEFINITIONS "BANTAM_RESOURCES=\"${packed}\"" SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PRIVATE ${generated})
endfunction()
