#!/usr/bin/env python3
"""skip_thoughts.py COMMAND: checks examples/skip_thoughts.py on small files in the published layout.

The reference is the paper's GRU (arXiv 1506.06726, equations 1 to 4) in numpy, with one direction and with both. Files
that do not fit must be refused.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = SOURCE / "examples" / "skip_thoughts.py"
WORDS = ["<eos>", "UNK", "he", "came", "home", ".", "Home", "ça"]
TEXTS = ["he came home .", "ça ça unknown he", "Home", "home home home home home home he came . <eos>"]
COLUMNS, STATE = 10, 13


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def last_state(model, prefix, rows):
    of = {name: model[f"{prefix}_{name}"].astype(numpy.float64) for name in ("W", "b", "U", "Wx", "bx", "Ux")}
    h = numpy.zeros(STATE)
    for x in rows:
        gates = sigmoid(x @ of["W"] + h @ of["U"] + of["b"])
        r, z = gates[:STATE], gates[STATE:]
        # In the published code z keeps the old state, as here; the paper's text inverts the gate.
        proposed = numpy.tanh(x @ of["Wx"] + r * (h @ of["Ux"]) + of["bx"])
        h = z * h + (1 - z) * proposed
    return h


def main():
    command = sys.argv[1]
    chance = numpy.random.default_rng(5)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        table = chance.normal(size=(len(WORDS), COLUMNS)).astype("f4")
        numpy.save(folder / "table.npy", table)
        (folder / "words.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
        for name, prefixes in (("uni", ["encoder"]), ("bi", ["encoder", "encoder_r"])):
            model = {}
            for prefix in prefixes:
                for tensor, shape in (
                    ("W", (COLUMNS, 2 * STATE)), ("b", (2 * STATE,)), ("U", (STATE, 2 * STATE)),
                    ("Wx", (COLUMNS, STATE)), ("bx", (STATE,)), ("Ux", (STATE, STATE)),
                ):  # fmt: skip
                    model[f"{prefix}_{tensor}"] = chance.normal(scale=0.5, size=shape).astype("f4")
            numpy.savez(folder / f"{name}.npz", **model)
            files = [folder / f"{name}.npz", folder / "table.npy", folder / "words.txt", folder / name]
            subprocess.run([sys.executable, EXAMPLE, *files], check=True)
            file = folder / f"{name}.bantam"
            convert = [command, "convert", folder / name, "-o", file, "--weights", "f32", "--quiet"]
            subprocess.run(convert, check=True)
            for text in TEXTS:
                rows = [table[WORDS.index(word) if word in WORDS else 1] for word in text.split()]
                states = [last_state(model, prefix, rows[:: -1 if prefix.endswith("_r") else 1]) for prefix in prefixes]
                expected = numpy.concatenate(states)
                expected /= numpy.linalg.norm(expected)
                done = subprocess.run([command, "embed", file, text, "--json"], stdout=subprocess.PIPE, check=True)
                found = numpy.array(json.loads(done.stdout)["embedding"])
                assert numpy.abs(found - expected).max() < 2e-5, (name, text, numpy.abs(found - expected).max())
        numpy.save(folder / "table.npy", table[:3])
        done = subprocess.run([sys.executable, EXAMPLE, *files], stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"more words than" in done.stderr, done.stderr
    print("skip_thoughts.py: vectors of", len(TEXTS), "texts, of one direction and of both, are the paper's")


if __name__ == "__main__":
    main()
