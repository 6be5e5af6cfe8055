"""Recurrent taggers and classifiers (docs/recurrent.md): every command that takes other models, and what is refused."""

import json
import pathlib
import shutil
import unittest

from support import CommandTest

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "models"


class Recurrent(CommandTest):
    def copy(self, name, **settings):
        directory = self.directory / name
        shutil.copytree(GOLDEN / name, directory)
        config = json.loads((directory / "config.json").read_text())
        config.update(settings)
        (directory / "config.json").write_text(json.dumps(config))
        return directory

    def test_tags_words(self):
        path = self.directory / "tag.bantam"
        self.ok("convert", GOLDEN / "recurrent-tag", "-o", path, "--parity", "none")
        text = "Ba nothing dier ko ba"
        answer = self.line("tag", path, text, "--json")
        for entity in answer["entities"]:
            self.assertEqual(text[entity["start"] : entity["end"]], entity["text"])
        self.assertEqual(self.line("run", path, text, "--json")["entities"], answer["entities"])
        data = self.directory / "data.jsonl"
        words = text.split()
        data.write_text(json.dumps({"tokens": words, "tags": ["O"] * len(words)}) + "\n")
        self.assertIn("f1", self.ok("eval", path, data, "--json").decode())
        shown = self.ok("inspect", path, "--ops").decode()
        self.assertIn("Recurrent", shown)
        self.ok("report", path, "-o", self.directory / "page.html")
        self.ok("bench", path, "--seq", "8", "--repetitions", "1", "--per-op", "--json")

    def test_answers_are_the_librarys(self):
        for name in ("recurrent-classify", "recurrent-tag-crf", "recurrent-joint"):
            with self.subTest(model=name):
                path = self.directory / f"{name}.bantam"
                self.ok("convert", GOLDEN / name, "-o", path, "--weights", "f32", "--parity", "none")
                for line in (GOLDEN / name / "expected.jsonl").read_text().splitlines():
                    expected = json.loads(line)
                    raw = json.loads(self.ok("run", path, "--ids", ",".join(map(str, expected.pop("ids")))))
                    for output, values in expected.items():
                        flat = sum(values, []) if isinstance(values[0], list) else values
                        self.assertEqual(len(raw["outputs"][output]["data"]), len(flat))
                        for found, wanted in zip(raw["outputs"][output]["data"], flat):
                            self.assertAlmostEqual(found, wanted, delta=2e-4)

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        for settings, code, says in (
            ({"cell_type": "rnn"}, 5, ['"rnn"', '"lstm" and "gru"']),
            ({"hidden_size": 12}, 4, ["lstm.weight_hh_l0"]),
            ({"num_layers": 3}, 4, ["lstm.weight_ih_l2"]),
            ({"num_layers": 0}, 4, ["num_layers"]),
            ({"hidden_size": None}, 4, ["hidden_size"]),
            ({"proj_size": 40}, 4, ["proj_size", "hidden_size"]),
            ({"pooling": "first"}, 5, ['"first"', '"max"']),
        ):
            with self.subTest(settings=settings):
                source = self.copy("recurrent-classify", **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
                shutil.rmtree(source)
        source = self.copy("recurrent-tag-crf", proj_size=4)
        self.fails(4, "convert", source, "-o", out, says=["proj_size", "torch.nn.GRU"])
        tag = GOLDEN / "recurrent-tag"
        corpus = self.directory / "corpus.txt"
        corpus.write_text("ba di ko\n" * 20)
        static = ("--activations", "static", "--calibrate", corpus)
        self.fails(5, "convert", tag, "-o", out, *static, says=["Recurrent"])
        student = ("student", tag, "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["they are recurrent"])
        self.fails(5, *student, "--vocabulary", corpus, says=["WordPiece"])

    def test_static_embeddings_lose_words_too(self):
        corpus = self.directory / "corpus.txt"
        corpus.write_text("ba di ko\n")
        student = self.directory / "student"
        self.ok("student", GOLDEN / "static-mapped", "-o", student, "--vocabulary", corpus)


if __name__ == "__main__":
    unittest.main()
