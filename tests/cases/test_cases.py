"""Directories as other tools write them, and what the original libraries answer.

A case is a folder with its sources and expected.json: {"parts": [{"source", "convert": [option...], "steps": [step...]}]}.
A step has a kind, the texts, and the answers of the original, as METHODS reads them.
"""

import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

CASES = pathlib.Path(__file__).resolve().parent
COMMAND = os.environ.get("BANTAM_COMMAND", "bantam")


def cosine(a, b):
    length = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b)) / length if len(a) == len(b) and length else 0


def flat(values):
    return [number for one in values for number in flat(one)] if isinstance(values, list) else [values]


class Case(unittest.TestCase):
    def run_command(self, *words):
        return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300)

    def answers(self, *words):
        done = self.run_command(*words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def tokens(self, step, i, text):
        self.assertEqual(self.answers("tokenize", self.file, text, "--json")[0]["ids"], step["ids"][i], text)

    def embed(self, step, i, text):
        vector = self.answers("embed", self.file, text, "--json", *step.get("options", []))[0]["embedding"]
        self.assertGreater(cosine(vector, step["vectors"][i]), 0.9999, text)

    def tag(self, step, i, text):
        found = self.answers("tag", self.file, text, "--json", "--offsets", "chars")[0]["entities"]
        self.assertEqual([[one["label"], one["start"], one["end"]] for one in found], step["entities"][i], text)

    def classify(self, step, i, text):
        words = ("classify", self.file, text, "--json", "--top", "0", *step.get("options", []))
        scores = {one["label"]: one["score"] for one in self.answers(*words)[0]["labels"]}
        self.assertEqual(set(scores), set(step["labels"][i]), text)
        for label, score in step["labels"][i].items():
            self.assertAlmostEqual(scores[label], score, delta=step.get("tolerance", 1e-3), msg=text)

    def output(self, step, i, *words):
        found = flat(self.answers("run", self.file, *words, "--raw")[0]["outputs"][step["output"]]["data"])
        wanted = flat(step["values"][i])
        self.assertEqual(len(found), len(wanted), words)
        largest = max(1, *map(abs, wanted))
        for a, b in zip(found, wanted):
            self.assertAlmostEqual(a, b, delta=1e-3 * largest, msg=words)

    def raw(self, step, i, text):
        self.output(step, i, text)

    def ids(self, step, i, text):
        self.output(step, i, "--ids", text, *step.get("options", []))

    def generate(self, step, i, text):
        made = self.answers("generate", self.file, text, "--json", *step.get("options", []))[0]["generated"]
        self.assertEqual(made.strip(), step["outputs"][i].strip(), text)

    def search(self, step):
        lines, index = self.folder / "lines.txt", self.folder / "lines.index"
        lines.write_text("\n".join(step["lines"]) + "\n")
        self.assertEqual(self.run_command("index", self.file, lines, "-o", index).returncode, 0)
        words = ("search", self.file, index, step["query"], "--json", "--top", len(step["lines"]))
        found = self.answers(*words)[0]["found"]
        self.assertEqual([one["line"] for one in found], step["order"])
        for one, score in zip(found, step["scores"]):
            self.assertAlmostEqual(one["score"], score, delta=2e-2)

    def rank(self, step):
        found = self.answers("rank", self.file, step["query"], *step["lines"], "--json")[0]["found"]
        scores = {one["line"]: one["score"] for one in found}
        for i, score in enumerate(step["scores"]):
            self.assertAlmostEqual(scores[i + 1], score, delta=1e-3, msg=step["lines"][i])

    # The check for each kind of step, of each text or of the step as a whole.
    METHODS = {"tokens": tokens, "embed": embed, "tag": tag, "classify": classify, "raw": raw, "ids": ids}
    METHODS["generate"] = generate
    WHOLE = {"search": search, "rank": rank}

    def check(self, case):
        parts = json.loads((case / "expected.json").read_text())["parts"]
        self.assertTrue(parts)
        for part in parts:
            with self.subTest(part["source"]), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.file = self.folder / "model.bantam"
                words = ("convert", case / part["source"], "-o", self.file, "--weights", "f32", "--parity", "none")
                done = self.run_command(*words, *part.get("convert", []))
                if done.returncode != 0 and part.get("or_refuses"):
                    self.assertIn(done.returncode, (4, 5))
                    self.assertTrue(any(word in done.stderr.lower() for word in part["or_refuses"]), done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                for step in part["steps"]:
                    if step["kind"] in self.WHOLE:
                        self.WHOLE[step["kind"]](self, step)
                        continue
                    for i, text in enumerate(step["texts"]):
                        self.METHODS[step["kind"]](self, step, i, text)


def test_of(case):
    return lambda self: self.check(case)


for expected in sorted(CASES.glob("*/expected.json")):
    setattr(Case, f"test_{expected.parent.name.replace('-', '_')}", test_of(expected.parent))


if __name__ == "__main__":
    unittest.main()
