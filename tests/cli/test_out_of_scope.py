"""The shipped model refuses what is not for it: commands for other devices, and data of ../shared where they are."""

import json
import subprocess
import sys
import unittest

from support import SHARED, SOURCE, CommandTest, model

VOICE = SOURCE / "models" / "voice-commands"
OTHERS = VOICE / "out_of_scope.txt"
COMMANDS = VOICE / "commands.txt"
DATA = SHARED / "data"


def texts(path, count=None):
    return [json.loads(line)["text"] for line in path.read_text().splitlines()[:count]]


class OutOfScope(CommandTest):
    def refused(self, lines, file="voice"):
        """The share of these texts that the file refuses."""
        answers = self.lines("run", model(file), "--file", self.write("texts.txt", "\n".join(lines) + "\n"), "--json")
        self.assertEqual(len(answers), len(lines))
        return sum(answer.get("out_of_scope", False) for answer in answers) / len(answers)

    def test_commands_for_other_devices(self):
        others = OTHERS.read_text().splitlines()
        self.assertEqual(len(set(others)), 200)
        for file in ("voice", "voice-f32", "voice-static"):
            with self.subTest(file=file):
                self.assertGreaterEqual(self.refused(others, file), 0.94)

    def test_its_own_commands(self):
        for file in ("voice", "voice-f32", "voice-static"):
            with self.subTest(file=file):
                self.assertEqual(self.refused(COMMANDS.read_text().splitlines(), file), 0)

    @unittest.skipUnless(DATA.exists(), "needs ../shared")
    def test_data(self):
        self.assertLessEqual(self.refused(texts(DATA / "snips" / "test.jsonl")), 0.02)
        self.assertGreaterEqual(self.refused(texts(DATA / "banking77" / "test.jsonl", 500)), 0.97)

    def test_answers(self):
        said = self.ok("run", model("voice"), "turn off the lights", "--top", "1").decode()
        self.assertIn("(out of scope: the best score is under the file's limit)", said)
        self.assertIn("ok\tnone\t", self.ok("run", model("voice"), "--uart", stdin=b"turn off the lights\n").decode())
        stored = self.line("inspect", model("voice"), "--json")["label_sets"][0]["reject_below"]
        self.assertAlmostEqual(stored, json.loads((VOICE / "config.json").read_text())["reject_below"], places=6)

    def test_tables(self):
        data = self.write("data.csv", "text\nplay some jazz\nturn off the lights\n")
        self.ok("label", model("voice"), data, "-o", self.directory / "out.csv")
        lines = (self.directory / "out.csv").read_text().splitlines()
        self.assertTrue(lines[1].startswith("play some jazz,PlayMusic,"), lines[1])
        self.assertTrue(lines[2].startswith("turn off the lights,out_of_scope,"), lines[2])

    def test_eval(self):
        """Where the data have texts out of scope, an answer under the limit is this label; else limits do not count."""
        inside = [{"text": text, "intent": "PlayMusic"} for text in ("play some jazz", "turn off the lights")]
        outside = [{"text": text, "intent": name} for text, name in (("set a timer", "oos"), ("play jazz", "oos"))]
        data = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in inside + outside))
        whole = self.line("eval", model("voice"), data, "--json")
        self.assertEqual(whole["metrics"]["intent_accuracy"], 0.5)
        self.assertEqual(whole["unknown_labels"], 0)

    def test_training_sentences_are_others(self):
        """What the recipe makes of the patterns has none of the sentences that test the model."""
        empty = self.write("empty.jsonl", "")
        made = [self.directory / "train.jsonl", self.directory / "calibrate.jsonl"]
        recipe = [sys.executable, VOICE / "out_of_scope.py", "--banking77", empty, "--wnut17", empty, *made]
        subprocess.run(recipe, check=True)
        lines = [json.loads(line) for path in made for line in path.read_text().splitlines()]
        self.assertGreater(len(lines), 2000)
        self.assertFalse({line["text"] for line in lines} & set(OTHERS.read_text().splitlines()))
        self.assertTrue(all(len(line["tokens"]) == len(line["slots"]) for line in lines))


if __name__ == "__main__":
    unittest.main()
