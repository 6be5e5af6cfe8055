"""Instructions on every Cortex-M target, in QEMU, where each takes 1 ns: of whole answers and of int8 layers. Writes them as
docs/instructions.md, or with --check compares what it measures with what stands there, and fails where they differ by more than
a fiftieth: figures in documents are those of the sources."""

import argparse
import pathlib
import re
import sys

import make_models
import projects

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(SOURCE / "targets" / "firmware"),
    str(SOURCE / "tests" / "firmware" / "bench"),
]
import bench_answers  # noqa: E402
import bench_linear  # noqa: E402
from run import MACHINES, run  # noqa: E402

DOCUMENT = SOURCE / "docs" / "instructions.md"
TOLERANCE = 0.02
INTRODUCTION = """# Instructions on microcontrollers

This page lists how many instructions answers and layers take on microcontrollers.

`./dev size` generates this page; `./dev test` (one target) and `./dev test all` check it. The figures count
instructions in QEMU, never cycles or times; [kernels](../runtime/kernels/README.md) has the cost of an instruction on a
core.

"""
TINY = SOURCE / "models" / "voice-commands-tiny"
FILES = {
    "voice-commands": (make_models.VOICE, []),
    "voice-commands, integers": (make_models.VOICE, make_models.STATIC),
    "voice-commands-tiny, integers": (TINY, make_models.STATIC),
}
# Rows of bench_linear, with weights as the target's files have them.
LAYERS = ["16 x 128 -> 512", "16 x 512 -> 128", "4 x 128 -> 512", "1 x 128 -> 512"]
KINDS = {"": "f32 out", "int8": "int8 out"}
ROW = re.compile(r" *(\d+) x +(\d+) -> +(\d+) +(|int8) +(\d+) instructions, +([\d.]+) MAC")


def answers(command, work, targets):
    """Rows (file, target, thousand instructions)."""
    for name, (source, options) in FILES.items():
        model = work / f"{re.sub('[^a-z]+', '-', name)}.bantam"
        projects.convert(command, source, model, *options)
        for target in targets:
            out = work / f"{model.stem}-{target}"
            thousand = bench_answers.answer(command, model, target, ["--block-rows", 4], out)[0]
            yield name, target, thousand


def layers(work, targets):
    """Rows (layer and what comes out, target, instructions, products an instruction)."""
    for target in targets:
        status, output = run(
            MACHINES[target],
            bench_linear.build(target, work / target),
            timeout=600,
            icount=True,
        )
        if status != 0:
            raise SystemExit(f"{target}: bench_linear: status {status}")
        parts = re.split(r"^(?=[a-z])", output.decode(), flags=re.MULTILINE)
        rows = next((part for part in parts if "(k16n1)" in part), parts[1])
        for found in filter(None, map(ROW.match, rows.splitlines())):
            layer = f"{found[1]} x {found[2]} -> {found[3]}"
            if layer in LAYERS:
                yield (
                    f"{layer}, {KINDS[found[4]]}",
                    target,
                    int(found[5]),
                    float(found[6]),
                )


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def document(whole, parts):
    return (
        INTRODUCTION
        + "## Answers\nThe figures are for the seven lines of models/voice-commands/commands.txt, from text to the answer's last byte,"
        " four\nrows at a time. Each target runs the files that `bantam firmware` makes for it.\n\n"
        + table(["file", "target", "thousand instructions"], whole)
        + "\n## int8 layers\nA layer is rows x inputs -> outputs. f32 out: as before an activation; int8 out: requantized, as between"
        " layers in\nintegers.\n\n" + table(["layer", "target", "instructions", "products an instruction"], parts)
    )


def figures(text):
    """{(what, target): instructions} of a document."""
    found = re.findall(r"^\| ([^|]+) \| ([^|]+) \| (\d+) \|", text, re.MULTILINE)
    return {(what, target): int(number) for what, target, number in found}


def stale(documented, measured):
    """Sentences on figures that are not there, or others by more than TOLERANCE."""
    for key, number in measured.items():
        name = ", ".join(key)
        if key not in documented:
            yield f"{name}: {number} instructions are in no document"
        elif abs(documented[key] - number) > TOLERANCE * number:
            yield f"{name}: {number} instructions, documented {documented[key]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, type=pathlib.Path, help="the bantam command")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="build folder")
    parser.add_argument("--targets", default=";".join(MACHINES), help="separated by ;, default: all")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    given = parser.parse_args()
    work = given.work.resolve() / "counts"
    work.mkdir(parents=True, exist_ok=True)
    targets = given.targets.split(";")
    text = document(answers(given.command.resolve(), work, targets), layers(work, targets))
    print(text)
    if not given.check:
        DOCUMENT.write_text(text)
        return 0
    differences = list(stale(figures(DOCUMENT.read_text()), figures(text)))
    for line in differences:
        print(
            "counts:",
            line,
            "(./dev size writes docs/instructions.md anew)",
            file=sys.stderr,
        )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
