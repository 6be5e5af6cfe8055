#!/usr/bin/env python3
"""asks.py SOURCE_DIR: the folders that read a model ask the file system for nothing but what they read.

Directory (converter/base/directory.h) answers whether a file lies in a model's directory: it lists each folder once and reads
each file once. A call that asks the disk itself is one more look at a directory that may have changed since.
"""

import pathlib
import re
import sys

FOLDERS = ("source", "tokenizer", "network", "onnx", "import", "student")
ASKS = re.compile(
    r"\b(?:is_there|(?:fs|filesystem)::(?:exists|is_regular_file|is_directory|is_symlink|is_empty|status|"
    r"symlink_status|directory_iterator|recursive_directory_iterator|directory_entry|file_size))\b|(?<!\w)::(?:stat|lstat|access)\b"
    r"|(?<![\w.:>])(?:stat|lstat|access|opendir)\("
)
# Documents and texts beside the weights come from Directory, too.
READS = re.compile(r"\b(?:read_json_object|sha256_of_file)\(")
# Files that may read the disk, and the reasons.
ALLOWED = {
    "source/gguf/gguf_file.cpp": "the parts of a file, which lie beside it",
    "source/explain.cpp": "what a path that is refused is: a pipe is not opened",
    "student/check.cpp": "the files of texts that a recipe names",
    "student/directory.cpp": "the directory that is written",
    "student/recipe.cpp": "the recipe",
    "network/record_source.cpp": "digests of the weights",
}


def code_of(text):
    """`text` without comments and literals; lines stay."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)


def problems(root, allowed=None):
    converter = root / "converter"
    allowed = ALLOWED if allowed is None else allowed
    asking = set()
    for folder in FOLDERS:
        for path in sorted((converter / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".inc"):
                continue
            name = path.relative_to(converter).as_posix()
            for number, line in enumerate(code_of(path.read_text(encoding="utf-8")).splitlines(), 1):
                found = ASKS.search(line) or READS.search(line)
                if not found or line.lstrip().startswith("#"):
                    continue
                asking.add(name)
                if name not in allowed:
                    yield (
                        f"converter/{name}:{number}: {found.group()}: ask the source's Directory (base/directory.h), "
                        "or add the file to ALLOWED of tests/style/asks.py with the reason"
                    )
    for name in sorted(set(allowed) - asking):
        yield f"tests/style/asks.py: {name} asks nothing any more; take it from ALLOWED"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found + [f"{len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
