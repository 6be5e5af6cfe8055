#!/usr/bin/env python3
"""search.py SEARCH_COSTS [--count 100000] [--width 384]: a search for the nearest ten beside numpy's f32 product and argpartition.

One thread each, in turns; times are the least and the median of fifty queries, recall is of the ten that f32 finds.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (reads the number of threads when it is imported)

TOP = 10


def numpy_search(vectors, query):
    scores = vectors @ query
    best = np.argpartition(-scores, TOP)[:TOP]
    return best[np.argsort(-scores[best])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("search_costs")
    parser.add_argument("--count", default="100000")
    parser.add_argument("--width", default="384")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ours, theirs, hits = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            command = [options.search_costs, folder, options.count, options.width]
            result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            ours.append((result["least_ms"], result["median_ms"]))
            vectors = np.load(f"{folder}/vectors.npy")
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            queries = np.load(f"{folder}/queries.npy")
            queries /= np.linalg.norm(queries, axis=1, keepdims=True)
            times = []
            for query, found in zip(queries, result["found"], strict=True):
                begin = time.perf_counter()
                best = numpy_search(vectors, query)
                times.append((time.perf_counter() - begin) * 1e3)
                hits.append(len(set(best.tolist()) & set(found)) / TOP)
            theirs.append((min(times), statistics.median(times)))
    for name, times in (("bantam", ours), ("numpy", theirs)):
        print(
            f"{name:7} least {min(t[0] for t in times):8.3f} ms  median {statistics.median(t[1] for t in times):8.3f} ms"
        )
    ratio = statistics.median(o[1] / t[1] for o, t in zip(ours, theirs, strict=True))
    print(
        f"bantam takes {ratio:.3f} of numpy's time (median of {options.rounds} rounds); recall {statistics.mean(hits):.4f}"
    )


if __name__ == "__main__":
    main()
