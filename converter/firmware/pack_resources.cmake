# cmake -D folder=FOLDER -D packed=FILE -P pack_resources.cmake: writes the files that resources.files lists one after the
# other to FILE, compressed if that ends with .gz, and resources.inc, the table of their names and sizes.
file(STRINGS ${folder}/resources.names names)
file(STRINGS ${folder}/resources.files files)
set(rows "")
foreach(name file IN ZIP_LISTS names files)
  file(SIZE ${file} size)
  string(APPEND rows "    {\"${name}\", ${size}},\n")
endforeach()
file(WRITE ${folder}/resources.inc "${rows}")
execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${files} OUTPUT_FILE ${folder}/all.bin COMMAND_ERROR_IS_FATAL ANY)
if(packed MATCHES "[.]gz$")  # without a time, so that the same files give the same bytes
  file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${folder}/all.bin FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9
    MTIME 0)
endif()
