"""./dev size: builds firmware for every target, writes docs/size.md, and fails where targets/budgets.json says less.

Code is what the linker's map says (targets/firmware/size.py); RAM is data, bss, arena and the most of the stack that an
answer used in QEMU, with the 256 bytes for handlers."""

import argparse
import json
import pathlib
import re
import sys

import projects
from build_images import build as build_images

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "targets" / "firmware"))
from run import MACHINES, run  # noqa: E402
from size import measure  # noqa: E402

INTRODUCTION = """# Flash and RAM
Made by `./dev size`. Bytes; code is text and rodata without the model, by component from the linker's map; RAM is data, bss,
arena and the stack that answers used in QEMU, with 256 bytes for handlers. First table: the core, open with structural
verification, plan and run, when no operator, tokenizer or task is linked (tests/firmware/images/core_image.cpp). Then a
WordPiece BERT classifier, models/voice-commands, and the RAM of 2 layers x 128 wide with an int8 residual.

"""
HANDLERS = 256
# 2 layers x 128 wide, int8 residual: tokens and a target whose RAM holds them.
WIDE = [(64, "cortex-m4"), (128, "cortex-m4"), (512, "cortex-m55")]
COLUMNS = ["core", "flatbuffers", "ops", "kernels", "tokenizer", "tasks", "program", "start-up", "libc"]


def stack_used(target, elf, lines):
    status, output = run(MACHINES[target], elf, lines, timeout=300)
    last = re.search(rb"\nend\tarena \d+ of \d+\tstack (\d+) of \d+\n$", output)
    if status != 0 or last is None:
        raise SystemExit(f"{elf}: status {status}: {output.decode(errors='replace')}")
    return int(last[1])


def image(target, build, lines):
    sizes = measure(build / "firmware.map")
    used = stack_used(target, build / "firmware.elf", lines)
    sizes["stack used"] = used
    sizes["RAM"] = sizes["data"] + sizes["bss"] + sizes["arena"] + used + HANDLERS
    sizes["code"] = sizes["text"] + sizes["rodata"]
    return sizes


class Report:
    def __init__(self, budgets):
        self.budgets = budgets
        self.over = []
        self.lines = []

    def check(self, name, value):
        budget = self.budgets.get(name)
        if budget is None:
            self.over.append(f"{name}: {value} bytes, and targets/budgets.json has no budget for it")
        elif value > budget:
            self.over.append(f"{name}: {value} bytes, {value - budget} over the budget")
        return value

    def table(self, header, rows):
        self.lines.append("| " + " | ".join(header) + " |")
        self.lines.append("|" + "---|" * len(header))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")


def core_rows(report, command, targets, work):
    """The core: what open, plan and run need when nothing else is linked."""
    rows = []
    for target in targets:
        build_images(command, target, work / "models", work / target, ["core_image"])
        parts = measure(work / target / "core_image.map")["components"]
        # What was inlined in the image's main counts, and with it the few bytes of main itself.
        core = sum(parts.get(name, 0) for name in ("core", "flatbuffers", "program"))
        rest = {name: parts[name] for name in ("ops", "kernels", "tokenizer", "tasks") if parts.get(name)}
        report.check(f"core {target}", core)
        rows.append(
            [target, core, ", ".join(f"{name} {size}" for name, size in rest.items()) or "nothing", parts["libc"]]
        )
    report.table(["target", "core", "else of the runtime", "libc"], rows)


def image_rows(report, name, images):
    rows = []
    for target, sizes in images.items():
        report.check(f"code {name} {target}", sizes["code"])
        report.check(f"stack {name} {target}", sizes["stack used"])
        parts = [sizes["components"].get(column, 0) for column in COLUMNS]
        memory = [sizes[key] for key in ("data", "bss", "stack used", "arena", "RAM")]
        rows.append([target, sizes["code"], sizes["text"], sizes["rodata"], *parts, sizes["model"], *memory])
    header = ["target", "code", "text", "rodata", *COLUMNS, "model", "data", "bss", "stack", "arena", "RAM"]
    report.table(header, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--targets", required=True, help="separated by ;")
    given = parser.parse_args()
    work = given.work.resolve() / "size"
    targets = given.targets.split(";")
    models = work / "models"
    models.mkdir(parents=True, exist_ok=True)
    voice, classify, tiny = models / "voice.bantam", models / "classify.bantam", models / "tiny.bantam"
    projects.convert(given.command, SOURCE / "models" / "voice-commands", voice)
    projects.convert(given.command, projects.GOLDEN / "bert-classify", classify)
    projects.convert(given.command, projects.GOLDEN / "bert-tag", tiny)
    projects.wide_model(models / "wide")
    projects.convert(given.command, models / "wide", models / "wide.bantam", "--residual", "i8")
    commands = (SOURCE / "models" / "voice-commands" / "commands.txt").read_bytes()

    report = Report(json.loads((SOURCE / "targets" / "budgets.json").read_text()))
    core_rows(report, given.command, targets, work)
    for name, model, lines in [("classify", classify, b"a joy to watch\n"), ("voice", voice, commands)]:
        images = {}
        for target in targets:
            build = projects.build(given.command, model, target, 0, work / f"{name}-{target}")
            images[target] = image(target, build, lines)
        image_rows(report, name, images)
    rows = []
    for tokens, target in WIDE:
        build = projects.build(given.command, models / "wide.bantam", target, tokens, work / f"wide-{tokens}")
        sizes = image(target, build, b"a " * 250 + b"\n")
        report.check(f"RAM 2x128 {tokens} tokens", sizes["RAM"])
        rows.append([tokens, target, *(sizes[key] for key in ("data", "bss", "stack used", "arena", "RAM"))])
    report.table(["tokens", "target", "data", "bss", "stack", "arena", "RAM"], rows)

    text = "\n".join(report.lines)
    print(text)
    given.out.write_text(INTRODUCTION + text)
    for line in report.over:
        print("over:", line, file=sys.stderr)
    return 1 if report.over else 0


if __name__ == "__main__":
    sys.exit(main())
