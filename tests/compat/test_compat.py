"""Files that earlier versions wrote: each is sound today, and answers the same. Objects may have more fields than they had."""

import json
import lzma
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = os.environ.get("BANTAM_COMMAND", "build/bantam")
VERSIONS = sorted(path.parent for path in HERE.glob("*/answers.jsonl"))
# Members of an answer that depend on the call, not on the file.
OF_THE_CALL = {"file", "isa", "best_isa", "milliseconds", "arena_bytes"}


def differences(then, now, path="$"):
    """Where `now` lacks what `then` says, a line each."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = []
        for key, value in then.items():
            if key in OF_THE_CALL:
                continue
            found += differences(value, now[key], f"{path}.{key}") if key in now else [f"{path}.{key} is not there"]
        return found
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [line for i, (a, b) in enumerate(zip(then, now)) for line in differences(a, b, f"{path}[{i}]")]
    # The session's own fields are part of the arena, and may become more.
    grows = re.fullmatch(r".*\.arena\[\d+\]\.bytes", path) and then <= now <= then + 256
    return [] if then == now or grows else [f"{path}: {then!r} became {now!r}"]


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, timeout=300, check=False)


class Compat(unittest.TestCase):
    def test_files_of_every_version(self):
        self.assertTrue(VERSIONS)
        for folder in VERSIONS:
            lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
            asked = [json.loads(line) for line in lines]
            packed = {path.stem: path for path in folder.glob("*.xz")}
            self.assertEqual({one["file"] for one in asked}, set(packed))
            with tempfile.TemporaryDirectory() as work:
                files = {name: pathlib.Path(work) / f"{name}.bantam" for name in packed}
                for name, file in files.items():
                    file.write_bytes(lzma.decompress(packed[name].read_bytes()))
                    done = run("verify", file)
                    self.assertEqual(done.returncode, 0, (folder.name, name, done.stderr))
                for one in asked:
                    with self.subTest(version=folder.name, file=one["file"], words=one["words"]):
                        done = run(one["words"][0], files[one["file"]], *one["words"][1:], "--json")
                        self.assertEqual(done.returncode, 0, done.stderr)
                        now = [json.loads(line) for line in done.stdout.splitlines()]
                        self.assertEqual(differences(one["answers"], now), [])

    def test_what_differs_is_found(self):
        then = {"a": [1, {"b": 2}], "file": "x"}
        self.assertEqual(differences(then, {"a": [1, {"b": 2, "c": 3}], "file": "y", "d": 4}), [])
        grown = [{"arena": [{"bytes": size}]} for size in (640, 704, 2000, 639)]
        self.assertEqual([len(differences(grown[0], now)) for now in grown], [0, 0, 1, 1])
        for now in ({"a": [1, {"b": 3}]}, {"a": [1]}, {"a": [1, {}]}, {}, [], {"a": [1, {"b": None}]}):
            self.assertNotEqual(differences(then, now), [], now)


if __name__ == "__main__":
    unittest.main()
