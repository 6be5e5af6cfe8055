"""Builds the command, the Python package's library and its wheel twice: in folders of other names, with another
umask, time zone and language. Both must have the same bytes. `./dev test all` runs it; it takes ten minutes of two cores."""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from support import SOURCE as ROOT
from support import facts

PLACES = (
    ("a", 0o022, {"TZ": "UTC", "LC_ALL": "C"}),
    ("a folder/of-a-longer-name", 0o077, {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8"}),
)
TARGETS = ("bantam_command", "bantam_python")


def copy_sources(place):
    for name in facts.source_files():
        target = place / "bantam" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)


def build(place, umask, environment):
    """{what: its SHA-256} of a build in `place`."""
    source = place / "bantam"

    def run(*command):
        variables = {**os.environ, **environment, "CCACHE_DISABLE": "1"}
        done = subprocess.run(
            command, cwd=source, env=variables, umask=umask, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"reproducible: {' '.join(command)}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    run("cmake", "--preset", "demo")
    run("cmake", "--build", "build", "--target", *TARGETS)
    folder = source / "build"
    run(
        sys.executable,
        "-B",
        "targets/python/backend/bantam_build.py",
        "--out",
        str(place / "wheel"),
        "--library",
        str(folder / "python" / "libbantam.so"),
    )
    made = [folder / "bantam", folder / "python" / "libbantam.so", *place.glob("wheel/*.whl")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--work", type=pathlib.Path, required=True, help="a folder for both builds, which is removed at first"
    )
    work = parser.parse_args().work.resolve()  # archives of sources: recipes.py
    shutil.rmtree(work, ignore_errors=True)
    for name, _, _ in PLACES:  # both before the first build, which takes minutes
        copy_sources(work / name)
    one, other = (build(work / name, umask, environment) for name, umask, environment in PLACES)
    for name in sorted(one | other):
        same = one.get(name) == other.get(name)
        print(f"{'same' if same else 'DIFFERS':8}{name}  {one.get(name)}")
    shutil.rmtree(work)
    return 0 if one == other and len(one) >= 3 else 1


if __name__ == "__main__":
    sys.exit(main())
