"""Skipping for tests in Python: where the machine lacks something, they say so and end with the status that ctest counts as skipped."""

import shutil
import sys

SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def need(programs, where):
    """Skips where one of `programs` is not installed; `where`: what brings them."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        skip(f"{', '.join(missing)}: not installed; {where}")
