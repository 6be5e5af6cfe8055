"""Compile commands of a build folder, one for each source: also of those that are compiled several at a time, and without
precompiled headers. As a program: `compile_commands.py BUILD_DIR OUTPUT` writes them for clang-tidy.
"""

import json
import pathlib
import re
import sys

INCLUDED = re.compile(r'^#include "([^"]+)"$', re.M)
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.hxx")


def compile_commands(build):
    """Entries of BUILD/compile_commands.json. What CMake made to include several sources is replaced by each of them."""
    entries = []
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        file = entry["file"]
        if pathlib.Path(file).parent.name != "Unity":
            entries.append(entry)
            continue
        for source in INCLUDED.findall(pathlib.Path(file).read_text()):
            entries.append({**entry, "file": source, "command": entry["command"].replace(file, source)})
    return entries


def main():
    # Precompiled headers are the compiler's own. Without them, a source that misses an include fails.
    entries = [{**e, "command": PRECOMPILED.sub("", e["command"])} for e in compile_commands(sys.argv[1])]
    pathlib.Path(sys.argv[2]).write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
