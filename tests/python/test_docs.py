"""The examples of README.md, docs/start-python.md and docs/python.md, as a reader would type them, in a folder that has the files they name. A block that needs a library
says so behind its language (```python needs=numpy) and is left out where that is not installed."""

import doctest
import importlib.util
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from support import MODELS

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = {
    "voice.bantam": "voice",
    "minilm.bantam": "sentence-mean",
    "reranker.bantam": "bert-regress",
    "qa.bantam": "bert-answer",
    "fill.bantam": "bert-fill",
    "splade.bantam": "splade",
    "sentiment.bantam": "bert-classify",
}


def blocks(text):
    for line, found in (
        (text[: m.start()].count("\n"), m) for m in re.finditer(r"```python([^\n]*)\n(.*?)```", text, re.DOTALL)
    ):
        needs = re.findall(r"needs=(\S+)", found.group(1))
        yield line + 1, needs, found.group(2)


class Documents(unittest.TestCase):
    def test_examples(self):
        self.assertGreaterEqual(self.run_examples("README.md"), 4)
        self.assertGreater(self.run_examples("docs/start-python.md"), 6)
        self.assertGreater(self.run_examples("docs/python.md"), 15)

    def run_examples(self, name):
        """How many examples of the document have run."""
        document = SOURCE / name
        here, variables, ran = os.getcwd(), {}, 0
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        with tempfile.TemporaryDirectory() as folder:
            for name, model in FILES.items():
                shutil.copy(MODELS / f"{model}.bantam", pathlib.Path(folder) / name)
            for place in ("voice-commands", "models/voice-commands"):
                shutil.copytree(SOURCE / "models" / "voice-commands", pathlib.Path(folder) / place)
            os.chdir(folder)
            try:
                for line, needs, code in blocks(document.read_text()):
                    if not all(importlib.util.find_spec(one) for one in needs):
                        continue
                    if ">>>" not in code:
                        exec(
                            compile("\n" * line + code, str(document), "exec"), variables
                        )  # functions that later blocks use
                        continue
                    test = doctest.DocTestParser().get_doctest(code, variables, name, str(document), line)
                    runner = doctest.DocTestRunner(optionflags=options, verbose=False)
                    failed, tried = runner.run(test, clear_globs=False)
                    variables = test.globs
                    self.assertEqual(failed, 0, f"{name}, the block at line {line}")
                    ran += tried
            finally:
                os.chdir(here)
        return ran


if __name__ == "__main__":
    unittest.main()
