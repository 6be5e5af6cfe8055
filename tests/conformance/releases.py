#!/usr/bin/env python3
"""releases.py LIST=PYTHON ...: prints the releases of the packages of requirements LIST in the environment of PYTHON.

Prints one line per list. It names packages that are not installed, and packages with a newer release that other
packages of the environment hold back; it says so if the index is not available.
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
    """{package: release} that pip would upgrade regardless of other packages; None: pip gave no answer."""
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
