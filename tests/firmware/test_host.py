"""Every instruction set of a build gives the hash that the reference gave, also on another machine: logits and kernels."""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from make_models import KERNEL_SEEDS

ISAS = ["reference", "avx2", "avxvnni", "avx512vnni256", "avx512vnni", "neon", "neondot", "neoni8mm", "armv7neon"]
EMULATOR = shlex.split(os.environ.get("BANTAM_EMULATOR", "").replace(";", " "))
given = None


def run(program, *arguments, data=b""):
    done = subprocess.run([*EMULATOR, program, *arguments], input=data, stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


class Host(unittest.TestCase):
    def test_logits(self):
        expected = (given.models / "models.hash").read_bytes()
        self.assertRegex(expected, rb"^([0-9a-f]{16}\n)+$")
        ran = []
        for isa in ISAS:
            with self.subTest(isa):
                status, output = run(given.hash, given.models / "models.pack", isa)
                if status != 77:
                    self.assertEqual((status, output), (0, expected))
                    ran.append(isa)
        self.assertIn("reference", ran)
        print("one hash:", *ran)

    def test_kernels(self):
        status, output = run(given.kernels, data=b"%d\n" % KERNEL_SEEDS)
        self.assertEqual((status, output), (0, (given.models / "kernels.hash").read_bytes()))
        self.assertIn(b"linear_q8 ", output)


def main():
    global given
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hash", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    given, rest = parser.parse_known_args()
    if not (given.models / "models.hash").exists():
        print("no models yet: the native build's tests make them")
        return 77
    return not unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
