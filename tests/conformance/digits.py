#!/usr/bin/env python3
"""digits.py COMMAND DATA: runs the recipe of docs/images.md, from examples/digits.py to a firmware project.

The model must recognize 95 % of the test digits, and its int8 file must pass the gate and lose at most 1 % of them.
Lines of pixels must give the same answers as files, and the project for a Cortex-M must have room for a gray frame.
Exit status 77 if torch, transformers or DATA is missing.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LEAST, LOST = 0.95, 0.01


def main():
    command, data = sys.argv[1], pathlib.Path(sys.argv[2])
    if not (data / "train.jsonl").exists():
        print(f"digits.py: {data} is not there; set BANTAM_SHARED")
        sys.exit(77)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"digits.py: {error}; pip install -r tests/conformance/requirements.txt")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)

        def ask(*arguments, stdin=None):
            done = subprocess.run([command, *arguments], input=stdin, stdout=subprocess.PIPE, check=True)
            return done.stdout.decode()

        subprocess.run([sys.executable, SOURCE / "examples" / "digits.py", data, folder], check=True)
        accuracy = {}
        for weights in ("f32", "int8"):
            file = folder / f"{weights}.bantam"
            ask("convert", folder / "model", "-o", file, "--weights", weights)
            scores = json.loads(ask("eval", file, folder / "test.jsonl", "--json"))
            accuracy[weights] = scores["metrics"]["accuracy"]
            print(
                f"{weights}: {100 * accuracy[weights]:.2f} of {scores['examples']} digits, {file.stat().st_size} bytes"
            )
        assert accuracy["f32"] >= LEAST, accuracy
        assert accuracy["int8"] >= max(LEAST, accuracy["f32"] - LOST), accuracy
        images = sorted((folder / "images").iterdir())[:40]
        frames = ask("run", file, *images, "--frame")
        assert [len(line) for line in frames.splitlines()] == [2 * 8 * 8] * len(images)
        answers = ask("run", file, "--uart", stdin=frames.encode()).splitlines()
        for answer, line in zip(answers, ask("run", file, *images, "--json").splitlines(), strict=True):
            best = json.loads(line)["labels"][0]
            assert answer.split("\t")[1] == f"{best['score']:.3f} {best['label']}", (answer, best)
        for target in ("cortex-m55", "cortex-m7"):
            made = json.loads(ask("firmware", file, "--target", target, "-o", folder / target, "--json"))
            assert made["ram"]["image"] == 8 * 8 + made["max_tokens"] * 2 * 2 * 4, made
            print(f"{target}: model {made['flash']['model']} bytes, arena at most {made['ram']['arena_at_most']}")


if __name__ == "__main__":
    main()
