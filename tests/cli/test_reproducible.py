"""The same sources and options give the same bytes: in another folder, at another time, for another user, on other instruction sets."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from support import COMMAND, GOLDEN, SOURCE, CommandTest

VOICE = SOURCE / "models" / "voice-commands"
STATIC = ("--activations", "static", "--calibrate", VOICE / "commands.txt")
CONVERSIONS = (
    (GOLDEN / "bert-classify", ("--weights", "int8")),
    (GOLDEN / "bert-classify", ("--prune", "0.8", "--pattern", "unstructured")),
    (VOICE, ("--weights", "int4", "--rounding", "gptq")),
    (VOICE, STATIC),
    (GOLDEN / "marian-text", ("--weights", "f16")),
)


class Reproducible(CommandTest):
    def convert(self, source, options, folder, umask, environment):
        """The bytes that a copy of the source gives, whose files lie in another order and are of another time."""
        folder.mkdir(parents=True)
        copy = folder / "source"
        copy.mkdir()
        for file in sorted(source.iterdir(), reverse=umask == 0o077):
            shutil.copy(file, copy) if file.is_file() else shutil.copytree(file, copy / file.name)
        for file in copy.iterdir():
            os.utime(file, (umask, umask))
        out = folder / "out.bantam"
        done = subprocess.run(
            [
                pathlib.Path(COMMAND).resolve(),
                "convert",
                copy.name,
                "-o",
                out.name,
                "--parity",
                "none",
                *map(str, options),
            ],
            cwd=folder,
            umask=umask,
            env={"PATH": os.environ["PATH"], **environment},
            capture_output=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o666 & ~umask)
        return out.read_bytes()

    def test_models(self):
        for source, options in CONVERSIONS:
            with self.subTest(source=source.name, options=options), tempfile.TemporaryDirectory() as place:
                place = pathlib.Path(place)
                one = self.convert(source, options, place / "a", 0o022, {"HOME": "/", "TZ": "UTC", "LC_ALL": "C"})
                other = self.convert(
                    source,
                    options,
                    place / "another folder" / "of a longer name",
                    0o077,
                    {"HOME": "/root", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "BANTAM_ISA": "reference"},
                )
                self.assertEqual(one, other)

    def test_the_command_names_no_folder_of_its_build(self):
        program = pathlib.Path(COMMAND).read_bytes()
        if b".debug_info" in program:
            self.skipTest("a build for debuggers names its sources")
        for folder in (SOURCE, pathlib.Path(COMMAND).resolve().parent):
            self.assertNotIn(os.fsencode(str(folder)) + b"/", program)


if __name__ == "__main__":
    unittest.main()
