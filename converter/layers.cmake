# bantam_layer(FOLDER [QUICK_TO_COMPILE] BELOW folders...): an object library of a folder's sources, bantam_layer_FOLDER.
# (A folder inside a folder, cli/frame, is bantam_layer_cli_frame.)
# It sees its own headers, the public ones (include/), those of the runtime and those of the folders BELOW, by an include
# directory each that holds nothing but a link to the folder: an include that runs up does not compile.
# tests/style/layers.py compares the list with the folder's README and with the order.
# QUICK_TO_COMPILE: nobody waits for what it computes (bantam_quick_to_compile).
function(bantam_layer folder)
  cmake_parse_arguments(arg "QUICK_TO_COMPILE" "" "BELOW" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target bantam_layer_${name})
  set(root ${CMAKE_CURRENT_BINARY_DIR}/layers/${folder})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PUBLIC ${root} ${CMAKE_CURRENT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/runtime)
  list(TRANSFORM arg_BELOW PREPEND bantam_layer_)
  target_link_libraries(${target} PUBLIC ${arg_BELOW} bantam_internal bantam_schema PRIVATE bantam_fuzzed bantam_quick_to_sanitize
    bantam_options bantam_hardened)
  set_target_properties(${target} PROPERTIES BANTAM_HEADERS bantam_converter_headers)
  if(arg_QUICK_TO_COMPILE)
    target_link_libraries(${target} PRIVATE bantam_quick_to_compile)
    set_target_properties(${target} PROPERTIES BANTAM_HEADERS bantam_converter_quick_headers)
  endif()
endfunction()

# What most layers precompile, at the two levels of optimisation.
set(bantam_converter_precompiled <fmt/format.h> <nlohmann/json.hpp> <bantam_generated.h>)
foreach(headers bantam_converter_headers bantam_converter_quick_headers)
  add_library(${headers} OBJECT ${PROJECT_SOURCE_DIR}/runtime/empty.cpp)
  target_link_libraries(${headers} PRIVATE bantam_internal bantam_host bantam_schema fmt::fmt nlohmann_json::nlohmann_json
    bantam_fuzzed bantam_quick_to_sanitize bantam_options bantam_hardened)
endforeach()
target_link_libraries(bantam_converter_quick_headers PRIVATE bantam_quick_to_compile)
bantam_precompile(bantam_converter_headers ${bantam_converter_precompiled})
bantam_precompile(bantam_converter_quick_headers ${bantam_converter_precompiled})

# bantam_precompile_layer(FOLDER): FOLDER uses them.
function(bantam_precompile_layer folder)
  get_target_property(headers bantam_layer_${folder} BANTAM_HEADERS)
  bantam_precompiled_as(bantam_layer_${folder} ${headers})
endfunction()
