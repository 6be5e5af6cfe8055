#!/usr/bin/env python3
"""private_names.py on sources whose names clash, and on some whose names do not."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import private_names  # noqa: E402


class PrivateNames(unittest.TestCase):
    def clashes(self, *bodies):
        """Names that clash, of sources that hold `bodies` in an anonymous namespace."""
        with tempfile.TemporaryDirectory() as folder:
            for number, body in enumerate(bodies):
                source = (
                    f"namespace bantam {{\nnamespace {{\n{body}\n}}  // namespace\nint shared() {{ return 1; }}\n}}\n"
                )
                (pathlib.Path(folder) / f"{number}.cpp").write_text(source, encoding="utf-8")
            return [line.split(": ")[1].split(" is private")[0] for line in private_names.clashes(folder)]

    def test_finds_types_functions_and_variables(self):
        for body, name in (
            ("struct Arguments { int a = 0; };", "Arguments"),
            ("template <typename T>\nclass Box : public Base<T> {\n};", "Box"),
            ("enum class Kind : int { kOne };", "Kind"),
            ('constexpr const char* kExamples = "a { b";', "kExamples"),
            ("const std::map<std::string, int> kWords = {{{0, 1}}};", "kWords"),
            ("std::vector<int> list{1, 2};", "list"),
            ("int twice(int a) { return 2 * a; }", "twice(int a)"),
            ("constexpr char32_t kMark = '{';", "kMark"),
        ):
            self.assertEqual(self.clashes(body, f"// as in the other\n{body}"), [name])
        self.assertEqual(self.clashes("enum One : int { kA = 1, kB };", "enum Two { kC,\n  kB = 3, kD };"), ["kB"])
        for several in ("constexpr int kA = f(1, kC), kB = 2;", "int kB = 1 < 2, kD;", "int kA, kB = 2, kD;"):
            self.assertEqual(self.clashes(several, "int kB = 1, kE = g(kA, kD);\nint kC = 3;"), ["kB"])

    def test_finds_inner_types_that_hide_those_of_another_source(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.cpp").write_text("class Pair {\n  struct Own {\n  };\n};\n", encoding="utf-8")
            (folder / "b.cpp").write_text("void f() {\n  struct Pair {\n    int n;\n  };\n}\n", encoding="utf-8")
            self.assertEqual(len(private_names.shadowed(folder)), 1)
            (folder / "b.cpp").write_text("void f() {\n  struct Other {};\n}\n", encoding="utf-8")
            self.assertEqual(private_names.shadowed(folder), [])

    def test_finds_aliases_of_other_things(self):
        one = "using Kind = Node::Kind;"
        self.assertEqual(self.clashes(one, "using Kind =\n    Other::Kind;"), ["Kind"])
        self.assertEqual(self.clashes("enum class Kind { kOne };", one), ["Kind"])

    def test_finds_types_that_hide_public_ones(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "box.h").write_text("namespace bantam {\nstruct Box {\n  int n;\n};\n}\n", encoding="utf-8")
            for namespace, count in (("bantam", 1), ("bantam::cli", 0)):
                (folder / "a.cpp").write_text(
                    f"namespace {namespace} {{\nnamespace {{\nstruct Box {{}};\n}}\n}}\n", encoding="utf-8"
                )
                public = private_names.public_types(folder.glob("*.h"))
                self.assertEqual(len(private_names.hidden(folder, public)), count)

    def test_takes_overloads_aliases_and_local_names(self):
        for one, other in (
            ("int twice(int a) { return 2 * a; }", "int twice(long a) { return 2; }"),
            ("using Clock = std::chrono::steady_clock;", "using Clock = std::chrono::steady_clock;"),
            ("int f() { struct Local {}; int n = 0; return n; }", "int g() { struct Local {}; int n = 0; return n; }"),
            ("struct A { int n; };", "struct B { int n; };"),
            ('const char* kText = "struct B {};";', "struct B {};"),
            ("bool operator<(A a, A b) { return true; }", "bool operator<(A a, A b) { return true; }"),
        ):
            self.assertEqual(self.clashes(one, other), [])


if __name__ == "__main__":
    unittest.main()
