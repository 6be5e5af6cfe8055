#!/usr/bin/env python3
"""Instructions of an int8 layer on 64-bit ARM beside KleidiAI's, counted by QEMU as instructions.py does; no core here, so no times.

  targets/packages/sysroot.sh arm64 build-aarch64/sysroot
  cmake --preset aarch64 -DBANTAM_BENCHMARKS=ON && cmake --build build-aarch64 --target linear_calls
  tests/bench/peers_instructions.py build-aarch64/tests/bench/linear_calls KLEIDIAI

KLEIDIAI is a checkout of Arm's library. Both multiply int8 rows by int8 weights and leave f32 rows with scales and bias; weights and
rows are packed before. Each of KleidiAI's kernels that a processor has is counted, and the one of the fewest instructions counts.
Printed: multiply-accumulates an instruction.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import instructions

HERE = pathlib.Path(__file__).parent
CPUS = {
    "max": ("i8mm-16x4", "dotprod-16x4", "dotprod-1x4", "dotprod-1x8"),
    "cortex-a76": ("dotprod-16x4", "dotprod-1x4", "dotprod-1x8"),
}
SHAPES = [(1, 384, 64), (4, 384, 64), (16, 384, 64), (16, 1536, 64)]


def build(kleidiai, compiler, folder):
    program = pathlib.Path(folder) / "kleidiai_calls"
    at = kleidiai / "kai/ukernels/matmul"
    sources = [HERE / "kleidiai_calls.c"]
    # C, and assembler of the newer kernels.
    for pattern in (
        "matmul_clamp_f32_qai8dxp_qsi8cxp/*neon*.[cS]",
        "pack/kai_lhs_quant_pack_qai8dxp_f32.c",
        "pack/kai_rhs_pack_nxk_qsi8cxp_qsi8cx_neon.c",
    ):
        sources += sorted(at.glob(pattern))
    flags = ["-O3", "-static", "-march=armv8.2-a+dotprod+i8mm+fp16", f"-I{kleidiai}"]
    subprocess.run([compiler, *flags, *sources, "-o", program], check=True)
    return program


def count(given, cpu, program, arguments):
    return instructions.count(given.emulator, given.libraries, cpu, program, arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="linear_calls, for that processor")
    parser.add_argument("kleidiai", type=pathlib.Path)
    parser.add_argument("--compiler", default="aarch64-linux-gnu-gcc")
    parser.add_argument("--emulator", default="qemu-aarch64-static")
    parser.add_argument("--libraries", default="/usr/aarch64-linux-gnu", help="what the emulator's -L names")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        theirs = build(given.kleidiai, given.compiler, folder)
        for cpu, kernels in CPUS.items():
            for shape in SHAPES:
                products = shape[0] * shape[1] * shape[2]
                numbers = [str(number) for number in shape]
                one, two = (count(given, cpu, given.program, [*numbers, calls]) for calls in "12")
                best = None
                for kernel in kernels:
                    first, second = (count(given, cpu, theirs, [kernel, *numbers, calls]) for calls in "12")
                    best = min(best or (second - first, kernel), (second - first, kernel))
                tokens, inputs, outputs = shape
                print(
                    f"{cpu}: {tokens} x {inputs} -> {outputs}: bantam {products / (two - one):.1f}, "
                    f"KleidiAI {products / best[0]:.1f} ({best[1]})",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
