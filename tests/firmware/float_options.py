#!/usr/bin/env python3
"""Compilers' options that change floats: a project's answers keep their bytes, or it refuses.

float_options.py --command BANTAM --work DIR [--all] [--zig PYTHON]

A project of `bantam firmware --format cmake --core any` (models/voice-commands-tiny, dynamic int8) is compiled for this machine
with each set of options, as one file, and answers lines. Allowed are the bytes of `bantam run --uart`, an #error of the sources, or
an error before the first answer. Without --all: four sets with the C++ compiler `c++`. With it: every set with g++, every clang on
PATH and, with --zig, `PYTHON -m ziglang c++` (the package ziglang), as a table of Markdown."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import make_models  # noqa: E402

# In front of tests/cli, which make_models adds: it has a test_formats, too.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_formats import HOST_MAIN, LINES, TOKENS, call  # noqa: E402

X86 = os.uname().machine == "x86_64"
FUSED = "-O2 -ffp-contract=fast" + (" -march=haswell" if X86 else "")
SAMPLE = [
    "-Os -fsingle-precision-constant -funsigned-char -fshort-enums",
    "-Ofast",
    "-O2 -freciprocal-math",
    FUSED,
]
SETS = [
    # Options of build systems that compilers for this machine know, too.
    ("STM32CubeIDE", "-Os -ffunction-sections -fdata-sections -fno-use-cxa-atexit"),
    (
        "Arduino",
        "-Os -w -fpermissive -ffunction-sections -fdata-sections -fno-threadsafe-statics",
    ),
    ("Teensy", "-O2 -ffunction-sections -fdata-sections -fsingle-precision-constant"),
    (
        "Zephyr",
        "-Os -fno-strict-aliasing -fno-common -ffreestanding -fno-asynchronous-unwind-tables",
    ),
    ("PlatformIO", "-Os -ffunction-sections -fdata-sections"),
    (
        "ESP-IDF",
        "-Og -ffunction-sections -fdata-sections -fno-jump-tables -fstrict-volatile-bitfields",
    ),
    ("Arm Compiler", "-O3 -fshort-enums -fshort-wchar -funsigned-char"),
    ("", SAMPLE[0]),
    ("", "-O2 -ffinite-math-only -fno-signed-zeros -fno-trapping-math"),
    ("", FUSED),
    ("", "-O2 -freciprocal-math"),
    ("", "-O2 -fassociative-math -fno-signed-zeros -fno-trapping-math"),
    ("", "-O2 -funsafe-math-optimizations"),
    ("", "-O2 -ffp-model=fast"),
    ("", "-O2 -ffp-model=aggressive"),
    ("", "-O2 -ffast-math"),
    ("", "-Ofast"),
]
PLAIN = ["-fno-exceptions", "-fno-rtti"]
SAME, AT_COMPILE, AT_START, UNKNOWN = (
    "same bytes",
    "`#error`",
    "error at start",
    "no such option",
)


class Project:
    def __init__(self, command, work):
        work.mkdir(parents=True, exist_ok=True)
        model = work / "tiny.bantam"
        make_models.convert(command, model, make_models.VOICE.parent / "voice-commands-tiny")
        self.work, self.folder = work, work / "project"
        shutil.rmtree(self.folder, ignore_errors=True)
        call(
            command,
            "firmware",
            model,
            "--core",
            "any",
            "--format",
            "cmake",
            "--max-tokens",
            TOKENS,
            "-o",
            self.folder,
        )
        self.expected = call(command, "run", model, "--uart", "--max-tokens", TOKENS, input=LINES)
        sources = sorted((self.folder / "src").rglob("*.cpp"))
        (work / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        (work / "main.c").write_text(HOST_MAIN)
        self.include = ["-I", self.folder / "src"]
        call(
            "cc",
            "-c",
            self.folder / "src" / "bantam_model.c",
            *self.include,
            "-o",
            work / "model.o",
        )
        call("cc", "-c", work / "main.c", *self.include, "-o", work / "main.o")

    def outcome(self, compiler, options):
        """What becomes of these options: one of the four words above, or what is wrong."""
        flags = [*compiler, "-std=c++17", *options.split()]
        nothing = subprocess.run(
            [*flags, "-c", "-x", "c++", os.devnull, "-o", self.work / "nothing.o"],
            capture_output=True,
            check=False,
        )
        if nothing.returncode != 0:
            return UNKNOWN
        program, objects = self.work / "lines", self.work / "all.o"
        parts = [self.work / "main.o", self.work / "model.o"]
        built = subprocess.run(
            [*flags, *PLAIN, *self.include, "-c", self.work / "all.cpp", "-o", objects],
            capture_output=True,
            check=False,
        )
        if built.returncode != 0:
            if b"-ffast-math and its parts change answers" in built.stderr:
                return AT_COMPILE
            return "FAILED to compile: " + built.stderr.decode()[:2000]
        # The sources need no C++ library, which zig would compile first.
        linker = ["cc"] if "ziglang" in compiler else flags
        call(*linker, objects, *parts, "-lm", "-o", program)
        ran = subprocess.run([program], input=LINES, capture_output=True, check=False, timeout=600)
        if ran.returncode == 0 and ran.stdout == self.expected:
            return SAME
        if ran.returncode == 1 and ran.stdout.startswith(b"error\tcompiler\t") and ran.stdout.count(b"\n") == 1:
            return AT_START
        return f"FAILED: exit status {ran.returncode}, {ran.stdout[:200]!r}"


def compilers(zig):
    found = {"g++": ["g++"]}
    for name in ("clang++-14", "clang++-19"):
        if shutil.which(name):
            found[name] = [name]
    if zig:
        found["zig c++"] = [zig, "-m", "ziglang", "c++", "-fno-sanitize=all"]
    return {name: command for name, command in found.items() if shutil.which(command[0])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true", help="every set with every compiler")
    parser.add_argument("--zig", help="a python that has the package ziglang")
    given = parser.parse_args()
    project = Project(given.command, given.work.resolve())
    chosen = compilers(given.zig) if given.all else {"c++": ["c++"]}
    sets = SETS if given.all else [("", options) for options in SAMPLE]
    print(f"| options | {' | '.join(chosen)} |\n|---|{'---|' * len(chosen)}")
    failed = False
    for system, options in sets:
        row = [project.outcome(compiler, options) for compiler in chosen.values()]
        failed = failed or any(cell.startswith("FAILED") for cell in row)
        print(
            f"| {system + ': ' if system else ''}`{options}` | {' | '.join(row)} |",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
