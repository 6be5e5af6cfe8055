#!/usr/bin/env bash
# pkg_config.sh PREFIX EXAMPLES MODEL WORK: builds the README's examples with nothing but a compiler and pkg-config. The C
# example is linked by the C compiler: the runtime needs no C++ library.
set -euo pipefail
prefix=$1 examples=$2 model=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name bantam.pc)")
export PKG_CONFIG_PATH

read -ra flags < <(pkg-config --cflags --libs bantam)
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$examples/example.c" -o "$work/example_c" "${flags[@]}" -lm
read -ra flags < <(pkg-config --cflags --libs bantam-host)
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror "$examples/example.cpp" -o "$work/example_cpp" "${flags[@]}"

libraries=$(pkg-config --variable=libdir bantam)
for example in example_c example_cpp; do
  LD_LIBRARY_PATH=$libraries "$work/$example" "$model" "play some jazz by miles davis" | tee "$work/out"
  grep -q PlayMusic "$work/out"
done
