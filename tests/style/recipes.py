"""recipes.py SOURCE_DIR: the recipes of CONTRIBUTING.md name files that are there, and no more of them than promised.

A recipe is a section "## Add ..."; its steps are numbered. A name in backquotes that looks like a file is one: with a
folder, or in the folder of the one named before it in the same section. NAME, KIND and the like stand for what is
added. Files of the whole tree count, documents among them; tests do not, nor does a clause with "only if" or "only
where". What additions really touch is counted by tests/recipes/scratch.py.
"""

import pathlib
import re
import sys

# Files that a recipe changes or adds at most.
# Files of the product that a recipe touches at most; documents and tests are listed apart.
MOST = {
    "Add an operator": 6,
    "Add an activation": 2,
    "Add a layout of weights": 5,
    "Add a link set": 1,
    "Add a mask of attention": 2,
    "Add a task": 6,
    "Add a family": 2,
    "Add a family of a new kind": 2,
    "Add a source format": 2,
    "Add a command": 3,
}
FILE = re.compile(r"(?:`|\b(?=docs/))([\w./-]+\.(?:cpp|h|inc|fbs|py|json|cmake|c|md))\b`?")
PLACEHOLDER = re.compile(r"\b(?:NAME|KIND)\b")
TOPS = ("runtime", "converter", "tests", "targets", "schemas", "docs", "examples")


def part_of(path):
    """ "product", "docs" or "tests"."""
    if path.startswith("tests/"):
        return "tests"
    return "docs" if path.startswith("docs/") or path.endswith(".md") else "product"


def sections(text):
    """(title, body) of each recipe."""
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        if title.startswith("Add "):
            yield title.strip(), body


def resolve(root, name, folder):
    """Where a name of a recipe is: its path from the root, or None."""
    for candidate in [name] if "/" in name else [f"{folder}/{name}", name]:
        known = root / candidate
        there = known.parent.is_dir() if PLACEHOLDER.search(known.name) else known.is_file()
        if there or PLACEHOLDER.search(str(known.parent)):
            return candidate
    # One of several of that name below the folder, or the only one that there is.
    below = sorted((root / folder).rglob(name)) if folder else []
    all_of = [path for top in TOPS for path in (root / top).rglob(name)]
    found = below[:1] or (all_of if len(all_of) == 1 else [])
    return str(found[0].relative_to(root)) if found else None


def files_of(root, body):
    """Each (name, path or None) that a section names, in its order."""
    folder = ""
    for found in re.finditer(r"`((?:" + "|".join(TOPS) + r")/[\w/-]*/)`|" + FILE.pattern, body):
        if found.group(1):
            folder = found.group(1).rstrip("/")
            continue
        name = found.group(2)
        path = resolve(root, name, folder)
        if path is not None:
            folder = str(pathlib.PurePosixPath(path).parent)
        yield name, path


def names(root, body, path):
    """Does a section name a file, a pattern of such names beside it, or a folder that it lies in?"""
    named = {known for _, known in files_of(root, body) if known}
    beside = {str(pathlib.PurePosixPath(known).parent) for known in named if PLACEHOLDER.search(known)}
    folders = re.findall(r"`((?:" + "|".join(TOPS) + r")/[\w/-]*/)`", body)
    return path in named or str(pathlib.PurePosixPath(path).parent) in beside or path.startswith(tuple(folders))


def required(body):
    """The steps of a recipe without what is needed only sometimes and without what follows the steps."""
    steps = re.findall(r"^\d+\. (.*?)(?=^\d+\. |\n\n|\Z)", body, re.M | re.S)
    kept = [step for step in steps if not step.startswith("Nothing else")]
    clauses = [clause for step in kept for clause in re.split(r";|\.(?=\s)", step)]
    return "\n".join(clause for clause in clauses if not re.search(r"\bonly\s+(?:if|where)\b", clause, re.I))


def problems(root, text):
    for title, body in sections(text):
        for name, path in files_of(root, body):
            if path is None:
                yield f'CONTRIBUTING.md: "{title}" names {name}, which is not there'
        if title in MOST:
            counted = {path for _, path in files_of(root, required(body)) if path and part_of(path) == "product"}
            if not counted:
                yield f'CONTRIBUTING.md: "{title}" names no file'
            if len(counted) > MOST[title]:
                yield f'CONTRIBUTING.md: "{title}" changes {len(counted)} files, at most {MOST[title]} are promised'
    for title in MOST.keys() - {title for title, _ in sections(text)}:
        yield f'CONTRIBUTING.md: there is no "{title}"'


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(problems(root, (root / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    print("\n".join(found) or "recipes name what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
