"""Word vectors and fastText's models (docs/wordvectors.md): what takes them, against fastText's own answers, and what is refused."""

import json
import os
import pathlib
import shutil
import struct
import unittest

from support import SHARED, SOURCE, CommandTest, softmax

GOLDEN = SOURCE / "tests" / "golden" / "word_vectors"
VECTORS = {
    "the": (0.5, -1.0, 0.25),
    "train": (1.0, 2.0, -0.5),
    "leaves": (0.0, 0.75, 1.5),
    "café": (-1.0, 0.5, 0.5),
    ",": (0.125, 0.0, -0.25),
}
# Published by others, larger than what belongs here; looked for, never fetched.
LANGUAGES = pathlib.Path(os.environ.get("BANTAM_FASTTEXT_LANGUAGES", SHARED / "models" / "lid.176.ftz"))


def mean(words):
    return [sum(VECTORS[word][i] for word in words) / len(words) for i in range(3)]


def safetensors(**tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        bytes_ = struct.pack(f"<{len(values)}f", *values)
        header[name] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(bytes_)],
        }
        data += bytes_
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class WordVectors(CommandTest):
    def write(self, name, kind="glove", **config):
        directory = self.directory / name
        directory.mkdir()
        rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in VECTORS.items()]
        header = f"{len(VECTORS)} 3\n"
        if kind == "glove":
            (directory / "vectors.txt").write_text("\n".join(rows) + "\n")
        elif kind == "text":
            (directory / "vectors.vec").write_text(header + "\n".join(row + " " for row in rows) + "\n")
        else:
            rows = [word.encode() + b" " + struct.pack("<3f", *vector) + b"\n" for word, vector in VECTORS.items()]
            (directory / "vectors.bin").write_bytes(header.encode() + b"".join(rows))
        if config:
            (directory / "config.json").write_text(json.dumps({"model_type": "word-vectors", **config}))
        return directory

    def convert(self, source, *options):
        out = self.directory / f"{source.name}.bantam"
        self.ok(
            "convert",
            source,
            "-o",
            out,
            "--weights",
            "f32",
            "--parity",
            "none",
            *options,
        )
        return out

    def near(self, found, wanted, delta=1e-5):
        self.assertEqual(len(found), len(wanted))
        for one, other in zip(found, wanted, strict=True):
            self.assertAlmostEqual(one, other, delta=delta)

    def test_vectors_are_averaged(self):
        for kind in ("glove", "text", "binary"):
            with self.subTest(kind=kind):
                path = self.convert(self.write(kind, kind))
                for text, words in (
                    ("The train leaves", ["the", "train", "leaves"]),
                    ("unknown train, CAFÉ zzz", ["train", ",", "café"]),
                    ("train", ["train"]),
                ):
                    self.near(
                        self.line("embed", path, text, "--json")["embedding"],
                        mean(words),
                    )
        path = self.convert(self.write("white", "text", split="white-space", lowercase=False))
        self.near(
            self.line("embed", path, "The train, train leaves", "--json")["embedding"],
            mean(["train", "leaves"]),
        )
        path = self.convert(self.write("unit", "text", normalize=True))
        vector = mean(["the", "train"])
        length = sum(x * x for x in vector) ** 0.5
        self.near(
            self.line("embed", path, "the train", "--json")["embedding"],
            [x / length for x in vector],
        )
        path = self.convert(self.write("few", "text", max_words=2))
        self.near(
            self.line("embed", path, "the train leaves", "--json")["embedding"],
            mean(["the", "train"]),
        )

    def test_a_classifier_stands_on_the_average(self):
        weight = [1.0, -1.0, 0.5, 0.25, 2.0, -0.75]
        source = self.write("sorter", id2label={"0": "no", "1": "yes"})
        (source / "classifier.safetensors").write_bytes(safetensors(weight=([2, 3], weight), bias=([2], [0.5, -0.25])))
        path = self.convert(source)
        x = mean(["the", "train"])
        logits = [
            sum(w * v for w, v in zip(weight[3 * i : 3 * i + 3], x, strict=True)) + b for i, b in ((0, 0.5), (1, -0.25))
        ]
        answer = self.line("run", path, "the train", "--json", "--top", "0")
        found = {label["label"]: label["score"] for label in answer["labels"]}
        self.near([found["no"], found["yes"]], softmax(logits))
        data = self.directory / "data.jsonl"
        best = max(found, key=found.get)
        data.write_text(json.dumps({"text": "the train", "label": best}) + "\n")
        self.assertIn(b"100", self.ok("eval", path, data))
        self.ok("convert", source, "-o", path, "--parity", "none", "--task", "embed")
        self.assertEqual(len(self.line("embed", path, "the train", "--json")["embedding"]), 3)

    def test_a_file_stands_for_its_directory(self):
        for kind, file in (
            ("glove", "vectors.txt"),
            ("text", "vectors.vec"),
            ("binary", "vectors.bin"),
        ):
            with self.subTest(kind=kind):
                path = self.convert(self.write(f"{kind}-alone", kind) / file)
                self.near(
                    self.line("embed", path, "the train", "--json")["embedding"],
                    mean(["the", "train"]),
                )
        # Settings beside it are not passed over.
        source = self.write("with settings", "binary", normalize=True)
        said = self.fails(3, "convert", source / "vectors.bin", "-o", self.directory / "no.bantam")
        self.assertIn("name the directory that holds config.json", said)
        # Weights of another kind are what they were.
        (self.directory / "pytorch_model.bin").write_bytes(b"PK\x03\x04" + bytes(60))
        said = self.fails(
            3,
            "convert",
            self.directory / "pytorch_model.bin",
            "-o",
            self.directory / "no.bantam",
        )
        self.assertIn("name their directory", said)
        self.assertFalse((self.directory / "no.bantam").exists())

    def test_what_is_wrong_is_told_by_line(self):
        out = self.directory / "x.bantam"
        good = "a 1 2 3\nb 4 5 6\n"
        for name, text, says in (
            ("short", good + "c 7 8\n", ["line 3", "2 numbers", "not 3"]),
            ("long", good + "c 7 8 9 10\n", ["line 3", "4 numbers"]),
            ("twice", good + "a 7 8 9\n", ["line 3", '"a"', "line 1"]),
            ("nan", good + "c 7 nan 9\n", ["line 3", "column 2", "nan"]),
            ("huge", good + "c 7 1e99 9\n", ["line 3", "column 2", "1e99"]),
            ("letters", good + "c 7 x 9\nd 1 2\n", ["line 3", "line 4"]),
            ("rows", "3 3\n" + good, ["3 rows", "2 follow", "complete"]),
            ("none", "0 3\n", ["line 1"]),
            ("wide", "3 99999999\n", ["line 1"]),
        ):
            with self.subTest(name=name):
                directory = self.directory / name
                directory.mkdir()
                (directory / "x.vec").write_text(text)
                self.fails(4, "convert", directory, "-o", out, says=says)
        directory = self.write("cut", "binary")
        whole = (directory / "vectors.bin").read_bytes()
        for size in range(len(whole) - 1):
            if size in (0, 1, 2, 3) or size % 7 == 0:
                (directory / "vectors.bin").write_bytes(whole[:size])
                self.fails(3 if size < 4 else 4, "convert", directory, "-o", out)
        self.fails(
            4,
            "convert",
            self.write("other", vectors="x.vec"),
            "-o",
            out,
            says=["vectors", "x.vec"],
        )
        self.fails(
            5,
            "convert",
            self.write("split", split="letters"),
            "-o",
            out,
            says=["split", "letters"],
        )
        several = self.write("several")
        (several / "more.vec").write_text(good)
        self.fails(
            4,
            "convert",
            several,
            "-o",
            out,
            says=["vectors.txt", "more.vec", "config.json"],
        )
        self.assertFalse(out.exists())


class FastText(CommandTest):
    def check(self, path, expected, delta=1e-4, each=False):
        texts = self.directory / "texts.jsonl"
        wanted = [one for one in expected if one["labels"] and "\n" not in one["text"]]
        texts.write_text("".join(json.dumps({"text": one["text"]}) + "\n" for one in wanted))
        answers = self.lines("run", path, "--file", texts, "--json", "--top", "0")
        for answer, one in zip(answers, wanted, strict=True):
            found = {label["label"]: label["score"] for label in answer["labels"]}
            for label, score in one["labels"].items():
                self.assertAlmostEqual(found[label], min(score, 1), delta=delta, msg=(one["text"], label))
            if not each:
                self.assertEqual(
                    answer["labels"][0]["label"],
                    max(one["labels"], key=one["labels"].get),
                )

    def test_answers_are_those_of_fasttext(self):
        for directory in sorted(GOLDEN.glob("fasttext-*")):
            with self.subTest(model=directory.name):
                source = self.directory / directory.name
                shutil.copytree(directory, source)
                expected = json.loads((source / "expected.json").read_text())["texts"]
                path = self.directory / "model.bantam"
                self.ok(
                    "convert",
                    source,
                    "-o",
                    path,
                    "--weights",
                    "f32",
                    "--parity",
                    "none",
                )
                each = directory.name.endswith("each")
                # fastText reads sigmoids of one-vs-all from a table of 512 steps of 1/32.
                self.check(path, expected, 0.008 if each else 1e-4, each)
                self.ok("verify", path)
                self.ok(
                    "convert",
                    source,
                    "-o",
                    path,
                    "--weights",
                    "f32",
                    "--parity",
                    "none",
                    "--task",
                    "embed",
                )
                for one in expected:
                    if not one["text"].strip() or "</s>" in one["text"]:
                        continue
                    found = self.line("embed", path, one["text"], "--json")["embedding"]
                    for x, y in zip(found, one["vector"], strict=True):
                        self.assertAlmostEqual(x, y, delta=1e-5, msg=one["text"])

    def test_int8_answers_alike(self):
        path = self.directory / "model.bantam"
        self.ok("convert", GOLDEN / "fasttext-tree", "-o", path)
        expected = json.loads((GOLDEN / "fasttext-tree" / "expected.json").read_text())["texts"]
        self.check(path, expected, 0.05)

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        source = self.directory / "broken"
        source.mkdir()
        whole = (GOLDEN / "fasttext-pruned" / "model.ftz").read_bytes()

        def damaged(at, value):
            return whole[:at] + struct.pack("<i", value) + whole[at + 4 :]

        for name, data, code, says in (
            ("cut", whole[:900], 4, ["early", "complete"]),
            ("magic", damaged(0, 5), 4, ["not a model of fastText"]),
            ("version", damaged(4, 13), 5, ["version 13"]),
            ("width", damaged(8, -1), 4, ["columns"]),
            ("words", damaged(36, 1), 5, ["of words, not of texts", ".vec"]),
        ):
            with self.subTest(name=name):
                (source / "model.ftz").write_bytes(data)
                self.fails(code, "convert", source, "-o", out, says=says)
        (source / "model.ftz").write_bytes(whole)
        (source / "config.json").write_text('{"model_type": "word-vectors", "lowercase": true}')
        self.fails(4, "convert", source, "-o", out, says=["lowercase", "remove it"])

    @unittest.skipUnless(LANGUAGES.exists(), "lid.176.ftz is not there")
    def test_languages(self):
        source = self.directory / "languages"
        source.mkdir()
        shutil.copy(LANGUAGES, source)
        path = self.directory / "languages.bantam"
        self.ok("convert", source, "-o", path, "--weights", "f32", "--parity", "none")
        for text, language in (
            ("Guten Morgen, wie geht es dir?", "de"),
            ("où est la gare ?", "fr"),
            ("привет мир", "ru"),
        ):
            self.assertEqual(self.line("run", path, text, "--json")["labels"][0]["label"], language)


if __name__ == "__main__":
    unittest.main()
