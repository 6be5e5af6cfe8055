"""windows.py COMMAND BUILD EMULATOR WORK: what a build for Windows makes. Its examples answer by Wine, from a model that COMMAND converts;
archive and wheel are looked at, not run."""

import pathlib
import re
import shlex
import shutil
import sys
import zipfile

from support import SOURCE, check, facts, run, skip

MODEL = SOURCE / "models" / "voice-commands-tiny"
TEXT = "play some jazz"  # the examples take arguments in the code page


def imported(program):
    """The DLLs that a file asks for, by binutils."""
    said = run("x86_64-w64-mingw32-objdump", "-p", program)
    return {line.split()[-1].lower() for line in said.splitlines() if "DLL Name:" in line}


def check_imports(program):
    own = {name for name in imported(program) if name.startswith(("lib", "zlib"))}
    check(not own, f"{program} asks for {own}")


def check_examples(command, build, emulator, work):
    file = work / "tiny.bantam"
    run(command, "convert", MODEL, "-o", file, "--parity", "none")
    native = run(command, "classify", file, TEXT, "--top", "1").split()[0]
    for example in ("intent-c", "intent-cpp"):
        program = build / "examples" / f"{example}.exe"
        check_imports(program)
        said = run(*emulator, program, file, TEXT)
        check(said.split()[0] == native, said, native)


def check_archive(build, work):
    generate = SOURCE / "targets" / "packages" / "generate.py"
    run(sys.executable, "-B", generate, "windows", "--out", work, "--windows", build)
    whole = f"bantam-{facts.version()}-windows-x86_64"
    with zipfile.ZipFile(work / "windows" / f"{whole}.zip") as archive:
        names = {name.removeprefix(f"{whole}/") for name in archive.namelist()}
    wanted = {
        "LICENSE",
        "README.md",
        "include/bantam/bantam.h",
        "lib/libbantam.a",
        "lib/libbantam_host.a",
    }
    check(wanted <= names, wanted - names)


def check_wheel(build, work):
    backend = SOURCE / "targets" / "python" / "backend" / "bantam_build.py"
    library = build / "python" / "bantam.dll"
    run(sys.executable, "-B", backend, "--out", work / "wheel", "--library", library)
    with zipfile.ZipFile(work / "wheel" / f"bantam-{facts.version()}-py3-none-win_amd64.whl") as archive:
        check("bantam/native.py" in archive.namelist(), archive.namelist())
        archive.extract("bantam/bantam.dll", work)
    check_imports(work / "bantam" / "bantam.dll")
    said = run("x86_64-w64-mingw32-objdump", "-p", work / "bantam" / "bantam.dll")
    exported = set(
        re.findall(
            r"^\s*\[\s*\d+\].*\s(\w+)$",
            said[said.index("[Ordinal/Name Pointer]") :],
            re.MULTILINE,
        )
    )
    native = (SOURCE / "targets" / "python" / "bantam" / "native.py").read_text()
    asked = set(re.findall(r'^    "(\w+)": \(', native, re.MULTILINE))
    check(
        len(asked) > 30 and {f"bantam_{name}" for name in asked} <= exported,
        asked,
        exported,
    )
    check(all(name.startswith("bantam_") for name in exported), exported)


def main(command, build, emulator, work):
    if not pathlib.Path(command).exists():
        skip(f"{command} is not built, which converts the examples' model")
    build, work, emulator = pathlib.Path(build), pathlib.Path(work), shlex.split(emulator)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    check_examples(command, build, emulator, work)
    check_archive(build, work)
    check_wheel(build, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
