"""macos.py BUILD MACHINE: what a build for macOS made is for that machine and asks for the system's library alone. Nothing runs it."""

import pathlib
import struct
import sys

MACHINES = {"arm64": 0x0100000C, "x86_64": 0x01000007}
MAGIC = 0xFEEDFACF
EXECUTABLE = 2
LOAD_DYLIB, BUILD_VERSION = 0xC, 0x32
MACOS = 1
SYSTEM = b"/usr/lib/libSystem.B.dylib"


def commands(program):
    """(number, bytes) of the load commands of a Mach-O file (mach-o/loader.h)."""
    count = struct.unpack_from("<I", program, 16)[0]
    at = 32
    for _ in range(count):
        number, size = struct.unpack_from("<II", program, at)
        yield number & 0x7FFFFFFF, program[at : at + size]
        at += size


def check(path, machine):
    program = path.read_bytes()
    magic, found, _, kind = struct.unpack_from("<IIII", program, 0)
    assert (magic, found, kind) == (MAGIC, MACHINES[machine], EXECUTABLE), f"{path}: for another machine"
    libraries, system = [], None
    for number, data in commands(program):
        if number == LOAD_DYLIB:
            libraries.append(data[struct.unpack_from("<I", data, 8)[0] :].rstrip(b"\0"))
        elif number == BUILD_VERSION:
            system, least = struct.unpack_from("<II", data, 8)
            assert least >> 16 == 11, f"{path}: for macOS {least >> 16} and later"
    assert libraries == [SYSTEM] and system == MACOS, f"{path}: {libraries}, system {system}"
    print(f"{path}: {machine}, macOS 11 and later, {len(program)} bytes")


def main(build, machine):
    for example in ("intent-c", "intent-cpp"):
        check(pathlib.Path(build) / "examples" / example, machine)


if __name__ == "__main__":
    main(*sys.argv[1:])
