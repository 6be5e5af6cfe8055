# What an image takes from a target.json (targets/README.md): the linker script's memories and the settings of uart_board.c.

# bantam_memory_script(FOLDER HOT JSON KEY...): writes FOLDER/memory.ld from the member KEY... of the text JSON, such as `memories`.
# FLASH, RAM, MODEL, BOOT2 and HOT are what sections.ld places things in; a board's further memories get their names in capitals and
# nothing of ours. FOLDER/hot.ld: the kernels' code, where HOT is a memory; ${HOT}: whether it is.
function(bantam_memory_script folder hot json)
  set(script "/* Written by targets/firmware/board.cmake from target.json. */\nMEMORY\n{\n")
  string(JSON last LENGTH "${json}" ${ARGN})
  math(EXPR last "${last} - 1")
  set(names)
  foreach(index RANGE ${last})
    string(JSON name MEMBER "${json}" ${ARGN} ${index})
    string(JSON start GET "${json}" ${ARGN} ${name} start)
    string(JSON size GET "${json}" ${ARGN} ${name} size)
    string(TOUPPER "${name}" name)
    list(APPEND names ${name})
    set(access rw)
    if(name MATCHES "^(FLASH|BOOT2)$")
      set(access rx)
    elseif(name STREQUAL "MODEL")
      set(access r)
    endif()
    string(APPEND script "  ${name} (${access}) : ORIGIN = ${start}, LENGTH = ${size}\n")
  endforeach()
  string(APPEND script "}\n")
  if(NOT "FLASH" IN_LIST names OR NOT "RAM" IN_LIST names)
    message(FATAL_ERROR "bantam: target.json: ${ARGN}: flash and ram are wanted there")
  endif()
  foreach(name MODEL BOOT2)
    if(NOT ${name} IN_LIST names)
      string(APPEND script "REGION_ALIAS(\"${name}\", FLASH);\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/memory.ld CONTENT "${script}" @ONLY)
  set(${hot} OFF PARENT_SCOPE)
  set(script "/* Written by targets/firmware/board.cmake: target.json has no memory \"hot\". */\n")
  if("HOT" IN_LIST names)
    set(${hot} ON PARENT_SCOPE)
    file(READ ${BANTAM_FIRMWARE_DIR}/hot.ld script)
  endif()
  file(CONFIGURE OUTPUT ${folder}/hot.ld CONTENT "${script}" @ONLY)
endfunction()

# bantam_board_value(JSON OUT DEFAULT KEY...): a member of the description, or what it is where there is none.
function(bantam_board_value json out default)
  string(JSON value ERROR_VARIABLE none GET "${json}" ${ARGN})
  if(none)
    set(value "${default}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# bantam_board_start(JSON OUT): C statements of the member `start`, the registers that are set before the UART works.
function(bantam_board_start json out)
  set(code "")
  string(JSON count ERROR_VARIABLE none LENGTH "${json}" start)
  if(none)
    set(count 0)
  endif()
  set(index 0)
  while(index LESS count)
    string(JSON why GET "${json}" start ${index} why)
    foreach(order write set clear await)
      bantam_board_value("${json}" address "" start ${index} ${order})
      if(address STREQUAL "")
        continue()
      endif()
      string(JSON bits GET "${json}" start ${index} bits)
      if(order STREQUAL "write")
        set(line "REGISTER(${address}) = ${bits}u;")
      elseif(order STREQUAL "set")
        set(line "REGISTER(${address}) |= ${bits}u;")
      elseif(order STREQUAL "clear")
        set(line "REGISTER(${address}) &= ~${bits}u;")
      else()
        set(line "while ((REGISTER(${address}) & ${bits}u) != ${bits}u) {\n  }")
      endif()
      string(APPEND code "  ${line}  // ${why}\n")
    endforeach()
    math(EXPR index "${index} + 1")
  endwhile()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# bantam_board_header(FILE JSON HOT): board_config.h for uart_board.c and start-up. HOT: whether the board has a memory for hot code.
function(bantam_board_header file json hot)
  bantam_board_value("${json}" driver none uart driver)
  bantam_board_value("${json}" base 0x0 uart base)
  bantam_board_value("${json}" baud 115200 uart baud)
  bantam_board_value("${json}" interrupt "" uart interrupt)
  bantam_board_value("${json}" clock 1000000 clock_hz)
  bantam_board_value("${json}" exit semihosting exit)
  if(NOT EXISTS ${BANTAM_FIRMWARE_DIR}/uart/${driver}.h)
    message(FATAL_ERROR "bantam: target.json: uart: driver: there is no targets/firmware/uart/${driver}.h; write a board.c")
  endif()
  set(optional "")
  if(interrupt MATCHES "^[0-9]+$" AND interrupt LESS 480)
    set(optional "#define BOARD_UART_INTERRUPT ${interrupt}u\n")
  elseif(NOT interrupt STREQUAL "")
    message(FATAL_ERROR "bantam: target.json: uart: interrupt: \"${interrupt}\"; a number of the interrupt controller, 0 to 479, is wanted there")
  endif()
  if(exit STREQUAL "reset")
    set(resets 1)
  elseif(exit STREQUAL "semihosting")
    set(resets 0)
  else()
    message(FATAL_ERROR "bantam: target.json: exit: \"${exit}\"; semihosting or reset is wanted there")
  endif()
  if(hot)
    string(APPEND optional "#define BOARD_HAS_HOT\n")
  endif()
  bantam_board_start("${json}" start)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// Written by targets/firmware/board.cmake from target.json.
#ifndef BANTAM_BOARD_CONFIG_H_
#define BANTAM_BOARD_CONFIG_H_

#include \"system.h\"

#define BOARD_UART_DRIVER \"uart/${driver}.h\"
#define BOARD_UART ${base}u
#define BOARD_BAUD ${baud}u
#define BOARD_CLOCK_HZ ${clock}u
#define BOARD_RESETS ${resets}
${optional}
static inline void board_start(void) {
${start}}

#endif  // BANTAM_BOARD_CONFIG_H_
")
endfunction()
