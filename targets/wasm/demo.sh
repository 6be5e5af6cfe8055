#!/usr/bin/env bash
# demo.sh COMMAND PACKAGE FOLDER: the page of examples/web with what it needs, for any server of files.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$3"
mkdir -p "$3"
cp "$root"/examples/web/* "$3"
cp -r "$2" "$3/npm"
"$1" convert "$root/models/voice-commands" -o "$3/voice-commands.bantam" --parity none --json >/dev/null
