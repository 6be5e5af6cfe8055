"""`bantam convert` of TensorFlow Lite files: answers as its interpreter has them, words and labels of the archive, and what is refused."""

import io
import json
import shutil
import struct
import unittest
import zipfile

from support import SOURCE, CommandTest, bantam, softmax

TFLITE = SOURCE / "tests" / "golden" / "tflite"
# Floats are the file's own. Of integers the interpreter rounds activations, too: by tensor, where bantam rounds them by row.
FLOATS, INTEGERS, INTEGERS_OF_NORMS = 2e-5, 0.05, 0.5


class TensorFlowLite(CommandTest):
    def converted(self, source, *more):
        """The report of a conversion."""
        out = self.directory / "out.bantam"
        return self.line("convert", source, "-o", out, "--parity", "none", "--json", *more)

    def difference(self, name, expected=None):
        path = TFLITE / f"{expected or name}.jsonl"
        expected = ("--weights", "f32", "--expect", path, "--max-label-flips", "1", "--ids-only")
        outputs = self.converted(TFLITE / f"{name}.tflite", *expected)["expected"]["outputs"]
        return max(output["largest_difference"] for output in outputs)

    def test_answers_are_those_of_the_interpreter(self):
        names = sorted(path.stem for path in TFLITE.glob("*.tflite"))
        self.assertGreater(len(names), 12)
        for name in names:
            with self.subTest(name):
                # Each operator of a norm is rounded to int8 there.
                most = INTEGERS_OF_NORMS if name == "bert-int8" else INTEGERS
                self.assertLess(self.difference(name), most if name.endswith(("-int8", "-dynamic")) else FLOATS)

    def test_norms_of_integers_are_those_of_floats(self):
        """Computed in floats, they are nearer to the model that was quantised than the interpreter's are."""
        self.assertLess(self.difference("bert-int8", "bert-f32"), 0.1)

    def test_tasks(self):
        for name, task in (("lstm-tags-f32", "tag"), ("lstm-both-f32", "multi_label"), ("bert-f32", "classify")):
            with self.subTest(name):
                self.assertEqual(self.converted(TFLITE / f"{name}.tflite", "--ids-only")["task"], task)

    def test_integers_stay(self):
        report = self.converted(TFLITE / "convolution-int8.tflite", "--ids-only")
        self.assertTrue(any("of integers 2 stay as they are" in note for note in report["notes"]))
        self.assertTrue(any("not by the file's scales" in note for note in report["notes"]))

    def test_words_and_labels_of_the_archive(self):
        """Texts are cut into words, begin with <START> and are filled up with <PAD>, all of which count."""
        path = TFLITE / "average-words-f32.tflite"
        self.converted(path, "--weights", "f32")
        model = self.directory / "out.bantam"
        ids = self.line("tokenize", model, "The film isn't GOOD, sadly", "--json")["ids"]
        self.assertEqual(ids, [1, 3, 4, 6, 7, 2] + [0] * 10)
        expected = json.loads(path.with_suffix(".jsonl").read_text().split("\n")[0])
        self.assertEqual(expected["ids"], ids)
        answer = self.line("run", model, "The film isn't GOOD, sadly", "--json")
        scores = {label["label"]: label["score"] for label in answer["labels"]}
        for name, score in zip(("negative", "neutral", "positive"), softmax(expected["logits"])):
            self.assertAlmostEqual(scores[name], score, places=5)
        inspected = self.ok("inspect", model).decode()
        self.assertIn("Films", inspected)
        self.assertIn("MIT", inspected)

    def test_files_beside_come_first(self):
        root = self.directory / "model"
        root.mkdir()
        shutil.copy(TFLITE / "average-words-f32.tflite", root / "model.tflite")
        (root / "labels.txt").write_text("one\ntwo\nthree\n")
        self.converted(root)
        self.assertIn("two", self.ok("inspect", self.directory / "out.bantam").decode())
        (root / "labels.txt").write_text("one\ntwo\n")
        out = ("-o", self.directory / "out.bantam")
        self.fails(4, "convert", root, *out, says=["names 2 labels", "3 outputs"])

    def with_archive(self, name, **entries):
        """A model with another archive behind it."""
        stream = io.BytesIO((TFLITE / "average-f32.tflite").read_bytes())
        with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
            for entry, (data, method) in entries.items():
                archive.writestr(zipfile.ZipInfo(entry.replace("_", ".")), data, method)
        path = self.directory / f"{name}.tflite"
        path.write_bytes(stream.getvalue())
        return path

    def test_archives_that_are_not_read(self):
        out = ("-o", self.directory / "out.bantam", "--parity", "none")
        bomb = self.with_archive("bomb", labels_txt=(b"a\n" * (1 << 24), zipfile.ZIP_DEFLATED))
        self.fails(4, "convert", bomb, *out, says=["bomb.tflite", "labels.txt", "compressed"])
        wide = self.with_archive("wide", labels_txt=(b"\xff\xfe", zipfile.ZIP_STORED))
        self.fails(4, "convert", wide, *out, says=["wide.tflite", "labels.txt", "UTF-8"])
        damaged = self.with_archive("damaged", labels_txt=(b"one\ntwo\nsix\n", zipfile.ZIP_STORED))
        damaged.write_bytes(damaged.read_bytes().replace(b"two\nsix", b"two\nten"))
        self.fails(4, "convert", damaged, *out, says=["damaged.tflite", "checksum"])
        # The directory of an archive says a greater size than there is.
        far = self.with_archive("far", labels_txt=(b"one\ntwo\nsix\n", zipfile.ZIP_STORED))
        data = bytearray(far.read_bytes())
        entry = data.rfind(b"PK\x01\x02")
        data[entry + 20 : entry + 28] = struct.pack("<II", 1 << 30, 1 << 30)
        far.write_bytes(data)
        self.fails(4, "convert", far, *out, says=["far.tflite", "outside"])

    def test_what_is_not_understood_is_told_at_once(self):
        """Operators by their own names: the table of operators says others."""
        data = (TFLITE / "average-f32.tflite").read_bytes()
        out = ("-o", self.directory / "out.bantam")
        path = self.directory / "other.tflite"
        # MEAN (40) becomes SVDF (27), wherever it stands as a code of one byte in front of 8 zeros.
        places = [i for i in range(len(data) - 4) if data[i : i + 4] == struct.pack("<i", 40)]
        for place in places:
            changed = data[:place] + struct.pack("<i", 80) + data[place + 4 :]
            path.write_bytes(changed)
            code, error = self.outcome(path, *out)
            if code == 5 and "FAKE_QUANT" in error:
                self.assertIn("docs/tflite.md", error)
                return
        self.fail("no code of MEAN was found")

    def outcome(self, path, *more):
        done = bantam("convert", path, *more)
        return done.returncode, done.stderr.decode(errors="replace")

    def test_what_is_no_such_file(self):
        whole = (TFLITE / "bert-f32.tflite").read_bytes()
        out = ("-o", self.directory / "out.bantam")
        for name, data in (("text", b"not such a file"), ("cut", whole[: len(whole) // 2]), ("empty", b"")):
            with self.subTest(name):
                path = self.directory / f"{name}.tflite"
                path.write_bytes(data)
                self.fails(4, "convert", path, *out, says=[path.name])

    def test_options(self):
        path = TFLITE / "average-words-f32.tflite"
        out = ("-o", self.directory / "out.bantam")
        self.fails(2, "convert", path, *out, "--tower", "text", says=["--tower"])
        self.fails(2, "convert", path, *out, "--max-tokens", "8", says=["--max-tokens 8", "filled up to 16"])


if __name__ == "__main__":
    unittest.main()
