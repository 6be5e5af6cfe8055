"""Code that the command-line tests share: running the command and finding the models that convert_models.py made."""

import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import json_schema
from torch_file import read_safetensors, write_safetensors

COMMAND = os.environ.get("BANTAM_COMMAND", "build/bantam")
MODELS = pathlib.Path(os.environ.get("BANTAM_TEST_MODELS", "build/tests/cli/models"))
SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "models"
SHARED = pathlib.Path(os.environ.get("BANTAM_SHARED", SOURCE.parent / "shared"))
DIGESTS = os.environ.get("BANTAM_TEST_DIGESTS")  # a file for `note_digest`, or None


def model(name):
    """Path of a converted model: "voice" (int8), "voice-f32", or a golden model's name (f32)."""
    return str(MODELS / f"{name}.bantam")


def bantam(*arguments, stdin=None, environment=None, stdout=subprocess.PIPE):
    """Runs the command; standard input and output are bytes."""
    variables = {**os.environ, **(environment or {})}
    if "BANTAM_ISA" not in (environment or {}):
        variables.pop("BANTAM_ISA", None)
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=variables,
        timeout=300,
        check=False,
    )
    if DIGESTS and arguments and arguments[0] == "convert":
        note_digest([str(argument) for argument in arguments], done)
    return done


MEASURE = """import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def measured(*arguments):
    """Runs the command without input: its exit code, its message, and the bytes of memory that it held at most. (A
    process counts those of who started it, too: a small one does.)"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=300,
        check=True,
    )
    code, peak = map(int, done.stdout.split())
    return code, done.stderr.decode(errors="replace"), peak


def note_digest(arguments, done):
    """For tests/golden/digests.py: a line of JSON: the sha256 of the file that a conversion wrote, or its exit code,
    with its arguments and messages, without names of temporary folders."""
    digest = f"exit {done.returncode}"
    if done.returncode == 0:
        at = next((i for i, argument in enumerate(arguments[:-1]) if argument in ("-o", "--output")), None)
        if at is None or not os.path.isfile(arguments[at + 1]):
            return  # help, or a device
        digest = hashlib.sha256(pathlib.Path(arguments[at + 1]).read_bytes()).hexdigest()
    temporary = re.compile(re.escape(tempfile.gettempdir()) + r"/tmp\w+")
    said = [temporary.sub("TMP", text) for text in (" ".join(arguments), done.stderr.decode(errors="replace"))]
    with open(DIGESTS, "a") as notes:
        notes.write(json.dumps([digest, *said]) + "\n")


def softmax(logits):
    top = max(logits)
    powers = [math.exp(x - top) for x in logits]
    return [p / sum(powers) for p in powers]


class CommandTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        self.directory = pathlib.Path(self._directory.name)

    def ok(self, *arguments, **options):
        """Standard output of a command that must succeed."""
        done = bantam(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done.stdout

    def lines(self, *arguments, **options):
        """Objects of a command that prints one JSON object a line, each as its schema says."""
        output = self.ok(*arguments, **options)
        self.assertTrue(output.endswith(b"\n") or not output)
        objects = [json.loads(line) for line in output.decode("utf-8").split("\n")[:-1]]
        for value in objects:
            self.assertEqual(json_schema.check(value), [], arguments)
        return objects

    def line(self, *arguments, **options):
        objects = self.lines(*arguments, **options)
        self.assertEqual(len(objects), 1)
        return objects[0]

    def fails(self, code, *arguments, says=(), **options):
        """A command that must fail: exit code, and words of its message. Nothing that looks like a crash."""
        done = bantam(*arguments, **options)
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, message)
        self.assertTrue(message.startswith("bantam: "), message)
        self.assertNotIn("internal error", message)
        for words in says:
            self.assertIn(words, message)
        return message

    def write(self, name, content):
        path = self.directory / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def changed(self, golden, tensors=None, **settings):
        """A copy of a golden model with other settings (None: without), and with what `tensors` makes of its tensors, which
        torch_file.read_safetensors gives."""
        directory = self.directory / golden
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(GOLDEN / golden, directory)
        config = json.loads((directory / "config.json").read_text())
        config.update(settings)
        config = {key: value for key, value in config.items() if value is not None}
        (directory / "config.json").write_text(json.dumps(config))
        if tensors:
            held = read_safetensors(directory / "model.safetensors")
            tensors(held)
            write_safetensors(directory / "model.safetensors", held)
        return directory

    def answers(self, golden, path):
        """Compares what a file of f32 says with the golden's expected.jsonl."""
        for line in (GOLDEN / golden / "expected.jsonl").read_text().splitlines():
            expected = json.loads(line)
            ids = ["--ids", ",".join(map(str, expected.pop("ids")))]
            segments = expected.pop("segments", None)
            ids += [] if segments is None else ["--segments", ",".join(map(str, segments))]
            raw = self.line("run", path, "--raw", *ids)
            for output, values in expected.items():
                flat = sum(values, []) if isinstance(values[0], list) else values
                self.assertEqual(len(raw["outputs"][output]["data"]), len(flat))
                for found, wanted in zip(raw["outputs"][output]["data"], flat, strict=True):
                    self.assertAlmostEqual(found, wanted, delta=2e-4)
