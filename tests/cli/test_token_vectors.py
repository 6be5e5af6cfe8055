"""ColBERT: a vector a token in the three layouts that programs write, against sentence-transformers' own scores of texts."""

import json
import math
import shutil
import unittest

from support import GOLDEN, CommandTest, model

LAYOUTS = ("colbert", "colbert-pylate", "colbert-modules")


class TokenVectors(CommandTest):
    def expected(self, name):
        return json.loads((GOLDEN / name / "scores.json").read_text())

    def vectors(self, name, text, *options):
        return self.line("embed", model(name), text, "--json", *options)["tokens"]

    def test_ranks_as_the_library_does(self):
        for name in LAYOUTS:
            expected = self.expected(name)
            for batch in ("1", "3"):
                ranked = self.line(
                    "rank", model(name), expected["query"], *expected["texts"], "--json", "--batch", batch
                )["found"]
                self.assertEqual([one["score"] for one in ranked], sorted((o["score"] for o in ranked), reverse=True))
                for one in ranked:
                    wanted = expected["scores"][one["line"] - 1]
                    self.assertAlmostEqual(one["score"], wanted, delta=1e-4, msg=(name, one["text"]))

    def test_scores_are_sums_of_the_largest_products(self):
        for name in LAYOUTS:
            expected = self.expected(name)
            query = self.vectors(name, expected["query"], "--query")
            self.assertEqual(len(query), 14)
            self.assertEqual(query[-1]["token"], "[MASK]")
            for text, score, count in zip(expected["texts"], expected["scores"], expected["vectors"], strict=True):
                document = self.vectors(name, text)
                self.assertEqual(len(document), count, text)
                self.assertFalse({",", "!", ".", "-"} & {one["token"] for one in document})
                for one in document:
                    self.assertAlmostEqual(math.hypot(*one["embedding"]), 1, places=5)
                total = sum(
                    max(sum(a * b for a, b in zip(q["embedding"], d["embedding"], strict=True)) for d in document)
                    for q in query
                )
                self.assertAlmostEqual(total, score, delta=1e-4, msg=text)

    def test_markers(self):
        query = self.vectors("colbert", "ba di", "--query")
        self.assertEqual([one["token"] for one in query[:5]], ["[CLS]", "[unused0]", "ba", "di", "[SEP]"])
        document = self.vectors("colbert", "ba di")
        self.assertEqual([one["token"] for one in document], ["[CLS]", "[unused1]", "ba", "di", "[SEP]"])
        prompted = self.vectors("colbert-modules", "ba di")
        self.assertEqual([one["token"] for one in prompted[:3]], ["[CLS]", "ti", "[UNK]"])

    def test_long_texts_are_cut(self):
        answer = self.line("embed", model("colbert"), "ko " * 30, "--json")
        self.assertTrue(answer["truncated"])
        self.assertEqual(len(answer["tokens"]), 12)
        self.assertEqual(answer["tokens"][-1]["token"], "[SEP]")
        self.fails(4, "embed", model("colbert"), "ko " * 30, "--strict", says=["does not fit"])

    def test_for_people_and_for_several_texts(self):
        shown = self.ok("embed", model("colbert"), "ba di").decode()
        self.assertIn("[unused1]", shown)
        self.assertIn("(5 vectors of 8 numbers", shown)
        several = self.lines("embed", model("colbert"), "--batch", "2", "--json", stdin=b"ba di\nko\nlu\n")
        self.assertEqual([one["text"] for one in several], ["ba di", "ko", "lu"])
        self.assertEqual(several[1]["tokens"], self.vectors("colbert", "ko"))

    def test_what_is_of_one_vector_is_refused(self):
        output = self.directory / "x"
        for code, words, arguments in (
            (5, "vectors of texts", ("index", model("colbert"), GOLDEN / "colbert/vocab.txt", "-o", output)),
            (5, "token_vectors", ("similar", model("colbert"), "ba", "di")),
            (2, "--output", ("embed", model("colbert"), "ba", "-o", output)),
            (2, "--label", ("rank", model("colbert"), "ba", "di", "--label", "x")),
            (2, "--query", ("classify", model("bert-classify"), "ba", "--query")),
            (2, "--pair", ("run", model("colbert"), "ba", "--pair", "x")),
            (5, "markers", ("firmware", model("colbert"), "--target", "cortex-m4", "-o", output)),
        ):
            self.fails(code, *arguments, says=[words])

    def convert(self, name, change, file="artifact.metadata"):
        source = self.directory / "model"
        shutil.copytree(GOLDEN / name, source)
        settings = json.loads((source / file).read_text())
        change(settings)
        (source / file).write_text(json.dumps(settings))
        try:
            return source, self.directory / "out.bantam"
        finally:
            self.addCleanup(shutil.rmtree, source, True)

    def test_settings_that_do_not_fit_name_file_and_field(self):
        modules = "config_sentence_transformers.json"
        for code, says, name, file, change in (
            (4, ["[Nowhere]"], "colbert", "artifact.metadata", {"query_token_id": "[Nowhere]"}),
            (4, ["artifact.metadata", "query_maxlen"], "colbert", "artifact.metadata", {"query_maxlen": 0}),
            (4, ["artifact.metadata", "doc_maxlen"], "colbert", "artifact.metadata", {"doc_maxlen": "long"}),
            (5, ["artifact.metadata", "similarity"], "colbert", "artifact.metadata", {"similarity": "l2"}),
            (4, ["skiplist_words"], "colbert-pylate", modules, {"skiplist_words": [1]}),
            (4, ["[Q]"], "colbert-pylate", modules, {"query_prefix": "[Q]"}),
            (5, ["use_residual"], "colbert-pylate", "1_Dense/config.json", {"use_residual": True}),
            (4, ["in_features"], "colbert-pylate", "1_Dense/config.json", {"in_features": 17}),
            (
                5,
                ["query_expansion", "strategy"],
                "colbert-modules",
                "sentence_bert_config.json",
                {"query_expansion": {"strategy": "min", "length": 9}},
            ),
            (
                5,
                ["skiplist_tasks"],
                "colbert-modules",
                "2_MultiVectorMask/config.json",
                {"skiplist_tasks": ["query", "document"]},
            ),
            (
                5,
                ["keep_only_token_ids"],
                "colbert-modules",
                "2_MultiVectorMask/config.json",
                {"keep_only_token_ids": [3]},
            ),
        ):
            with self.subTest(says=says):
                source, target = self.convert(name, lambda settings, change=change: settings.update(change), file)
                self.fails(code, "convert", source, "-o", target, says=says)
                shutil.rmtree(source)

    def test_students_keep_the_settings(self):
        for name in ("colbert", "colbert-modules"):
            student, file = self.directory / name, self.directory / "student.bantam"
            self.ok("student", GOLDEN / name, "--ffn", "0.5", "-o", student)
            self.ok("convert", student, "-o", file, "--parity", "none", "-q")
            settings = [
                self.line("inspect", f, "--json")["properties"]["late_interaction"] for f in (model(name), file)
            ]
            self.assertEqual(*settings)
            self.assertEqual(len(self.line("rank", file, "ba", "di", "ko", "--json")["found"]), 2)

    def test_without_a_tokenizer_queries_cannot_be_filled(self):
        self.fails(5, "convert", GOLDEN / "colbert", "-o", self.directory / "x", "--ids-only", says=["filled up"])

    def test_the_encoder_alone_and_any_encoder(self):
        file = self.directory / "x.bantam"
        self.ok("convert", GOLDEN / "colbert", "-o", file, "--task", "encoder", "--parity", "none", "-q")
        self.assertEqual(self.line("inspect", file, "--json")["task"], "none")
        self.ok("convert", GOLDEN / "bert-encoder", "-o", file, "--task", "token-vectors", "--parity", "none", "-q")
        tokens = self.line("embed", file, "ba di", "--json")["tokens"]
        self.assertEqual([one["token"] for one in tokens], ["[CLS]", "ba", "di", "[SEP]"])
        for one in tokens:
            self.assertAlmostEqual(math.hypot(*one["embedding"]), 1, places=4)


if __name__ == "__main__":
    unittest.main()
