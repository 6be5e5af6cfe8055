#!/usr/bin/env python3
"""Runs a firmware image in QEMU: standard input goes to its UART, what the UART says comes out on standard output, and
the image's exit status is the exit status. A byte 0x04 is added at the end of the input: that ends it for board_read.
Exit status 124: the time was up."""

import argparse
import json
import pathlib
import subprocess
import sys

# {target: QEMU's machine} of the folders beside this one.
MACHINES = {
    path.parent.name: json.loads(path.read_text())["qemu"]["machine"]
    for path in sorted(pathlib.Path(__file__).resolve().parents[1].glob("*/target.json"))
}


def command(machine, image, icount=False):
    """QEMU's command line. icount: every instruction takes 1 ns of the emulated clock."""
    line = ["qemu-system-arm", "-machine", machine, "-kernel", str(image), "-display", "none", "-monitor", "none"]
    line += ["-serial", "stdio", "-semihosting-config", "enable=on,target=native"]
    return line + (["-icount", "shift=0"] if icount else [])


def run(machine, image, data=b"", timeout=60, icount=False):
    """Returns (exit status, bytes of the UART)."""
    try:
        done = subprocess.run(
            command(machine, image, icount), input=data + b"\x04", stdout=subprocess.PIPE, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as late:
        return 124, late.stdout or b""
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--target", choices=sorted(MACHINES), help="folder of targets/")
    where.add_argument("--machine", help="QEMU's name of the machine")
    parser.add_argument(
        "--icount", action="store_true", help="count instructions: each takes 1 ns of the emulated clock"
    )
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("image")
    given = parser.parse_args()
    machine = given.machine or MACHINES[given.target]
    if sys.stdin.isatty():  # interactive: end with Ctrl-D, which is 0x04
        return subprocess.call(command(machine, given.image, given.icount))
    status, output = run(machine, given.image, sys.stdin.buffer.read(), given.timeout, given.icount)
    sys.stdout.buffer.write(output)
    sys.stdout.flush()
    if status == 124:
        print(f"run.py: no end after {given.timeout:g} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
