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

    def without_provenance(self, path):
        """The file's bytes as on a device, which do not say what convert was told."""
        image = self.directory / "image"
        self.ok("firmware", path, "--target", "cortex-m4", "--format", "bin", "-o", image)
        return image.read_bytes()

    def answers_alike(self, path, dense):
        """Every instruction set gives the bits that the reference gives for the dense file, which are returned."""
        expected = self.ok("run", dense, *COMMANDS, "--raw", environment={"BANTAM_ISA": "reference"})
        for isa in self.line("version", "--json")["isa"]:
            if isa["available"]:
                got = self.ok("run", path, *COMMANDS, "--raw", environment={"BANTAM_ISA": isa["name"]})
                self.assertEqual(got, expected, isa["name"])
        return expected

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
        expected = self.answers_alike(sparse, dense)
        self.assertEqual(self.ok("run", sparse, *COMMANDS, "--raw", "--threads", "3"), expected)
        self.assertTrue(self.line("verify", sparse, "--json")["ok"])
        self.assertTrue(self.lines("bench", sparse, "--seq", "8", "--per-op", "--json"))
        recipe = self.line("inspect", sparse, "--json")["properties"]["recipe"]
        self.assertEqual("weights=i8 prune=0.8 pattern=1x4 scope=global prune-by=magnitude sparse=always", recipe)

    def test_static_files_are_sparse_too(self):
        static = ("--activations", "static", "--calibrate", TEXTS, "--prune", "0.8", "--prune-scope", "uniform")
        for plan in ("fast", "small"):
            sparse, report = self.make("sparse.bantam", *static, "--plan", plan, "--sparse", "always")
            dense, _ = self.make("dense.bantam", *static, "--plan", plan, "--sparse", "never")
            self.assertIn("choose sparse layers", report["passes"])
            self.assertIn("i8 sparse", " ".join(row["types"] for row in report["classes"]))
            self.assertLess(sparse.stat().st_size, dense.stat().st_size)
            expected = self.answers_alike(sparse, dense)
            self.assertEqual(self.ok("run", sparse, *COMMANDS, "--raw", "--threads", "3"), expected)
            self.assertTrue(self.line("verify", sparse, "--json")["ok"])
            self.assertTrue(self.lines("bench", sparse, "--seq", "8", "--per-op", "--json"))
        short, _ = self.make("short.bantam", *static, "--typical-tokens", "1")
        long, _ = self.make("long.bantam", *static)
        self.assertGreater(short.stat().st_size, long.stat().st_size)
        scattered = ("--pattern", "unstructured")
        bits, report = self.make("bits.bantam", *static, *scattered)
        dense, _ = self.make("dense.bantam", *static, *scattered, "--sparse", "never")
        self.assertIn("no layout for single zeros", " ".join(report["notes"]))
        self.answers_alike(bits, dense)

    def test_scattered_zeros_are_stored_in_a_third(self):
        small, report = self.make("bits.bantam", "--prune", "0.8", "--pattern", "unstructured")
        dense, _ = self.make("dense.bantam", "--prune", "0.8", "--pattern", "unstructured", "--sparse", "never")
        self.assertIn("i8 bitmask", " ".join(row["types"] for row in report["classes"]))
        self.answers_alike(small, dense)
        self.assertTrue(self.line("verify", small, "--json")["ok"])
        self.assertLess(small.stat().st_size, dense.stat().st_size)
        asked, _ = self.make("asked.bantam", "--prune", "0.8", "--pattern", "unstructured", "--sparse", "smallest")
        self.assertEqual(asked.read_bytes(), small.read_bytes())

    def test_files_stay_dense_where_that_is_faster(self):
        few, _ = self.make("few.bantam", "--prune", "0.05")
        dense, _ = self.make("dense.bantam", "--prune", "0.05", "--sparse", "never")
        self.assertEqual(self.without_provenance(few), self.without_provenance(dense))
        short, _ = self.make("short.bantam", "--prune", "0.8", "--typical-tokens", "1")
        long, _ = self.make("long.bantam", "--prune", "0.8")
        self.assertGreater(short.stat().st_size, long.stat().st_size)

    def test_what_is_faster_on_one_core_is_not_on_another(self):
        everywhere, _ = self.make("any.bantam", "--prune", "0.5")
        there, _ = self.make("there.bantam", "--prune", "0.5", "--target-cpu", "avx2")
        self.assertLess(there.stat().st_size, everywhere.stat().st_size)
        self.answers_alike(there, everywhere)

    def test_activations_choose_other_weights(self):
        by_norm, _ = self.make("norm.bantam", "--prune", "0.5", "--prune-by", "activations", "--calibrate", TEXTS)
        by_size, _ = self.make("size.bantam", "--prune", "0.5")
        self.assertNotEqual(by_norm.read_bytes(), by_size.read_bytes())
        rounded = ("--rounding", "gptq", "--calibrate", TEXTS)
        self.assertTrue(self.make("gptq.bantam", "--prune", "0.8", "--prune-scope", "uniform", *rounded)[1]["passes"])

    def test_heads_and_columns(self):
        whole = self.directory / "whole.bantam"
        self.ok("convert", MODEL, "-o", whole, "--parity", "none")
        for pattern, units in (("heads", 5), ("ffn", 72)):
            for scope in ("global", "uniform"):
                more = ("--prune", "0.4", "--pattern", pattern, "--prune-scope", scope)
                path, report = self.make("narrow.bantam", *more)
                pruned = report["pruned"]
                self.assertEqual([pruned[key] for key in ("pattern", "scope", "by")], [pattern, scope, "activations"])
                self.assertEqual([layer["before"] for layer in pruned["layers"]], [units, units])
                gone = [len(layer["removed"]) for layer in pruned["layers"]]
                self.assertEqual(gone, [units - layer["after"] for layer in pruned["layers"]])
                self.assertGreaterEqual(sum(gone), 0.4 * 2 * units)
                self.assertLess(pruned["parameters_after"], pruned["parameters_before"])
                self.assertLess(path.stat().st_size, whole.stat().st_size)
                self.assertTrue(self.line("verify", path, "--json")["ok"])
                properties = self.line("inspect", path, "--json")["properties"]
                self.assertIn(f"pattern={pattern} scope={scope} prune-by=activations", properties["recipe"])
                self.assertIn(f"{pattern}: ", properties["pruned"])
        self.fails(
            2, "convert", MODEL, "-o", whole, "--pattern", "ffn", says=["--pattern does nothing without --prune"]
        )
        said = self.ok("convert", MODEL, "-o", whole, "--prune", "0.4", "--pattern", "heads", "--max-label-flips", "1")
        self.assertIn("Pruned: 4 of 10 heads", said.decode())

    def test_heads_and_columns_go_with_everything(self):
        texts = ("--calibrate", TEXTS)
        costs = self.directory / "costs.json"
        self.ok("sensitivity", MODEL, TEXTS, "-o", costs, "--limit", "8")
        whole = self.line("sensitivity", MODEL, TEXTS, "-o", costs, "--limit", "8", "--json")["file_bytes"]
        recipe = self.write("recipe.json", '{"hidden": 24}')
        for more in (
            ("--weights", "int4", "--rounding", "gptq", *texts),
            ("--weights", "f32", "--prune-by", "magnitude"),
            ("--activations", "static", *texts),
            ("--residual", "i8", *texts),
            ("--student", recipe),
            ("--budget", f"size={whole // 2}", "--sensitivity", costs),
        ):
            for pattern in ("heads", "ffn"):
                path, report = self.make("narrow.bantam", "--prune", "0.3", "--pattern", pattern, *more)
                self.assertIsNotNone(report["pruned"])
                self.assertIn("intent", self.line("run", path, "play some jazz", "--json"))
                if report["budget"]:
                    self.assertLessEqual(report["file_bytes"], whole // 2 * 1.01)
                    self.assertLess(report["budget"]["predicted_bytes"] / report["file_bytes"], 1.1)

    def test_heads_and_columns_refused(self):
        self.refuses(6, "--prune", "0.8", "--pattern", "heads", says=["quality gate", "differ"])
        self.refuses(2, "--prune", "0.9", "--pattern", "heads", says=["at least 2 stay", "at most 0.8"])
        uniform = ("--pattern", "ffn", "--prune-scope", "uniform")
        self.refuses(2, "--prune", "0.9", *uniform, says=["at least 16 stay", "at most 0.777"])
        self.refuses(2, "--prune", "1", *uniform, says=["below 1"])
        self.refuses(2, "--prune", "0.3", "--pattern", "head", says=["--pattern", "heads", "ffn"])
        self.refuses(2, "--prune", "0.3", *uniform, "--prune-by", "taste", says=["--prune-by", "magnitude"])
        self.refuses(3, "--prune", "0.3", *uniform, "--calibrate", "none.txt", says=["none.txt"])
        by_size = ("--prune-by", "magnitude", "--calibrate", TEXTS)
        self.refuses(2, "--prune", "0.3", *uniform, *by_size, says=["--calibrate is for"])


if __name__ == "__main__":
    unittest.main()
