"""Integer-only files: what convert asks for, and that every other command takes them like any file."""

import json
import unittest

from support import GOLDEN, SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = (VOICE / "commands.txt").read_text().splitlines()


class Convert(CommandTest):
    def refuses(self, code, source, *options, says):
        target = self.directory / "out.bantam"
        self.fails(code, "convert", source, "-o", target, "--activations", *options, says=says)
        self.assertFalse(target.exists())

    def test_asks_for_texts(self):
        self.refuses(2, VOICE, "static", says=["--calibrate FILE"])
        texts = self.write("texts.txt", "play jazz\n")
        self.refuses(2, VOICE, "dynamic", "--calibrate", texts, says=["--activations static"])
        self.refuses(2, VOICE, "static", "--calibrate", texts, "--weights", "f32", says=["leave out --weights"])
        self.refuses(3, VOICE, "static", "--calibrate", self.directory / "nothing.txt", says=["nothing.txt"])
        self.refuses(4, VOICE, "static", "--calibrate", self.write("empty.txt", "\n"), says=["--calibrate", "no text"])

    def test_refuses_ranges(self):
        texts = ("static", "--calibrate", self.write("texts.txt", "play jazz\n"))
        self.refuses(2, VOICE, *texts, "--calibrate-by", "guess", says=["--calibrate-by", "mse", "percentile"])
        self.refuses(2, VOICE, *texts, "--percentile", "99.9", says=["add it, or leave out --percentile"])
        for wrong in ("50", "101", "nan", "-3"):
            self.refuses(
                2, VOICE, *texts, "--calibrate-by", "percentile", "--percentile", wrong, says=["above 50", "99.99"]
            )
        self.refuses(2, VOICE, "dynamic", "--calibrate-by", "mse", says=["--activations static"])

    def test_ranges(self):
        made = {}
        for more in (("minmax",), ("mse",), ("percentile",), ("percentile", "--percentile", "99")):
            target = self.directory / "out.bantam"
            options = ("--activations", "static", "--calibrate", VOICE / "commands.txt", "--calibrate-by", *more)
            self.ok("convert", GOLDEN / "bert-joint", "-o", target, *options, "--parity", "none")
            made[" ".join(more)] = target.read_bytes()
            recipe = self.line("inspect", target, "--json")["properties"]["recipe"]
            self.assertEqual("calibrate-by" in recipe, more != ("minmax",))
            self.assertIn("intent", self.line("run", target, "play some jazz", "--json"))
        self.assertEqual(len(set(made.values())), 4)
        self.assertIn("calibrate-by=percentile percentile=99 ", recipe)

    def test_names_what_has_no_integer_form(self):
        texts = self.write("texts.txt", "play jazz\n")
        says = ["before a norm", "shares the embeddings", "--activations dynamic"]
        self.refuses(5, GOLDEN / "bert-fill", "static", "--calibrate", texts, says=says)

    def test_report(self):
        target = self.directory / "out.bantam"
        texts = VOICE / "commands.txt"
        more = ("--activations", "static", "--calibrate", texts, "--parity", texts, "--max-label-flips", "0.2")
        report = self.line("convert", VOICE, "-o", target, *more, "--json")
        self.assertTrue(report["gate"]["passed"])
        self.assertIn("integers only", report["passes"])
        with open(target, "rb") as one, open(model("voice-static"), "rb") as other:
            self.assertEqual(one.read(), other.read())


class Layers(CommandTest):
    def ops(self, plan):
        """The operators, by name, of a classifier of three layers that reads the first token."""
        target = self.directory / f"{plan}.bantam"
        options = ("--activations", "static", "--calibrate", VOICE / "commands.txt", "--plan", plan)
        self.ok("convert", GOLDEN / "bert-classify", "-o", target, *options, "--parity", "none")
        self.assertIn("label", self.line("classify", target, "ba di", "--top", "1", "--json")["labels"][0])
        return {op["name"]: op for op in self.line("inspect", target, "--ops", "--json")["ops"]}

    def test_behind_the_last_attention_a_row_a_text(self):
        for plan in ("fast", "small"):
            ops = self.ops(plan)
            last = "bert.encoder.layer.2."
            pools = sorted(name for name, op in ops.items() if op["kind"] == "Pool")
            self.assertEqual(pools, ["bert.encoder.layer.1.output.dense.first", last + "attention.self.first"], plan)
            for name in ("attention.output.dense", "intermediate.dense", "output.dense"):
                self.assertEqual(ops[last + name]["rows"], "sequences", plan)
                self.assertEqual(ops["bert.encoder.layer.1." + name]["rows"], "tokens", plan)
            self.assertEqual(ops[last + "attention.self"]["rows"], "tokens", plan)

    def test_a_fast_plan_makes_queries_keys_and_values_at_once(self):
        for plan, of_self in (("fast", ["qkv"]), ("small", ["key_value", "query"])):
            ops = self.ops(plan)
            for layer in (f"bert.encoder.layer.{number}.attention.self." for number in range(3)):
                linear = [name for name in ops if name.startswith(layer) and ops[name]["kind"] == "Linear"]
                splits = [name for name in ops if name.startswith(layer) and ops[name]["kind"] == "SplitHeads"]
                self.assertEqual(sorted(linear), [layer + name for name in of_self])
                self.assertEqual(len(splits), len(of_self), plan)


class Commands(CommandTest):
    def test_answers(self):
        full = self.lines("run", model("voice-f32"), *COMMANDS, "--json")
        answers = self.lines("run", model("voice-static"), *COMMANDS, "--json")
        self.assertEqual([a["intent"]["label"] for a in answers], [a["intent"]["label"] for a in full])

    def test_same_bits(self):
        expected = self.ok("run", model("voice-static"), *COMMANDS, "--raw", environment={"BANTAM_ISA": "reference"})
        for isa in self.line("version", "--json")["isa"]:
            if isa["available"]:
                got = self.ok("run", model("voice-static"), *COMMANDS, "--raw", environment={"BANTAM_ISA": isa["name"]})
                self.assertEqual(got, expected, isa["name"])
        self.assertEqual(self.ok("run", model("voice-static"), *COMMANDS, "--raw", "--threads", "3"), expected)

    def test_other_commands(self):
        self.assertTrue(self.line("verify", model("voice-static"), "--json")["ok"])
        answer = self.line("inspect", model("voice-static"), "--ops", "--json")
        self.assertTrue(all("integers" in op["epilogue"] for op in answer["ops"]), json.dumps(answer["ops"]))
        recipe = answer["properties"]["recipe"]
        self.assertIn("activations=static calibrate=sha256:", recipe)
        self.assertTrue(self.lines("bench", model("voice-static"), "--seq", "8", "--per-op", "--json"))


if __name__ == "__main__":
    unittest.main()
