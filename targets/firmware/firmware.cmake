# Functions that build the runtime and images for a Cortex-M target. Include after project(C CXX ASM), with
# targets/firmware/toolchain.cmake. README.md here describes the interface.
get_filename_component(BANTAM_FIRMWARE_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(BANTAM_FIRMWARE_DIR ${CMAKE_CURRENT_LIST_DIR})
if(NOT BANTAM_FIRMWARE_ISA)
  message(FATAL_ERROR "bantam: configure with -DCMAKE_TOOLCHAIN_FILE=${BANTAM_FIRMWARE_DIR}/toolchain.cmake")
endif()
include(${BANTAM_FIRMWARE_DIR}/board.cmake)
# The description is read when an image is configured.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${BANTAM_BOARD_DIR}/target.json)
# Where bantam_generated.h and flatbuffers/ are.
set(BANTAM_FIRMWARE_INCLUDES ${BANTAM_FIRMWARE_ROOT}/generated CACHE STRING "Folders of bantam_generated.h and flatbuffers/")

# C++ is optimised once more when linked: an eighth less code. Start-up code, whose functions assembler calls by name, is left as
# it is. Debug information takes no flash; size.py reads in it which source each instruction is from.
set(BANTAM_FIRMWARE_OPTIONS -g $<$<COMPILE_LANGUAGE:CXX>:-flto=auto>
  -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
  -fno-unwind-tables -fno-asynchronous-unwind-tables
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit>)

# What makes loops faster and code larger, for kernels only: guessing which way branches go, moving what does not change out of
# loops, keeping values in registers over calls, ordering instructions for the pipeline. A classifier is 0.5 KB less. And equal
# constants may lie at one address, which nothing here asks for: 0.25 KB.
set(BANTAM_FIRMWARE_SMALL -fno-guess-branch-probability -fno-tree-loop-optimize -fno-tree-loop-im
  -fno-move-loop-invariants -fno-caller-saves -fno-schedule-insns2 -fmerge-all-constants)
if(NOT BANTAM_FIRMWARE_ISA STREQUAL "kScalar")  # 50 bytes less; Armv6-M's few registers make it more
  list(APPEND BANTAM_FIRMWARE_SMALL -fira-algorithm=priority)
endif()

# bantam_firmware_library(NAME CONFIG HEADER): the runtime of a project, as an object library. Its sources include the configuration
# header that `bantam firmware` wrote; no option of the compiler says what it says.
# bantam_firmware_library(NAME [LINKED HEADER] [REFERENCE]): of a checkout, whose sources have no header in front.
# LINKED: the header that says what the image needs (runtime/linked.h); without it everything is linked.
# REFERENCE: the reference kernels besides those of the target, for tests.
function(bantam_firmware_library name)
  cmake_parse_arguments(arg "REFERENCE" "CONFIG;LINKED" "" ${ARGN})
  set(runtime ${BANTAM_FIRMWARE_ROOT}/runtime)
  string(REGEX REPLACE "^k" "" isa ${BANTAM_FIRMWARE_ISA})
  string(TOLOWER ${isa} isa)
  set(folders format model session session/parts ops ops/more ops/static text text/unicode tasks sound c kernels kernels/${isa})
  if(arg_REFERENCE OR NOT EXISTS ${runtime}/kernels/${isa})
    list(APPEND folders kernels/reference)
  endif()
  set(sources)
  foreach(folder ${folders})
    file(GLOB found CONFIGURE_DEPENDS ${runtime}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  foreach(source ${sources})
    if(NOT source MATCHES "/runtime/kernels/")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${BANTAM_FIRMWARE_SMALL}")
    endif()
  endforeach()
  # Assembler at the top level has no symbols before link-time optimisation.
  set_source_files_properties(${runtime}/kernels/dsp/smlad.cpp ${runtime}/kernels/scalar/thumb.cpp
    PROPERTIES COMPILE_OPTIONS -fno-lto)
  # Objects, not an archive: the map then tells the folders apart.
  add_library(${name} OBJECT ${sources})
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_include_directories(${name} PUBLIC ${runtime}/include ${runtime})
  target_include_directories(${name} SYSTEM PUBLIC ${BANTAM_FIRMWARE_INCLUDES})
  target_compile_options(${name} PRIVATE -Os -Wall -Wextra ${BANTAM_FIRMWARE_OPTIONS})
  if(arg_CONFIG)
    get_filename_component(config_folder ${arg_CONFIG} DIRECTORY)
    target_include_directories(${name} PUBLIC ${config_folder})
    return()
  endif()
  target_compile_definitions(${name} PUBLIC BANTAM_FIRMWARE=1 BANTAM_ARENA_ALIGNMENT=16
    BANTAM_FIRMWARE_ISA=${BANTAM_FIRMWARE_ISA} BANTAM_KERNEL_SMALL)
  if(arg_LINKED)
    get_filename_component(linked_folder ${arg_LINKED} DIRECTORY)
    get_filename_component(linked_name ${arg_LINKED} NAME)
    target_include_directories(${name} PUBLIC ${linked_folder})
    target_compile_definitions(${name} PUBLIC BANTAM_LINKED_HEADER=\"${linked_name}\")
  endif()
endfunction()

# bantam_firmware_image(NAME SOURCES file... [LIBRARY library] [MODEL file] [STACK bytes] [HANDLER_STACK bytes]
# [MEMORIES key...]): NAME.elf and NAME.map from main and what the board, the start-up code and the linker script add. MODEL becomes
# bantam_model .. bantam_model_end. STACK: bytes of main's stack, 4096 unless told; HANDLER_STACK: of the interrupt handlers',
# 256. MEMORIES: the member of target.json that says what memory there is, `memories` unless told. Target run-NAME runs the
# image in QEMU.
function(bantam_firmware_image name)
  cmake_parse_arguments(arg "" "LIBRARY;MODEL;STACK;HANDLER_STACK" "SOURCES;MEMORIES" ${ARGN})
  if(NOT arg_STACK)
    set(arg_STACK 4096)
  endif()
  if(NOT arg_HANDLER_STACK)
    set(arg_HANDLER_STACK 256)
  endif()
  if(NOT arg_MEMORIES)
    set(arg_MEMORIES memories)
  endif()
  set(memory ${CMAKE_CURRENT_BINARY_DIR}/${name}.memory)
  file(READ ${BANTAM_BOARD_DIR}/target.json target)
  bantam_memory_script(${memory} hot "${target}" ${arg_MEMORIES})
  bantam_board_header(${memory}/board_config.h "${target}" ${hot})
  set(board ${BANTAM_FIRMWARE_DIR}/uart_board.c)
  if(EXISTS ${BANTAM_BOARD_DIR}/board.c)
    set(board ${BANTAM_BOARD_DIR}/board.c)
  endif()
  # What else a board's folder has: what runs before the image does, in assembler.
  file(GLOB more CONFIGURE_DEPENDS ${BANTAM_BOARD_DIR}/*.S)
  set(family startup.c fault.c mpu.c ticks.c)
  set(library_specs --specs=nano.specs)
  set(linker CXX)
  if(BANTAM_FIRMWARE_TOOLS MATCHES "^riscv")
    set(family riscv.c)
    set(library_specs)  # the toolchain file says which
    set(linker C)       # there is no C++ library, and nothing wants one
  endif()
  list(TRANSFORM family PREPEND ${BANTAM_FIRMWARE_DIR}/)
  add_executable(${name} ${arg_SOURCES} ${board} ${more} ${family} ${BANTAM_FIRMWARE_DIR}/stack.c
    ${BANTAM_FIRMWARE_DIR}/memory.c)
  set_source_files_properties(${BANTAM_FIRMWARE_DIR}/memory.c PROPERTIES COMPILE_OPTIONS
    -fno-tree-loop-distribute-patterns)
  set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS "${BANTAM_FIRMWARE_SMALL}")
  if(arg_MODEL)
    get_filename_component(model ${arg_MODEL} ABSOLUTE)
    # One object a model: a source file has one set of properties in a folder, and a folder may have several images.
    add_library(${name}_model OBJECT ${BANTAM_FIRMWARE_DIR}/model.S)
    file(CONFIGURE OUTPUT ${memory}/model_file.h @ONLY CONTENT
"// Written by targets/firmware/firmware.cmake for model.S.
#define BANTAM_MODEL_FILE \"${model}\"
")
    target_include_directories(${name}_model PRIVATE ${memory})
    set_property(SOURCE ${BANTAM_FIRMWARE_DIR}/model.S APPEND PROPERTY OBJECT_DEPENDS ${model})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_model>)
  endif()
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_include_directories(${name} PRIVATE ${BANTAM_FIRMWARE_DIR} ${memory})
  target_compile_options(${name} PRIVATE $<$<NOT:$<COMPILE_LANGUAGE:ASM>>:-Os;-Wall;-Wextra;${BANTAM_FIRMWARE_OPTIONS}>)
  if(arg_LIBRARY)
    target_link_libraries(${name} PRIVATE ${arg_LIBRARY})
  endif()
  set(scripts ${BANTAM_FIRMWARE_DIR}/sections.ld ${memory}/memory.ld ${memory}/hot.ld)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${scripts})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${linker} SUFFIX .elf)
  target_link_options(${name} PRIVATE -g -flto=auto -flto-partition=one -Os -ffunction-sections -fdata-sections ${library_specs}
    -nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments -L${memory} -T${BANTAM_FIRMWARE_DIR}/sections.ld
    -Wl,--defsym=stack_bytes=${arg_STACK} -Wl,--defsym=handler_stack_bytes=${arg_HANDLER_STACK}
    -Wl,-Map=${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND AND BANTAM_QEMU_MACHINE)
    add_custom_target(run-${name} COMMAND ${Python3_EXECUTABLE} ${BANTAM_FIRMWARE_DIR}/run.py --machine
      ${BANTAM_QEMU_MACHINE} $<TARGET_FILE:${name}> DEPENDS ${name} USES_TERMINAL)
  endif()
endfunction()
