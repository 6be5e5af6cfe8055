#!/usr/bin/env bash
# tidy.sh BUILD_DIR [FILE...]: clang-tidy with the checks of .clang-tidy over the runtime's sources (or the given ones),
# as BUILD_DIR compiles them. A source that passed is not read again until it, a header or .clang-tidy changes.
# With BANTAM_TIDY=all (`./dev test all`) also the converter's sources, and the path-sensitive analyzer, which takes two to
# four times as long as all other checks together: half an hour on two cores, where the runtime alone takes two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "$1")
shift
tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
extent=${BANTAM_TIDY:-quick}
folders=(runtime converter)
checks=--checks=  # added to those of .clang-tidy
if [ "$extent" != all ]; then
  folders=(runtime)
  checks='--checks=-clang-analyzer-*'
fi
passed=$build/tidy-$extent
mkdir -p "$passed"
# Without the precompiled headers, which are the compiler's own: a source that misses an include fails here.
sed -E 's/ -Winvalid-pch//g; s/ -include [^ ]*cmake_pch\.hxx//g' "$build/compile_commands.json" >"$passed/compile_commands.json"

sources=("$@")
if [ ${#sources[@]} -eq 0 ]; then
  mapfile -t sources < <(find "${folders[@]}" -name '*.cpp' | sort)
fi
# What a source's result depends on beside itself; the runtime includes nothing of the converter's.
digest() {
  { "$tidy" --version && find "$@" -name '*.h' -o -name '*.inc' -o -name '*.fbs' | sort | xargs cat .clang-tidy; } | sha256sum
}
common_runtime=$(digest runtime schemas)
common=$(digest runtime converter tests schemas)

check() {
  local hash
  case $1 in runtime/*) common=$common_runtime ;; esac
  hash=$({ echo "$common $1" && cat "$1"; } | sha256sum | cut -c1-32)
  [ ! -e "$passed/$hash" ] || return 0
  if "$tidy" --quiet -p "$passed" "$checks" --extra-arg-before=-std=c++17 "$1" >"$passed/$hash.log" 2>&1; then
    mv "$passed/$hash.log" "$passed/$hash"
  else
    cat "$passed/$hash.log"
    rm "$passed/$hash.log"
    return 1
  fi
}
export -f check
export build tidy checks passed common common_runtime

# Sources that this configuration does not compile (another instruction set, an absent option) are left out.
printf '%s\n' "${sources[@]}" | while read -r source; do
  ! grep -qF "\"file\": \"$PWD/$source\"" "$build/compile_commands.json" || printf '%s\0' "$source"
done | xargs -0 -r -n 1 -P "$(nproc)" bash -c "check \"\$0\""
