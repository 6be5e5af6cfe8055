#!/usr/bin/env python3
"""flags.py SOURCE_DIR BUILD_DIR BUILD_TYPE: are sources compiled with the flags that the build files mean to give them?

A flag that a build file sets too early or too late is dropped without a word; compile_commands.json has what is used.
"""

import pathlib
import shlex
import shutil
import subprocess
import sys

from compile_commands import compile_commands

# Folders of sources by the optimisation that their build type Release gives them: the last -O of a command counts.
QUICK_TO_COMPILE = (
    *(f"converter/{layer}/" for layer in "cli data import network onnx pages source tokenizer".split()),
    "tests/session/",
)


# Compiled as it must not be, for the test that notices.
ON_PURPOSE = ("tests/session/contracted.cpp",)


# The program that trains shares libtorch's precompiled headers with its layer, and so the layer's flags.
TRAINING = "bantam_train.dir"


# The checks that the folder of fuzzers leaves out for sources that read memory through containers alone (bantam_quick_to_sanitize):
# never for the runtime's own objects.
LEFT_OUT = "-fno-sanitize=null,alignment,object-size,pointer-overflow"


def quick_optimisation(build):
    """The build folder's optimisation level for sources whose speed nobody waits for."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("BANTAM_QUICK_OPTIMISATION:"):
            return line.partition("=")[2]
    return "-Os"


def wanted_of(build_type, source, command="", quickly="-Os"):
    """Flags that a source's command must hold, and its optimisation level (None: any)."""
    if source in ON_PURPOSE:
        return set(), None
    if build_type == "Sanitize":
        return {"-g1", "-fno-sanitize-recover=all"}, "-O1"
    if build_type == "Release":
        quick = source.startswith(QUICK_TO_COMPILE) and TRAINING not in command
        checked = {"-D_GLIBCXX_ASSERTIONS"} if quick else set()
        if source.startswith("converter/") and sys.platform == "linux":
            checked |= {"-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"}
        return {"-DNDEBUG"} | checked, quickly if quick else None
    return set(), None


def unhardened(command):
    """Hardening against overruns that a release of the command lacks."""
    readelf = shutil.which("readelf")
    if not command.exists() or not readelf:
        return []
    said = subprocess.run([readelf, "-hld", command], capture_output=True, text=True, check=True).stdout
    wanted = {
        "GNU_RELRO": "read-only relocations",
        "NOW": "binding at its start",
        "DYN": "a place of its own each time",
    }
    return [f"{command.name}: without {meaning} ({word})" for word, meaning in wanted.items() if word not in said]


def main():
    root, build, build_type = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    commands = build / "compile_commands.json"
    if not commands.exists():
        print(f"{commands} is not there: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, as the presets do")
        return 77
    wrong, seen = [], 0
    quickly = quick_optimisation(build)
    for entry in compile_commands(build):
        try:
            source = str(pathlib.Path(entry["file"]).relative_to(root))
        except ValueError:
            continue
        flags = shlex.split(entry["command"])
        needed, level = wanted_of(build_type, source, entry["command"], quickly)
        used = [flag for flag in flags if flag.startswith("-O")]
        seen += 1
        if not needed.issubset(flags):
            wrong.append(f"{source}: without {' '.join(sorted(needed.difference(flags)))}")
        if LEFT_OUT in flags and " -o runtime/" in entry["command"]:
            wrong.append(f"{source}: {LEFT_OUT}")
        if level and used[-1:] != [level]:
            wrong.append(f"{source}: {' '.join(used) or 'no -O'} instead of {level}")
    if build_type == "Release" and sys.platform == "linux":
        wrong += unhardened(build / "bantam")
    print("\n".join(wrong[:20]))
    print(f"{len(wrong)} of {seen} sources of build type {build_type or '(none)'} are not compiled as meant")
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
