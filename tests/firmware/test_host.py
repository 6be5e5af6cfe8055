"""Every instruction set of a build gives the hashes in expected/, which images on boards must give too: logits, kernels.

A change that means to change bits writes them anew: --write, on the native build."""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from make_models import EXPECTED, KERNEL_SEEDS

ISAS = [
    "reference",
    "avx2",
    "avxvnni",
    "avx512vnni256",
    "avx512vnni",
    "amx",
    "neon",
    "neondot",
    "neoni8mm",
    "armv7neon",
]
EMULATOR = shlex.split(os.environ.get("BANTAM_EMULATOR", ""))
given = None


def run(program, *arguments, data=b""):
    done = subprocess.run([*EMULATOR, program, *arguments], input=data, stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.replace(b"\r\n", b"\n")  # as programs for Windows end lines


def logits(isa):
    return run(given.hash, given.models / "models.pack", isa)


def kernels():
    return run(given.kernels, data=b"%d\n" % KERNEL_SEEDS)


def sound():
    return run(given.sound, data=b"h\n")


class Host(unittest.TestCase):
    def test_logits(self):
        expected = (EXPECTED / "models.hash").read_bytes()
        self.assertRegex(expected, rb"^([0-9a-f]{16}\n)+$")
        ran = []
        for isa in ISAS:
            with self.subTest(isa):
                status, output = logits(isa)
                if status != 77:
                    self.assertEqual((status, output), (0, expected))
                    ran.append(isa)
        self.assertIn("reference", ran)
        print("one hash:", *ran)

    def test_kernels(self):
        status, output = kernels()
        self.assertEqual((status, output), (0, (EXPECTED / "kernels.hash").read_bytes()))
        self.assertIn(b"linear_q8 ", output)

    def test_sound(self):
        self.assertEqual(sound(), (0, (EXPECTED / "sound.hash").read_bytes()))


def main():
    global given
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hash", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--sound", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write what this build gives to expected/")
    given, rest = parser.parse_known_args()
    if given.write:
        (EXPECTED / "models.hash").write_bytes(logits("reference")[1])
        (EXPECTED / "kernels.hash").write_bytes(kernels()[1])
        (EXPECTED / "sound.hash").write_bytes(sound()[1])
    return not unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
