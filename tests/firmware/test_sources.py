#!/usr/bin/env python3
"""test_sources.py --command BANTAM --models DIR --work DIR: projects hold the sources that their models need: all of them, and few
others. Every source is compiled without optimisation, so that no call disappears, and nothing that one refers to may be missing."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Lines of code of .h, .cpp and .inc below bantam/runtime of the model `voice`: comments and blank lines help the reader.
# Helium's kernels use vectors and single lanes.
MOST_LINES = {"cortex-m0plus": 14060, "cortex-m4": 14420, "cortex-m55": 14650}
# Models of make_models.py, or golden models: int8 with offsets, tags alone, integers only, int4, ternary, byte pairs and contexts,
# unigram and sources, images, sounds.
MODELS = (
    "voice",
    "tiny",
    "tiny-static",
    "tiny-int4",
    "tiny-ternary",
    "decoder",
    "marian-text",
    "bert-answer",
    "picture",
    "sound",
)
CORES = {
    "cortex-m0plus": ["-mcpu=cortex-m0plus", "-mthumb"],
    "cortex-m4": ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    "cortex-m55": ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"],
}
# Symbols of the compiler, the C library and the library's file in C.
ELSEWHERE = re.compile(r"^(mem\w+|str\w+|__\w+|sqrtf?|bantam_model_data)$")


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def symbols(objects, which):
    """Names in the objects: --undefined-only or --defined-only, without those that need not be there (weak)."""
    lines = call("arm-none-eabi-nm", "--format=posix", which, *objects).splitlines()
    rows = [line.split() for line in lines if line and not line.endswith(":")]
    return {row[0] for row in rows if len(row) > 1 and (which == "--defined-only" or row[1] not in "wv")}


def compiled(library, flags, work):
    """The objects of a library's sources, without optimisation."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    compiler = [*(["ccache"] if shutil.which("ccache") else []), "arm-none-eabi-g++", "-std=c++17", *flags, "-O0"]
    options = ["-nostdinc++", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-Wall", "-Wextra", "-Werror"]
    sources = sorted((library / "src").rglob("*.cpp"))

    def compile_one(source):
        target = work / (source.relative_to(library).as_posix().replace("/", "_") + ".o")
        call(*compiler, *options, "-I", library / "src", "-c", source, "-o", target)
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def runtime_lines(project):
    """Lines that are neither blank nor a comment alone."""
    files = [path for path in (project / "bantam" / "runtime").rglob("*") if path.suffix in (".h", ".cpp", ".inc")]
    lines = (line.strip() for path in files for line in path.read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)

    def model(name):
        path = given.models / f"{name}.bantam"
        if not path.exists():
            path = given.work / f"{name}.bantam"
            source = SOURCE / "tests" / "golden" / "models" / name
            call(given.command, "convert", source, "-o", path, "--parity", "none")
        return path

    def project(name, board, folder, *more):
        call(given.command, "firmware", model(name), "--board", board, "-o", folder, *more)
        return folder

    wrong = []
    for board, most in MOST_LINES.items():
        folder = given.work / f"voice-{board}"
        shutil.rmtree(folder, ignore_errors=True)
        lines = runtime_lines(project("voice", board, folder))
        print(f"{board}: {lines} lines of the runtime's code")
        if lines > most:
            wrong.append(f"{board}: {lines} lines of the runtime's code, at most {most} are promised")

    # Another model over a project: what only the first needed is gone.
    folder = given.work / "replaced"
    shutil.rmtree(folder, ignore_errors=True)
    before = files_of(project("tiny-static", "cortex-m4", folder))
    after = files_of(project("voice", "cortex-m4", folder, "--force"))
    fresh = files_of(given.work / "voice-cortex-m4")
    if after != fresh or not before - after:
        wrong.append(f"--force: {sorted(after ^ fresh)} differ from a new project, {len(before - after)} files went")

    exhaustive = bool(os.environ.get("BANTAM_EXHAUSTIVE"))
    if shutil.which("arm-none-eabi-g++") is None:
        print("arm-none-eabi-g++ is not installed: nothing is compiled")
    elif not wrong:
        for core, flags in CORES.items():
            for name in MODELS:
                if not exhaustive and core != "cortex-m4":
                    continue
                library = given.work / f"library-{name}-{core}"
                shutil.rmtree(library, ignore_errors=True)
                options = ["--format", "cmake", "--core", core, "-o", library]
                call(given.command, "firmware", model(name), *options)
                objects = compiled(library, flags, given.work / "objects")
                missing = symbols(objects, "--undefined-only") - symbols(objects, "--defined-only")
                missing = sorted(symbol for symbol in missing if not ELSEWHERE.match(symbol))
                print(f"{name}, {core}: {len(objects)} sources")
                if missing:
                    wrong.append(f"{name}, {core}: refers to {', '.join(missing)}, which no source of the project has")
    print("\n".join(wrong) or "projects hold what their models need")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
