#!/usr/bin/env python3
"""Checks every text model type of the installed transformers with each of its heads.

Usage: families.py COMMAND [--types TYPE ...] [--write [FILE]] [--all]

For each type and head, a tiny random model (tiny_models.py) is saved, converted with f32 weights, and run. Its answers
must agree with transformers' within 3e-4 of the largest value. Prints one line per failure (--all: per model), and the
counts. --write writes the table into FILE (default: docs/models.md). Exit status 1 if an answer is wrong, the command
crashes, or a type that `bantam version --families` or the table lists is refused or cannot be made; 77 if transformers
is not installed.
"""

import argparse
import collections
import itertools
import pathlib
import re
import shutil
import sys
import tempfile

try:
    import tiny_models
    import transformers
except ImportError as error:
    print(f"families.py: skipped, {error}")
    sys.exit(77)

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- families.py --write: begin -->", "<!-- families.py --write: end -->"
# Heads of known types that `bantam convert` refuses, and why.
REFUSED = {}
# Heads of known types that transformers itself cannot make or run, and why.
UNMADE = {
    ("reformer", "generate"): "a decoder (is_decoder), which reads texts without hashes of those behind",
    ("fsmt", "translate"): "with use_cache, its decoder has no causal mask where several ids come at once",
}


def judge(command, model_type, head, name, folder):
    try:
        return tiny_models.judge(command, tiny_models.make(name), head, folder)
    except tiny_models.Unmade as error:
        return tiny_models.Verdict("not made", str(error))


def table(verdicts):
    """The table's lines. Types with the same heads share a row; the cell of a head that does not convert is empty."""
    heads = list(tiny_models.HEADS)
    rows = collections.defaultdict(list)
    for model_type, group in itertools.groupby(sorted(verdicts), key=lambda key: key[0]):
        right = {head for _, head in group if verdicts[model_type, head].state == "right"}
        if right:
            rows[tuple(head in right for head in heads)].append(f"`{model_type}`")
    lines = [
        f"| `model_type` | {' | '.join(tiny_models.CLASSES[head] for head in heads)} |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for marks, types in sorted(rows.items(), key=lambda row: (-len(row[1]), row[1])):
        lines.append(f"| {', '.join(types)} | {' | '.join('yes' if mark else '' for mark in marks)} |")
    return lines


def listed_types(text):
    """The model types that the table of a document lists."""
    inside = text.partition(BEGIN)[2].partition(END)[0]
    return {name for line in inside.splitlines() if line.startswith("| `") for name in re.findall(r"`([^`]+)`", line)}


def write(path, verdicts):
    states = collections.Counter()
    for model_type in {key[0] for key in verdicts}:
        own = {verdict.state for key, verdict in verdicts.items() if key[0] == model_type}
        states["right" if "right" in own else "refused" if "refused" in own else "none"] += 1
    said = (
        f"Made with transformers {transformers.__version__}: {states['right']} of its model types for texts give its answers; {states['refused']}\n"
        "others are refused by name."
    )
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(
        "\n".join([before + BEGIN, said, "", *table(verdicts), END]) + after,
        encoding="utf-8",
    )


def failure(model_type, head, verdict, known):
    """True if a release must not have this verdict."""
    key = (model_type, head)
    if verdict.state in ("wrong", "crash"):
        return True
    return model_type in known and (
        (verdict.state == "refused" and key not in REFUSED) or (verdict.state == "not made" and key not in UNMADE)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--types", nargs="*", default=[])
    parser.add_argument("--write", type=pathlib.Path, nargs="?", const=DOCUMENT)
    parser.add_argument("--all", action="store_true", help="print a line for each model")
    options = parser.parse_args()
    command = options.command.resolve()
    known = set(tiny_models.known_types(command)) | listed_types(DOCUMENT.read_text(encoding="utf-8"))
    verdicts, failed = {}, []
    with tempfile.TemporaryDirectory() as place:
        for model_type, heads in sorted(tiny_models.classes().items()):
            if options.types and model_type not in options.types:
                continue
            for head, name in heads.items():
                folder = pathlib.Path(place) / f"{model_type}-{head}"
                verdict = verdicts[model_type, head] = judge(command, model_type, head, name, folder)
                wrong = failure(model_type, head, verdict, known)
                if wrong:
                    failed.append(f"{model_type} {head}")
                if wrong or options.all:
                    print(
                        f"{verdict.state:8} {model_type:28} {head:10} {verdict.said}",
                        flush=True,
                    )
                remove(folder)
    counts = collections.Counter(verdict.state for verdict in verdicts.values())
    print(
        f"transformers {transformers.__version__}: {', '.join(f'{count} {state}' for state, count in sorted(counts.items()))}"
    )
    if options.write:
        write(options.write, verdicts)
    if failed:
        sys.exit(f"families.py: {', '.join(failed)}")


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name(folder.name + ".bantam").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
