"""The Evolved Transformer (docs/evolved-transformer.md): what it answers and makes of texts, and what is refused."""

import json
import unittest

from support import GOLDEN, CommandTest, model

NAME = "evolved-text"


def cases():
    return [json.loads(line) for line in (GOLDEN / NAME / "texts.jsonl").read_text().splitlines()]


class Evolved(CommandTest):
    def test_answers_are_those_of_the_paper(self):
        for name in ("evolved-encoder", "evolved-tag"):
            with self.subTest(model=name):
                self.answers(name, model(name))

    def test_texts_are_those_of_the_paper(self):
        texts = self.write("texts.txt", "".join(case["text"] + "\n" for case in cases()))
        expected = [case["generated"] for case in cases()]
        made = self.lines("generate", model(NAME), "--file", texts, "--max-new", "10", "--json")
        self.assertEqual([line["generated"] for line in made], expected)
        self.assertEqual({line["finish"] for line in made}, {"end", "length"})
        for options in ([], ["--batch", "3"], ["--batch", "1", "--threads", "2"]):
            shown = self.ok("translate", model(NAME), "--file", texts, "--max-new", "10", *options).decode()
            self.assertEqual(shown.splitlines(), expected)
        text = cases()[0]["text"]
        greedy = self.line("generate", model(NAME), text, "--max-new", "6", "--json", "--log-probs")
        beams = self.line("generate", model(NAME), text, "--max-new", "6", "--beams", "4", "--json")
        self.assertGreaterEqual(beams["score"], sum(greedy["log_probabilities"]) / len(greedy["ids"]) - 1e-5)

    def test_projects_keep_sources_and_contexts(self):
        answer = self.line(
            *("firmware", model(NAME), "--target", "cortex-m55", "--max-tokens", "16", "-o", self.directory / "p"),
            "--json",
        )
        for word in ("depthwise", "unfold", "join", "gates", "sources", "contexts", "decode"):
            self.assertIn(word, answer["linked"])
        lines = "".join(case["text"] + "\n" for case in cases()).encode()
        answers = self.ok("run", model(NAME), "--uart", "--max-tokens", "24", stdin=lines).decode().splitlines()
        for case, said in zip(cases(), answers, strict=True):
            status, text, _, _ = said.split("\t")
            self.assertEqual((status, text.split()[:10]), ("ok", case["generated"].split()))

    def test_int8_passes_the_gate(self):
        out = self.directory / "small.bantam"
        self.line("convert", GOLDEN / NAME, "-o", out, "--json")
        shown = self.ok("inspect", out, "--ops").decode()
        for kind in ("Depthwise", "Unfold", "Join", "Attention"):
            self.assertIn(kind, shown)
        self.ok("bench", out, "--prompt", "4", "--generate", "4", "--repetitions", "1", "--json")
        vectors = self.directory / "vectors.bantam"
        self.line("convert", GOLDEN / "evolved-text", "--task", "embed", "-o", vectors, "--json")

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"

        def without(name):
            return lambda held: held.pop(name)

        taps = "model.decoder.layers.0.left.depthwise.weight"

        def shorter(held):
            dtype, (columns, one, tokens), content = held[taps]
            held[taps] = (dtype, [columns, one, tokens - 1], content[: columns * (tokens - 1) * 2])

        for tensors, settings, code, says in (
            (None, {"wide_attention_heads": 5}, 4, ["wide_attention_heads", "5", "24"]),
            (None, {"num_attention_heads": 5}, 4, ["num_attention_heads"]),
            (None, {"encoder_layers": 2}, 4, ["2 layers", "hold 1"]),
            (None, {"hidden_size": 48}, 4, ["shared.weight", "[61, 24]"]),
            (without(taps), {}, 4, [taps]),
            (without("model.encoder.layers.0.right.weight"), {}, 4, ["right.weight"]),
            (shorter, {}, 4, [taps, "[24, 1, 10]", "[24, 1, 11]"]),
        ):
            with self.subTest(settings=settings, says=says):
                source = self.changed("evolved-generate", tensors, **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
                self.assertFalse(out.exists())
        student = ("student", GOLDEN / "evolved-generate", "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["they have convolutions"])


if __name__ == "__main__":
    unittest.main()
