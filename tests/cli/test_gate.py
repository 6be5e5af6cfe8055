"""The quality gate of `bantam convert`: what judges, with which confidence, and what it advises."""

import json
import shlex
import unittest

from support import GOLDEN, SOURCE, CommandTest

VOICE = SOURCE / "models" / "voice-commands"
# Small, because sanitized builds run these too.
TINY = GOLDEN / "bert-joint"


class Gate(CommandTest):
    def report(self, model, *more, name="out.bantam"):
        return self.line("convert", model, "-o", self.directory / name, "--json", *more)

    def refused(self, *more):
        """The message about the tiny model in four bits."""
        convert = ("convert", TINY, "-o", self.directory / "out.bantam", "--weights", "int4")
        message = self.fails(6, *convert, *more, says=["quality gate failed"])
        self.assertFalse((self.directory / "out.bantam").exists())
        return message

    def test_an_english_model_is_judged_by_english_commands(self):
        gate = self.report(VOICE)["gate"]
        self.assertTrue(gate["passed"])
        self.assertRegex(gate["texts"], r"^\d+ built-in texts \(en, commands\)$")
        self.assertEqual(gate["attempts"], [])
        for output in gate["outputs"]:
            self.assertEqual(output["measure"], "label flips")
            self.assertLessEqual(output["lower_bound"], output["rate"])
            self.assertLessEqual(output["rate"], output["upper_bound"])
        everything = self.report(VOICE, "--parity", "all", "--max-label-flips", "1")["gate"]
        self.assertRegex(everything["texts"], r"^all \d{3} built-in texts$")

    def test_texts_of_other_options_judge(self):
        texts = self.write("own.txt", "play some jazz\nturn it off\n")
        calibrated = self.report(TINY, "--rounding", "gptq", "--calibrate", texts, "--max-label-flips", "1")
        self.assertEqual(calibrated["gate"]["texts"], "2 texts of own.txt (--calibrate)")
        given = self.report(TINY, "--gate-data", texts, "--max-label-flips", "1")
        self.assertEqual(given["gate"]["texts"], "2 texts of own.txt (--gate-data)")
        self.assertFalse(given["gate"]["labelled"])
        self.assertEqual(given["parity"]["texts"], 2)
        costs = self.directory / "costs.json"
        self.ok("sensitivity", TINY, texts, "-o", costs)
        budget = ("--budget", "loss=0.5", "--sensitivity", costs, "--max-label-flips", "1")
        self.assertEqual(self.report(TINY, *budget)["gate"]["texts"], "2 texts of own.txt (--sensitivity)")
        self.write("own.txt", "something else\n")  # not what was measured any more
        changed = self.report(TINY, *budget)
        self.assertIn("built-in", changed["gate"]["texts"])
        self.assertTrue(any("own.txt" in note and "changed" in note for note in changed["notes"]), changed["notes"])

    def test_labels_judge_where_the_data_has_them(self):
        lines = [{"text": "play some jazz", "intent": "PlayMusic"}, {"text": "is it cold", "intent": "GetWeather"}]
        data = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        gate = self.report(VOICE, "--gate-data", data)["gate"]
        self.assertTrue(gate["labelled"])
        self.assertEqual([output["measure"] for output in gate["outputs"]], ["labels lost", "label flips"])
        self.assertEqual((gate["outputs"][0]["amount"], gate["outputs"][0]["count"]), (0, 2))
        wrong = self.write("wrong.jsonl", '{"text": "play some jazz", "intent": "Nothing"}\n')
        self.fails(4, "convert", VOICE, "-o", self.directory / "x", "--gate-data", wrong, says=['label "Nothing"'])

    def test_labels_that_differ_and_those_that_flip(self):
        options = ("--weights", "int4", "--parity", "all")
        report = self.report(VOICE, *options)
        self.assertEqual(report["gate"]["flip_margin"], 0.05)
        outputs = {output["name"]: output for output in report["parity"]["outputs"]}
        for output in outputs.values():
            self.assertLessEqual(output["label_flips"], output["labels_differing"])
            self.assertLess(output["labels_differing"], output["decisions"])
        slots = outputs["slot_logits"]
        intents = outputs["intent_logits"]
        self.assertLess(intents["label_flips"], intents["labels_differing"])  # some led by little
        self.assertGreater(slots["worst_flip"]["margin"], 0.05)
        table = self.ok("convert", VOICE, "-o", self.directory / "out.bantam", *options).decode()
        self.assertRegex(table, r"labels +differ +flips +at least")
        self.assertRegex(table, rf"slot_logits +\d+ +{slots['labels_differing']} +{slots['label_flips']} \(")
        self.assertIn("led by more than 0.05", table)
        (self.directory / "out.bantam").unlink()
        refused = self.refused("--max-label-flips", "0")
        self.assertRegex(refused, r"labels flip from those of .* \(\d+ differ, with those that led by 0.05 or less\)")

    def test_a_refusal_names_what_passes(self):
        message = self.refused()
        self.assertIn("--gate-data FILE", message)
        self.assertIn("% confidence at least", message)
        self.assertRegex(message, r"what passes: --\S+ .*(same size|more|less)\) passes; --auto takes it")
        own = self.refused("--gate-data", VOICE / "commands.txt", "--max-label-flips", "0")
        self.assertNotIn("judge better", own)  # own texts did

    def test_auto_takes_it(self):
        report = self.report(TINY, "--weights", "int4", "--auto")
        gate = report["gate"]
        self.assertTrue(gate["passed"])
        self.assertEqual(gate["taken"], gate["attempts"][-1]["options"])
        self.assertFalse(any(attempt["passed"] for attempt in gate["attempts"][:-1]))
        self.assertEqual(report["file_bytes"], (self.directory / "out.bantam").stat().st_size)
        # The options that it reports give the same bytes when they are typed.
        words = shlex.split(gate["taken"])
        typed = ["--weights", "int4"] if "--weights" not in words else []
        self.report(TINY, *typed, *words, name="typed.bantam")
        written = [(self.directory / name).read_bytes() for name in ("out.bantam", "typed.bantam")]
        self.assertEqual(*written)
        self.fails(2, "convert", TINY, "-o", self.directory / "x", "--auto", "--parity", "none", says=["--auto"])

    def test_shares_and_partners(self):
        target = ("convert", TINY, "-o", self.directory / "out.bantam")
        self.fails(2, *target, "--max-label-flips", "abc", says=["abc is not a share", "0 to 1"])
        for more, partner in (
            (("--group", "32"), "--weights int4"),
            (("--pattern", "heads"), "--prune SHARE"),
            (("--prune-by", "magnitude"), "--prune SHARE"),
            (("--max-rejected", "0.1"), "--calibrate-scores"),
        ):
            self.fails(2, *target, *more, says=[more[0], "does nothing without", partner])
        data = self.write("own.txt", "play\n")
        self.fails(2, *target, "--gate-data", data, "--parity", data, says=["leave out one"])
        broken = self.write("expected.jsonl", '{"ids": [1\n')
        self.assertNotIn(
            "json.exception", self.fails(4, *target, "--expect", broken, says=["line 1", "not valid JSON"])
        )
        broken = self.write("expected.jsonl", '{"ids": "x"}\n')
        self.assertNotIn("json.exception", self.fails(4, *target, "--expect", broken, says=["line 1"]))

    def test_types_have_the_same_names_everywhere(self):
        sizes = set()
        for word in ("int8", "i8", "INT8"):
            sizes.add(self.report(TINY, "--weights", word)["file_bytes"])
            sizes.add(self.report(TINY, "--keep", f"embeddings={word}", "--parity", "none")["weights"])
        self.assertEqual(len(sizes), 2)
        self.assertEqual(self.report(TINY, "--weights", "fp16")["weights"], "f16")
        self.fails(
            2, "convert", TINY, "-o", self.directory / "x", "--weights", "int3", says=["int8, int4, ternary, f16, f32"]
        )
        notes = self.report(TINY, "--keep", "embeddings=int4", "--parity", "none")["notes"]
        self.assertTrue(any("int4 is for linear layers" in note for note in notes), notes)

    def test_advice_on_size_is_measured(self):
        plain = self.report(TINY, "--parity", "none")
        self.assertFalse(any("--keep" in line for line in plain["smaller"]))
        larger = self.report(TINY, "--parity", "none", "--keep", "word_embeddings=f32")
        self.assertTrue(any(line.startswith("without --keep: ") for line in larger["smaller"]), larger["smaller"])
        smaller = self.report(TINY, "--parity", "none", "--keep", "layer=int4")
        self.assertLess(smaller["file_bytes"], plain["file_bytes"])
        self.assertFalse(any("--keep" in line for line in smaller["smaller"]), smaller["smaller"])


if __name__ == "__main__":
    unittest.main()
