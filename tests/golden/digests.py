#!/usr/bin/env python3
"""digests.py [--command FILE] [--against FILE] [--only REGEX] [--tests]: what `bantam convert` makes of tests' sources.

Prints a line for each source and set of options, sorted: sha256 of the file, name of the options, source, and a digest
of messages and notes. A conversion that fails has "exit N" instead of a sha256. Two spaces divide columns; the first
three compare bytes alone.

--against also runs another command, such as that of an older commit (`./dev digests COMMIT`), and prints differences
only: "-" of that command, "+" of this one. Exit status 1 where a file or an exit code differs. Messages may change on
purpose, so they are only listed and counted. --tests also runs the tests of tests/cli and compares what each of their
conversions writes; it takes minutes.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("BANTAM_SHARED", ROOT.parent / "shared"))
SECONDS = 300  # a conversion; one that takes longer hangs

COMMANDS = (ROOT / "models" / "voice-commands" / "commands.txt").read_text().splitlines()
# Files that options name, written into the working folder.
FILES = {
    "texts.txt": "\n".join(COMMANDS[:24]) + "\n",
    "layers.json": '{"layers": 1}',
    "narrow.json": '{"ffn": 0.5, "positions": 20}',
    "entities.txt": "Q42\n",
}
TEXTS = ("--calibrate", "texts.txt")
STATIC = ("--activations", "static", *TEXTS)
TASKS = (
    "encoder classify multi-label regress choose tag joint answer embed fill next-sentence pretraining token-vectors "
    "generate find sparse-embed"
).split()
OPTIONS = {
    "default": (),
    "f32": ("--weights", "f32"),
    "f16": ("--weights", "f16"),
    "int4": ("--weights", "int4"),
    "int4-group8": ("--weights", "int4", "--group", "8"),
    "int4-group64": ("--weights", "int4", "--group", "64"),
    "ternary": ("--weights", "ternary"),
    "keep-f16": ("--keep", "embeddings=f16"),
    "keep-some": ("--keep", "0=int4", "--keep", "1=f32"),
    "gptq": ("--rounding", "gptq"),
    "gptq-int4": ("--weights", "int4", "--rounding", "gptq", *TEXTS),
    "static": STATIC,
    "static-fast": (*STATIC, "--plan", "fast"),
    "static-mse": (*STATIC, "--calibrate-by", "mse"),
    "static-percentile": (*STATIC, "--calibrate-by", "percentile", "--percentile", "99"),
    "static-sparse": (*STATIC, "--prune", "0.8", "--prune-scope", "uniform", "--sparse", "always"),
    "residual-i8": ("--residual", "i8"),
    "residual-i8-fast": ("--residual", "i8", "--plan", "fast"),
    "small": ("--plan", "small"),
    "small-f32": ("--plan", "small", "--weights", "f32"),
    "prune": ("--prune", "0.8"),
    "prune-4x16": ("--prune", "0.5", "--pattern", "4x16", "--sparse", "always"),
    "prune-2:4": ("--prune", "0.5", "--pattern", "2:4"),
    "prune-unstructured": ("--prune", "0.8", "--pattern", "unstructured"),
    "prune-int4": ("--prune", "0.5", "--weights", "int4"),
    "prune-uniform": ("--prune", "0.8", "--prune-scope", "uniform", "--sparse", "never"),
    "prune-activations": ("--prune", "0.5", "--prune-by", "activations", *TEXTS),
    "prune-heads": ("--prune", "0.5", "--pattern", "heads"),
    "prune-ffn": ("--prune", "0.5", "--pattern", "ffn"),
    "sparse-always": ("--prune", "0.8", "--sparse", "always"),
    "sparse-smallest": ("--prune", "0.8", "--sparse", "smallest"),
    "sparse-one-token": ("--prune", "0.8", "--typical-tokens", "1"),
    "max-tokens": ("--max-tokens", "8"),
    "ids-only": ("--ids-only",),
    "student-layers": ("--student", "layers.json"),
    "student-narrow": ("--student", "narrow.json", "--weights", "f32"),
    "tag-scheme": ("--tag-scheme", "bioes"),
    "aggregation": ("--aggregation", "simple"),
    "random-blocks": ("--random-blocks", "5"),
    "shortlist-none": ("--shortlist", "none"),
    "entities": ("--entities", "entities.txt"),
    "tower-text": ("--tower", "text"),
    "tower-vision": ("--tower", "vision"),
    **{f"globals-{which}": ("--globals", which) for which in ("none", "first", "question", "second", "marked")},
    **{f"task-{task}": ("--task", task) for task in TASKS},
}

Outcome = collections.namedtuple("Outcome", "digest message")  # digest: sha256 of the file, or "exit N"


def sources():
    """(name, path) of every source, by name."""
    golden, corpus = ROOT / "tests" / "golden", ROOT / "tests" / "fuzz" / "corpus"
    names = ("models", "word_vectors", "images", "ternary")
    folders = [*(golden / name for name in names), ROOT / "models", SHARED / "models"]
    found = [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()]
    found += [golden / "clip", golden / "siglip"]
    for kind in ("gguf", "onnx", "tflite"):
        found += (golden / kind).glob(f"*.{kind}")
    for kind in ("gguf", "onnx", "tflite", "vectors"):
        found += (path for path in (corpus / kind).iterdir() if path.is_file())
    named = {}
    for path in found:
        base = ROOT if path.is_relative_to(ROOT) else SHARED.parent
        named[str(path.relative_to(base))] = path
    return sorted(named.items())


def hidden_paths(text, folder):
    """A message without the places of this machine."""
    for place, name in ((str(folder), "FOLDER"), (str(ROOT), "ROOT"), (str(SHARED.parent), "ROOT")):
        text = text.replace(place, name)
    return text


def short(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def convert(command, name, path, options):
    """The outcome of one conversion, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for file in FILES.keys() & set(options):
            (folder / file).write_text(FILES[file])
        ids = ("--ids-only",) if path.suffix == ".onnx" and "--ids-only" not in options else ()
        call = [command, "convert", path, "-o", "out.bantam", *options, *ids, "--parity", "none", "--json"]
        try:
            done = subprocess.run(call, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome("exit timeout", short(""))
        said = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            return Outcome(f"exit {done.returncode}", short(hidden_paths(said, folder)))
        notes = json.loads(done.stdout).get("notes", [])
        said += "\n".join(map(str, notes))
        digest = hashlib.sha256((folder / "out.bantam").read_bytes()).hexdigest()
        return Outcome(digest, short(hidden_paths(said, folder)))


def outcomes(command, only):
    """{(options, source): outcome} of all conversions whose "options  source" `only` finds."""
    jobs = [
        (label, name, path, options)
        for name, path in sources()
        for label, options in OPTIONS.items()
        if only.search(f"{label}  {name}")
    ]
    print(f"digests: {len(jobs)} conversions by {command}", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = pool.map(lambda job: convert(command, job[1], job[2], job[3]), jobs)
        return {(label, name): outcome for (label, name, _, _), outcome in zip(jobs, made, strict=True)}


def of_tests(command, only):
    """Outcomes of what tests/cli converts, which its support.py notes: {(arguments, test): outcome}."""
    cli = ROOT / "tests" / "cli"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models, runner = folder / "models", pathlib.Path(command).parent / "bantam-app"
        notes = folder / "notes"
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",  # tests that go through sets do so in one order
            "BANTAM_COMMAND": str(command),
            "BANTAM_TEST_MODELS": str(models),
            "BANTAM_RUNNER": str(runner),
            "BANTAM_TEST_DIGESTS": str(notes),
        }
        made = subprocess.run([sys.executable, "-B", cli / "convert_models.py", command, models], capture_output=True)
        if made.returncode != 0:
            print("the models of tests/cli are not all converted:", made.stderr.decode()[-400:], file=sys.stderr)

        def test(path):
            own = folder / f"{path.stem}.notes"
            done = subprocess.run(
                [sys.executable, "-B", path],
                env={**environment, "BANTAM_TEST_DIGESTS": str(own)},
                capture_output=True,
                cwd=ROOT,
            )
            if done.returncode != 0:
                print(f"{path.name} fails with {command}", file=sys.stderr)
            return own

        tests = [path for path in sorted(cli.glob("test_*.py")) if only.search(path.stem)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, own in zip(tests, pool.map(test, tests), strict=True):
                times = collections.Counter()
                for line in own.read_text().splitlines() if own.exists() else ():
                    digest, arguments, said = json.loads(line)
                    times[arguments] += 1
                    again = f" #{times[arguments]}" if times[arguments] > 1 else ""
                    found[hidden_paths(arguments, folder) + again, path.stem] = Outcome(digest, short(said))
    return found


def lines(found):
    return sorted(f"{o.digest:<64}  {options}  {source}  {o.message}" for (options, source), o in found.items())


def compare(now, before):
    """Prints what differs; the exit status."""
    differ = said = 0
    for options, source in sorted(now.keys() | before.keys()):
        ours, theirs = now.get((options, source)), before.get((options, source))
        if ours == theirs:
            continue
        absent = Outcome("absent", "")
        ours, theirs = ours or absent, theirs or absent
        if ours.digest != theirs.digest:
            differ += 1
            print(f"- {theirs.digest}  {options}  {source}\n+ {ours.digest}  {options}  {source}")
        else:
            said += 1
            print(f"message  {options}  {source}")
    count = len(now.keys() | before.keys())
    failed = sum(outcome.digest.startswith("exit") for outcome in now.values())
    print(f"{count} files: {count - differ} equal, {differ} differ; {said} messages differ; {failed} are refused")
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "bantam")
    parser.add_argument("--against", type=pathlib.Path, help="another command, to print differences alone")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), help='of "options  source" and of tests')
    parser.add_argument("--tests", action="store_true", help="also what the tests of tests/cli convert")
    given = parser.parse_args()

    def all_of(command):
        command = command.resolve()
        if not os.access(command, os.X_OK):
            sys.exit(f"digests: {command} is not a program; ./dev build makes build/bantam")
        found = outcomes(command, given.only)
        return {**found, **of_tests(command, given.only)} if given.tests else found

    now = all_of(given.command)
    if not now:
        sys.exit("digests: --only leaves nothing")
    if given.against:
        return compare(now, all_of(given.against))
    print("\n".join(lines(now)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
