#!/usr/bin/env bash
# package.sh FOLDER: the npm package of targets/packages/npm with the modules of build-wasm and build-wasm-relaxed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1"
cp "$root"/targets/packages/npm/* "$root/LICENSE" "$1"
for preset in wasm wasm-relaxed; do
  install -m 644 "$root/build-$preset/targets/wasm"/bantam*.wasm "$1"
done
