"""digests.py gives the same twice, tells apart what differs, and takes commands that lack an option."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
COMMAND = os.environ["BANTAM_COMMAND"]
FEW = "^(default|int4|task-tag)  tests/golden/(models/(bert-classify|gpt2-text)|word_vectors/fasttext-tree)$"


class Digests(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def digests(self, *arguments, status=0):
        call = [sys.executable, "-B", HERE / "digests.py", "--command", COMMAND, "--only", FEW, *arguments]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def another(self, script):
        """A command that does as `script` says, where $BANTAM is the real one."""
        path = self.directory / "bantam"
        path.write_text(f"#!/bin/sh\nBANTAM='{os.path.abspath(COMMAND)}'\n{script}\n")
        path.chmod(0o755)
        return path

    def test_the_same_twice(self):
        lines = self.digests()
        self.assertEqual(len(lines), 9)
        self.assertEqual(lines, self.digests())
        columns = [line.split("  ") for line in lines if not line.startswith("exit")]
        self.assertGreater(len({digest for digest, *_ in columns}), 5)
        self.assertTrue(all(len(digest) == 64 for digest, *_ in columns))
        refused = [line for line in lines if line.startswith("exit")]
        self.assertRegex("\n".join(refused), r"(?m)^exit 4 +  task-tag  tests/golden/models/gpt2-text  [0-9a-f]{12}$")

    def test_nothing_differs_from_itself(self):
        self.assertEqual(
            self.digests("--against", COMMAND), ["9 files: 9 equal, 0 differ; 0 messages differ; 2 are refused"]
        )

    def test_another_file_is_told(self):
        lines = self.digests("--against", self.another('exec "$BANTAM" "$@" --max-tokens 7'), status=1)
        differ = {line[2:].split("  ", 1)[1] for line in lines[:-1] if line[0] in "+-"}
        self.assertIn("default  tests/golden/models/bert-classify", differ)
        self.assertIn(f"{9 - len(differ)} equal, {len(differ)} differ", lines[-1])

    def test_an_option_that_the_other_lacks(self):
        script = 'case "$*" in *int4*) echo "bantam: unknown option --weights" >&2; exit 2;; esac\nexec "$BANTAM" "$@"'
        lines = self.digests("--against", self.another(script), status=1)
        self.assertIn("- exit 2  int4  tests/golden/models/bert-classify", lines)
        self.assertRegex(lines[-1], "^9 files: [67] equal, [23] differ; 0 messages")

    def test_messages_alone_are_no_difference_of_bytes(self):
        lines = self.digests("--against", self.another('echo "bantam: warning" >&2; exec "$BANTAM" "$@"'))
        self.assertEqual(lines[-1], "9 files: 9 equal, 0 differ; 9 messages differ; 2 are refused")
        self.assertIn("message  default  tests/golden/models/gpt2-text", lines)

    def test_conversions_of_tests_are_noted(self):
        notes = self.directory / "notes"
        source = HERE / "models" / "bert-classify"
        call = "import support; case = support.CommandTest(); case.setUp(); out = case.directory / 'x.bantam'; "
        call += f"[support.bantam('convert', {str(source)!r}, '-o', out, *more) for more in ((), ('--group', '0'))]"
        environment = {**os.environ, "BANTAM_TEST_DIGESTS": str(notes), "PYTHONPATH": str(HERE.parent / "cli")}
        subprocess.run([sys.executable, "-B", "-c", call], env=environment, check=True)
        made, refused = (json.loads(line) for line in notes.read_text().splitlines())
        self.assertRegex(made[0], "^[0-9a-f]{64}$")
        self.assertEqual(made[1], f"convert {source} -o TMP/x.bantam")
        self.assertEqual(refused[0], "exit 2")
        self.assertIn("--group", refused[2])


if __name__ == "__main__":
    unittest.main()
