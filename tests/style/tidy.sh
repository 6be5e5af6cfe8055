#!/usr/bin/env bash
# tidy.sh BUILD_DIR [FILE...]: clang-tidy with the checks of .clang-tidy over the sources that a branch changes (or the
# given ones), as BUILD_DIR compiles them: those that differ from where the branch left main (on main: from its last
# commit), and for a changed header one that includes it; at most 40, more than a commit of one concern has. A source
# that passed is not read again until it, a header or .clang-tidy changes. With BANTAM_TIDY=all (`./dev test all`) every
# source, and the path-sensitive analyzer, which takes two to four times as long as all other checks together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "$1")
shift
tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
extent=${BANTAM_TIDY:-changed}
checks=--checks=  # added to those of .clang-tidy
[ "$extent" = all ] || checks='--checks=-clang-analyzer-*'
passed=$build/tidy-$extent
mkdir -p "$passed"
python3 -B tests/style/compile_commands.py "$build" "$passed/compile_commands.json"

# What git says has changed; everything where there is no git to ask.
changed_sources() {
  local base name file
  base=$(git rev-parse -q --verify HEAD 2>/dev/null) || { find runtime converter -name '*.cpp'; return; }
  for name in origin/HEAD main master; do
    base=$(git merge-base HEAD "$name" 2>/dev/null) && break
  done
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
  fi
  { git diff --name-only -M --diff-filter=AM "$base" -- runtime converter &&
    git ls-files -o --exclude-standard -- runtime converter; } |
    while read -r file; do
      case $file in
        *.cpp) [ ! -e "$file" ] || echo "$file" ;;
        *.h) grep -rlF --include='*.cpp' "\"${file#*/}\"" runtime converter | sort | head -n 1 || true ;;
      esac
    done
}

sources=("$@")
if [ ${#sources[@]} -eq 0 ]; then
  mapfile -t sources < <(if [ "$extent" = all ]; then find runtime converter -name '*.cpp'; else changed_sources; fi | sort -u)
  if [ "$extent" != all ] && [ ${#sources[@]} -gt 40 ]; then
    echo "tidy.sh: ${#sources[@]} sources changed, the first 40 are read; BANTAM_TIDY=all reads all"
    sources=("${sources[@]:0:40}")
  fi
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
  ! grep -qF "\"file\": \"$PWD/$source\"" "$passed/compile_commands.json" || printf '%s\0' "$source"
done | xargs -0 -r -n 1 -P "$(nproc)" bash -c "check \"\$0\""
