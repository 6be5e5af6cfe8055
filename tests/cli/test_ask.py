"""ask: answers from the texts of an index are those of the reader, of the texts that search finds, and what is refused."""

import math
import shutil
import unittest

from support import CommandTest, model

TEXTS = ["ba di ko", "ko", "di ba ba ko lu", "lu", "ko ko ba", "täst ba ba"]


class Ask(CommandTest):
    def setUp(self):
        super().setUp()
        self.index = self.directory / "lines.index"
        self.texts = self.write("lines.txt", "\n".join(TEXTS) + "\n")
        self.ok("index", model("sentence-mean"), self.texts, "-o", self.index)

    def ask(self, *arguments, **options):
        return self.lines(*self.command(*arguments), "--json", **options)

    def command(self, *arguments):
        return ("ask", self.index, *arguments, "--reader", model("bert-answer"), "--model", model("sentence-mean"))

    def test_answers_are_the_readers(self):
        for question in ("ba", "ko lu", "täst"):
            asked = self.ask(question, "--passages", "4", "--top", "0")[0]
            self.assertEqual((asked["question"], asked["passages"]), (question, 4))
            near = self.line("search", model("sentence-mean"), self.index, question, "--top", "4", "--json")["found"]
            lines = {one["line"]: one["score"] for one in near}
            self.assertTrue(asked["answers"])
            for one in asked["answers"]:
                self.assertAlmostEqual(lines[one["line"]], one["similarity"], places=6)
                self.assertEqual(one["text"], TEXTS[one["line"] - 1])
                self.assertEqual(one["text"].encode()[one["start"] : one["end"]].decode(), one["answer"])
                read = self.line(
                    "answer", model("bert-answer"), "--question", question, "--context", one["text"], "--json"
                )
                self.assertEqual((read["answer"], read["start"]), (one["answer"], one["start"]))
            scores = [one["score"] for one in asked["answers"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertLessEqual(sum(scores), 1 + 1e-6)

    def test_ids_and_conditions(self):
        rows = [f"t{i},{text},{'ab'[i % 2]}" for i, text in enumerate(TEXTS)]
        table = self.write("texts.csv", "\n".join(["key,text,team", *rows]) + "\n")
        self.ok("index", model("sentence-mean"), table, "-o", self.index, "--id", "key", "--keep", "team")
        (asked,) = self.ask("ba", "--passages", "6", "--top", "0", "--where", "team=a")
        self.assertEqual(asked["passages"], 3)
        for one in asked["answers"]:
            self.assertIn(one["id"], ("t0", "t2", "t4"))
            self.assertEqual(one["text"], TEXTS[int(one["id"][1:])])
        self.assertIn(f"\n{asked['answers'][0]['id']}: ", self.ok(*self.command("ba", "--where", "team=a")).decode())
        self.fails(2, *self.command("ba", "--where", "tean=a"), says=["it has team"])

    def test_scores_are_of_all_texts_together(self):
        """exp(logit of a span) over the sum of all spans': of one text alone its own probability."""
        one = self.ask("ba", "--passages", "1")[0]["answers"][0]
        read = self.line("answer", model("bert-answer"), "--question", "ba", "--context", one["text"], "--json")
        self.assertAlmostEqual(one["score"], read["score"], places=4)
        all_of_them = {a["line"]: a for a in self.ask("ba", "--passages", "6", "--top", "0")[0]["answers"]}
        self.assertLess(all_of_them[one["line"]]["score"], one["score"])
        # The ratio of two answers is that of the exponentials of their logits, whatever else is read.
        few = {a["line"]: a for a in self.ask("ba", "--passages", "3", "--top", "0")[0]["answers"]}
        both = sorted(few)[:2]
        ratio = [math.log(found[both[0]]["score"] / found[both[1]]["score"]) for found in (few, all_of_them)]
        self.assertAlmostEqual(*ratio, places=3)

    def test_streams_and_places(self):
        questions = self.write("questions.txt", "ba\nko\n")
        self.assertEqual([one["question"] for one in self.ask("--file", questions)], ["ba", "ko"])
        piped = self.lines(*self.command(), "--json", stdin=b"ba\nko\n")
        self.assertEqual(len(piped), 2)
        for unit in ("bytes", "chars"):
            for one in self.ask("täst ba", "--top", "0", "--passages", "6", "--offsets", unit)[0]["answers"]:
                text = one["text"].encode() if unit == "bytes" else one["text"]
                found = text[one["start"] : one["end"]]
                self.assertEqual(found.decode() if unit == "bytes" else found, one["answer"])
        shown = self.ok(*self.command("ba", "--top", "2")).decode()
        self.assertEqual(shown.count("line "), 2)

    def test_finds_the_model_beside_the_index(self):
        shutil.copy(model("sentence-mean"), self.directory / "sentence-mean.bantam")
        answers = self.lines("ask", self.index, "ba", "--reader", model("bert-answer"), "--json")
        self.assertEqual(answers, self.ask("ba"))

    def test_what_is_refused(self):
        for code, says, arguments in (
            (2, "--reader", ("ask", self.index, "ba")),
            (3, "--model", ("ask", self.index, "ba", "--reader", model("bert-answer"))),
            (
                4,
                "another model",
                ("ask", self.index, "ba", "--reader", model("bert-answer"), "--model", model("minilm-multilingual")),
            ),
            (
                5,
                "answers questions",
                ("ask", self.index, "ba", "--reader", model("bert-tag"), "--model", model("sentence-mean")),
            ),
            (3, "none.index", ("ask", self.directory / "none.index", "ba", "--reader", model("bert-answer"))),
            (4, "lines.txt", ("ask", self.texts, "ba", "--reader", model("bert-answer"))),
            (2, "--passages", self.command("ba", "--passages", "0")),
            (2, "no question", self.command()),
        ):
            with self.subTest(says=says):
                self.fails(code, *arguments, says=[says])


if __name__ == "__main__":
    unittest.main()
