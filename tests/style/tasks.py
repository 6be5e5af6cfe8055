#!/usr/bin/env python3
"""tasks.py ROOT: does a new task cost the files that CONTRIBUTING.md names? Elsewhere code asks for the parts of an answer
(runtime/model/task_traits.h), and no task is named but "none"."""

import pathlib
import re
import sys

NAMED = re.compile(r"\bTaskKind::(?!kNone\b|MAX\b)\w+")
MAY = {
    "runtime/model/task_traits.h",  # asserts that the tables have the same tasks
    "runtime/model/verify_task.cpp",  # refuses generate
    "runtime/c/bantam.cpp",  # asserts that both headers have the same tasks
    "converter/import/heads.cpp",
    "converter/import/head_kind.cpp",
    "converter/import/hugging_face.cpp",  # sentence-transformers directories embed
}


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    for folder in ("runtime", "converter", "targets", "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in {".h", ".cpp", ".c", ".inc"} or name in MAY:
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if NAMED.search(line):
                    problems.append(f"{name}:{number}: names a task; ask for a part (runtime/model/task_traits.h)")
    print("\n".join(problems) or "tasks are named where CONTRIBUTING.md says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
