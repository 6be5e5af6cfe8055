#!/usr/bin/env python3
"""releases.py LIST=PYTHON ...: which release of each package of requirements LIST the environment of PYTHON has.

Prints a line a list. A package that is not installed is named, and so is one of which there is a newer release, which other packages of
its environment hold back; where the index cannot be asked, that is said.
"""

import json
import pathlib
import re
import subprocess
import sys

VERSIONS = """
import importlib.metadata as m, json, sys
found = {}
for name in sys.argv[1:]:
    try: found[name] = m.version(name)
    except m.PackageNotFoundError: pass
print(json.dumps(found))
"""


def packages(path):
    """The requirements of a list, without its comments, by the names of their packages."""
    lines = [line.split("#")[0].strip() for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    return {re.match(r"[\w.-]+", line).group(): line for line in lines if line}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def newer(python, names):
    """{package: release} of what pip would upgrade if nothing else counted; None: no answer."""
    asked = [
        "install",
        "--quiet",
        "--dry-run",
        "--no-deps",
        "--upgrade",
        "--disable-pip-version-check",
        "--report",
        "-",
    ]
    done = subprocess.run([python, "-m", "pip", *asked, *names], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return {normal(one["metadata"]["name"]): one["metadata"]["version"] for one in json.loads(done.stdout)["install"]}


def line_of(path, python):
    wanted = packages(path)
    title = f"{pathlib.Path(path).name}: "
    if not pathlib.Path(python).exists():
        return title + "no environment could be made"
    shown = subprocess.run([python, "-c", VERSIONS, *wanted], capture_output=True, text=True, check=True).stdout
    found = json.loads(shown)
    later = newer(python, [wanted[name] for name in found])
    parts = []
    for name in wanted:
        if name not in found:
            parts.append(f"{name} not installed")
            continue
        held = (later or {}).get(normal(name))
        parts.append(f"{name} {found[name]}" + (f" (held back: {held} is the newest)" if held else ""))
    return (
        title + ", ".join(parts) + ("" if later is not None else "; the index did not say whether these are the newest")
    )


def main():
    print("Releases of the original libraries")
    for given in sys.argv[1:]:
        print("  " + line_of(*given.split("=", 1)))


if __name__ == "__main__":
    main()
