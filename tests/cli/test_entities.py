"""ERNIE with entities: vectors of entities from published files, mentions in lines, and what is wrong with both."""

import json
import pathlib
import shutil
import unittest

from support import GOLDEN, CommandTest

NAME = "knowledge-ernie-typing"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Entities(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = self.directory / "ernie"
        shutil.copytree(GOLDEN / NAME, self.source)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS)]
        (self.source / "vocab.txt").write_text("\n".join(words) + "\n")

    def convert(self, *options, source=None):
        target = self.directory / "ernie.bantam"
        source = source or self.source
        self.ok("convert", source, "-o", target, "--weights", "f32", "--parity", "none", "--quiet", *options)
        return target

    def jsonl(self, *records):
        path = self.directory / "lines.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    def logits(self, file, ids, marks):
        arguments = ("--ids", ",".join(map(str, ids)), "--marks", ",".join(map(str, marks)))
        return self.line("run", file, *arguments)["outputs"]["logits"]["data"]

    def test_mentions_are_marks_of_their_first_tokens(self):
        file = self.convert()
        mentions = [{"start": 3, "end": 6, "id": "Q42"}, {"start": 0, "end": 2, "id": 3}]
        lines = self.jsonl({"text": "ab cde"}, {"text": "ab cde", "entities": mentions})
        without, found = self.lines("run", file, "--file", lines, "--raw")
        ids = found["ids"]
        self.assertEqual(len(ids), 7)
        self.assertEqual(found["outputs"]["logits"]["data"], self.logits(file, ids, [0, 3, 0, 7, 0, 0, 0]))
        self.assertEqual(without["outputs"]["logits"]["data"], self.logits(file, ids, [0] * 7))
        self.assertNotEqual(without["outputs"], found["outputs"])
        # Answers are made of the same; in batches, too.
        for batch in ("1", "2"):
            answers = self.lines("classify", file, "--file", lines, "--batch", batch, "--json")
            self.assertNotEqual(answers[0]["labels"], answers[1]["labels"])
        # As the second text of a pair, too.
        raw = self.lines("run", file, "--question", "ab", "--file", lines, "--raw")
        self.assertEqual(
            raw[1]["outputs"]["logits"]["data"],
            self.logits_of_pair(file, raw[1]["ids"], [0, 0, 0, 0, 3, 0, 7, 0, 0, 0]),
        )

    def logits_of_pair(self, file, ids, marks):
        segments = ",".join(["0"] * 4 + ["1"] * 6)
        arguments = ("--ids", ",".join(map(str, ids)), "--marks", ",".join(map(str, marks)), "--segments", segments)
        return self.line("run", file, *arguments)["outputs"]["logits"]["data"]

    def test_files_keep_the_entities_of_a_list(self):
        names = self.directory / "names.txt"
        names.write_text("Q42\nQ7\n")
        line = self.jsonl({"text": "ab", "entities": [{"start": 0, "end": 2, "id": "Q42"}]})
        all_of_them, two = self.convert(), self.directory / "two.bantam"
        self.ok(
            "convert", self.source, "-o", two, "--weights", "f32", "--parity", "none", "--quiet", "--entities", names
        )
        self.assertLess(two.stat().st_size, all_of_them.stat().st_size)
        answers = [self.line("run", file, "--file", line, "--raw")["outputs"] for file in (all_of_them, two)]
        self.assertEqual(*answers)
        lost = self.jsonl({"text": "ab", "entities": [{"start": 0, "end": 2, "id": "Q14"}]})
        self.fails(4, "run", two, "--file", lost, says=["no entity", "Q14"])

    def test_scores_of_data_count_mentions(self):
        file = self.convert()
        mentions = [{"start": 0, "end": 2, "id": "Q14"}]
        record = {"text": "ab cde", "entities": mentions}
        held = self.line("classify", file, "--file", self.jsonl(record), "--top", "0", "--json")["labels"]
        labels = [one["label"] for one in held if one["score"] > 0.5]
        without = self.line("classify", file, "ab cde", "--top", "0", "--json")["labels"]
        self.assertNotEqual(labels, [one["label"] for one in without if one["score"] > 0.5])
        data = self.jsonl({**record, "labels": labels})
        self.assertEqual(self.line("eval", file, data, "--json")["metrics"]["exact_match"], 1)
        self.fails(
            4, "eval", file, self.jsonl({**record, "labels": labels, "entities": "Q7"}), says=["entities", "list"]
        )

    def test_mentions_that_say_nothing(self):
        file = self.convert()
        for mention, says in (
            ({"start": 0, "end": 2, "id": "Q1"}, ["no entity", "Q1"]),
            ({"start": 0, "end": 2, "id": 10}, ["10", "1 to 9"]),
            ({"start": 0, "end": 2, "id": 0}, ["id"]),
            ({"start": 0, "end": 2}, ["id"]),
            ({"start": 0, "end": 7, "id": "Q7"}, ["end"]),
            ({"start": -1, "end": 2, "id": "Q7"}, ["start"]),
            ({"start": 2, "end": 2, "id": "Q7"}, ["ends"]),
            ("Q7", ["mention"]),
        ):
            lines = self.jsonl({"text": "ab cde", "entities": [mention]})
            self.fails(4, "run", file, "--file", lines, says=["entities", *says])
        self.fails(4, "run", file, "--file", self.jsonl({"text": "a", "entities": "Q7"}), says=["entities", "list"])

    def test_marks_that_say_nothing(self):
        file = self.convert()
        self.fails(2, "run", file, "--ids", "5,6", "--marks", "1", says=["--marks"])
        self.fails(4, "run", file, "--ids", "5,6", "--marks", "1,10", says=["--marks", "10"])
        self.fails(2, "run", file, "ab", "--marks", "1", says=["--marks", "--ids"])

    def test_sources_that_do_not_fit(self):
        def refused(code, says, *options):
            target = self.directory / "none.bantam"
            self.fails(code, "convert", self.source, "-o", target, *options, says=says)
            self.assertFalse(target.exists())

        vectors = self.source / "kg_embed" / "entity2vec.vec"
        whole = vectors.read_bytes()
        vectors.write_bytes(whole[:-30])
        refused(4, ["entity2vec.vec", "line 9", "complete"])
        vectors.write_bytes(whole)
        names = self.directory / "names.txt"
        names.write_text("Q7\nQ8\n")
        refused(4, ["names.txt", "line 2", "Q8"], "--entities", names)
        shutil.rmtree(self.source / "kg_embed")
        refused(4, ["entity2id.txt", "kg_embed"])
        pathlib.Path(self.source / "ernie_config.json").write_text("{")
        refused(4, ["ernie_config.json"])


if __name__ == "__main__":
    unittest.main()
