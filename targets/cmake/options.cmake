# Compiler settings shared by every target of the project: link bantam_options (PRIVATE).
add_library(bantam_options INTERFACE)
target_compile_features(bantam_options INTERFACE cxx_std_17)
target_compile_options(bantam_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -ffp-contract=off $<$<BOOL:${BANTAM_WERROR}>:-Werror>)

# What the runtime may not use: see the runtime rules in CONTRIBUTING.md.
add_library(bantam_runtime_options INTERFACE)
target_link_libraries(bantam_runtime_options INTERFACE bantam_options)
target_compile_options(bantam_runtime_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
  -ffunction-sections -fdata-sections -fvisibility=hidden)
