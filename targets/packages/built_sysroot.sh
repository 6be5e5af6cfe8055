#!/usr/bin/env bash
# What sysroot.sh does for machines of which Debian 12 has a cross compiler but no archive: riscv64 and Windows.
#
#   targets/packages/built_sysroot.sh linux-riscv64|windows-x86_64 FOLDER
#
# Libraries of headers alone are the same for every machine: links to this machine's. fmt is used as one, and GoogleTest is compiled
# from the sources that Debian's package has. RapidCheck and XNNPACK are left out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$2/usr/include" "$2/usr/lib/cmake/fmt"
folder=$(cd "$2" && pwd)
for library in flatbuffers CLI nlohmann protozero fmt; do
  ln -sfn "/usr/include/$library" "$folder/usr/include/$library"
done
for package in CLI11 nlohmann_json; do
  configuration=$(find /usr/lib /usr/share -iname "${package}Config.cmake" -print -quit)
  mkdir -p "$folder/usr/share/cmake"
  cp -r "$(dirname "$configuration")" "$folder/usr/share/cmake/$package"
done
cat >"$folder/usr/lib/cmake/fmt/fmt-config.cmake" <<'EOF'
if(NOT TARGET fmt::fmt)
  add_library(fmt::fmt INTERFACE IMPORTED)
  set_target_properties(fmt::fmt PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}/../../../include
    INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
endif()
EOF
cmake -S /usr/src/googletest -B "$folder/googletest" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBANTAM_SYSROOT="$folder" \
  -DCMAKE_TOOLCHAIN_FILE="$here/../$1/toolchain.cmake" -DCMAKE_INSTALL_PREFIX="$folder/usr"
cmake --build "$folder/googletest" --target install
if [ "$1" = windows-x86_64 ] && command -v wine >/dev/null; then
  # Tests that run side by side would all make it.
  "$here/../windows-x86_64/wine.sh" "$folder/wine" wineboot --init
fi
