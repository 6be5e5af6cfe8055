#!/usr/bin/env python3
"""The wheels, by Python's standard library: as a build back end (PEP 517) for pip, and as a script for ./dev wheel.

One wheel a platform serves every Python: the package calls libbantam.so by ctypes. Which Linux it asks for is told by the versions
of the C library's symbols that the library names. The same input gives the same bytes."""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parents[1]
ROOT = PROJECT.parents[1]
OLDEST = 17  # of manylinux_2_N: what pip of every supported Python knows
# By e_machine of ELF headers: what wheels call a machine, and its compiler's programs.
MACHINES = {
    62: ("x86_64", "x86_64-linux-gnu"),
    40: ("armv7l", "arm-linux-gnueabihf"),
    183: ("aarch64", "aarch64-linux-gnu"),
    243: ("riscv64", "riscv64-linux-gnu"),
}
WINDOWS = ("win_amd64", "x86_64-w64-mingw32")

sys.path.insert(0, str(ROOT / "targets" / "packages"))
from facts import FACTS, version  # noqa: E402


def is_windows(content):
    """Whether it is a program or library for 64-bit x86 Windows, as its header says (PE format, "COFF file header")."""
    at = int.from_bytes(content[60:64], "little")
    return content[:2] == b"MZ" and content[at : at + 6] == b"PE\0\0\x64\x86"


def machine_of(content):
    """The entry of MACHINES of an ELF file, or WINDOWS."""
    if is_windows(content):
        return WINDOWS
    if content[:4] != b"\x7fELF":
        raise SystemExit("bantam_build: not an ELF file, and none for 64-bit x86 Windows: only these have a wheel")
    number = int.from_bytes(content[18:20], "little")
    if number not in MACHINES:
        raise SystemExit(f"bantam_build: wheels have no name for the machine {number} of the ELF file")
    return MACHINES[number]


def platform_tag(programs):
    """manylinux_2_N_MACHINE of ELF files; win_amd64."""
    if all(map(is_windows, programs)):
        return WINDOWS[0]
    newest, machine = OLDEST, None
    for content in programs:
        machine = machine_of(content)[0]
        newest = max([newest, *(int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", content))])
    return f"manylinux_2_{newest}_{machine}"


def build_library():
    """libbantam.so, by CMake in a folder of its own."""
    folder, only = (
        ROOT / "build-wheel",
        [f"-DBANTAM_{one}=OFF" for one in ("CONVERTER", "COMMAND", "TESTS", "XNNPACK", "INSTALL")],
    )
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *only]
    for command in (configure, ["cmake", "--build", folder, "--target", "bantam_python", "--parallel"]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    return folder / "python" / "libbantam.so"


def stripped(path):
    content = path.read_bytes()
    programs = (f"{machine_of(content)[1]}-strip", "strip")
    program = next((found for found in map(shutil.which, programs) if found), None)
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "stripped"
        if program is None or subprocess.run([program, "-o", out, path], stderr=subprocess.DEVNULL).returncode != 0:
            return content  # larger, and as good
        return out.read_bytes()


def metadata(name):
    """METADATA of pyproject.toml's [project], whose values are lists of strings and strings on lines of their own."""
    text = (PROJECT / "pyproject.toml").read_text()
    fields = dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.MULTILINE))
    classifiers = re.findall(r'^  "(.* :: .*)",$', text, re.MULTILINE)
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {name}",
        f"Version: {version()}",
        f"Summary: {FACTS['summary']}" if name == "bantam" else "Summary: The bantam command: converts and runs models",
        f"Keywords: {','.join(FACTS['keywords'])}",
        f"License-Expression: {fields['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {one}" for one in classifiers if name == "bantam" or "Typed" not in one),
        f"Requires-Python: {fields['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    description = (PROJECT / "README.md").read_text() if name == "bantam" else "# bantam-cli\n\nThe command `bantam`.\n"
    return "\n".join(lines) + "\n\n" + description


def write_wheel(folder, name, files, tag):
    """`files`: {path in the wheel: (bytes, executable)}."""
    distribution = f"{name.replace('-', '_')}-{version()}"
    info = f"{distribution}.dist-info"
    entries = dict(files)
    entries[f"{info}/METADATA"] = (metadata(name).encode(), False)
    entries[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: bantam_build\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode(),
        False,
    )
    entries[f"{info}/licenses/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), False)
    record = []
    for path, (content, _) in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}")
    record.append(f"{info}/RECORD,,")
    entries[f"{info}/RECORD"] = (("\n".join(record) + "\n").encode(), False)
    wheel = f"{distribution}-py3-none-{tag}.whl"
    out = pathlib.Path(folder) / wheel
    partial = out.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (content, executable) in entries.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, content)
    os.replace(partial, out)
    return wheel


def write_package(folder, library):
    content = stripped(library)
    files = {}
    for path in sorted((PROJECT / "bantam").rglob("*")):
        if path.suffix in (".py", ".typed"):
            files[path.relative_to(PROJECT).as_posix()] = (path.read_bytes(), False)
    name = "bantam.dll" if is_windows(content) else "libbantam.so"
    files[f"bantam/{name}"] = (content, True)
    return write_wheel(folder, "bantam", files, platform_tag([content]))


def write_command(folder, command):
    """The command, and bantam-app, where it lies in the folder above."""
    programs = {"bantam": stripped(pathlib.Path(command))}
    runner = pathlib.Path(command).resolve().parents[1] / "bantam-app"
    if runner.exists():
        programs["bantam-app"] = runner.read_bytes()
    files = {f"bantam_cli-{version()}.data/scripts/{name}": (content, True) for name, content in programs.items()}
    return write_wheel(folder, "bantam-cli", files, platform_tag([programs["bantam"]]))


# ------------------------------------------------------------------------------------------- PEP 517


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = (config_settings or {}).get("library") or os.environ.get("BANTAM_WHEEL_LIBRARY") or build_library()
    return write_package(wheel_directory, pathlib.Path(library))


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("bantam_build: sources are the repository; there is no sdist")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder of the wheels")
    parser.add_argument("--library", help="libbantam.so (default: it is built)")
    parser.add_argument("--command", help="the bantam command: writes its wheel instead")
    options = parser.parse_args()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    if options.command:
        wheel = write_command(options.out, options.command)
    else:
        wheel = write_package(options.out, pathlib.Path(options.library) if options.library else build_library())
    size = (pathlib.Path(options.out) / wheel).stat().st_size
    print(f"{pathlib.Path(options.out) / wheel}: {size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
