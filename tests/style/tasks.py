#!/usr/bin/env python3
"""tasks.py ROOT: does a new task cost the files that CONTRIBUTING.md names? Elsewhere code asks for the parts of an answer
(runtime/model/task_traits.h), and no task is named but "none". And do the public headers have the schema's tasks?"""

import pathlib
import re
import sys

NAMED = re.compile(r"\bTaskKind::(?!kNone\b|MAX\b)\w+")
MAY = {
    "runtime/model/task_traits.h",  # asserts that the schema has the same tasks
    "runtime/c/bantam.cpp",  # asserts that both headers have the same tasks
    "converter/network/heads.cpp",
    "converter/network/head_kind.cpp",
    "converter/import/hugging_face.cpp",  # sentence-transformers directories embed
    "converter/onnx/onnx_task.cpp",  # what an ONNX file's outputs are for
    "converter/onnx/onnx_task.h",
}


ENUMERATIONS = {
    "schemas/bantam.fbs": r"enum TaskKind : uint8 \{(.*?)\}",
    "runtime/include/bantam/model.h": r"enum class TaskKind : uint8_t \{(.*?)\}",
    "runtime/include/bantam/bantam.h": r"typedef enum bantam_task \{(.*?)\}",
}


def tasks_of(root, name):
    """{"multilabel": 2, ...}: names without what languages add to them."""
    body = re.search(ENUMERATIONS[name], (root / name).read_text(), re.DOTALL).group(1)
    values = re.findall(r"\b(?:BANTAM_TASK_|k(?=[A-Z]))?(\w+) = (\d+)", body)
    return {task.replace("_", "").lower(): int(number) for task, number in values}


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    schema, *headers = ENUMERATIONS
    for name in headers:
        differing = set(tasks_of(root, schema).items()) ^ set(tasks_of(root, name).items())
        problems += [f"{name}: task {task} = {number} is not in both it and {schema}" for task, number in differing]
    for folder in ("runtime", "converter", "targets", "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in {".h", ".cpp", ".c", ".inc"} or name in MAY:
                continue
            if name.startswith("converter/network/families/"):
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if NAMED.search(line):
                    problems.append(f"{name}:{number}: names a task; ask for a part (runtime/model/task_traits.h)")
    print("\n".join(problems) or "tasks are named where CONTRIBUTING.md says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
