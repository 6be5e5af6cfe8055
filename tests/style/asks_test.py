#!/usr/bin/env python3
"""asks.py on small trees."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import asks  # noqa: E402


class Asks(unittest.TestCase):
    def problems(self, name, text, allowed=None):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "converter", name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return list(asks.problems(pathlib.Path(directory), allowed or {}))

    def test_calls_that_ask(self):
        for call in (
            "if (is_there(path)) return;",
            "fs::exists(path, error)",
            "std::filesystem::is_regular_file(path)",
            "for (fs::directory_iterator it(path), end; it != end; ++it) {",
            "const bool there = ::stat(path, &status) == 0;",
            "return access(path, R_OK) == 0;",
            "const Json config = read_json_object(path);",
            "sha256_of_file(path)",
        ):
            found = self.problems("source/new.cpp", f"// a line\n{call}\n")
            self.assertEqual(len(found), 1, call)
            self.assertIn("converter/source/new.cpp:2:", found[0])

    def test_folders_below(self):
        self.assertEqual(len(self.problems("source/gguf/new.cpp", "fs::exists(path)\n")), 1)
        self.assertEqual(self.problems("cli/new.cpp", "fs::exists(path)\n"), [])

    def test_what_asks_nothing(self):
        for text in (
            "// is_there(path) would ask\n",
            "/* fs::exists(path)\n   fs::exists(path) */\n",
            'say("fs::exists(path)");\n',
            "files.has(name); files->has_file(name); source.status(); graph.access(x); entry.stat(y);\n",
        ):
            self.assertEqual(self.problems("onnx/new.cpp", text), [])

    def test_the_list(self):
        self.assertEqual(self.problems("student/a.cpp", "fs::exists(path)\n", {"student/a.cpp": "why"}), [])
        found = self.problems("student/a.cpp", "", {"student/a.cpp": "why"})
        self.assertEqual(len(found), 1)
        self.assertIn("asks nothing any more", found[0])


if __name__ == "__main__":
    unittest.main()
