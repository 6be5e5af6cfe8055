#!/usr/bin/env python3
"""Instructions of sparse int8 layers on a processor that qemu-user runs, against dense ones: 80 % zeros, in blocks of four and
scattered. QEMU writes a line for every instruction of sparse_costs --call; those of two calls less those of one are a call's.

  cmake --preset aarch64 -DBANTAM_BENCHMARKS=ON && cmake --build build-aarch64 --target sparse_costs
  tests/bench/instructions.py build-aarch64/tests/bench/sparse_costs
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

# Few outputs: what takes long is writing the lines, most of them of making the weights.
SHAPES = [(16, 128, 64), (16, 384, 64), (16, 1536, 64)]


def count(emulator, libraries, cpu, program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        command = [
            emulator,
            "-L",
            libraries,
            "-cpu",
            cpu,
            "-singlestep",
            "-d",
            "exec,nochain",
            "-D",
            log,
            program,
            *arguments,
        ]
        subprocess.run(command, check=True)
        with log.open("rb") as lines:
            return sum(1 for _ in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="sparse_costs, for that processor")
    parser.add_argument("--emulator", default="qemu-aarch64-static")
    parser.add_argument("--libraries", default="/usr/aarch64-linux-gnu", help="what the emulator's -L names")
    parser.add_argument(
        "--cpu", action="append", help="default: max (i8mm), cortex-a76 (dot products), cortex-a53 (neither)"
    )
    given = parser.parse_args()
    for cpu in given.cpu or ["max", "cortex-a76", "cortex-a53"]:
        for shape in SHAPES:
            numbers = [str(number) for number in shape]
            found = {}
            for layout in ("dense", "sparse", "bitmask"):
                one, two = (
                    count(given.emulator, given.libraries, cpu, given.program, ["--call", layout, *numbers, calls])
                    for calls in "12"
                )
                found[layout] = two - one
            tokens, inputs, outputs = shape
            times = {layout: found["dense"] / found[layout] for layout in ("sparse", "bitmask")}
            print(
                f"{cpu}: {tokens} x {inputs} -> {outputs}: dense {found['dense']:,}, sparse {found['sparse']:,} "
                f"({times['sparse']:.2f} times fewer), bitmask {found['bitmask']:,} ({times['bitmask']:.2f})",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
