"""The checks of savers.py for each saved model: convert it, run it, compare its answers with the library's."""

import importlib
import json
import pathlib
import subprocess
import sys

import numpy

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"

LIMIT = 1e-4  # relative to the largest value of an output, or to 0.1 if all are smaller


def golden(name):
    """Imports a module of tests/golden by its path, because a module here may have the same name."""
    sys.path.insert(0, str(GOLDEN))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(GOLDEN))


class Refused(Exception):
    """The message and exit status of `bantam convert` for a model that it refuses."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Different(Exception):
    """Raised if answers have other names, shapes or ids."""


class Converted:
    """A saved model after `bantam convert`; `worst` is the largest difference found so far."""

    def __init__(self, command, source, *options, weights="f32", ids_only=False):
        self.command, self.worst = command, 0.0
        self.file = source.with_name(source.name + ".bantam")
        options = [*options, *(["--ids-only"] if ids_only else [])]
        done = self._run("convert", source, "-o", self.file, "--weights", weights, "--parity", "none", *options)
        if done.returncode < 0:
            raise Different(f"convert: killed by signal {-done.returncode}")
        if done.returncode != 0:
            raise Refused(" ".join(done.stderr.replace(str(source), source.name).split()), done.returncode)

    def _run(self, *words):
        return subprocess.run(
            [str(word) for word in (self.command, *words)], capture_output=True, text=True, check=False
        )

    def ask(self, task, *words):
        """Returns the JSON line that a command prints."""
        done = self._run(task, self.file, *words)
        if done.returncode != 0:
            raise Different(f"{task}: {' '.join(done.stderr.split())[-300:]}")
        return json.loads(done.stdout)

    def outputs(self, *words):
        found = self.ask("run", *words)["outputs"]
        return {name: numpy.array(value["data"]).reshape(value["shape"]) for name, value in found.items()}

    def compare(self, expected, actual):
        """Compares outputs by name; if both sides have one output, its name does not matter."""
        if len(expected) == len(actual) == 1:
            actual = dict(zip(expected, actual.values(), strict=True))
        for name, values in expected.items():
            if name not in actual:
                raise Different(f"has no output {name}, but {', '.join(actual)}")
            self.compare_values(name, values, actual[name])

    def compare_values(self, name, expected, actual):
        expected, actual = numpy.asarray(expected, "f8").squeeze(), numpy.asarray(actual, "f8").squeeze()
        if expected.shape != actual.shape:
            raise Different(f"{name} has the shape {list(actual.shape)}, not {list(expected.shape)}")
        if not numpy.isfinite(expected).all():
            raise Different(f"{name}: the library's own answer is not finite")
        scale = max(float(numpy.abs(expected).max()), 0.1)
        self.worst = max(self.worst, float(numpy.abs(expected - actual).max()) / scale)

    def compare_ids(self, text, expected):
        ids = self.ask("tokenize", text, "--json")["ids"]
        if ids != list(expected):
            raise Different(f"ids of {text[:30]!a} are {ids[:12]}, not {list(expected)[:12]}")


def listed(ids):
    return ",".join(str(number) for number in ids)
