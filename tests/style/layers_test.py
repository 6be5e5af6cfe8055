#!/usr/bin/env python3
"""layers.py on small trees of which it must find each fault, and on one that has none."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402

TREE = {
    "runtime/README.md": "| `session/` | runs |\n| `kernels/` | loops |\n",
    "runtime/session/README.md": "Runs. May depend on: `kernels` and schemas/. Start with run.cpp.\n",
    "runtime/session/run.cpp": '#include "kernels/kernels.h"\n#include "bantam_generated.h"\n',
    "runtime/kernels/README.md": "Loops. May depend on the public headers only.\n",
    "runtime/kernels/kernels.h": '#include "bantam/session.h"\n',
    "runtime/include/bantam/session.h": '#include "bantam/status.h"\n',
    "runtime/include/bantam/status.h": "",
    "converter/README.md": "| `cli/` | prints |\n| `pack/` | packs |\n| `import/` | reads |\n| `graph/` | nodes |\n",
    "converter/CMakeLists.txt": "bantam_layer(graph)\nbantam_layer(import BELOW graph)\nbantam_layer(pack BELOW import\n  graph)\n",
    "converter/cli/README.md": "Prints. May depend on: everything below it and the runtime.\n",
    "converter/cli/main.cpp": '#include "pack/pack.h"\n',
    "converter/pack/README.md": "Packs. May depend on: `graph`,\n`import` and the runtime. Start with pack.h.\n",
    "converter/pack/pack.h": '#include "import/source/file.h"\n#include "kernels/kernels.h"\n',
    "converter/import/README.md": "Reads. May depend on: `graph`.\n",
    "converter/import/import.cpp": '#include "import/source/file.h"\n',
    "converter/import/source/README.md": "Files. May depend on: `graph`.\n",
    "converter/import/source/file.h": '#include "graph/graph.h"\n',
    "converter/graph/README.md": "Nodes. May depend on: nothing.\n",
    "converter/graph/graph.h": "",
}


class Layers(unittest.TestCase):
    def problems(self, **changes):
        """The problems found in TREE with files changed (None: removed); names have __ for slashes and _dot_ for dots."""
        files = dict(TREE)
        for name, text in changes.items():
            files[name.replace("__", "/").replace("_dot_", ".")] = text
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                if text is not None:
                    path = pathlib.Path(directory, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            return layers.check(pathlib.Path(directory))

    def finds(self, expected, **changes):
        problems = self.problems(**changes)
        self.assertTrue(any(expected in problem for problem in problems), f"{expected!r} is not in {problems}")

    def test_a_tree_in_order_has_no_problems(self):
        self.assertEqual(self.problems(), [])

    def test_an_include_that_runs_up(self):
        self.finds("README.md does not allow `pack`", converter__graph__graph_dot_h='#include "pack/pack.h"\n')
        self.finds("README.md does not allow `session`", runtime__kernels__kernels_dot_h='#include "session/run.cpp"\n')

    def test_an_include_of_what_stands_below_but_is_not_allowed(self):
        self.finds(
            "converter/pack/README.md does not allow `graph`",
            converter__pack__README_dot_md="Packs. May depend on: `import` and the runtime.\n",
            converter__pack__pack_dot_h='#include "graph/graph.h"\n',
        )

    def test_a_folder_inside_a_folder_is_a_layer(self):
        self.finds("does not allow `import`", converter__import__source__file_dot_h='#include "import/import.cpp"\n')

    def test_a_folder_that_stands_above_the_one_around_it(self):
        above = {
            "converter__import__source__README_dot_md": "Files. May depend on: `graph`, `import`.\n",
            "converter__import__source__file_dot_h": '#include "import/import.h"\n',
            "converter__import__import_dot_h": "",
            "converter__pack__README_dot_md": "Packs. May depend on: `graph`, `import`, `import/source` and the runtime.\n",
            "converter__CMakeLists_dot_txt": "",
        }
        self.finds("does not allow `import/source`", **above)
        self.assertEqual(self.problems(**above, converter__import__import_dot_cpp=""), [])

    def test_the_runtime_includes_nothing_of_the_converter(self):
        self.finds("may not depend on the converter", runtime__session__run_dot_cpp='#include "graph/graph.h"\n')

    def test_the_converter_names_the_runtime(self):
        self.finds("does not allow the runtime", converter__graph__graph_dot_h='#include "kernels/kernels.h"\n')

    def test_public_headers_include_public_headers(self):
        self.finds("public headers only", runtime__include__bantam__status_dot_h='#include "kernels/kernels.h"\n')

    def test_a_name_in_both_parts(self):
        both = {"runtime__graph__README_dot_md": "May depend on nothing.\n", "runtime__graph__graph_dot_h": ""}
        self.finds("which both runtime/ and converter/ have", **both)

    def test_a_readme_against_the_order(self):
        self.finds(
            "`cli` does not stand below", converter__pack__README_dot_md="May depend on: `cli`, `graph`, `import`.\n"
        )

    def test_a_readme_that_names_what_is_not_there(self):
        self.finds("`nodes` is not a folder", converter__import__README_dot_md="May depend on: `nodes`.\n")

    def test_a_folder_without_a_readme_or_without_its_sentence(self):
        self.finds("converter/graph: no README.md", converter__graph__README_dot_md=None)
        self.finds("no sentence", converter__graph__README_dot_md="Nodes.\n")

    def test_a_folder_that_the_table_has_not_and_one_that_is_not_there(self):
        self.finds("has no `prune/`", converter__prune__prune_dot_h="")
        self.finds("which holds no sources", converter__README_dot_md=TREE["converter/README.md"] + "| `base/` | x |\n")

    def test_build_files_that_differ_from_the_readme(self):
        changed = TREE["converter/CMakeLists.txt"].replace("(graph)", "(graph BELOW import)")
        self.finds("bantam_layer(graph) has import BELOW", converter__CMakeLists_dot_txt=changed)


if __name__ == "__main__":
    unittest.main()
