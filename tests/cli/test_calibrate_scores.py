"""Scores calibrated on validation data: in the file, in its answers, and what is refused."""

import json
import unittest

from support import GOLDEN, SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = (VOICE / "commands.txt").read_text().splitlines()


class CalibrateScores(CommandTest):
    def data(self):
        """The shipped model's own answers as labels, a few of them wrong, and texts out of scope."""
        answers = self.lines("run", model("voice"), *COMMANDS, "--json")
        lines = [{"text": a["text"], "intent": a["intent"]["label"]} for a in answers] * 4
        lines[1]["intent"] = lines[0]["intent"]
        lines += [{"text": text, "intent": "out_of_scope"} for text in ("qwxz", "aaaa bbbb", "7", "why do cats purr")]
        return self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def test_file_and_answers(self):
        target = self.directory / "out.bantam"
        report = self.line("convert", VOICE, "-o", target, "--calibrate-scores", self.data(), "--json")
        scores = report["scores"]
        self.assertEqual(scores["out_of_scope"], 4)
        self.assertLessEqual(scores["after"]["loss"], scores["before"]["loss"])
        self.assertTrue(self.line("verify", target, "--json")["ok"])
        sets = self.line("inspect", target, "--json")
        self.assertIn(f'"temperature":{json.dumps(scores["temperature"])}', json.dumps(sets, separators=(",", ":")))
        before = self.line("run", model("voice"), COMMANDS[0], "--json")["intent"]
        after = self.line("run", target, COMMANDS[0], "--json")["intent"]
        self.assertEqual(before["label"], after["label"])
        self.assertNotEqual(before["score"], after["score"])

    def test_refuses(self):
        target = self.directory / "out.bantam"
        few = self.write("few.jsonl", '{"text": "play jazz", "intent": "PlayMusic"}\n')
        self.fails(4, "convert", VOICE, "-o", target, "--calibrate-scores", few, says=["at least 20"])
        unknown = self.write("unknown.jsonl", '{"text": "play jazz", "intent": "Dance"}\n')
        self.fails(4, "convert", VOICE, "-o", target, "--calibrate-scores", unknown, says=['"Dance"'])
        self.fails(3, "convert", VOICE, "-o", target, "--calibrate-scores", self.directory / "none", says=["none"])
        says = ["one label"]
        self.fails(5, "convert", GOLDEN / "bert-fill", "-o", target, "--calibrate-scores", few, says=says)
        self.assertFalse(target.exists())


if __name__ == "__main__":
    unittest.main()
