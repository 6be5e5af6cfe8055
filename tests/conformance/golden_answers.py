#!/usr/bin/env python3
"""Runs tests/golden/models with the original libraries again, and compares with the committed answers.

Usage: golden_answers.py GOLDEN_DIRECTORY   (tests/golden)

The C++ tests read the committed files; this program checks whether the installed transformers still agrees with them.
Prints the largest difference of each model; exit status 1 if one exceeds 1e-5 (f64 against eight committed digits).
"""

import json
import pathlib
import sys

LIMIT = 1e-5


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def largest_difference(reference, line):
    answers = reference(line["ids"], line.get("segments", [0] * len(line["ids"])))
    worst = 0.0
    for name, values in answers.items():
        expected, now = flat(line[name]), flat(values)
        if len(expected) != len(now):
            return float("inf")
        worst = max([worst, *(abs(a - b) for a, b in zip(expected, now, strict=True))])
    return worst


def main():
    golden = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(golden))
    from reference import Reference

    failed = 0
    for directory in sorted((golden / "models").iterdir()):
        reference = Reference(directory)
        lines = (directory / "expected.jsonl").read_text(encoding="utf-8").splitlines()
        worst = max(largest_difference(reference, json.loads(line)) for line in lines)
        failed += worst > LIMIT
        print(f"{directory.name:24} {len(lines):3} inputs, largest difference {worst:.2e}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
