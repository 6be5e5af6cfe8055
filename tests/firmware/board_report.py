"""Every board that `bantam firmware` knows: one model built for it, and where QEMU has a machine its answers, which must be those of
this machine, byte for byte. Writes docs/boards.md, or with --check compares what it finds with what stands there."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import asleep
import projects

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "targets" / "firmware"))
from run import BOARDS, MACHINES  # noqa: E402
from size import measure  # noqa: E402

DOCUMENT = SOURCE / "docs" / "boards.md"
MODEL = SOURCE / "models" / "voice-commands-tiny"
LINES = SOURCE / "models" / "voice-commands" / "commands.txt"
CONVERT = ["--activations", "static", "--calibrate", LINES]
# Limits of the smallest board that holds the model: a micro:bit with 16 KB of RAM.
TOKENS, OPTIONS, STACK = 16, ["--block-rows", "1"], 2560
TOO_SMALL = {"stm32f100": "128 KB of flash are less than the model"}
MOST_APART = 0.01
# Seconds for the answers: less than where only SysTick, and not the UART, wakes a sleeping core for each byte.
PATIENCE = 60
# The boards that `./dev test` takes: the smallest, and one whose kernels run from a memory of their own. `./dev test all` takes
# every one (tests/exhaustive.h).
USUAL = "microbit;mps2-an385"
COLUMNS = ["board", "core", "like", "flash used", "of", "RAM used", "of", "QEMU", "answers"]
INTRODUCTION = f"""# Boards

This page lists the boards of `bantam firmware --list-boards`, with flash, RAM and answers of one model on each.

`python3 tests/firmware/board_report.py --command build/bantam --work build-firmware` generates this page; `./dev test`
(two boards) and `./dev test all` check it. Each board runs models/{MODEL.name} in integers, with
`--max-tokens {TOKENS} --block-rows 1`, and answers the seven lines of models/voice-commands/commands.txt over its UART.
The answers column has the first 12 digits of their SHA-256, which is the same on every board and for `bantam run
--uart` on a workstation. A board without a machine in QEMU is built and linked, but not run. The exception is rp2040,
which runs in an emulator of that chip (`test_rp2040.py`). The description of such a board
(`targets/boards/NAME/target.json`) names its source document. An image of a core that QEMU lacks runs on a larger core
that executes the same instructions (Cortex-M0+ on M3, M23 on M33, M85 on M55).

"""


def description(board):
    for folder in ("targets", "targets/boards"):
        path = SOURCE / folder / board / "target.json"
        if path.exists():
            return json.loads(path.read_text())
    raise SystemExit(f"{board}: there is no such board")


def all_boards():
    paths = [*(SOURCE / "targets").glob("*/target.json"), *(SOURCE / "targets" / "boards").glob("*/target.json")]
    return sorted(path.parent.name for path in paths)


def size_of(text):
    number, unit = re.fullmatch(r"(0x[0-9a-fA-F]+|[0-9]+)([KM]?)", text).groups()
    return int(number, 0) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit]


def digest(answers):
    return hashlib.sha256(answers).hexdigest()[:12]


def expected(command, model):
    done = subprocess.run(
        [command, "run", model, "--uart", "--max-tokens", str(TOKENS)],
        input=LINES.read_bytes(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout


def conversation(board, machine, image, sleeps):
    """(status, first line, what follows) of the lines: one that stops on its way, during which the core sleeps, the others at once."""
    begin, rest = LINES.read_bytes()[:5], LINES.read_bytes()[5:]
    with asleep.Machine(machine, image, timeout=PATIENCE) as device:
        first = device.read_line()
        device.say(begin)
        if first == b"ready\n" and device.is_asleep() != sleeps:
            raise SystemExit(f"{board}: {'does not sleep' if sleeps else 'sleeps'} while the UART is silent")
        status, output = device.finish(rest)
    return status, first, output


def missing(board):
    """The compiler of the board's core, where it is not there."""
    cores = json.loads((SOURCE / "targets" / "firmware" / "cores.json").read_text())
    compiler = cores[description(board)["core"]]["tools"] + "-gcc"
    return None if shutil.which(compiler) else compiler


def row(command, model, answers, board, work):
    """The board's line of the table. Exits where the image does not link or answers otherwise."""
    about = description(board)
    has = {name: size_of(memory["size"]) for name, memory in about["memories"].items()}
    machine = (MACHINES | BOARDS).get(board)
    cells = [board, about["core"], about["like"]]
    if board in TOO_SMALL:
        arguments = [command, "firmware", model, "--board", board, "-o", work / board, "--max-tokens", str(TOKENS)]
        done = subprocess.run([*arguments, *OPTIONS], stderr=subprocess.PIPE, check=False)
        if done.returncode != 5 or str(has["flash"]).encode() not in done.stderr:
            raise SystemExit(f"{board}: {done.returncode}: {done.stderr.decode()}")
        return [*cells, "-", has["flash"], "-", has["ram"], machine, TOO_SMALL[board]]
    build = projects.build(command, model, board, TOKENS, work / board, OPTIONS, [f"-DSTACK_BYTES={STACK}"])
    sizes = measure(build / "firmware.map")
    flash = sizes["text"] + sizes["rodata"] + sizes["data"] + sizes["model"]
    ram = sizes["data"] + sizes["bss"] + sizes["arena"] + sizes["stack"]
    cells += [flash, has["flash"] + has.get("model", 0), ram, has["ram"], machine or "-"]
    if machine is None:
        return [*cells, "linked, not run"]
    status, first, output = conversation(board, machine, build / "firmware.elf", "interrupt" in about["uart"])
    *lines, last = output.splitlines(keepends=True) or [b""]
    if status != 0 or first != b"ready\n" or not last.startswith(b"end\t"):
        raise SystemExit(f"{board}: status {status}: {(first + output).decode(errors='replace')}")
    if b"".join(lines) != answers:
        raise SystemExit(f"{board}: answers differ:\n{b''.join(lines).decode()}\nfrom\n{answers.decode()}")
    return [*cells, f"`{digest(answers)}`"]


def is_near(new, old):
    if re.fullmatch(r"\d+", new) and re.fullmatch(r"\d+", old):
        return abs(int(new) - int(old)) <= MOST_APART * int(old)
    return new == old


def told():
    """{board: its line of docs/boards.md}."""
    if not DOCUMENT.exists():
        return {}
    lines = [line.strip("|").split(" | ") for line in DOCUMENT.read_text().splitlines()]
    return {cells[0].strip(): [cell.strip() for cell in cells] for cells in lines if len(cells) == len(COLUMNS)}


def check(rows):
    """Figures in the document that are wrong."""
    old = told()
    wrong = []
    for cells in rows:
        was = old.get(cells[0], ["?"] * len(COLUMNS))
        wrong += [
            f"{cells[0]}: {name}: {new}, docs/boards.md says {before}"
            for name, new, before in zip(COLUMNS, map(str, cells), was, strict=True)
            if not is_near(new, before)
        ]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the bantam command")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--boards", default="", help="separated by ;, default: all; with --check one")
    parser.add_argument("--check", action="store_true", help="compare with docs/boards.md, write nothing")
    given = parser.parse_args()
    work = given.work.resolve() / "boards"
    work.mkdir(parents=True, exist_ok=True)
    model = work / "model.bantam"
    projects.convert(given.command, MODEL, model, *CONVERT)
    answers = expected(given.command, model)
    rows = []
    boards = given.boards or ("" if os.environ.get("BANTAM_EXHAUSTIVE") or not given.check else USUAL)
    for board in boards.split(";") if boards else all_boards():
        if compiler := missing(board):
            print(f"{board}: left out: {compiler} is not installed", flush=True)
            continue
        rows.append(row(given.command, model, answers, board, work))
        print(*rows[-1], sep=" | ", flush=True)
    if given.check:
        wrong = check(rows)
        print(*wrong, sep="\n")
        return 1 if wrong else 0
    # Rows of boards that were not asked for remain.
    found = {board: cells for board, cells in told().items() if board in all_boards()}
    found |= {cells[0]: cells for cells in rows}
    rows = [cells for _, cells in sorted(found.items())]
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(str(cell) for cell in cells) + " |" for cells in rows]
    DOCUMENT.write_text(INTRODUCTION + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
