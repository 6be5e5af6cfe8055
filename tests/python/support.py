"""Code that the tests of the Python package share: files that tests/cli converts, the command, and texts."""

import json
import os
import pathlib
import struct
import subprocess
import unittest

import bantam

COMMAND = os.environ.get("BANTAM_COMMAND", "build/bantam")
MODELS = pathlib.Path(os.environ.get("BANTAM_TEST_MODELS", "build/tests/cli/models"))

TEXTS = [
    "play some jazz from the sixties",
    "what is the weather in zürich tomorrow",
    "wake me at 7 😀 please",
    "a",
    "book a table for two at the blue café in 東京 and add this song to my party list",
    "tabs\tand\nlines",
    "nul \0 inside",
]


def path(name):
    return str(MODELS / f"{name}.bantam")


def load(name, **options):
    return bantam.load(path(name), **options)


def single(number):
    """The number that the command prints for an f32, as Python has the same f32."""
    return struct.unpack("f", struct.pack("f", float(number)))[0]


def command(*arguments):
    """Objects that the command prints, a line each."""
    variables = {key: value for key, value in os.environ.items() if key != "BANTAM_ISA"}
    done = subprocess.run([COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, env=variables)
    if done.returncode:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return [json.loads(line, parse_float=single) for line in done.stdout.decode().splitlines()]


MOST = 8  # files of a task; the sources' tests have the rest


def of_task(task):
    """Files that read texts, other families first."""
    found = {}
    for file in sorted(MODELS.glob("*.bantam")):
        info = load(file.stem).info
        if info["task"] == task and info["tokenizer"]:
            found.setdefault(file.stem.split("-")[0], []).append(file.stem)
    first = [names[0] for names in found.values()]
    names = first + [name for names in found.values() for name in names[1:]]
    assert names, task
    return names[:MOST]


class PackageTest(unittest.TestCase):
    maxDiff = None

    def raises(self, kind, call, *words):
        """The exception, which says these words."""
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))
        return caught.exception
