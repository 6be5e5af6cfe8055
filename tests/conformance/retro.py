#!/usr/bin/env python3
"""retro.py COMMAND: trains a model with examples/retro.py on a small text for a few steps, and compares three results.

The outputs of its batches must equal those of tests/golden/retro.py, a direct implementation of the paper, for the
directory that it writes, and those of the converted directory.
"""

import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1e-3


def module(folder, name):
    """Imports FOLDER/retro.py; both modules have that name."""
    spec = importlib.util.spec_from_file_location(name, SOURCE / folder / "retro.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def main():
    command = sys.argv[1]
    try:
        import torch

        example, paper = module("examples", "example_retro"), module("tests/golden", "paper_retro")
    except ImportError as error:
        print(f"retro.py: skipped, {error}")
        return 77
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        text = folder / "text.txt"
        text.write_text(" ".join(f"w{draw.randrange(60)}" for _ in range(4000)) + "\n")
        sys.argv = ["retro.py", str(text), str(folder / "made"), "3"]
        example.main()
        directory = folder / "made" / "model"
        reading = paper.load(directory)
        words = reading.config["vocab_size"]
        chunks = 3
        ids = [draw.randrange(words) for _ in range(chunks * example.CHUNK)]
        found = [
            [[draw.randrange(words) for _ in range(example.NEIGHBOUR)] for _ in range(example.NEIGHBOURS)]
            for _ in range(chunks)
        ]
        model = example.Retro(words)
        state = {name.removeprefix("model."): value for name, value in reading.state_dict().items()}
        model.load_state_dict({name: value.float() for name, value in state.items()})
        with torch.no_grad():
            for neighbours in (found, None):
                given = None if neighbours is None else torch.tensor(neighbours)[None]
                batched = model(torch.tensor(ids)[None], given)[0]
                plain = reading(ids, neighbours or ())["logits"]
                worst = float((batched - plain).abs().max())
                assert worst < LIMIT, f"the example is {worst} away from the paper"
            line = {"ids": ids, "neighbours": found, "logits": reading(ids, found)["logits"].tolist()}
        (folder / "expected.jsonl").write_text(json.dumps(line) + "\n")
        done = subprocess.run(
            [command, "convert", directory, "-o", folder / "x.bantam", "--weights", "f32"]
            + ["--parity", "none", "--expect", folder / "expected.jsonl", "--json"],
            check=True,
            capture_output=True,
        )
        difference = json.loads(done.stdout)["expected"]["outputs"][0]["largest_difference"]
        assert difference < LIMIT, difference
    print(f"retro.py: the example, the paper and the file agree, the last two to {difference:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
