#!/usr/bin/env python3
"""Instructions and RAM of the answers of models/voice-commands on each Cortex-M target: files with f32 and i8 residuals and the
static form, layers computed 4 rows at a time and 1. Projects of `bantam firmware`, in QEMU, where every instruction takes
1 ns; thousands of instructions of all lines of commands.txt, reading ids from the text and writing answers included."""

import argparse
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "targets" / "firmware"), str(ROOT / "tests" / "firmware")]
import projects  # noqa: E402
from run import MACHINES, run  # noqa: E402
from size import measure  # noqa: E402

SOURCE = ROOT / "models" / "voice-commands"
COMMANDS = SOURCE / "commands.txt"
FILES = {
    "f32 residual": [],
    "i8 residual": ["--residual", "i8"],
    "static": ["--activations", "static", "--calibrate", COMMANDS],
}


def answer(command, model, target, options, out):
    """(thousands of instructions, bytes of the arena, of the stack, of code) of all commands."""
    shutil.rmtree(out, ignore_errors=True)
    board = out.with_name(out.name + "-board")
    board.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "targets" / target / "target.json", board)
    shutil.copy(ROOT / "tests" / "firmware" / "bench" / "counting_board.c", board / "board.c")
    build = projects.build(command, model, target, 0, out, options, [f"-DBANTAM_BOARD_DIR={board}"])
    status, output = run(MACHINES[target], build / "firmware.elf", COMMANDS.read_bytes(), timeout=600, icount=True)
    end = re.search(rb"\nend\tarena (\d+) of \d+\tstack (\d+) of \d+\n$", output)
    if status != 0 or end is None:
        raise SystemExit(f"{build}: status {status}: {output.decode(errors='replace')}")
    thousands = sum(int(number) for number in re.findall(rb"\n(\d+) thousand instructions\n", output))
    sizes = measure(build / "firmware.map")
    return thousands, int(end[1]), int(end[2]), sizes["text"] + sizes["rodata"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=ROOT / "build" / "bantam", type=pathlib.Path, help="the bantam command")
    parser.add_argument("--target", choices=sorted(MACHINES), action="append", help="default: all")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-firmware" / "answers", help="build folder")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    print(
        "| target | file | block rows | thousand instructions | arena | stack | code |\n|---|---|---|---|---|---|---|"
    )
    for name, options in FILES.items():
        model = out / f"{name.replace(' ', '-')}.bantam"
        projects.convert(given.command, SOURCE, model, *options)
        for target in given.target or sorted(MACHINES):
            for rows in (4, 1):
                figures = answer(given.command, model, target, ["--block-rows", rows], out / target)
                print(f"| {target} | {name} | {rows} | " + " | ".join(str(f) for f in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
