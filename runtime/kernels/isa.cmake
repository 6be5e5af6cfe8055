# Compiler flags of the instruction-set folders.
set(avx2_flags -mavx2 -mfma -mf16c -mno-avx512f)
set(avxvnni_flags -mavx2 -mfma -mf16c -mavxvnni -mno-avx512f)
set(avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c -mavx2)
foreach(isa avx2 avxvnni avx512)
  file(GLOB isa_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${isa}/*.cpp)
  if(isa_sources)
    set_source_files_properties(${isa_sources} TARGET_DIRECTORY bantam_kernels PROPERTIES
      COMPILE_OPTIONS "${${isa}_flags}")
  endif()
endforeach()
