"""Sparse embeddings: terms and weights as sentence-transformers' SparseEncoder gives them, by every command that takes vectors."""

import json
import unittest

from support import GOLDEN, CommandTest, model

LAYOUTS = ("splade", "splade-sum")


class Terms(CommandTest):
    def expected(self, name):
        return [json.loads(line) for line in (GOLDEN / name / "terms.jsonl").read_text().splitlines()]

    def test_are_those_of_the_library(self):
        for name in LAYOUTS:
            file = model(name)
            for expected in self.expected(name):
                terms = self.line("embed", file, expected["text"], "--json")["terms"]
                weights = [one["weight"] for one in terms]
                self.assertEqual(weights, sorted(weights, reverse=True))
                self.assertTrue(all(weight > 0 for weight in weights))
                self.assertEqual(
                    [one["term"] for one in terms],
                    [term for term, _ in expected["terms"]],
                )
                for weight, (term, wanted) in zip(weights, expected["terms"], strict=True):
                    self.assertAlmostEqual(weight, wanted, delta=2e-5, msg=term)

    def test_for_people(self):
        answer = self.ok("embed", model("splade"), "ba di ko").decode()
        self.assertRegex(answer, r"(?m)^\S+ +\d+\.\d{4}$")
        self.assertRegex(answer, r"\(\d+ terms")

    def test_similar_texts_share_terms(self):
        file = model("splade")
        a, b = (self.line("embed", file, text, "--json")["terms"] for text in ("ba di ko", "na ko"))
        other = {one["id"]: one["weight"] for one in b}
        shared = sum(one["weight"] * other.get(one["id"], 0) for one in a)
        found = self.line("similar", file, "ba di ko", "na ko", "--json")
        self.assertAlmostEqual(found["score"], shared, delta=1e-3 * shared)

    def test_an_index_is_of_vectors(self):
        texts = self.write("lines.txt", "ba\ndi\n")
        self.fails(
            5,
            "index",
            model("splade"),
            texts,
            "-o",
            texts + ".index",
            says=["inverted index"],
        )


if __name__ == "__main__":
    unittest.main()
