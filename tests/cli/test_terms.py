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

    LINES = ["na ko", "ba", "di di ko", "ba di ko", "mi", "na na na"]

    def weights(self, file, text):
        return {one["id"]: one["weight"] for one in self.line("embed", file, text, "--json")["terms"]}

    def sums(self, file, query):
        """Products of rows as long as the vocabulary, as sentence-transformers' SparseEncoder scores texts."""
        asked, vocabulary = self.weights(file, query), self.line("inspect", file, "--json")["vocabulary"]
        found = []
        for number, text in enumerate(self.LINES):
            row = self.weights(file, text)
            dense = [(asked.get(i, 0.0), row.get(i, 0.0)) for i in range(vocabulary)]
            found.append((number + 1, sum(a * b for a, b in dense)))
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def check(self, found, wanted):
        self.assertEqual([one["line"] for one in found], [line for line, _ in wanted])
        for one, (line, score) in zip(found, wanted, strict=True):
            self.assertEqual(one["text"], self.LINES[line - 1])
            self.assertAlmostEqual(one["score"], score, delta=1e-5 * abs(score) + 1e-6)

    def test_rank(self):
        for name in LAYOUTS:
            file = model(name)
            for options in ((), ("--batch", "4"), ("--batch", "1", "--threads", "2")):
                found = self.line("rank", file, "ba di ko", *self.LINES, "--json", *options)["found"]
                self.check(found, self.sums(file, "ba di ko"))
            top = self.line("rank", file, "ba di ko", *self.LINES, "--json", "--top", "2")["found"]
            self.assertEqual(top, found[:2])
            self.fails(2, "rank", file, "ba", "di", "--label", "x", says=["--label", "weights of its terms"])

    def test_an_index_of_terms(self):
        for name in LAYOUTS:
            file, index = model(name), str(self.directory / f"{name}.index")
            texts = self.write("lines.txt", "".join(line + "\n" for line in self.LINES))
            self.assertRegex(self.ok("index", file, texts, "-o", index).decode(), "6 texts, terms of [0-9]+ words")
            wanted = [one for one in self.sums(file, "ba di ko") if one[1] > 0]
            found = self.line("search", file, index, "ba di ko", "--json")["found"]
            self.check(found, wanted)
            ranked = self.line("rank", file, "ba di ko", *self.LINES, "--json")["found"]
            self.assertEqual(found, ranked[: len(found)])  # the same bits
            self.assertEqual(self.line("search", file, index, "ba di ko", "--top", "2", "--json")["found"], found[:2])
            # Taken out and added again at the end.
            self.ok("index", file, "-o", index, "--remove", "4")
            self.ok("index", file, self.write("more.txt", self.LINES[3] + "\n"), "-o", index, "--add")
            again = self.line("search", file, index, "ba di ko", "--json")["found"]
            self.assertEqual([one["score"] for one in again], [one["score"] for one in found])
            self.assertEqual(next(one["line"] for one in again if one["text"] == self.LINES[3]), 7)
            self.fails(2, "index", file, texts, "-o", index, "--compact", says=["--compact", "not rounded"])


if __name__ == "__main__":
    unittest.main()
