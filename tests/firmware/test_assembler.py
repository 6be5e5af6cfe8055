"""Assembler among the kernels that LLVM's assembler takes too: clang, Arm Compiler 6 and Zephyr's LLVM refuse some of what gas
accepts, such as `sxtb16.w`. Needs clang with the ARM back end, and neither headers nor libraries of a target."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLANG = shutil.which("clang++") or shutil.which("clang++-14")
CORES = json.loads((SOURCE / "targets" / "firmware" / "cores.json").read_text())
TARGETS = {"dsp": "cortex-m4", "mve": "cortex-m55", "scalar": "cortex-m0plus"}
TRIPLES = {"scalar": "thumbv6m-none-eabi"}


class Assembler(unittest.TestCase):
    def test_clang_assembles(self):
        files = [
            path
            for folder in sorted(TARGETS)
            for path in sorted((SOURCE / "runtime" / "kernels" / folder).glob("*.cpp"))
            if "__asm__(" in path.read_text()
        ]
        self.assertEqual({path.parent.name for path in files}, set(TARGETS))
        for path in files:
            core = CORES[TARGETS[path.parent.name]]
            triple = TRIPLES.get(path.parent.name, "thumbv7em-none-eabihf")
            options = [
                f"--target={triple}",
                *core["flags"],
                "-std=c++17",
                "-ffreestanding",
                "-Werror",
            ]
            options += [f"-I{SOURCE}/runtime", f"-I{SOURCE}/runtime/include"]
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [CLANG, *options, "-c", path, "-o", pathlib.Path(folder) / "x.o"],
                    stderr=subprocess.PIPE,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stderr.decode())


if __name__ == "__main__":
    if CLANG is None:
        sys.exit(77)
    unittest.main()
