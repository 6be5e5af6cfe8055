# Precompiled headers (BANTAM_PCH; the presets switch it on): reading GoogleTest, nlohmann/json, fmt and the like once a
# source is most of what a quick build does. Headers of this project are not among them, so that one which misses another
# is found in every build; what a source misses of the others, preset plain and clang-tidy find, which do without.
set(bantam_std_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional>
  <set> <string> <string_view> <utility> <vector>)

# bantam_precompile(TARGET HEADERS...): precompiles HEADERS beside the standard library's for TARGET.
function(bantam_precompile target)
  if(BANTAM_PCH)
    target_precompile_headers(${target} PRIVATE ${bantam_std_headers} ${ARGN})
    target_compile_options(${target} PRIVATE ${bantam_pch_options})
  endif()
endfunction()

# bantam_precompiled_as(TARGET OTHER): TARGET uses what OTHER precompiles. Both need the same flags; definitions of OTHER
# must be among TARGET's.
function(bantam_precompiled_as target other)
  if(BANTAM_PCH)
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_compile_options(${target} PRIVATE ${bantam_pch_options})
  endif()
endfunction()

# Without these ccache takes nothing that is precompiled from the cache.
set(bantam_pch_options $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<CXX_COMPILER_ID:Clang,AppleClang>:SHELL:-Xclang -fno-pch-timestamp>")
