#!/usr/bin/env bash
# format.sh [--check]: C++ by clang-format 14, Python by ruff (when BANTAM_RUFF names it).
# With --check nothing is written; the exit code is 1 when a file is not formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cpp_mode=(-i)
python_mode=()
case ${1:-} in
  "") ;;
  --check)
    cpp_mode=(--dry-run --Werror)
    python_mode=(--check --diff)
    ;;
  *)
    echo "usage: format.sh [--check]" >&2
    exit 2
    ;;
esac

formatter=$(command -v clang-format-14 || command -v clang-format)
# Tables that a script writes keep the script's layout.
mapfile -t cpp < <(find runtime converter tests targets examples \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) \
  ! -name 'unicode_*_tables.cpp' | sort)
"$formatter" --version | grep -q 'version 14\.' || echo "format.sh: not clang-format 14; its opinion may differ" >&2
printf '%s\0' "${cpp[@]}" | xargs -0 "$formatter" "${cpp_mode[@]}"

if [ -n "${BANTAM_RUFF:-}" ]; then
  mapfile -t python < <(find tests runtime converter targets -name '*.py' | sort)
  if [ ${#python[@]} -gt 0 ]; then
    "$BANTAM_RUFF" format --quiet --line-length 120 "${python_mode[@]}" "${python[@]}"
    "$BANTAM_RUFF" check --quiet --line-length 120 --select E,F,W --ignore E501,E741 "${python[@]}"
  fi
fi
