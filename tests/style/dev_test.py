#!/usr/bin/env python3
"""Tests of ./dev without building anything: what it calls, by stand-ins for cmake, ctest and the package tools."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("dev", "CMakePresets.json", "targets/dev", "targets/packages", "targets/cortex-m4", "tests/bench/dev.sh")
SUMMARY = "100% tests passed, 0 tests failed out of 1"
# Each notes how it was called; ctest prints its last lines.
STUB = (
    """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case $(basename "$0") in
  ctest) echo "%s" ;;
  dpkg-query) echo installed ;;
  cmake) case $1 in --preset) mkdir -p build "build-$2"; : >build/build.ninja ;; esac ;;
esac
"""
    % SUMMARY
)


class Dev(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for part in PARTS:
            target = self.folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, target)
        stubs = self.folder / "stubs"
        stubs.mkdir()
        for name in ("cmake", "ctest", "dpkg-query", "apt-get", "apt-cache", "python3"):
            (stubs / name).write_text(STUB)
            (stubs / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}", "CALLS": str(self.folder / "calls")}

    def dev(self, *arguments, status=0):
        """The printed text, and the calls."""
        done = subprocess.run(
            [self.folder / "dev", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        calls = self.folder / "calls"
        return done.stdout, calls.read_text() if calls.exists() else ""

    def test_is_short(self):
        self.assertLessEqual(len((ROOT / "dev").read_text().splitlines()), 200)

    def test_help_names_every_command_and_no_other(self):
        text, calls = self.dev("--help")
        self.assertEqual(calls, "")
        listed = set(re.findall(r"^  ([a-z]+)\b", text.split("Options")[0], re.M))
        parts = [
            "dev",
            "tests/bench/dev.sh",
            *(f"targets/dev/{name}.sh" for name in "tests packages release wasm older fuzz mutants".split()),
        ]
        sources = "".join((ROOT / part).read_text() for part in parts)
        self.assertEqual(listed, set(re.findall(r"^command_(\w+)\(\)", sources, re.M)))

    def test_wrong_use(self):
        for arguments in ("", "fly", "test some", "test all -R", "size x", "format x", "older", "release x"):
            self.dev(*arguments.split(), status=2)
        self.dev("release", "--check", status=1)  # before there is a release

    def test_presets_are_there(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        names = {
            kind: {p["name"] for p in presets[kind]} for kind in ("configurePresets", "buildPresets", "testPresets")
        }
        for command in (["demo"], ["build"], ["test"], ["test", "quick"]):
            try:
                _, calls = self.dev(*command)
            except AssertionError:
                if command != ["demo"]:  # has nothing to convert here
                    raise
                calls = (self.folder / "calls").read_text()
            for tool, preset in re.findall(r"^(cmake --build|cmake|ctest) --preset (\S+)", calls, re.M):
                kind = {"cmake": "configurePresets", "cmake --build": "buildPresets", "ctest": "testPresets"}[tool]
                self.assertIn(preset, names[kind])

    def test_quick_hands_arguments_to_ctest(self):
        printed, calls = self.dev("test", "quick", "-R", "tokenizer")
        self.assertRegex(calls, r"ctest .*--test-dir build -R tokenizer")
        self.assertNotIn("fuzz", calls)
        self.assertEqual(printed.strip().splitlines()[-1], SUMMARY)

    def test_before_a_commit_builds_release_and_what_reads_foreign_bytes(self):
        printed, calls = self.dev("test")
        built = re.findall(r"cmake --build --preset (\S+)", calls)
        self.assertEqual(built, ["release", "fuzz"])
        list_file = self.folder / "build" / "tests.ctest" / "CTestTestfile.cmake"
        self.assertEqual(list_file.read_text().count("subdirs"), 2)
        self.assertEqual(printed.strip().splitlines()[-1], SUMMARY)

    def test_failing_tests_fail(self):
        stub = self.folder / "stubs" / "ctest"
        stub.write_text(STUB + "exit 8\n")
        self.dev("test", status=8)
        self.dev("test", "quick", status=8)

    def test_a_configured_folder_is_not_configured_again(self):
        self.dev("test", "quick")
        _, calls = self.dev("test", "quick")
        self.assertEqual(calls.count("cmake --preset release"), 1)

    def repository(self):
        """A repository of the copy, with one commit; its name."""

        def git(*arguments):
            own = ["-c", "user.name=t", "-c", "user.email=t@t"]
            return subprocess.check_output(["git", "-C", self.folder, *own, *arguments], text=True).strip()

        git("init", "-q")
        (self.folder / ".gitignore").write_text("/build/\n/stubs/\n/calls\n")
        git("add", ".")
        git("commit", "-q", "-m", "first")
        return git, git("rev-parse", "--short=8", "HEAD")

    def test_an_older_command_is_built_beside_todays(self):
        git, commit = self.repository()
        tree = self.folder / "build" / "older" / commit
        printed, calls = self.dev("older", "HEAD")
        self.assertEqual(printed, f"{tree}/build/bantam\n")  # steps are shown elsewhere
        self.assertTrue((tree / "dev").is_file())
        self.assertIn(f"cmake -S {tree} --preset release", calls)
        self.assertIn(f"cmake --build {tree}/build", calls)
        self.dev("older", commit)  # the same worktree
        self.assertEqual(git("worktree", "list").count("older"), 1)
        self.dev("older", "nothing", status=2)
        self.dev("older", "HEAD", "HEAD", status=2)

        _, calls = self.dev("digests", "HEAD", "--only", "x")
        self.assertIn(f"--against {tree}/build/bantam --only x\n", calls)
        _, calls = self.dev("digests", "--tests")
        self.assertTrue(calls.endswith("digests.py --command build/bantam --tests\n"), calls)

        self.dev("clean")
        self.assertEqual(git("worktree", "list").count("older"), 0)
        self.assertFalse(tree.exists())


if __name__ == "__main__":
    unittest.main()
