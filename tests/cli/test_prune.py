"""Pruning and sparse files: what convert asks for and reports, and that other commands take such files like any other."""

import unittest

from support import GOLDEN, SOURCE, CommandTest

# Small, because sanitized builds run these too.
MODEL = GOLDEN / "bert-joint"
TEXTS = SOURCE / "models" / "voice-commands" / "commands.txt"
COMMANDS = TEXTS.read_text().splitlines()


class Prune(CommandTest):
    def refuses(self, code, *options, says):
        target = self.directory / "out.bantam"
        self.fails(code, "convert", MODEL, "-o", target, *options, says=says)
        self.assertFalse(target.exists())

    def make(self, name, *options):
        path = self.directory / name
        return path, self.line("convert", MODEL, "-o", path, *options, "--parity", "none", "--json")

    def test_says_what_is_wrong(self):
        for share in ("1", "-0.5", "nan", "80"):
            self.refuses(2, "--prune", share, says=["--prune", "below 1", "0.8"])
        self.refuses(2, "--prune", "0.8", "--pattern", "2:4", says=["2:4", "--prune 0.5"])
        self.refuses(2, "--prune", "0.8", "--pattern", "3x3", says=["--pattern"])
        self.refuses(2, "--prune", "0.8", "--weights", "f16", says=["--prune", "int8 and int4"])
        self.refuses(2, "--prune", "most", says=["--prune"])

    def test_gate_stops_a_model_that_lost_too_much(self):
        self.refuses(6, "--prune", "0.95", says=["quality gate", "differ"])

    def test_sparse_and_dense_files_answer_alike(self):
        sparse, report = self.make("sparse.bantam", "--prune", "0.8", "--sparse", "always")
        dense, _ = self.make("dense.bantam", "--prune", "0.8", "--sparse", "never")
        self.assertLess(sparse.stat().st_size, dense.stat().st_size)
        self.assertIn("i8 sparse", " ".join(row["types"] for row in report["classes"]))
        expected = self.ok("run", dense, *COMMANDS, "--raw", environment={"BANTAM_ISA": "reference"})
        for isa in self.line("version", "--json")["isa"]:
            if isa["available"]:
                got = self.ok("run", sparse, *COMMANDS, "--raw", environment={"BANTAM_ISA": isa["name"]})
                self.assertEqual(got, expected, isa["name"])
        self.assertEqual(self.ok("run", sparse, *COMMANDS, "--raw", "--threads", "3"), expected)
        self.assertTrue(self.line("verify", sparse, "--json")["ok"])
        self.assertTrue(self.lines("bench", sparse, "--seq", "8", "--per-op", "--json"))
        recipe = self.line("inspect", sparse, "--json")["properties"]["recipe"]
        self.assertIn("prune=0.8 pattern=1x4 scope=global", recipe)

    def test_files_stay_dense_where_that_is_faster(self):
        few, _ = self.make("few.bantam", "--prune", "0.05")
        dense, _ = self.make("dense.bantam", "--prune", "0.05", "--sparse", "never")
        self.assertEqual(few.read_bytes(), dense.read_bytes())
        short, _ = self.make("short.bantam", "--prune", "0.8", "--typical-tokens", "1")
        long, _ = self.make("long.bantam", "--prune", "0.8")
        self.assertGreater(short.stat().st_size, long.stat().st_size)

    def test_activations_choose_other_weights(self):
        by_norm, _ = self.make("norm.bantam", "--prune", "0.5", "--prune-by", "activations", "--calibrate", TEXTS)
        by_size, _ = self.make("size.bantam", "--prune", "0.5")
        self.assertNotEqual(by_norm.read_bytes(), by_size.read_bytes())
        rounded = ("--rounding", "gptq", "--calibrate", TEXTS)
        self.assertTrue(self.make("gptq.bantam", "--prune", "0.8", "--prune-scope", "uniform", *rounded)[1]["passes"])


if __name__ == "__main__":
    unittest.main()
