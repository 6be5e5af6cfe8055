#!/usr/bin/env bash
# pkg_config.sh PREFIX EXAMPLES MODEL WORK: builds the examples with nothing but a compiler and pkg-config. The C
# example is linked by the C compiler: the runtime needs no C++ library.
set -euo pipefail
prefix=$1 examples=$2 model=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name bantam.pc)")
export PKG_CONFIG_PATH

read -ra flags < <(pkg-config --cflags --libs bantam)
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$examples/intent.c" -o "$work/intent_c" "${flags[@]}" -lm
read -ra flags < <(pkg-config --cflags --libs bantam-host)
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror "$examples/intent.cpp" -o "$work/intent_cpp" "${flags[@]}"
read -ra flags < <(pkg-config --cflags --libs bantam-converter)
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror "$examples/convert_and_ask.cpp" -o "$work/convert_and_ask" "${flags[@]}"

libraries=$(pkg-config --variable=libdir bantam)
for example in intent_c intent_cpp; do
  LD_LIBRARY_PATH=$libraries "$work/$example" "$model" "play some jazz by miles davis" | tee "$work/out"
  grep -q "^PlayMusic" "$work/out"
  LD_LIBRARY_PATH=$libraries "$work/$example" "$model" "turn off the lights" | grep -q "^out of scope: "
done
cd "$work"
LD_LIBRARY_PATH=$libraries ./convert_and_ask "$examples/../models/voice-commands" "play some jazz by miles davis" | tee out
grep -q PlayMusic out && grep -q "artist: miles davis" out
if LD_LIBRARY_PATH=$libraries ./convert_and_ask "$work/none" "play" 2>errors; then exit 1; fi
grep -q "$work/none" errors
