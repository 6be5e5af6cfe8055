"""./dev size: builds firmware for every target, writes docs/size.md, and fails where targets/budgets.json says less.

Code is what the linker's map says (targets/firmware/size.py); RAM is data, bss, arena, the most of main's stack that an
answer used in QEMU, and the handlers' stack."""

import argparse
import json
import pathlib
import re
import sys

import make_models
import projects
from build_images import build as build_images

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "targets" / "firmware"))
from run import MACHINES, run  # noqa: E402
from size import measure  # noqa: E402

INTRODUCTION = """# Flash and RAM

This page lists the flash and RAM that firmware images take, by part.

`./dev size` generates this page. All figures are bytes. Code is text and rodata without the model, by the source file
of each instruction and constant, wherever it was inlined (unnamed: strings, tables of switches). RAM is data, bss,
arena, the part of main's stack that an answer used in QEMU, and the handlers' stack. targets/budgets.json has the
limits.

"""
COLUMNS = ["core", "flatbuffers", "ops", "kernels", "tokenizer", "tasks", "program", "start-up", "libc", "unnamed"]
MEMORY = ["data", "bss", "stack", "handlers", "arena", "RAM"]
# The classifier: 2 layers x 128 wide, int8 weights and residual. Tokens, and a target whose RAM holds them.
CODE_TOKENS = 64
WIDE = [(64, "cortex-m4"), (128, "cortex-m4"), (512, "cortex-m55")]
LINE = b"a " * 250 + b"\n"  # as long as a line of the example may be


def stacks(target, elf, lines):
    """Bytes that main used of its stack, and bytes that it has."""
    status, output = run(MACHINES[target], elf, lines, timeout=300)
    last = re.search(rb"\nend\tarena \d+ of \d+\tstack (\d+) of (\d+)\n$", output)
    if status != 0 or last is None:
        raise SystemExit(f"{elf}: status {status}: {output.decode(errors='replace')}")
    return int(last[1]), int(last[2])


def image(target, build, lines):
    sizes = measure(build / "firmware.map")
    used, size = stacks(target, build / "firmware.elf", lines)
    sizes["stack used"] = used
    sizes["handlers"] = sizes["stack"] - size  # with the guard
    sizes["RAM"] = sizes["data"] + sizes["bss"] + sizes["arena"] + used + sizes["handlers"]
    sizes["code"] = sizes["text"] + sizes["rodata"]
    return sizes


class Report:
    """Tables, and which of their figures are over a budget of `budgets` ({name: bytes})."""

    def __init__(self, budgets):
        self.budgets = budgets
        self.checked = set()
        self.over = []
        self.lines = []

    def check(self, name, value):
        budget = self.budgets.get(name)
        self.checked.add(name)
        if budget is None:
            self.over.append(f"{name}: {value} bytes, and targets/budgets.json has no budget for it")
        elif value > budget:
            self.over.append(f"{name}: {value} bytes, {value - budget} over the budget")

    def failures(self):
        """Figures over a budget, and budgets that no figure was compared with."""
        return self.over + [f"{name}: not measured" for name in self.budgets if name not in self.checked]

    def title(self, text):
        self.lines += [f"## {text}", ""]

    def table(self, header, rows):
        self.lines.append("| " + " | ".join(header) + " |")
        self.lines.append("|" + "---|" * len(header))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")


def core_rows(report, command, targets, work):
    report.title("The core: open with structural verification, plan, run")
    report.lines += [
        "No kernel, operator rule, tokenizer or task is linked (tests/firmware/images/core_image.cpp).",
        "",
    ]
    rows = []
    for target in targets:
        build_images(command, target, work / "models", work / target, ["core_image"])
        parts = measure(work / target / "core_image.map")["components"]
        core = sum(parts.get(name, 0) for name in ("core", "flatbuffers"))
        rest = [f"{name} {parts[name]}" for name in ("ops", "kernels", "tokenizer", "tasks") if parts.get(name)]
        report.check(f"core {target}", core)
        rows.append([target, core, ", ".join(rest) or "nothing", parts.get("libc", 0)])
    report.table(["target", "core", "else of the runtime", "libc"], rows)


def memory(sizes):
    return [sizes[key] for key in ("data", "bss", "stack used", "handlers", "arena", "RAM")]


def image_tables(report, name, images):
    """Code by part, then memory, of {target: sizes}."""
    code = []
    for target, sizes in images.items():
        report.check(f"code {name} {target}", sizes["code"])
        report.check(f"stack {name} {target}", sizes["stack used"])
        parts = [sizes["components"].get(column, 0) for column in COLUMNS]
        code.append([target, sizes["code"], sizes["text"], sizes["rodata"], *parts, sizes["model"]])
    report.table(["target", "code", "text", "rodata", *COLUMNS, "model"], code)
    report.table(["target", *MEMORY], [[target, *memory(sizes)] for target, sizes in images.items()])


def wide_rows(report, command, targets, work):
    """The classifier on every target, and its least RAM for several lengths."""
    model = work / "models" / "wide.bantam"
    images = {}
    for target in targets:
        build = projects.build(command, model, target, CODE_TOKENS, work / f"wide-{target}")
        images[target] = image(target, build, LINE)
    report.title(f"A WordPiece BERT classifier: 2 layers x 128 wide, int8, int8 residual, {CODE_TOKENS} tokens")
    image_tables(report, "classifier", images)
    rows = []
    for tokens, target in WIDE:
        build = projects.build(command, model, target, tokens, work / f"narrow-{target}", ["--block-rows", "1"])
        sizes = image(target, build, LINE)
        report.check(f"RAM 2x128 {tokens} tokens", sizes["RAM"])
        rows.append([tokens, target, *memory(sizes)])
    report.title("Its RAM with `--block-rows 1`")
    report.table(["tokens", "target", *MEMORY], rows)


def voice_rows(report, command, target, work):
    commands = (SOURCE / "models" / "voice-commands" / "commands.txt").read_bytes()
    build = projects.build(command, work / "models" / "voice.bantam", target, 0, work / f"voice-{target}")
    report.title("models/voice-commands: intent and slots")
    image_tables(report, "voice", {target: image(target, build, commands)})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--targets", default=";".join(MACHINES), help="separated by ;, default: all")
    given = parser.parse_args()
    work = given.work.resolve() / "size"
    targets = given.targets.split(";")
    models = work / "models"
    models.mkdir(parents=True, exist_ok=True)
    for name, arguments in make_models.MODELS.items():
        make_models.convert(given.command, models / f"{name}.bantam", *arguments)
    projects.wide_model(models / "wide")
    projects.convert(given.command, models / "wide", models / "wide.bantam", "--residual", "i8")

    report = Report(json.loads((SOURCE / "targets" / "budgets.json").read_text()))
    core_rows(report, given.command, targets, work)
    wide_rows(report, given.command, targets, work)
    voice_rows(report, given.command, "cortex-m4", work)

    text = "\n".join(report.lines)
    print(text)
    given.out.write_text(INTRODUCTION + text)
    for line in report.failures():
        print("size:", line, file=sys.stderr)
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
