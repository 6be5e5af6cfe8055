"""tokenize, inspect, verify, version, help."""

import json
import unittest

from support import CommandTest, bantam, model

COMMANDS = (
    "convert",
    "run",
    "classify",
    "choose",
    "tag",
    "answer",
    "embed",
    "fill",
    "similar",
    "tokenize",
    "eval",
    "bench",
    "firmware",
    "inspect",
    "verify",
    "version",
)


class Tokenize(CommandTest):
    def test_shape(self):
        answer = self.line("tokenize", model("voice"), "Play café", "--json")
        self.assertEqual(answer["schema"], "bantam.tokenize/1")
        self.assertEqual(answer["tokens"], ["[CLS]", "play", "cafe", "[SEP]"])
        self.assertEqual(answer["offsets"], [[0, 0], [0, 4], [5, 10], [0, 0]])
        self.assertEqual(len(answer["ids"]), 4)
        self.assertFalse(answer["truncated"])

    def test_pair(self):
        answer = self.line("tokenize", model("voice"), "play", "--pair", "jazz now", "--json")
        self.assertEqual(answer["tokens"], ["[CLS]", "play", "[SEP]", "jazz", "now", "[SEP]"])
        self.assertEqual(answer["segments"], [0, 0, 0, 1, 1, 1])
        self.assertEqual(answer["sequences"], [None, 0, None, 1, 1, None])

    def test_length(self):
        text = "jazz " * 300
        self.assertEqual(len(self.line("tokenize", model("voice"), text, "--json")["ids"]), 302)
        cut = self.line("tokenize", model("voice"), text, "--truncate", "--json")
        self.assertEqual((len(cut["ids"]), cut["truncated"]), (64, True))
        cut = self.line("tokenize", model("voice"), text, "--max-tokens", "5", "--json")
        self.assertEqual((len(cut["ids"]), cut["truncated"]), (5, True))
        self.fails(4, "tokenize", model("voice"), text, "--truncate", "--strict", says=["--strict"])
        self.assertEqual(len(self.line("tokenize", model("voice"), "jazz", "--no-special", "--json")["ids"]), 1)

    def test_limit_without_room(self):
        self.fails(2, "tokenize", model("voice"), "hello", "--max-tokens", "1", says=["special tokens", "--no-special"])
        cut = self.line("tokenize", model("voice"), "hello there", "--max-tokens", "1", "--no-special", "--json")
        self.assertEqual((len(cut["ids"]), cut["truncated"]), (1, True))

    def test_own_limit_is_that_of_run(self):
        # The tokenizer says 32 tokens, the model has 40 positions.
        text = "the cat sat on a mat " * 40
        cut = self.line("tokenize", model("sentence-mean"), text, "--truncate", "--json")["ids"]
        whole = self.line("tokenize", model("sentence-mean"), text, "--json")["ids"]
        self.assertEqual(cut, whole[:31] + whole[-1:])
        answer = self.line("run", model("sentence-mean"), text, "--raw")
        self.assertEqual(answer["ids"], cut)
        by_ids = self.line("run", model("sentence-mean"), "--ids", ",".join(map(str, cut)), "--raw")
        self.assertEqual(answer["outputs"], by_ids["outputs"])
        self.fails(4, "embed", model("sentence-mean"), text, "--strict", says=["(30 of them do)"])
        inspected = self.line("inspect", model("sentence-mean"), "--json")
        self.assertEqual((inspected["text_tokens"], inspected["max_tokens"]), (32, 40))
        self.assertIn("texts are cut at 32", self.ok("inspect", model("sentence-mean")).decode())

    def test_ids_feed_run(self):
        text = "play some jazz"
        ids = ",".join(map(str, self.line("tokenize", model("voice"), text, "--json")["ids"]))
        by_ids = self.line("run", model("voice"), "--ids", ids, "--raw")["outputs"]
        self.assertEqual(by_ids, self.line("run", model("voice"), text, "--raw")["outputs"])


class Columns(CommandTest):
    def test_lines_fit_a_terminal(self):
        sample = ("inspect", model("voice")), ("verify", model("voice")), ("version",), ("version", "--families")
        for words in sample:
            lines = self.ok(*words).decode().splitlines()
            wide = [line for line in lines if len(line) > 80 and str(model("voice")) not in line]
            self.assertEqual(wide, [], words)


class Inspect(CommandTest):
    def test_summary(self):
        answer = self.line("inspect", model("voice"), "--json")
        self.assertEqual((answer["task"], answer["max_tokens"], answer["vocabulary"]), ("joint", 64, 5553))
        self.assertEqual([len(labels["labels"]) for labels in answer["label_sets"]], [7, 72])
        self.assertEqual(answer["label_sets"][1]["scheme"], "iob2")
        self.assertEqual(answer["outputs"], ["intent_logits", "slot_logits"])
        self.assertTrue(answer["tokenizer"])
        bytes_at = [entry["bytes"] for entry in answer["arena"]]
        self.assertEqual(bytes_at, sorted(bytes_at))
        self.assertIn("joint", self.ok("inspect", model("voice")).decode())

    def test_tables(self):
        answer = self.line("inspect", model("voice"), "--ops", "--tensors", "--plan", "--json")
        self.assertEqual(answer["ops"][0]["kind"], "Embed")
        total = sum(tensor["bytes"] for tensor in answer["tensors"])
        self.assertLess(total, answer["bytes"])
        self.assertGreater(total, answer["bytes"] // 2)
        self.assertTrue(any("tokens" in tensor["offset"] for tensor in answer["plan"]))
        for option, count in (
            ("--ops", len(answer["ops"])),
            ("--tensors", len(answer["tensors"])),
            ("--plan", len(answer["plan"])),
        ):
            self.assertEqual(len(self.ok("inspect", model("voice"), option).splitlines()), count + 1)


class General(CommandTest):
    def test_version(self):
        answer = self.line("version", "--json")
        self.assertEqual(answer["schema"], "bantam.version/1")
        available = [isa["name"] for isa in answer["isa"] if isa["available"]]
        self.assertIn("reference", available)
        self.assertIn(answer["best_isa"], available)
        self.assertIn(answer["version"], self.ok("version").decode())

    def test_help_has_examples(self):
        self.assertIn("Examples:", self.ok("--help").decode())
        for command in COMMANDS:
            text = self.ok(command, "--help").decode()
            self.assertIn("Examples:", text, command)
            self.assertIn(f"bantam {command} ", text + " ", command)
            self.assertIn(command, self.ok("--help").decode())

    def test_verify(self):
        for name in ("voice", "voice-static", "voice-int4", "voice-f32", "bert-fill", "distilbert-tag"):
            answer = self.line("verify", model(name), "--json")
            self.assertEqual((answer["ok"], answer["problems"]), (True, []), name)

    def test_every_number_reads_back(self):
        output = self.ok("run", model("voice"), "play jazz", "--raw").decode()
        numbers = json.loads(output)["outputs"]["intent_logits"]["data"]
        again = json.loads(bantam("run", model("voice"), "play jazz", "--raw").stdout)
        self.assertEqual(again["outputs"]["intent_logits"]["data"], numbers)


if __name__ == "__main__":
    unittest.main()
