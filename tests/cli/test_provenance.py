"""A file records the options that made it."""

import json
import re
import unittest

from support import GOLDEN, SOURCE, CommandTest

VOICE = SOURCE / "models" / "voice-commands"
STATIC = ("--activations", "static", "--calibrate", VOICE / "commands.txt")
# Options of convert: those that a file's bytes do not depend on, and those with a property of their own.
ELSEWHERE = {
    "--help",
    "--help-all",
    "--output",
    "--parity",
    "--gate-data",
    "--auto",
    "--expect",
    "--max-label-flips",
    "--json",
}
ELSEWHERE |= {"--color", "--quiet", "--strict-source"}
OWN = {"--budget", "--sensitivity", "--student"}
# Options, and how the recipe says them.
DECIDING = (
    ((), "weights=i8"),
    (("--weights", "f16"), "weights=f16"),
    (("--weights", "int4", "--group", "64"), "weights=i4 group=64"),
    (("--keep", "embeddings=f16", "--keep", "layer.0=i4"), "weights=i8 keep=embeddings=f16 keep=layer.0=i4 group=32"),
    (("--keep", "layer.0=i4", "--group", "16"), "weights=i8 keep=layer.0=i4 group=16"),
    (
        ("--prune", "0.8", "--prune-scope", "uniform"),
        "weights=i8 prune=0.8 pattern=1x4 scope=uniform prune-by=magnitude",
    ),
    (
        ("--prune", "0.8", "--sparse", "always"),
        "weights=i8 prune=0.8 pattern=1x4 scope=global prune-by=magnitude sparse=always",
    ),
    (
        ("--prune", "0.8", "--typical-tokens", "4"),
        "weights=i8 prune=0.8 pattern=1x4 scope=global prune-by=magnitude typical-tokens=4",
    ),
    (
        ("--prune", "0.8", "--target-cpu", "zen5"),
        "weights=i8 prune=0.8 pattern=1x4 scope=global prune-by=magnitude target-cpu=zen5",
    ),
    (
        ("--prune", "0.5", "--pattern", "unstructured"),
        "weights=i8 prune=0.5 pattern=unstructured scope=global prune-by=magnitude sparse=smallest",
    ),
    (
        ("--prune", "0.5", "--pattern", "unstructured", "--sparse", "never", "--prune-by", "activations"),
        "weights=i8 prune=0.5 pattern=unstructured scope=global prune-by=activations sparse=never",
    ),
    (
        ("--prune", "0.4", "--pattern", "ffn", "--prune-by", "magnitude"),
        "weights=i8 prune=0.4 pattern=ffn scope=global prune-by=magnitude",
    ),
    (("--residual", "i8"), "weights=i8 residual=i8 plan=small"),
    (("--residual", "i8", "--plan", "fast"), "weights=i8 residual=i8"),
    (("--ids-only",), "weights=i8 ids-only"),
    (("--max-tokens", "20"), "weights=i8 max_tokens=20"),
    (("--rounding", "gptq"), "weights=i8 rounding=gptq"),
    ((*STATIC,), "weights=i8 activations=static calibrate=sha256:... plan=small"),
    ((*STATIC, "--plan", "fast"), "weights=i8 activations=static calibrate=sha256:..."),
    (
        (*STATIC, "--calibrate-by", "mse"),
        "weights=i8 activations=static calibrate-by=mse calibrate=sha256:... plan=small",
    ),
    (
        (*STATIC, "--calibrate-by", "percentile", "--percentile", "99"),
        "weights=i8 activations=static calibrate-by=percentile percentile=99 calibrate=sha256:... plan=small",
    ),
    (("--task", "encoder"), "weights=i8 task=encoder"),
    (("--tag-scheme", "bioes"), "weights=i8 tag-scheme=bioes"),
    (("--aggregation", "simple"), "weights=i8 aggregation=simple"),
)
SCORES = (
    ((), "weights=i8 calibrate_scores=sha256:..."),
    (("--max-rejected", "0.2"), "weights=i8 calibrate_scores=sha256:... max-rejected=0.2"),
)


# One of each of these families: source, options, recipe.
OF_FAMILIES = (
    ("../clip", ("--tower", "text"), "weights=i8 tower=text"),
    (
        "../onnx_forms/unclear-names.onnx",
        ("--inputs", "ids=a,mask=b", "--ids-only"),
        "weights=i8 ids-only inputs=ids=a,mask=b",
    ),
    (
        "../onnx_forms/two-answers.onnx",
        ("--graph-output", "topics", "--ids-only"),
        "weights=i8 ids-only graph-output=topics",
    ),
    ("longformer-tag", (), "weights=i8"),
    ("longformer-tag", ("--globals", "first"), "weights=i8 plan=small globals=first"),
    ("big-bird-tag", ("--random-blocks", "7", "--plan", "fast"), "weights=i8 random-blocks=7"),
)


class Recipe(CommandTest):
    def recipe(self, *options, source="bert-joint"):
        target = self.directory / "out.bantam"
        self.ok("convert", GOLDEN / source, "-o", target, *options, "--parity", "none")
        recipe = self.line("inspect", target, "--json")["properties"]["recipe"]
        return re.sub("sha256:[0-9a-f]{64}", "sha256:...", recipe)

    def check(self, cases, *always):
        for options, expected in cases:
            with self.subTest(options=options):
                self.assertEqual(self.recipe(*always, *options), expected)

    def test_every_option_that_decides_is_recorded(self):
        self.check(DECIDING)

    def test_scores(self):
        texts = {"la men bin": "on", "li men bin": "off"}
        lines = [{"text": text, "intent": intent} for text, intent in texts.items()] * 12
        data = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.check(SCORES, "--calibrate-scores", data)

    def test_entities(self):
        names = self.write("names.txt", "Q7\n")
        found = self.recipe("--entities", names, source="knowledge-ernie-typing")
        self.assertEqual(found, "weights=i8 entities=sha256:...")

    def test_options_of_single_families(self):
        for source, options, expected in OF_FAMILIES:
            with self.subTest(source=source, options=options):
                self.assertEqual(self.recipe(*options, source=source), expected)

    def test_no_option_is_forgotten(self):
        """A new option of convert belongs into one of the lists above."""
        text = self.ok("convert", "--help-all").decode()
        offered = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", text, re.MULTILINE))
        cases = [options for options, _ in DECIDING + SCORES] + [options for _, options, _ in OF_FAMILIES]
        covered = {word for options in cases for word in map(str, options) if word.startswith("--")}
        self.assertEqual(
            offered - covered - ELSEWHERE - OWN - {"--calibrate-scores", "--entities", "--shortlist"}, set()
        )


if __name__ == "__main__":
    unittest.main()
