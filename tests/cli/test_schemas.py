"""schemas/json: every command that prints JSON has a schema, and what it prints is as its schema says. support.py checks every
object that any other test reads besides."""

import copy
import json
import re
import unittest

import json_schema
from support import GOLDEN, SOURCE, CommandTest, bantam, model

VOICE = SOURCE / "models" / "voice-commands"
COMMANDS = VOICE / "commands.txt"
SCHEMAS = sorted(path.name.removesuffix(".schema.json") for path in json_schema.FOLDER.glob("*.json"))


class Schemas(CommandTest):
    def printed(self, *arguments, code=0, **options):
        done = bantam(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode(errors="replace"))
        objects = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertTrue(objects)
        for value in objects:
            self.assertEqual(json_schema.check(value), [], arguments)
        return objects

    def test_every_command_has_one(self):
        listed = re.findall(r"^  ([a-z]+) ", self.ok("--help").decode(), re.MULTILINE)
        with_json = [name for name in listed if "--json" in self.ok(name, "--help-all").decode().split()]
        self.assertGreater(len(with_json), 15)
        self.assertEqual(sorted({*with_json, "boards", "eval.prediction", "families"}), SCHEMAS)

    def test_they_use_what_is_checked(self):
        def words(schema):
            self.assertLessEqual(set(schema), {*json_schema.RULES, *json_schema.NOTES})
            for inner in [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]:
                words(inner)
            for word in ("items", "additionalProperties"):
                if isinstance(schema.get(word), dict):
                    words(schema[word])
            for inner in [*schema.get("anyOf", []), *schema.get("allOf", [])]:
                words(inner)

        for name in SCHEMAS:
            schema = json_schema.load(name)
            words(schema)
            self.assertIn("title", schema)
            self.assertIn("description", schema)

    def test_what_is_wrong_is_found(self):
        (good,) = self.printed("tag", model("bert-tag"), "ba di", "--json")
        for spoil in (
            lambda v: v.update(strange=1),
            lambda v: v.update(schema="bantam.tga/1"),
            lambda v: v.update(truncated="no"),
            lambda v: v["entities"].append({"label": "x"}),
            lambda v: v["entities"].append({"label": "x", "text": "", "start": -1, "end": 0, "score": 0.5}),
            lambda v: v["entities"].append({"label": "x", "text": "", "start": 0, "end": 0, "score": 1.5}),
            lambda v: v.pop("text"),
        ):
            bad = copy.deepcopy(good)
            spoil(bad)
            self.assertNotEqual(json_schema.check(bad), [])

    def test_answers(self):
        more = {"bert-answer": ("--question", "ko"), "bert-choose": ("--pair", "a", "--pair", "b")}
        more["bert-next-sentence"] = ("--pair", "di")
        for path in sorted(GOLDEN.iterdir()):
            if not any(path.rglob("vocab.txt")):
                self.printed("run", model(path.name), "--ids", "7,8,9", "--raw")
                continue
            arguments = ("run", model(path.name), "ba [MASK] di", *more.get(path.name.replace("distil", ""), ()))
            self.printed(*arguments, "--raw")
            if "encoder" not in path.name:
                self.printed(*arguments, "--json", "--time")
        self.printed("run", model("voice"), "--ids", "2,5,3", "--raw")
        self.printed("run", model("bert-tag"), "ba di " * 60, "--stride", "4", "--json")
        self.printed("run", model("bert-pretraining"), "ba", "--pair", "di", "--json")
        self.printed("fill", model("bert-fill"), "-", "--json", stdin=b"none\n[MASK] [MASK]\n", code=4)
        self.printed("classify", model("bert-multi-label"), "ba", "--json")
        self.printed("tag", model("voice"), "play jazz", "--json")
        self.printed("answer", model("bert-answer"), "ba di", "--question", "ko", "--json")
        self.printed("choose", model("bert-choose"), "ba", "--pair", "a", "--pair", "b", "--json", "--time")
        self.printed("embed", model("sentence-mean"), "ba", "--json")
        self.printed("similar", model("sentence-mean"), "ba", "di", "--json")
        self.printed("tokenize", model("voice"), "ba", "--pair", "di", "--json")
        self.printed("tokenize", model("voice"), "--decode", "-", "--json", stdin=b"2 3\nx\n", code=4)

    def test_scores(self):
        good = {"text": "play jazz", "intent": "PlayMusic", "tokens": ["play", "jazz"], "slots": ["O", "B-genre"]}
        data = self.write("data.jsonl", json.dumps(good) + "\n")
        said = self.directory / "said.jsonl"
        against = ("--against", model("voice-f32"), "--per-label", "--predictions", said)
        self.printed("eval", model("voice"), data, "--json", *against)
        for line in said.read_text().splitlines():
            self.assertEqual(json_schema.check(json.loads(line)), [])
        self.printed("report", model("voice"), model("voice-f32"), "--data", data, "--source", VOICE, "--json")

    def test_files(self):
        for name in ("voice", "voice-static", "voice-int4", "bert-answer", "sentence-mean"):
            self.printed("inspect", model(name), "--json", "--ops", "--tensors", "--plan", "--arena")
        self.printed("verify", model("voice"), "--json")
        self.printed("version", "--json")
        self.printed("version", "--families", "--json")
        for arguments in (("--seq", "8", "--per-op"), ("--mix", "8,4"), ("--text", "play jazz")):
            self.printed("bench", model("voice"), *arguments, "--repetitions", "1", "--json")
        self.printed("firmware", model("voice-static"), "-o", self.directory / "fw", "--target", "cortex-m4", "--json")

    def test_conversions(self):
        tiny = SOURCE / "models" / "voice-commands-tiny"
        file = self.directory / "m.bantam"
        convert = ("convert", tiny, "-o", file, "--json")
        data = self.write("data.csv", "text,intent\n" + "play jazz,PlayMusic\n" * 20)
        loose = ("--max-label-flips", "1")
        self.printed(*convert)
        self.printed(*convert, "--activations", "static", "--calibrate", COMMANDS, *loose)
        self.printed(*convert, "--prune", "0.3", "--pattern", "ffn", *loose)
        self.printed(*convert, "--gate-data", data, "--calibrate-scores", data, *loose)
        self.printed(*convert, "--parity", "none")
        self.printed(*convert, "--prune", "0.95", "--pattern", "unstructured", code=6)
        recipe = self.write("recipe.json", '{"layers": 1}')
        self.printed(*convert, "--student", recipe, *loose)
        costs = self.directory / "costs.json"
        self.printed("sensitivity", tiny, COMMANDS, "--limit", "20", "-o", costs, "--types", "int8", "--json")
        self.assertEqual(json_schema.check(json.loads(costs.read_text())), [])
        self.printed(*convert, "--sensitivity", costs, "--budget", "size=1MB", *loose)
        self.printed("student", tiny, "--layers", "1", "-o", self.directory / "student", "--json")


if __name__ == "__main__":
    unittest.main()
