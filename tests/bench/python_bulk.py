"""Texts a second by each engine of examples/bulk.py that is installed, and by a loop over batches; local modes of one machine.

  PYTHONPATH=targets/python BANTAM_LIBRARY=build/python/libbantam.so python3 tests/bench/python_bulk.py MODEL.bantam TEXTS.txt

Of each engine the best of some rounds, which go through all in turn; starting an engine does not count. All must answer alike.
"""

import argparse
import importlib.util
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import bulk  # noqa: E402

MODULES = {"polars": "polars", "duckdb": "duckdb", "dask": "dask", "spark": "pyspark"}


def direct(path, texts, parts):
    return [(one["label"], one["score"]) for one in bulk.answers(path, texts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("texts", help="a text a line")
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default=",".join(MODULES))
    options = parser.parse_args()
    texts = pathlib.Path(options.texts).read_text().splitlines()
    engines = {"direct": direct}
    for name in options.engines.split(","):
        if importlib.util.find_spec(MODULES[name]):
            engines[name] = bulk.ENGINES[name]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    wanted, best = direct(options.model, texts, 1), {}
    for _ in range(options.rounds):
        for name, engine in engines.items():
            begin = time.perf_counter()
            found = engine(options.model, texts, options.parts)
            best[name] = min(best.get(name, 1e9), time.perf_counter() - begin)
            assert found == wanted, f"{name} answers otherwise"
    for name, seconds in best.items():
        print(f"{name:<8}{len(texts) / seconds:10.0f} texts/s")


if __name__ == "__main__":
    main()
