# cmake -DREADME=... -DOUT=... -P examples.cmake: writes the README's complete examples, the first block of C++ and the
# first of C, to OUT/example.cpp and OUT/example.c. They are compiled and run as a reader would.
file(READ ${README} text)
foreach(kind cpp c)
  if(NOT text MATCHES "\n```${kind}\n([^`]*)```\n")
    message(FATAL_ERROR "${README} has no block of ${kind}")
  endif()
  file(WRITE ${OUT}/example.${kind} "${CMAKE_MATCH_1}")
endforeach()
