#!/usr/bin/env python3
"""links.py on documents whose links hold, and on some whose links do not."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import links  # noqa: E402

TREE = {
    "README.md": "# it\nSee [the documents](docs/README.md), [how](docs/how.md#one-more-step) and [a site](https://x.org).\n",
    "docs/README.md": "# Documents\n[How](how.md): how.\n",
    "docs/how.md": '# How\n## One more `step`\n[back](../README.md) [up](#how) <img src="images/a.svg">\n',
    "docs/images/a.svg": "<svg/>",
}


class Links(unittest.TestCase):
    def problems(self, **changes):
        files = {**TREE, **changes}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            pages = [name for name in files if name.endswith(".md")]
            return list(links.problems_of(root, pages))

    def finds(self, part, name, text):
        """One problem that holds `part`, where the text is put at the end of a page."""
        found = self.problems(**{name: TREE.get(name, "") + text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_links_that_hold(self):
        self.assertEqual(self.problems(), [])

    def test_a_file_that_is_not_there(self):
        self.finds("docs/how.md:4: gone.md: no such file", "docs/how.md", "[x](gone.md)\n")
        self.finds("no such file", "docs/how.md", "![x](images/b.svg 'title')\n")
        self.finds("no such file", "docs/how.md", '<source srcset="images/b.svg">\n')
        self.finds("no such file", "docs/how.md", "[x]\n\n[x]: gone.md\n")
        self.finds("slash", "docs/how.md", "[x](/docs/how.md)\n")
        self.finds("out of the tree", "docs/how.md", "[x](../../..)\n")

    def test_a_heading_that_is_not_there(self):
        self.finds("docs/how.md has no such heading", "README.md", "[x](docs/how.md#two)\n")
        self.finds("docs/how.md has no such heading", "docs/how.md", "```sh\n# two\n```\n[x](#two)\n")
        self.finds("only headings", "docs/how.md", "[x](images/a.svg#two)\n")

    def test_headings_of_one_name(self):
        text = TREE["docs/how.md"] + "## How\n[x](#how-1)\n"
        self.assertEqual(self.problems(**{"docs/how.md": text}), [])

    def test_code_has_no_links(self):
        text = TREE["docs/how.md"] + "`[x](gone.md)`\n```cpp\nv[i](gone)\n```\n"
        self.assertEqual(self.problems(**{"docs/how.md": text}), [])

    def test_a_page_without_a_line_in_the_index(self):
        self.finds("does not link docs/more.md", "docs/more.md", "# More\n")
        self.finds("does not link docs/sub/README.md", "docs/sub/README.md", "# More\n")
        self.assertEqual(self.problems(**{"docs/sub/figures.md": "# Figures\n"}), [])

    def test_a_long_readme(self):
        self.finds("at most 120", "README.md", "line\n" * 120)


if __name__ == "__main__":
    unittest.main()
