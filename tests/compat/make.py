"""make.py COMMAND VERSION: writes the folder VERSION: files as this version converts them, compressed, and what it answers.

Run it once for every release, before the format changes, and never again for that release: `test_compat.py` opens the files with
every later build.
"""

import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "models"
TEXT = "ba di"
# A name, the golden model, options of convert, and what is asked of the file: a command and its arguments behind FILE.
FILES = (
    ("classify-int8", "distilbert-classify", [], [["classify", TEXT, "--top", "0"]]),
    ("classify-int4", "distilbert-classify", ["--weights", "int4"], [["classify", TEXT, "--top", "0"]]),
    ("classify-f16", "roberta-classify", ["--weights", "f16"], [["run", "--ids", "1,5,7,9,2", "--raw"]]),
    ("classify-sparse", "bert-classify", ["--prune", "0.8"], [["classify", TEXT, "--top", "0"]]),
    ("tag", "bert-tag", [], [["tag", TEXT], ["tokenize", TEXT]]),
    ("embed", "sentence-mean", [], [["embed", TEXT, "ba"], ["tokenize", "Ba, d\u00ed \u4e2d\u6587!"]]),
    ("fill", "bert-fill", [], [["fill", "ba [MASK]", "--top", "3"]]),
    ("decoder", "gpt2-text", [], [["generate", "the cat", "--max-new", "6"], ["tokenize", "It's 12 caf\u00e9s\n\n x"]]),
    ("pair", "bart-text", [], [["generate", "the cat sees", "--max-new", "6"]]),
    ("translate", "marian-text", [], [["generate", "the cat", "--max-new", "6"]]),
    ("recurrent", "recurrent-tag", [], [["run", "--ids", "1,5,7,9,2", "--raw"]]),
    ("vectors", "static-mapped", [], [["run", TEXT], ["tokenize", TEXT]]),
    ("terms", "splade", [], [["run", TEXT]]),
    ("t5", "t5-generate", [], [["inspect"]]),
)


def main():
    command, version = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    folder = HERE / version
    folder.mkdir()
    with open(folder / "answers.jsonl", "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as work:
        for name, model, options, asked in FILES:
            if not (GOLDEN / model).is_dir():
                sys.exit(f"{model}: is not a golden model")
            file = pathlib.Path(work) / f"{name}.bantam"
            subprocess.run(
                [command, "convert", GOLDEN / model, "-o", file, "--parity", "none", *options, "-q"],
                check=True,
            )
            (folder / f"{name}.xz").write_bytes(lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
            for words in asked:
                done = subprocess.run([command, words[0], file, *words[1:], "--json"], capture_output=True, check=True)
                answers = [json.loads(line) for line in done.stdout.splitlines()]
                out.write(json.dumps({"file": name, "words": words, "answers": answers}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
