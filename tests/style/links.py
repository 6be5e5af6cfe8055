#!/usr/bin/env python3
"""links.py SOURCE: do links between the documents hold?

Every relative link of the Markdown pages (README.md of every folder, docs/, CONTRIBUTING.md, SECURITY.md) leads to a file or folder of
the tree, and to one of its headings where it names one. docs/README.md links every page of docs/. README.md stays short.
"""

import pathlib
import re
import subprocess
import sys
import urllib.parse

INDEX = "docs/README.md"
MOST_LINES = 120  # of README.md
PAGE = re.compile(r"(?:.*/)?README\.md|docs/.*\.md|CONTRIBUTING\.md|SECURITY\.md")
FENCE = re.compile(r"^( {0,3})(```+|~~~+).*?^ {0,3}\2[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+[\"'(][^)]*)?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)", re.MULTILINE)
ATTRIBUTE = re.compile(r"<(?:a|img|source)\b[^>]*?\s(?:href|src|srcset)=\"([^\"\s]+)")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


def blanked(text, pattern):
    """The text with what matches replaced by blank lines, so that lines keep their numbers."""
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


def links_of(text):
    """(line, target) of each link, code apart."""
    text = blanked(blanked(text, FENCE), CODE)
    found = [match for pattern in (INLINE, DEFINITION, ATTRIBUTE) for match in pattern.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        yield text.count("\n", 0, match.start()) + 1, match[1]


def anchors_of(text):
    """The names by which a link reaches the headings of a page, made as forges make them."""
    text = blanked(text, FENCE)
    names = set(ANCHOR.findall(text))
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        name, count = slug, 0
        while name in names:
            count += 1
            name = f"{slug}-{count}"
        names.add(name)
    return names


def problem_of(root, page, target):
    """Why the link does not hold; None if it does."""
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    if path.startswith("/"):
        return "begins with a slash: name the file as seen from this page"
    file = (root / page).parent / path if path else root / page
    try:
        name = file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return "leads out of the tree"
    if not file.exists():
        return "no such file"
    if not anchor:
        return None
    if file.suffix != ".md":
        return "only headings of Markdown pages are checked"
    return None if anchor in anchors_of(file.read_text(encoding="utf-8")) else f"{name} has no such heading"


def problems_of(root, pages):
    indexed = set()
    for page in pages:
        for line, target in links_of((root / page).read_text(encoding="utf-8")):
            if ELSEWHERE.match(target):
                continue
            why = problem_of(root, page, target)
            if why:
                yield f"{page}:{line}: {target}: {why}"
            elif page == INDEX and target.partition("#")[0]:
                indexed.add((root / page).parent.joinpath(target.partition("#")[0]).resolve())
    for page in pages:
        of_docs = re.fullmatch(r"docs/([^/]+|[^/]+/README)\.md", page) and page != INDEX
        if of_docs and (root / page).resolve() not in indexed:
            yield f"{INDEX}: does not link {page}; give it a line in one of the groups"
    lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        yield f"README.md: {lines} lines, at most {MOST_LINES}: what goes deeper is a page of docs/"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True, check=False)
    pages = [name for name in listed.stdout.splitlines() if PAGE.fullmatch(name) and (root / name).exists()]
    problems = list(problems_of(root, pages))
    print("\n".join(problems) or f"links: ok, {len(pages)} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
