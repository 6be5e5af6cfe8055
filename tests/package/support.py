"""Code that the tests of packages share: skipping, running, and generating into a folder."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GENERATE = SOURCE / "targets" / "packages" / "generate.py"
LONG = os.environ.get("BANTAM_EXHAUSTIVE", "") != ""

sys.dont_write_bytecode = True
sys.path[:0] = [str(GENERATE.parent), str(SOURCE / "tests")]
import facts  # noqa: E402, F401
import skipping  # noqa: E402
from skipping import skip  # noqa: E402


def need(*programs):
    skipping.need(programs, "targets/packages/debian.txt has the group package")


def need_long(what):
    if not LONG:
        skip(f"{what}: `./dev test all` does so")


def run(*command, **options):
    """Standard output of a command that must succeed."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def generate(work, name, *more):
    """The folder of the package `name`, generated anew."""
    run(sys.executable, "-B", GENERATE, name, "--out", work, *more)
    return work / name


def check(condition, *what):
    if not condition:
        sys.exit(f"wrong: {' '.join(map(str, what))}")
