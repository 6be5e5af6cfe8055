"""A model's life: opened, shared by threads and processes, pickled, closed; batches and streams give the bits of single calls."""

import copy
import multiprocessing
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import bantam
from support import TEXTS, PackageTest, command, load, of_task, path

MANY = [f"{text} {i}" for i in range(40) for text in TEXTS]


def answer_in_child(name, texts):
    return bantam.load(path(name))(texts)


class Life(PackageTest):
    def test_batches_have_the_bits_of_single_calls(self):
        for name in ("voice", "bert-classify", "bert-tag"):
            model = load(name)
            alone = [model(text) for text in MANY]
            for options in ({}, {"batch_size": 1}, {"batch_size": 7}, {"threads": 3}, {"batch_size": 5, "threads": 2}):
                self.assertEqual(model(MANY, **options), alone, (name, options))
            self.assertEqual(load(name, max_tokens=200, batch_size=3)(MANY), alone)
            self.assertEqual(load(name, mapped=False)(MANY), alone)
            self.assertEqual(list(model(iter(MANY), threads=2)), alone)

    def test_streams_are_read_as_they_are_asked_for(self):
        model, taken = load("bert-classify"), []

        def texts():
            for i in range(10**6):
                taken.append(i)
                yield f"text {i}"

        stream = model(texts(), batch_size=4)
        first = [next(stream) for _ in range(3)]
        self.assertEqual(first, model([f"text {i}" for i in range(3)]))
        self.assertLess(len(taken), 1000)
        stream.close()
        self.assertEqual(list(model(iter([]))), [])
        self.assertEqual(model([]), [])

    def test_threads(self):
        model = load("voice")
        alone, found = model(MANY[:40]), {}
        threads = [
            threading.Thread(target=lambda i=i: found.update({i: [model(text) for text in MANY[:40]]}))
            for i in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {i: alone for i in range(6)})
        self.assertLessEqual(len(model._sessions.free), 6)

    def test_processes(self):
        alone = load("voice")(TEXTS)
        model = load("voice")
        model(TEXTS)
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            with context.Pool(2) as pool:
                self.assertEqual(pool.starmap(answer_in_child, [("voice", TEXTS)] * 4), [alone] * 4)
                self.assertEqual(pool.map(model, [TEXTS] * 4), [alone] * 4)  # pickled by its path
        # A child goes on with what its parent had, and neither sees the other's runs.
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            good = model(TEXTS) == alone and model(["other"] * 40) is not None and model(TEXTS, threads=2) == alone
            os.write(writing, b"y" if good else b"n")
            os._exit(0)
        self.assertEqual(model(TEXTS), alone)
        self.assertEqual(os.read(reading, 1), b"y")
        os.waitpid(child, 0)

    def test_pickles(self):
        model = load("voice", batch_size=3)
        for again in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
            self.assertEqual(again(TEXTS), model(TEXTS))
            self.assertEqual(again._sessions.sequences, 3)
        model.close()
        self.raises(ValueError, lambda: pickle.dumps(model), "closed")
        error = bantam.BantamError(7, "somewhere", "a rule")
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_a_pickle_takes_no_other_file(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "current.bantam"
            place.write_bytes(pathlib.Path(path("voice")).read_bytes())
            model = bantam.load(place)
            stored = pickle.dumps(model)
            self.assertEqual(model.digest, load("voice").digest)
            self.assertEqual(bantam.load(place, digest=model.digest)(TEXTS), model(TEXTS))
            os.replace(shutil.copy(path("bert-classify"), folder), place)
            self.raises(bantam.ModelChanged, lambda: pickle.loads(stored), "replaced")
            self.raises(bantam.ModelChanged, lambda: bantam.load(place, digest=model.digest), model.digest)
            other = bantam.load(place)
            self.assertNotEqual(pickle.dumps(other), stored)  # what caches hash
            error = bantam.ModelChanged("a", "b", "c")
            self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_closed(self):
        model = load("voice")
        with model:
            model("play")
        for call in (
            lambda: model("play"),
            lambda: model(["play"]),
            lambda: model.tokenize("play"),
            lambda: model.logits(["play"]),
            lambda: model.outputs("play"),
            lambda: model.encode("play"),
            lambda: model.labels,
            lambda: model.info,
            lambda: model.decode([1]),
            lambda: model.arena_bytes(),
        ):
            self.raises(ValueError, call, "closed")
        self.assertIn("closed", repr(model))
        model.close()

    def test_a_file_that_is_closed_while_it_runs_runs_to_its_end(self):
        for _ in range(5):
            model, found = load("voice"), []

            def ask(model=model):
                try:
                    found.append(model(MANY))
                except ValueError as error:  # closed before it began
                    found.append(str(error))

            thread = threading.Thread(target=ask)
            thread.start()
            model.close()
            del model
            thread.join()
            self.assertIn(found, ([load("voice")(MANY)], ["the model is closed"]))

    def test_what_it_says_of_itself(self):
        model = load("voice")
        self.assertEqual(model.task, "joint")
        self.assertEqual(model.label_sets["labels"], model.labels)
        self.assertIn("PlayMusic", model.labels)
        self.assertEqual(model.path, os.path.abspath(path("voice")))
        self.assertGreater(model.arena_bytes(tokens=128, sequences=32), model.arena_bytes(tokens=16))
        self.assertEqual(bantam.load(pathlib.Path(path("voice"))).info, model.info)
        self.assertIn("voice.bantam", repr(model))
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(bantam.__file__), "py.typed")))

    def test_tokens(self):
        for name in [*of_task("classify"), *of_task("fill"), "voice", "static-plain"]:
            model = load(name)
            for text in TEXTS:
                found = model.tokenize(text)
                self.assertEqual(len({len(found), len(found.tokens), len(found.offsets), len(found.byte_offsets)}), 1)
                for (begin, end), (first, last) in zip(found.offsets, found.byte_offsets):
                    self.assertEqual(len(text.encode()[:first].decode("utf-8", "ignore")), begin)
                    self.assertEqual(len(text.encode()[:last].decode("utf-8", "ignore")), end)
                if "\0" not in text and not found.truncated:  # the command knows no limit of the model's
                    (expected,) = command("tokenize", path(name), "--json", text)
                    ids = expected.get("ids") or [one["id"] for one in expected["tokens"]]
                    self.assertEqual(found.ids, ids)
            self.assertEqual(model.tokenize("a b", max_tokens=3).truncated, len(model.tokenize("a b")) > 3)
        model = load("voice")
        self.assertEqual(model.tokenize("a").sequence, [None, 0, None])
        self.assertEqual(model.tokenize("a", add_special_tokens=False).sequence, [0])
        self.assertEqual(model.tokenize("a", "b").sequence, [None, 0, None, 1, None])
        self.assertEqual(model.decode(model.tokenize("play some jazz").ids), "play some jazz")
        self.assertIn("[CLS]", model.decode(model.tokenize("play").ids, skip_special_tokens=False))

    def test_imports_alone(self):
        """Neither NumPy nor what takes long to import comes with the package."""
        code = "import sys; before = set(sys.modules); import bantam; print(*sorted(set(sys.modules) - before))"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"],
                                  cwd=folder, capture_output=True, check=True)  # fmt: skip
        loaded = set(done.stdout.decode().split())
        self.assertIn("bantam.model", loaded)
        for heavy in ("numpy", "typing", "json", "subprocess", "dataclasses", "concurrent.futures", "threading"):
            self.assertNotIn(heavy, loaded)


if __name__ == "__main__":
    unittest.main()
