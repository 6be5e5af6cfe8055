"""Costs of each matrix, and types chosen from them."""

import json
import unittest

from support import GOLDEN, SOURCE, CommandTest

# Small, because sanitized builds run these too.
MODEL = GOLDEN / "bert-joint"
COMMANDS = SOURCE / "models" / "voice-commands" / "commands.txt"


class Sensitivity(CommandTest):
    def costs(self):
        target = self.directory / "costs.json"
        self.ok("sensitivity", MODEL, COMMANDS, "-o", target, "--html", self.directory / "costs.html")
        return target

    def test_costs_and_page(self):
        costs = json.loads(self.costs().read_text())
        self.assertEqual(costs["schema"], "bantam.sensitivity/1")
        self.assertIsNone(costs["loss"])  # plain texts have no labels
        for matrix in costs["matrices"]:
            self.assertTrue(all(cost["bytes_saved"] > 0 for cost in matrix["types"]), matrix)
        page = (self.directory / "costs.html").read_text().replace("<wbr>", "")
        self.assertIn("<svg", page)
        self.assertNotIn("http", page)
        for matrix in costs["matrices"]:
            self.assertIn(matrix["name"], page)

    def test_labels_make_a_loss(self):
        data = self.write("data.jsonl", '{"text": "play some jazz", "intent": "on", "tokens": [], "slots": []}\n')
        costs = self.line("sensitivity", MODEL, data, "-o", self.directory / "c.json", "--types", "int8", "--json")
        self.assertGreater(costs["loss"], 0)
        bad = self.write("bad.jsonl", '{"text": "play some jazz", "intent": "Nothing"}\n')
        self.fails(4, "sensitivity", MODEL, bad, "-o", self.directory / "d.json", says=['label "Nothing"'])
        self.assertFalse((self.directory / "d.json").exists())

    def test_budget(self):
        costs = self.costs()
        target = self.directory / "out.bantam"
        more = ("--sensitivity", costs, "-o", target, "--parity", "none", "--json")
        whole = json.loads(costs.read_text())["file_bytes"]
        for share in (0.9, 0.75, 0.6):
            report = self.line("convert", MODEL, "--budget", f"size={int(whole * share)}", *more)
            self.assertLessEqual(report["budget"]["predicted_bytes"], whole * share)
            self.assertLessEqual(report["file_bytes"], whole * share * 1.01)
        report = self.line("convert", MODEL, "--budget", "loss=0.001", *more)
        self.assertLessEqual(report["budget"]["predicted_divergence"], 0.001)
        self.assertIn("i8", report["budget"]["types"].values())
        report = self.line("convert", MODEL, "--budget", "latency=0.5", *more)
        self.assertLessEqual(report["budget"]["predicted_latency"], 0.5)

    def test_refuses(self):
        costs = self.costs()
        target = self.directory / "out.bantam"
        convert = ("convert", MODEL, "-o", target, "--parity", "none")
        self.fails(4, *convert, "--budget", "size=10KB", "--sensitivity", costs, says=["no file smaller than"])
        self.fails(2, *convert, "--budget", "size=much", "--sensitivity", costs, says=["size=8MB"])
        self.fails(2, *convert, "--budget", "size=1MB", says=["go together"])
        both = ("--budget", "loss=1", "--sensitivity", costs)
        self.fails(2, *convert, *both, "--weights", "f16", says=["leave out --weights"])
        self.fails(
            4, *convert, "--budget", "loss=1", "--sensitivity", self.write("x.json", "{}"), says=["bantam sensitivity"]
        )
        other = ("convert", GOLDEN / "bert-classify", "-o", target, *both)
        self.fails(4, *other, says=["is not in this model"])
        self.fails(3, "sensitivity", MODEL, self.directory / "none", "-o", target, says=["none"])
        for types in (("int3",), ("int8", "f32")):
            measure = ("sensitivity", MODEL, COMMANDS, "-o", target, "--types", *types)
            self.assertNotIn("--keep", self.fails(2, *measure, says=[f"--types {types[-1]}", "int8, int4 and f16"]))
        wrong = json.loads(costs.read_text())
        wrong["matrices"][0]["types"][0]["type"] = "int3"
        wrong = self.write("wrong.json", json.dumps(wrong))
        self.fails(4, *convert, "--budget", "loss=1", "--sensitivity", wrong, says=["wrong.json", "int3", "not known"])
        self.assertFalse(target.exists())


if __name__ == "__main__":
    unittest.main()
