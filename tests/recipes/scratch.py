#!/usr/bin/env python3
"""scratch.py [--count] SOURCE_DIR WORK_DIR [CMAKE_OPTION...]: the recipes of CONTRIBUTING.md, followed to the letter.

In a copy of the tree it makes the additions of additions.py and prints the files that each touched, as git counts them:
product and documents, of which recipes.MOST promises how many at most, and tests apart. With --count that is all.

Otherwise it builds the command and the tests that go through the tables, and compares: a model of the scratch family,
whose activation and mask are others' under new names and whose operators undo each other, in the scratch layout, must
answer as the model that it was copied from, bit for bit, and everything that lists operators must list these. Exit
status 77 where BANTAM_EXHAUSTIVE is not set: it builds everything once more.
"""

import json
import os
import pathlib
import shutil
import sys

import additions
from additions import run

MODELS = "tests/golden/models"
TEXTS = ["turn on the light", "play some jazz", ""]


def model(tree, work, name, settings, of="bert-classify"):
    """A copy of a golden model whose config.json says otherwise."""
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree.root / MODELS / of, folder)
    config = json.loads((folder / "config.json").read_text())
    config.update(settings)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def pointer(folder):
    """A file of the scratch format with the settings of `folder`, whose own are no longer there."""
    path = folder.parent / f"{folder.name}.scratch"
    config = json.loads((folder / "config.json").read_text())
    path.write_text(json.dumps({"config": config, "weights": folder.name}))
    (folder / "config.json").unlink()
    return path


def convert(command, source, output, *options):
    """The report of a conversion."""
    return json.loads(run(command, "convert", source, "-o", output, "--parity", "none", "--json", *options))


def answers(command, file, texts):
    """The answers of a file, without its own name."""
    return run(command, "run", file, "--json", "--file", texts).replace(file.name, "FILE")


def floats(report):
    """Tensors that the report counts as norms and biases."""
    return next(row["tensors"] for row in report["classes"] if row["name"] == "norms and biases")


def unlisted(command, file, report, plain):
    """Additions that the reports of a file with all of them leave out."""
    described = run(command, "inspect", file, "--ops", "--tensors")
    yield from (
        f"bantam inspect knows nothing of {word}"
        for word in ("scratch_tile", "scratch_squared", "ScratchReverse")
        if word not in described
    )
    timed = json.loads(run(command, "bench", file, "--seq", "8", "--per-op", "--json", "--repetitions", "1"))
    (kind,) = [kind for kind in timed["kinds"] if kind["kind"] == "ScratchReverse"] or [{"ops": 0, "ms": 0}]
    if kind["ops"] != 2 or not kind["ms"] > 0:
        yield "bantam bench --per-op times no ScratchReverse"
    if floats(report) != floats(plain) + 2:
        yield f"the report counts {floats(report)} norms and biases; without two vectors of factors {floats(plain)}"
    project = file.parent / "firmware"
    shutil.rmtree(project, ignore_errors=True)
    linked = run(command, "firmware", file, "--board", "cortex-m4", "-o", project)
    for word in ("scratch reverse", "scratch all mask", "scratch squared"):
        if word not in linked:
            yield f"bantam firmware links no {word}:\n{linked}"
    if not list(project.rglob("scratch_reverse.cpp")):
        yield "bantam firmware leaves the operator's source out of the project"


def unheard(command, tree, work, texts):
    """Failures of the family of a new kind, the task and the command."""
    if run(command, "scratch") != "scratched\n":
        yield "bantam scratch does not say that it was added"
    turned = model(tree, work, "turned", {"model_type": "scratch_turned"}, "recurrent-encoder")
    convert(command, turned, work / "turned.bantam", "--task", "none")
    if "ScratchReverse" not in run(command, "inspect", work / "turned.bantam", "--ops"):
        yield "the layers of a family of a new kind are not in its file"
    rated = model(tree, work, "rated", {"model_type": "scratch"}, "bert-regress")
    convert(command, rated, work / "rated.bantam", "--task", "scratch-rate")
    if "scratch" not in run(command, "inspect", work / "rated.bantam"):
        yield "bantam inspect does not name the task"
    if len(answers(command, work / "rated.bantam", texts).splitlines()) != len(TEXTS):
        yield "the new task does not answer every text"


def main():
    arguments = sys.argv[1:]
    only_count = arguments[0] == "--count"
    root, work, *options = arguments[only_count:]
    root, work = pathlib.Path(root).resolve(), pathlib.Path(work).resolve()
    if not only_count and not os.environ.get("BANTAM_EXHAUSTIVE"):
        print("builds everything once more: set BANTAM_EXHAUSTIVE, as ./dev test all does")
        return 77
    work.mkdir(parents=True, exist_ok=True)
    tree, build = additions.Tree(root, work / "tree"), work / "build"
    wrong = additions.add_all(tree)
    if only_count:
        print("\n".join(wrong) or "no recipe touches more files than it promises")
        return 1 if wrong else 0

    run("cmake", "--preset", "release", "-B", build, *options, cwd=tree.root)
    run("cmake", "--build", build, "--target", "bantam_command", "model_tests", "converter_tests")
    for test in (
        "model/model_tests --file=structure_test.cpp",
        "converter/converter_tests --file=weight_codec_test.cpp",
    ):
        run(*f"{build}/tests/{test}".split())

    texts = work / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n")
    plain = model(tree, work, "plain", {"hidden_act": "relu2"})
    scratch = model(tree, work, "scratch", {"hidden_act": "scratch_squared", "model_type": "scratch"})
    today, command = root / "build" / "bantam", build / "bantam"
    before = convert(today, plain, work / "plain.bantam")
    after = convert(command, scratch, work / "scratch.bantam")
    expected = answers(today, work / "plain.bantam", texts)
    wrong += unlisted(command, work / "scratch.bantam", after, before)
    made = [work / "scratch.bantam"]
    if tree.has(additions.FORMATS):
        convert(command, pointer(scratch), work / "pointed.bantam")
        made.append(work / "pointed.bantam")
    for file in made:
        actual = answers(command, file, texts)
        if actual != expected:
            wrong.append(f"{file.name} answers otherwise:\n{expected}{actual}")
    wrong += unheard(command, tree, work, texts)
    print("\n".join(wrong) or "a model of all additions answers as the one that it was made from")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
