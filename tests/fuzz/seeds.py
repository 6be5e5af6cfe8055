#!/usr/bin/env python3
"""seeds.py COMMAND SEEDS OPS.INC: is every operator of the runtime in a model file that fuzzers begin with?

A fuzzer changes bytes of its seeds, and does not find an operator that none of them has.
"""

import json
import pathlib
import re
import subprocess
import sys

# BANTAM_OP(name, kind, numerics, ...
ROW = re.compile(r"^BANTAM_OP\((\w+), (\w+), (\w+),", re.M)


def wanted(table):
    """(kind, numerics) of every row: NONE is not an operator of a file."""
    return {(kind, numerics) for _, kind, numerics in ROW.findall(table) if kind != "NONE"}


def held(command, file):
    """(kind, numerics) of a file's operators."""
    done = subprocess.run(
        [command, "inspect", file, "--ops", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {
        (
            op["kind"],
            "static_int" if op["epilogue"].startswith("integers") else "dynamic",
        )
        for op in json.loads(done.stdout)["ops"]
    }


def main():
    command, seeds, table = (
        sys.argv[1],
        pathlib.Path(sys.argv[2]),
        pathlib.Path(sys.argv[3]),
    )
    files = sorted(file for file in seeds.iterdir() if file.is_file())
    found = set().union(*(held(command, file) for file in files))
    rows = wanted(table.read_text(encoding="utf-8"))
    missing = sorted(rows - found)
    for kind, numerics in missing:
        print(f"{kind} ({numerics}): in no seed; add a model that has it to the list in CMakeLists.txt")
    print(f"{len(rows) - len(missing)} of {len(rows)} operators are in {len(files)} seeds")
    return 1 if missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
