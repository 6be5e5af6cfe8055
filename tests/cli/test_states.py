"""Decoders that keep other states than keys and values: what transformers' generate() makes, and how contexts are shared."""

import json
import unittest

from support import GOLDEN, CommandTest, model

NAMES = ("lfm2-text", "mamba-text", "rwkv-text")
OPTIONS = {
    "greedy": [],
    "top_p": ["--temperature", "1.1", "--top-p", "0.8"],
    "beams": ["--beams", "4", "--early-stopping", "yes", "--length-penalty", "0.8"],
}
ANSWERS = [" the cat", " the cat runs", " a dog", " sees", " rain", " 東京"]


def cases(name, kind):
    lines = (GOLDEN / name / "generate.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == kind]


class States(CommandTest):
    def test_generates_as_transformers_does(self):
        for name in NAMES:
            for kind, options in OPTIONS.items():
                expected = cases(name, kind)
                self.assertGreater(len(expected), 5)
                for case in expected:
                    made = self.line(
                        *("generate", model(name), case["prompt"], "--max-new", "20", "--json"),
                        *("--seed", str(case["seed"]), *options),
                    )
                    self.assertEqual(made["ids"], case["ids"], (name, kind, case["prompt"]))
                    self.assertEqual(made["generated"], case["text"], (name, kind, case["prompt"]))

    def test_guesses_are_refused(self):
        for name in NAMES:
            given = ("generate", model(name), "the cat")
            self.fails(5, *given, "--lookup", says=["--lookup", "states"])
            self.fails(5, *given, "--draft", model(name), says=["--draft", "states"])
        self.fails(5, "generate", model("gpt2-text"), "a", "--draft", model(NAMES[0]), says=["--draft", "states"])

    def test_settings_of_rwkv(self):
        for settings, code, says in (
            ({"layer_norm_epsilon": 0.1, "rescale_every": 1}, 5, ["rescale_every", "exceeds 1"]),
            ({"attention_hidden_size": 20}, 4, ["attention.key.weight", "[20, 24]"]),
            ({"attention_hidden_size": 0}, 4, ["attention_hidden_size"]),
            ({"num_hidden_layers": 3}, 4, ["says 3 layers", "hold 2"]),
        ):
            out = self.directory / "x.bantam"
            self.fails(code, "convert", self.changed("rwkv-generate", **settings), "-o", out, "--ids-only", says=says)
            self.assertFalse(out.exists())

    def test_answers_share_a_prompt(self):
        listed = self.write("answers.txt", "\n".join(ANSWERS) + "\n")
        for name in NAMES:
            for case in cases(name, "answers"):
                found = self.line(
                    *("generate", model(name), case["prompt"], "--answers", listed, "--answer-scores", "--json")
                )
                self.assertEqual(found["generated"], case["text"], (name, case["prompt"]))
                for answer, text, score in zip(found["answers"], ANSWERS, case["scores"], strict=True):
                    self.assertEqual(answer["text"], text)
                    self.assertAlmostEqual(answer["log_probability"], score, delta=2e-3)

    def test_several_texts_of_one_prompt(self):
        for name in NAMES:
            prompt = cases(name, "top_p")[0]["prompt"]
            options = ["--temperature", "1.3", "--max-new", "12", "--json"]
            best = self.line("generate", model(name), prompt, *options, "--seed", "5", "--best-of", "3")
            each = [self.line("generate", model(name), prompt, *options, "--seed", str(5 + k)) for k in range(3)]
            self.assertIn(best["ids"], [one["ids"] for one in each])

    def test_long_prompts_come_in_pieces(self):
        for name in NAMES:
            text = " ".join(case["prompt"] for case in cases(name, "greedy"))[:150]
            whole = self.line("generate", model(name), text, "--max-new", "4", "--json")
            for threads in ("1", "2"):
                again = self.line("generate", model(name), text, "--max-new", "4", "--json", "--threads", threads)
                self.assertEqual(again["ids"], whole["ids"])


if __name__ == "__main__":
    unittest.main()
