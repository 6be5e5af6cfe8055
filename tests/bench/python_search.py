"""python_search.py [ROWS] [WIDTH] [--index MODEL]: CPU time of one query over random vectors from Python: Model.search with prepared
vectors, with plain rows, and with --index bantam.Index over as many texts, each as a share of one line of NumPy, D @ q and
argpartition. One thread; the four take turns, query by query, so that a busy machine slows all alike."""

import argparse
import os
import pathlib
import random
import statistics
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (reads the number of threads when it is imported)

import bantam  # noqa: E402
from bantam.vectors import Vectors, nearest, similarity  # noqa: E402

TOP, QUERIES = 10, 300


def plain(rows, query):
    scores = rows @ query
    best = np.argpartition(-scores, TOP)[:TOP]
    return best[np.argsort(-scores[best])]


def make_index(folder, model, count):
    draw = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprstvz" for b in "aeiou"]
    texts = [" ".join(draw.choice(words) for _ in range(12)) for _ in range(count)]
    return bantam.Index.create(pathlib.Path(folder) / "texts.index", model, texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=10003)
    parser.add_argument("width", nargs="?", type=int, default=384)
    parser.add_argument("--index", metavar="MODEL", help="a model of that width; BANTAM_COMMAND names the command")
    options = parser.parse_args()
    random_numbers = np.random.default_rng(1)
    rows = random_numbers.standard_normal((options.rows, options.width), np.float32)
    queries = random_numbers.standard_normal((QUERIES, options.width), np.float32)
    prepared = Vectors(rows)
    ways = {
        "numpy": lambda query: plain(prepared.rows, query),
        "prepared": lambda query: nearest(prepared.similarity(query), TOP),
        "rows": lambda query: nearest(similarity(query, rows), TOP),
    }
    with tempfile.TemporaryDirectory() as folder:
        if options.index:
            index = make_index(folder, options.index, options.rows)
            ways["index"] = lambda query: index.search(query, TOP)
        times = {name: [] for name in ways}
        names = list(ways)
        for query in queries:
            for name in names:
                begin = time.process_time_ns()
                ways[name](query)
                times[name].append(time.process_time_ns() - begin)
            names = names[1:] + names[:1]  # what ran before fills the caches
    for name, spent in times.items():
        ratio = statistics.median(a / b for a, b in zip(spent, times["numpy"], strict=True))
        print(f"{name:11} median {statistics.median(spent) / 1e6:7.3f} ms of CPU, {ratio:.2f} of numpy's")


if __name__ == "__main__":
    main()
