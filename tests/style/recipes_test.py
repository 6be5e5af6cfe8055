"""recipes.py finds names of files that are not there, and recipes that grew."""

import pathlib
import unittest

import recipes

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


class Recipes(unittest.TestCase):
    def found(self, old, new):
        self.assertIn(old, TEXT)
        return list(recipes.problems(ROOT, TEXT.replace(old, new, 1)))

    def test_as_they_are(self):
        self.assertEqual(list(recipes.problems(ROOT, TEXT)), [])

    def test_a_file_that_is_not_there(self):
        (problem,) = self.found(
            "`runtime/kernels/activations.inc`", "`runtime/kernels/activators.inc`, `schemas/bantam.fbs`"
        )
        self.assertIn("activators.inc", problem)

    def test_one_that_has_moved(self):
        (problem,) = self.found("`builder.cpp`", "`builders.cpp`")
        self.assertIn("builders.cpp", problem)

    def test_one_more_than_was_promised(self):
        (problem,) = self.found(
            "## Add an activation\n1. `schemas/bantam.fbs`",
            "## Add an activation\n1. docs/format.md, `targets/wasm/linked.h`, `schemas/bantam.fbs`",
        )
        self.assertIn("3 files, at most 2", problem)

    def test_tests_and_what_is_needed_sometimes_are_not_counted(self):
        changed = (
            "## Add an activation\n1. Only if odd: `targets/wasm/linked.h`; `tests/effort.h`, `schemas/bantam.fbs`"
        )
        self.assertEqual(self.found("## Add an activation\n1. `schemas/bantam.fbs`", changed), [])

    def test_what_a_recipe_names(self):
        body = "1. `runtime/ops/NAME.cpp`\n2. `converter/network/` and docs/format.md"
        for path, named in (
            ("runtime/ops/scratch.cpp", True),
            ("runtime/ops/more/scratch.cpp", False),
            ("converter/network/blocks/places.h", True),
            ("docs/format.md", True),
            ("docs/size.md", False),
        ):
            self.assertEqual(recipes.names(ROOT, body, path), named, path)

    def test_a_recipe_that_is_gone(self):
        (problem,) = self.found("## Add a task\n", "## Tasks\n")
        self.assertIn("Add a task", problem)


if __name__ == "__main__":
    unittest.main()
