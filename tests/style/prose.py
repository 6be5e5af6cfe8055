"""prose.py SOURCE: no line of Markdown has more than 120 columns, tables, diagrams and the changelog apart; and no comment of the product
begins with a fragment ("Of", "What", "Whether") instead of a sentence. Only reading shows whether prose is plain English."""

import pathlib
import re
import subprocess
import sys

COLUMNS = 120
PRODUCT = [
    f"{folder}/*.{kind}"
    for folder in ("runtime", "converter", "targets", "examples")
    for kind in ("h", "cpp", "c", "inc")
]
FRAGMENT = re.compile(r"^ *//+ (Of|The same of|What|Those of|Whether) ", re.MULTILINE)
NO_PROSE = re.compile(r"^\s*\||[─│└┌]")


def files(source, *patterns):
    listed = subprocess.run(["git", "-C", source, "ls-files", *patterns], capture_output=True, text=True, check=False)
    return [source / name for name in listed.stdout.splitlines()]


def wide(text):
    """Numbers of the lines that are too wide."""
    lines = enumerate(text.splitlines(), 1)
    return [number for number, line in lines if len(line) > COLUMNS and not NO_PROSE.search(line)]


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    for path in files(source, "*.md"):
        if path.name != "CHANGELOG.md":
            problems += [
                f"{path.relative_to(source)}:{number}: over {COLUMNS} columns" for number in wide(path.read_text())
            ]
    for path in files(source, *PRODUCT):
        text = path.read_text()
        for found in FRAGMENT.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{path.relative_to(source)}:{line}: a comment begins with a fragment: {found[0].strip()}")
    print("\n".join(problems) or "prose: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
