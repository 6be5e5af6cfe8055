"""Trees count every file that an addition touches, and say which the recipe does not name."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import additions
import recipes


class Additions(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.source = self.directory / "source"
        for path, text in (
            ("CONTRIBUTING.md", "# C\n## Add a family\n1. `runtime/a.inc`: its row; docs/a.md.\n"),
            ("runtime/a.inc", "ROW(a)\n"),
            ("runtime/b.inc", "ROW(b)\n"),
            ("docs/a.md", "a\n"),
            ("tests/a.py", "a\n"),
            (".gitignore", "*.log\n"),
        ):
            (self.source / path).parent.mkdir(parents=True, exist_ok=True)
            (self.source / path).write_text(text)
        additions.run("git", "init", "-q", self.source)
        self.tree = additions.Tree(self.source, self.directory / "tree")

    def added(self, add):
        """(what is printed, what is wrong) of an addition by the recipe above."""
        printed = io.StringIO()
        with mock.patch.object(additions, "ADDITIONS", (("Add a family", add),)), contextlib.redirect_stdout(printed):
            wrong = additions.add_all(self.tree)
        return printed.getvalue(), wrong

    def test_parts_are_apart(self):
        def add(tree):
            for path in ("runtime/a.inc", "docs/a.md", "tests/a.py"):
                tree.row(path, "more")

        printed, wrong = self.added(add)
        most = recipes.MOST["Add a family"]
        self.assertIn(f"Add a family: 1 files of at most {most}, 3 lines", printed)
        self.assertIn("  product: runtime/a.inc\n  docs: docs/a.md\n  tests: tests/a.py\n", printed)
        self.assertEqual(wrong, ["Add a family: CONTRIBUTING.md does not name tests/a.py"])

    def test_a_file_that_no_recipe_names(self):
        def add(tree):
            tree.row("runtime/a.inc", "ROW(c)")
            (tree.root / "runtime" / "b.inc").unlink()  # not by a function of Tree

        _, wrong = self.added(add)
        self.assertEqual(wrong, ["Add a family: CONTRIBUTING.md does not name runtime/b.inc"])

    def test_more_files_than_promised(self):
        most = recipes.MOST["Add a family"]

        def add(tree):
            for number in range(most + 1):
                tree.create(f"runtime/new{number}.log", "ignored by git\n")

        _, wrong = self.added(add)
        self.assertIn(f"Add a family: {most + 1} files, at most {most} are promised", wrong)

    def test_a_pattern_that_finds_no_place(self):
        with self.assertRaises(SystemExit):
            self.tree.edit("runtime/a.inc", r"ROW\(z\)", "")
        with self.assertRaises(SystemExit):
            self.tree.before("runtime/a.inc", "LINE", "")


if __name__ == "__main__":
    unittest.main()
