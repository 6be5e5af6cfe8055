"""Times two files of one model beside each other: whole forward passes and the linear layers in them.

    python3 tests/bench/compare.py build/bantam dense.bantam sparse.bantam --seq 16,32,128

Rounds are interleaved, and of each file the least time counts, so that a busy machine slows both alike; the ratios are how
many times faster the second file is.
"""

import argparse
import json
import subprocess


def measure(command, file, seq, isa):
    """Milliseconds by length: (the whole pass, its linear layers)."""
    arguments = [command, "bench", file, "--seq", seq, "--per-op", "--json", "--threads", "1"]
    arguments += ["--isa", isa] if isa else []
    output = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    linear = [sum(kind["min_ms"] for kind in row["kinds"] if kind["kind"] == "Linear") for row in rows]
    return {row["seq"]: (row["min_ms"], least) for row, least in zip(rows, linear)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="bantam")
    parser.add_argument("files", nargs=2, metavar="FILE")
    parser.add_argument("--seq", default="16,32,128", help="tokens of a sequence")
    parser.add_argument("--isa", help="instruction set, such as avx2")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    best = [{}, {}]
    for _ in range(options.rounds):
        for file, least in zip(options.files, best):
            for seq, times in measure(options.command, file, options.seq, options.isa).items():
                least[seq] = tuple(map(min, zip(times, least.get(seq, times))))
    print("tokens  whole pass, ms          linear layers, ms")
    for seq, first in best[0].items():
        columns = [f"{a:7.3f} {b:7.3f} {a / b:5.2f}x" for a, b in zip(first, best[1][seq])]
        print(f"{seq:6}  {'  '.join(columns)}")


if __name__ == "__main__":
    main()
