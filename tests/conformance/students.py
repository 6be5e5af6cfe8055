#!/usr/bin/env python3
"""Makes students of golden models with `bantam student`; transformers must load them and give the same answers.

Usage: students.py BANTAM GOLDEN_DIRECTORY   (the command, tests/golden)

Token ids must be equal, and logits within 1e-4 of an f32 file's; otherwise the exit status is 1.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

TEXT = "not a good film but the music is"
LIMIT = 1e-4
CASES = (
    ("bert-classify", ("--layers", "2", "--ffn", "0.5")),
    ("bert-classify", ("--hidden", "24", "--embedding-rank", "8", "--share", "1")),
    ("bert-classify", ("--vocabulary", "TEXTS", "--layers", "importance:1", "--data", "TEXTS")),
    ("distilbert-classify", ("--layers", "last:1", "--script", "latin")),
)


def command(bantam, *arguments):
    return subprocess.run([bantam, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def difference(bantam, teacher, options, folder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    texts = folder / "texts.txt"
    texts.write_text(f"{TEXT}\na second one\n")
    student, file = folder / "student", folder / "student.bantam"
    options = [texts if option == "TEXTS" else option for option in options]
    command(bantam, "student", teacher, *options, "-o", student)
    command(bantam, "convert", student, "-o", file, "--weights", "f32", "--parity", "none")
    ours = json.loads(command(bantam, "classify", file, TEXT, "--raw"))
    encoded = AutoTokenizer.from_pretrained(student)(TEXT, return_tensors="pt")
    if encoded["input_ids"][0].tolist() != ours["ids"]:
        return float("inf")
    with torch.no_grad():
        logits = AutoModelForSequenceClassification.from_pretrained(student)(**encoded).logits[0].tolist()
    return max(abs(a - b) for a, b in zip(logits, ours["outputs"]["logits"]["data"], strict=True))


def main():
    bantam, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = False
    for name, options in CASES:
        with tempfile.TemporaryDirectory() as folder:
            worst = difference(bantam, golden / "models" / name, options, pathlib.Path(folder))
        print(f"{name} {' '.join(options)}: {worst:.2g}")
        failed = failed or not worst <= LIMIT
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
