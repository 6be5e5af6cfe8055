# cmake -DLIBRARY=... -DSTRIP=... -DSIZE=... -DOUT=... -DLIMIT=... -P library_size.cmake: prints what the stripped shared
# library weighs, section by section, and fails above LIMIT bytes. A size is no time: it is the same on every machine.
execute_process(COMMAND ${STRIP} -o ${OUT} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${OUT} bytes)
execute_process(COMMAND ${SIZE} -A -d ${OUT} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
math(EXPR kilobytes "${bytes} / 1024")
math(EXPR limit_kilobytes "${LIMIT} / 1024")
message("${sections}${OUT}: ${kilobytes} KB stripped, at most ${limit_kilobytes} KB")
if(bytes GREATER LIMIT)
  message(FATAL_ERROR "the stripped shared library has ${bytes} bytes; the limit is ${LIMIT}")
endif()
