"""The language model of Bengio et al. (docs/nplm.md): what it makes of texts, how likely they are to it, and what is refused."""

import json
import unittest

from support import GOLDEN, CommandTest, model

NAME = "nplm-generate-text"


def cases():
    return [json.loads(line) for line in (GOLDEN / NAME / "texts.jsonl").read_text().splitlines()]


class Nplm(CommandTest):
    def test_answers_are_those_of_the_paper(self):
        for name in (NAME, "nplm-generate", "nplm-generate-newest", "nplm-generate-zeros", "nplm-classify"):
            with self.subTest(model=name):
                self.answers(name, model(name))

    def test_texts_go_on_and_are_as_likely_as_in_the_paper(self):
        for case in cases():
            made = self.line("generate", model(NAME), case["text"], "--max-new", "8", "--json")
            self.assertEqual(made["generated"].split(), case["continuation"].split())
            found = self.line("perplexity", model(NAME), case["text"], "--json")
            self.assertAlmostEqual(found["perplexity"], case["perplexity"], delta=1e-3 * case["perplexity"])

    def test_batches_beams_and_images_go_on(self):
        texts = self.write("texts.txt", "".join(case["text"] + "\n" for case in cases()))
        expected = [case["continuation"] for case in cases()]
        for options in (["--batch", "3"], ["--batch", "1", "--threads", "2"]):
            shown = self.ok("complete", model(NAME), "--file", texts, "--max-new", "8", *options).decode()
            self.assertEqual([line.split()[-8:] for line in shown.splitlines()], [text.split() for text in expected])
        lines = "".join(case["text"] + "\n" for case in cases()).encode()
        answers = self.ok("run", model(NAME), "--uart", "--max-tokens", "24", stdin=lines).decode().splitlines()
        for text, answer in zip(expected, answers, strict=True):
            self.assertEqual(answer.split("\t")[1].split()[:8], text.split())
        text = cases()[0]["text"]
        greedy = self.line("generate", model(NAME), text, "--max-new", "6", "--json", "--log-probs")
        beams = self.line("generate", model(NAME), text, "--max-new", "6", "--beams", "4", "--json")
        self.assertGreaterEqual(beams["score"], sum(greedy["log_probabilities"]) / len(greedy["ids"]) - 1e-5)
        answer = self.line(
            *("firmware", model(NAME), "--target", "cortex-m4", "--max-tokens", "24", "-o", self.directory / "p"),
            "--json",
        )
        for word in ("unfold", "contexts", "decode"):
            self.assertIn(word, answer["linked"])
        self.assertNotIn("attention", answer["linked"])
        self.assertNotIn("join", answer["linked"])

    def test_int8_passes_the_gate(self):
        out = self.directory / "small.bantam"
        report = self.line("convert", GOLDEN / NAME, "-o", out, "--json")
        self.assertNotIn("gate_failures", [key for key, value in report.items() if value == []])
        shown = self.ok("inspect", out, "--ops").decode()
        for kind in ("Unfold", "Linear"):
            self.assertIn(kind, shown)
        self.ok("report", out, "-o", self.directory / "page.html")
        self.ok("bench", out, "--prompt", "4", "--generate", "4", "--repetitions", "1", "--json")

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"

        def without(name):
            return lambda held: held.pop(name)

        for name, tensors, settings, code, says in (
            ("generate", None, {"context_size": None}, 4, ["context_size"]),
            ("generate", None, {"context_size": 65}, 4, ["context_size", "64"]),
            ("generate", None, {"context_size": 3}, 4, ["hidden.weight", "[23, 44]", "[23, 33]", "direct.weight"]),
            ("generate", None, {"hidden_size": None}, 4, ["hidden_size"]),
            ("generate", None, {"hidden_size": 24}, 4, ["hidden.weight", "output.weight"]),
            ("generate", None, {"pad_token_id": 61}, 4, ["pad_token_id", "61"]),
            ("generate", None, {"context_order": "random"}, 5, ['"random"', '"oldest_first" and "newest_first"']),
            ("generate", None, {"activation": "maxout"}, 5, ['"maxout"']),
            ("generate", None, {"tie_word_embeddings": True}, 5, ["tie_word_embeddings"]),
            ("generate", without("output.weight"), {}, 4, ["output.weight", "missing"]),
            ("generate", without("hidden.weight"), {}, 4, ["hidden.weight", "missing"]),
            ("generate", without("embedding.weight"), {}, 4, ["embedding.weight", "missing"]),
            ("classify", None, {"pooling": "first"}, 5, ['"first"', '"max"']),
        ):
            with self.subTest(model=name, settings=settings):
                source = self.changed(f"nplm-{name}", tensors, **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
        student = ("student", GOLDEN / "nplm-generate", "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["there is one"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
