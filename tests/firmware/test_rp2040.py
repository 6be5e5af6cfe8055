"""RP2040's image, from the 256 bytes on that its ROM runs, in rp2040js (npm): answers as on this machine. Skipped without Node, or where
rp2040js is not in the folder `npm` of the work folder: npm install --prefix build-firmware/npm rp2040js@1.4.1"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import board_report
import projects

TESTS = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the bantam command")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    given = parser.parse_args()
    modules = given.work.resolve() / "npm" / "node_modules"
    node = shutil.which("node")
    if node is None or not (modules / "rp2040js").is_dir():
        print("skipped:", __doc__.split(". ")[-1])
        return 77
    work = given.work.resolve() / "boards"
    work.mkdir(parents=True, exist_ok=True)
    model = work / "rp2040.bantam"
    projects.convert(given.command, board_report.MODEL, model, *board_report.CONVERT)
    options = [f"-DSTACK_BYTES={board_report.STACK}"]
    out = work / "rp2040"
    build = projects.build(given.command, model, "rp2040", board_report.TOKENS, out, board_report.OPTIONS, options)
    copy = ["arm-none-eabi-objcopy", "-O", "binary", build / "firmware.elf", build / "firmware.bin"]
    subprocess.run(copy, check=True)
    lines = b"".join(board_report.LINES.read_bytes().splitlines(keepends=True)[2:5])
    told = [given.command, "run", model, "--uart", "--max-tokens", str(board_report.TOKENS)]
    expected = subprocess.run(told, input=lines, stdout=subprocess.PIPE, check=True).stdout
    done = subprocess.run(
        [node, TESTS / "rp2040.cjs", build / "firmware.bin"],
        input=lines,
        stdout=subprocess.PIPE,
        env={**os.environ, "NODE_PATH": str(modules)},
        check=False,
    )
    said = done.stdout.splitlines(keepends=True)
    print(done.stdout.decode(errors="replace"))
    alike = done.returncode == 0 and said[:1] == [b"ready\n"] and b"".join(said[1:-1]) == expected
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
