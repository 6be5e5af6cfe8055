# Compiler flags of the instruction-set folders; BANTAM_ISA_FOLDERS lists those that this processor family has.
set(BANTAM_ISA_FOLDERS)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(BANTAM_ISA_FOLDERS avx2 avxvnni avx512vl avx512 avx512vbmi amx)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(BANTAM_ISA_FOLDERS neon neondot neoni8mm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm" AND CMAKE_SYSTEM_NAME MATCHES "Linux|Android")
  set(BANTAM_ISA_FOLDERS armv7neon armv7fma)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  # One of them: engines refuse a module with an instruction that they lack.
  option(BANTAM_WASM_RELAXED "Kernels of relaxed SIMD instead of SIMD128" OFF)
  option(BANTAM_WASM_OWN_FMA "Multiply-add of SIMD128 in the kernels of relaxed SIMD: for engines that round it twice" OFF)
  set(BANTAM_ISA_FOLDERS wasm)
  if(BANTAM_WASM_RELAXED)
    set(BANTAM_ISA_FOLDERS wasmrelaxed)
    if(BANTAM_WASM_OWN_FMA)
      target_compile_definitions(bantam_options INTERFACE BANTAM_WASM_OWN_FMA)
    endif()
  endif()
endif()
set(avx2_flags -mavx2 -mfma -mf16c -mno-avx512f)
# 256-bit VNNI with 32 registers (avx512vl) loses nothing at -Os. With 16 (avxvnni) sums of six rows are spilled then: 0.45 to 0.66 of the
# peak of a Zen 5 core where -O2 reaches 0.89 to 0.92. AVX2 loses 3 %, AVX-512 at few rows 5 %.
set(avxvnni_flags ${avx2_flags} -mavxvnni)
set(avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c -mavx2)
# Every processor with AMX has VBMI, whose byte shuffles look tables of activations up; dispatch.cpp asks for it.
set(avx512vbmi_flags ${avx512_flags} -mavx512vbmi)
set(amx_flags ${avx512_flags} -mavx512vbmi -mamx-tile -mamx-int8)
set(avx512vl_flags ${avx512_flags} $<$<CONFIG:Release>:-Os>)
# gcc's scheduling before register allocation moves loads up until sums no longer fit into registers; not so with sdot.
set(arm_order_flags $<$<CXX_COMPILER_ID:GNU>:-fno-schedule-insns>)
set(neon_flags ${arm_order_flags})
set(neondot_flags -march=armv8.2-a+dotprod)
set(neoni8mm_flags -march=armv8.2-a+dotprod+i8mm ${arm_order_flags})
set(armv7neon_flags -march=armv7-a -mfpu=neon ${arm_order_flags})
# Modules are downloaded: size counts, and -O2 is no faster. clang leaves loops there whose count is not a constant, and warns.
set(wasm_flags -msimd128 -Oz -Wno-pass-failed)
set(wasmrelaxed_flags -msimd128 -mrelaxed-simd -Os -Wno-pass-failed)
set(armv7fma_flags -march=armv7-a -mfpu=neon-vfpv4 ${arm_order_flags})

# Gives the sources of `target` under kernels/<isa> their flags. No errno: square roots stay one instruction. Releases
# are built for size where that costs no speed: -O3 makes the tables a third larger than -O2 and no faster, the
# reference is small rather than fast (generic/config.h), and nothing unwinds through a kernel.
function(bantam_isa_flags target)
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-asynchronous-unwind-tables $<$<CONFIG:Release>:-O2>)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/kernels/reference/kernels.cpp PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os;-DBANTAM_KERNEL_SMALL>")
  # Checks of each operation take two thirds of a sanitized table's compile time. Where fuzzers search, the reference alone has them:
  # it computes the same bits. All have AddressSanitizer, and the presets asan and asan-gcc have both for all.
  set(unchecked "")
  if(BANTAM_FUZZERS)
    set(unchecked -fno-sanitize=undefined)
  endif()
  foreach(isa ${BANTAM_ISA_FOLDERS})
    file(GLOB isa_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${isa}/*.cpp)
    set_source_files_properties(${isa_sources} PROPERTIES COMPILE_OPTIONS "${${isa}_flags};${unchecked}")
    if(isa MATCHES "^wasm")  # there is nothing to ask at run time
      set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/kernels/dispatch.cpp PROPERTIES
        COMPILE_OPTIONS "${${isa}_flags}")
    endif()
  endforeach()
endfunction()
