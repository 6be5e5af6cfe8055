#!/usr/bin/env python3
"""Compares the entities of 200 texts under each aggregation strategy with those of transformers' pipeline.

Usage: aggregation.py BANTAM GOLDEN_DIRECTORY   (the command, tests/golden)

Makes a tiny tagger of each class (tests/golden/aggregation.py), converts it with f32 weights, and compares names,
positions and scores (within 1e-4) of all entities. Prints how many texts are equal; exit status 1 if one is not.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

TEXTS = 200
LIMIT = 1e-4


def command(bantam, *arguments):
    return subprocess.run([bantam, *map(str, arguments)], check=True, capture_output=True).stdout.decode()


def ours(bantam, file, texts, strategy):
    """Entities by bantam. Texts may contain line ends, so they are passed as JSON records."""
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder) / "texts.jsonl"
        lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        arguments = ("--file", lines, "--aggregation", strategy, "--offsets", "chars", "--json")
        said = command(bantam, "tag", file, *arguments).split("\n")[:-1]
    found = [json.loads(line)["entities"] for line in said]
    return [[[e["label"], e["start"], e["end"], e["score"]] for e in entities] for entities in found]


def equal(found, wanted):
    return [e[:3] for e in found] == [e[:3] for e in wanted] and all(
        abs(a[3] - b[3]) <= LIMIT for a, b in zip(found, wanted, strict=True)
    )


def main():
    bantam, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(golden))
    import aggregation
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", message="Tokenizer does not support real words")
    texts = aggregation.draw_texts(TEXTS, 3)

    failed = False
    print(f"transformers {transformers.__version__}")
    for seed, name in enumerate(aggregation.MODELS, start=700):
        with tempfile.TemporaryDirectory() as folder:
            source, file = pathlib.Path(folder) / name, pathlib.Path(folder) / "model.bantam"
            aggregation.make(source, name, seed)
            command(bantam, "convert", source, "-o", file, "--weights", "f32", "--parity", "none")
            for strategy in aggregation.STRATEGIES:
                wanted = aggregation.answers(source, texts, strategy)
                pairs = list(zip(texts, ours(bantam, file, texts, strategy), wanted, strict=True))
                wrong = [pair for pair in pairs if not equal(*pair[1:])]
                entities = sum(len(one) for one in wanted)
                print(f"{name} {strategy}: {TEXTS - len(wrong)} of {TEXTS} texts equal, {entities} entities")
                for text, found, pipeline in wrong[:3]:
                    print(f"  {text!r}\n    bantam       {found}\n    transformers {pipeline}")
                failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
