#!/usr/bin/env python3
"""audio.py COMMAND: runs the recipes of docs/audio.md in a smaller form, with synthetic sounds and sensor windows.

Each model must learn (far above chance on unseen voices and wearers), and its int8 file must pass the gate and lose at
most 2 % of the test. Lines of samples or rows must give the same answers as files. Exit status 77
if numpy, espeak-ng or bantam-train is missing.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# script and its options, test set, options of distill, minimum accuracy
RECIPES = {
    "keywords": (["--share", "0.2"], ["--epochs", "20", "--batch", "32", "--learning-rate", "2e-3"], 0.5),
    "motions": ([], ["--epochs", "12", "--batch", "32", "--learning-rate", "3e-3"], 0.7),
}
LOST = 0.02


def follow(command, name, place):
    options, training, least = RECIPES[name]
    data, trained = place / name, place / f"{name}-trained"

    def ask(*arguments, stdin=None):
        done = subprocess.run([command, *arguments], input=stdin, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()

    subprocess.run([sys.executable, SOURCE / "examples" / f"{name}.py", data, *options], check=True)
    sets = ["--data", data / "train.jsonl", "--validation", data / "valid.jsonl"]
    steady = ["--warmup", "0.1", "--dropout", "0.05"]
    ask("distill", "--student", data / "untrained", *sets, "-o", trained, *training, *steady)
    accuracy = {}
    for weights in ("f32", "int8"):
        file = place / f"{name}-{weights}.bantam"
        ask("convert", trained, "-o", file, "--weights", weights)
        accuracy[weights] = json.loads(ask("eval", file, data / "test.jsonl", "--json"))["metrics"]["accuracy"]
    print(f"{name}: {accuracy}, {file.stat().st_size} bytes")
    assert accuracy["f32"] >= least and accuracy["int8"] >= accuracy["f32"] - LOST, accuracy
    files = [json.loads(line)["text"] for line in (data / "test.jsonl").read_text().splitlines()][::40]
    frames = ask("run", file, *files, "--frame")
    answers = ask("run", file, "--uart", stdin=frames.encode()).splitlines()
    for answer, line in zip(answers, ask("run", file, *files, "--json").splitlines(), strict=True):
        best = json.loads(line)["labels"][0]
        assert answer.split("\t")[1] == f"{best['score']:.3f} {best['label']}", (answer, best)
    for target in ("cortex-m4", "cortex-m55"):
        made = json.loads(ask("firmware", file, "--target", target, "-o", place / f"{name}-{target}", "--json"))
        print(f"{target}: model {made['flash']['model']} bytes, arena at most {made['ram']['arena_at_most']}")


def main():
    command = pathlib.Path(sys.argv[1])
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"audio.py: {error}; pip install -r tests/conformance/requirements.txt")
        sys.exit(77)
    if not (command.parent / "bantam-train").exists():
        print("audio.py: this build has no bantam-train: libtorch-dev is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        follow(command, "motions", pathlib.Path(place))
        if shutil.which("espeak-ng"):
            follow(command, "keywords", pathlib.Path(place))
        else:
            print("audio.py: no espeak-ng: keywords are left out")


if __name__ == "__main__":
    main()
