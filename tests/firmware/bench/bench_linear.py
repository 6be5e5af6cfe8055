#!/usr/bin/env python3
"""Instructions of int8 layers on each Cortex-M target: builds bench_linear for it and runs it in QEMU, where every
instruction takes 1 ns. Exit status 1: a target's bits are not the reference's."""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "targets" / "firmware"))
from run import MACHINES, run  # noqa: E402


def build(target, out):
    configure = ["cmake", "-S", ROOT / "tests/firmware/bench", "-B", out, "-G", "Ninja"]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/targets/firmware/toolchain.cmake"]
    configure += [f"-DBANTAM_BOARD_DIR={ROOT}/targets/{target}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", out], check=True, stdout=subprocess.DEVNULL)
    return out / "bench_linear.elf"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=sorted(MACHINES), action="append", help="default: all")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-firmware" / "bench", help="build folder")
    parser.add_argument(
        "--break-even", action="store_true", help="print converter/prune/costs_helium.inc instead, from cortex-m55"
    )
    given = parser.parse_args()
    if given.break_even:
        target = "cortex-m55"
        status, output = run(MACHINES[target], build(target, given.out / target), timeout=600, icount=True)
        print(
            "// Written by tests/firmware/bench/bench_linear.py --break-even: instruction set, tokens, inputs, break-even."
        )
        print("\n".join(line for line in output.decode().splitlines() if line.startswith("{")))
        return status
    worst = 0
    for target in given.target or sorted(MACHINES):
        status, output = run(MACHINES[target], build(target, given.out / target), timeout=600, icount=True)
        print(f"{target}\n{output.decode()}", flush=True)
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main())
