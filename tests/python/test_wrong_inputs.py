"""Whatever a caller passes, the answer is a value or an exception that says what is wrong; the process lives."""

import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

import bantam
from support import TEXTS, PackageTest, load, path

WRONG = [None, 1, 1.5, True, b"bytes", bytearray(b"x"), object(), {}, {"x": 1}, {"text": 1}, {"text": None},
         [None], [1], [b"x"], [["a", "b", "c"]], [("a",)], [("a", 1)], (), ("a",), ("a", "b", "c"), ("a", None),
         {"a", "b"}, range(3), float("nan"), type, print, "\ud800", ["ok", "\udfff"], ("a", "\ud800"), [{}]]  # fmt: skip
ALLOWED = (TypeError, ValueError, bantam.BantamError)


class WrongInputs(PackageTest):
    def test_texts(self):
        for name in (
            "bert-classify",
            "voice",
            "bert-answer",
            "sentence-mean",
            "bert-fill",
            "bert-choose",
            "gliner-find",
        ):
            model = load(name)
            for wrong in WRONG:
                for call in (
                    model,
                    model.encode,
                    model.logits,
                    model.tokenize,
                    model.predict,
                    model.outputs,
                    model.decode,
                ):
                    with self.subTest(model=name, wrong=repr(wrong), call=call):
                        try:
                            call(wrong)
                        except ALLOWED as error:
                            self.assertTrue(str(error))

    def test_messages(self):
        model = load("bert-classify")
        self.raises(TypeError, lambda: model(b"play"), "bytes")
        self.raises(TypeError, lambda: model(["play", 7]), "text 1", "int")
        self.raises(ValueError, lambda: model("ab\ud800"), "character 2", "surrogate")
        self.raises(ValueError, lambda: model(["x", "\ud800"]), "text 1", "surrogate")
        self.raises(ValueError, lambda: model.tokenize("\ud800"), "surrogate")
        self.raises(TypeError, lambda: load("voice")(("a", "b")), "joint", "pair")
        self.raises(TypeError, lambda: load("bert-answer")("a"), "context")
        self.raises(TypeError, lambda: model(question="a"), "context")
        error = self.raises(bantam.BantamError, lambda: model.encode("a"), "bert-classify", "not embed")
        self.assertEqual(error.name, "no_such_task")
        self.raises(bantam.BantamError, lambda: model("a", choices=["b"]), "choices")
        self.raises(bantam.BantamError, lambda: model("a", labels=["b"]), "labels")
        self.raises(bantam.BantamError, lambda: load("electra-classify")("a"), "tokenizer")

    def test_options(self):
        model = load("bert-classify")
        for name in ("top_k", "batch_size", "threads"):
            for value in (-1, 1.5, "2", 2**40, b"", True, float("nan")):
                with self.subTest(option=name, value=value):
                    self.raises((TypeError, ValueError), lambda: model(["a"], **{name: value}), name)
        for value in (0, -1, 2**31, "x", 1.5):
            self.raises((TypeError, ValueError), lambda: load("voice", max_tokens=value), "max_tokens")
            self.raises((TypeError, ValueError), lambda: model.arena_bytes(tokens=value), "tokens")
        self.raises(ValueError, lambda: load("voice", batch_size=2**31 - 1), "batch_size")
        self.raises(TypeError, lambda: model.decode(["a"]), "ids")
        self.raises(TypeError, lambda: model.decode([-1]), "ids")
        self.assertEqual(model.decode([]), "")
        self.assertEqual(model(["a"], top_k=10**6), model(["a"], top_k=0))

    def test_long_texts(self):
        for name in ("bert-classify", "voice", "static-plain", "sentence-mean"):
            model, long = load(name), "some words " * 20000
            self.assertEqual(repr(model([long, "a"])[1]), repr(model(["a"])[0]))
            self.assertTrue(model.tokenize(long).truncated or model.max_tokens == 0)

    def test_files(self):
        content = pathlib.Path(path("bert-classify")).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x.bantam")
            for mapped in (True, False):
                for part in (b"", b"x", b"GGUF" * 100, content[:100], content[: len(content) // 2], content[:-1]):
                    with open(file, "wb") as out:
                        out.write(part)
                    error = self.raises(bantam.BantamError, lambda: bantam.load(file, mapped=mapped), "x.bantam")
                    self.assertIn(error.name, ("not_a_model", "truncated", "corrupt"))
                    self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
            self.raises(FileNotFoundError, lambda: bantam.load(os.path.join(folder, "none")), "none")
            self.raises(OSError, lambda: bantam.load(folder))
            self.raises((ValueError, OSError), lambda: bantam.load("a\0b"))
            for wrong in (None, 1.5, [], object()):
                self.raises(TypeError, lambda: bantam.load(wrong))
            # Any bytes changed: a model or an exception, and a model that answers or says why not.
            chance = random.Random(7)
            for _ in range(150):
                changed = bytearray(content)
                for _ in range(chance.choice([1, 1, 3, 20])):
                    changed[chance.randrange(min(len(changed), chance.choice([200, 20000, 10**9])))] = chance.randrange(
                        256
                    )
                with open(file, "wb") as out:
                    out.write(changed)
                try:
                    model = bantam.load(file, mapped=False)
                    model(TEXTS), model.info, model.outputs("a"), model.tokenize("play")
                except ALLOWED as error:
                    self.assertTrue(str(error))

    def test_random_texts(self):
        chance = random.Random(1)
        model, tagger = load("bert-classify"), load("voice")
        for _ in range(300):
            text = "".join(chr(chance.choice([chance.randrange(1, 0xD800), chance.randrange(128), chance.randrange(0xE000, 0x110000)]))
                           for _ in range(chance.randrange(60)))  # fmt: skip
            self.assertEqual(model([text])[0], model(text))
            for slot in tagger(text)["slots"]:
                self.assertEqual(text[slot["start"] : slot["end"]], slot["word"])

    def test_conversion(self):
        environment = {**os.environ, "BANTAM_COMMAND": "", "PATH": ""}
        code = "import bantam\ntry: bantam.convert('a', 'b')\nexcept bantam.CommandNotFound as e: print(e)"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        self.assertIn(b"build/wheel/bantam_cli-*.whl", done.stdout)
        with tempfile.TemporaryDirectory() as folder:
            error = self.raises(
                bantam.ConversionFailed, lambda: bantam.convert(folder, os.path.join(folder, "out.bantam"))
            )
            self.assertIn(error.code, (3, 4, 5))
            self.assertIn("bantam: ", str(error))
            self.assertEqual(pickle.loads(pickle.dumps(error)).code, error.code)
            source = pathlib.Path(__file__).resolve().parents[2] / "models" / "voice-commands"
            out = pathlib.Path(folder) / "voice.bantam"
            report = bantam.convert(source, out, weights="int8", keep=["classifier=f32"], parity="none")
            self.assertEqual(report["schema"], "bantam.convert/1")
            self.assertEqual(bantam.load(out)("play some jazz")["intent"]["label"], "PlayMusic")


if __name__ == "__main__":
    unittest.main()
