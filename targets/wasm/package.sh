#!/usr/bin/env bash
# package.sh FOLDER: the npm package of targets/packages/npm with the modules of build-wasm, build-wasm-relaxed and
# build-wasm-relaxed-dot.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$1"
mkdir -p "$(dirname "$1")"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 -B "$root/targets/packages/generate.py" npm --out "$made" >/dev/null
cp -r "$made/npm" "$1"
for preset in wasm wasm-relaxed wasm-relaxed-dot; do
  install -m 644 "$root/build-$preset/targets/wasm"/bantam*.wasm "$1"
done
