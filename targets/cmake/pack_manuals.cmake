# Run by cpack on what it has laid out, before it is packed: systems keep manual pages compressed.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*.1)
foreach(page ${pages})
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)  # file(ARCHIVE_CREATE) writes the time
endforeach()
