#!/bin/sh
# symbols.sh NM ARCHIVE: fails if the runtime archive asks for anything that allocates, throws, locks or prints.
set -u
nm=$1
archive=$2
forbidden='^(malloc|calloc|realloc|free|aligned_alloc|posix_memalign|memalign|_Zn[wa].*|_Zd[la]P.*|__cxa_throw|__cxa_allocate_exception|__cxa_begin_catch|__cxa_guard_acquire|_ZTI.*|_ZNSt.*|_ZSt.*|printf|fprintf|puts|fopen|getenv|pthread_.*|__assert_fail)$'
undefined=$("$nm" --undefined-only --no-sort "$archive" | awk '$1 == "U" {print $2}' | sort -u) || exit 1
if [ -z "$undefined" ]; then
  echo "symbols: $archive has no undefined symbols at all: nm did not work" >&2
  exit 1
fi
found=$(printf '%s\n' "$undefined" | grep -E "$forbidden")
if [ -n "$found" ]; then
  printf 'symbols: the runtime must not use:\n%s\n' "$found" >&2
  exit 1
fi
