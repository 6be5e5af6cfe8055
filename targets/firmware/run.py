#!/usr/bin/env python3
"""Runs a firmware image in QEMU: standard input goes to its UART, what the UART says comes out on standard output, and
the image's exit status is the exit status. A byte 0x04 is added at the end of the input: that ends it for board_read.
Exit status 124: the time was up."""

import argparse
import json
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent


def machines(pattern):
    """{board: QEMU's machine} of the descriptions there; boards that QEMU has none for are left out."""
    found = {}
    for path in sorted(HERE.parent.glob(pattern)):
        if machine := json.loads(path.read_text()).get("qemu", {}).get("machine"):
            found[path.parent.name] = machine
    return found


# The targets that are measured, beside this folder; and further boards.
MACHINES = machines("*/target.json")
BOARDS = machines("boards/*/target.json")


def command(machine, image, icount=False):
    """QEMU's command line. machine: a name that qemu-system-arm knows, or one that another does, behind what that is for and a colon.
    icount: every instruction takes 1 ns of the emulated clock."""
    *other, machine = machine.split(":")
    line = [f"qemu-system-{other[0] if other else 'arm'}", "-machine", machine, "-kernel", str(image)]
    line += ["-bios", "none"] if other else []
    line += ["-display", "none", "-monitor", "none"]
    line += ["-serial", "stdio", "-semihosting-config", "enable=on,target=native"]
    return line + (["-icount", "shift=0"] if icount else [])


def run(machine, image, data=b"", timeout=60, icount=False, listen=False):
    """Returns (exit status, bytes of the UART). listen: the image says something before it reads, and gets nothing before that:
    UARTs that are not yet switched on drop what comes."""
    process = subprocess.Popen(
        command(machine, image, icount), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    late = threading.Timer(timeout, process.kill)
    late.start()
    try:
        first = process.stdout.read(1) if listen else b""
        output = first + process.communicate(data + b"\x04")[0]
    finally:
        ran_out = not late.is_alive()
        late.cancel()
        process.kill()
    return 124 if ran_out else process.returncode, output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(MACHINES | BOARDS)  # a project has one
    where = parser.add_mutually_exclusive_group(required=len(known) != 1)
    where.add_argument(
        "--board", "--target", choices=known, default=known[0] if known else None, help="folder of targets/ or boards/"
    )
    where.add_argument("--machine", help="QEMU's name of the machine")
    parser.add_argument(
        "--icount", action="store_true", help="count instructions: each takes 1 ns of the emulated clock"
    )
    parser.add_argument("--attach", action="store_true", help="pass bytes both ways as they come, for bantam monitor")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    parser.add_argument("image")
    given = parser.parse_args()
    machine = given.machine or (MACHINES | BOARDS)[given.board]
    if given.attach or sys.stdin.isatty():  # end with Ctrl-D, which is 0x04
        return subprocess.call(command(machine, given.image, given.icount))
    status, output = run(machine, given.image, sys.stdin.buffer.read(), given.timeout, given.icount, listen=True)
    sys.stdout.buffer.write(output)
    sys.stdout.flush()
    if status == 124:
        print(f"run.py: no end after {given.timeout:g} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
