"""Times two files of one model beside each other, or one file by two commands: whole forward passes and their linear layers.

    python3 tests/bench/compare.py build/bantam dense.bantam sparse.bantam --seq 16,32,128
    python3 tests/bench/compare.py build/bantam model.bantam --against old/bantam --isa avx2

Rounds are interleaved, and of each file the least time counts, so that a busy machine slows both alike; the ratios are the
second file's time over the first one's, or this command's over the other's.
"""

import argparse
import json
import subprocess


def measure(command, file, options):
    """Milliseconds by length: (the whole pass, its linear layers)."""
    arguments = [command, "bench", file, "--seq", options.seq, "--per-op", "--json", "--threads", str(options.threads)]
    arguments += ["--isa", options.isa] if options.isa else []
    output = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    linear = [sum(kind["min_ms"] for kind in row["kinds"] if kind["kind"] == "Linear") for row in rows]
    return {row["seq"]: (row["min_ms"], least) for row, least in zip(rows, linear)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="bantam")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--against", metavar="COMMAND", help="another bantam, for the first file")
    parser.add_argument("--seq", default="16,32,128", help="tokens of a sequence")
    parser.add_argument("--isa", help="instruction set, such as avx2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if len(options.files) != 2 and not (options.against and len(options.files) == 1):
        parser.error("name two files, or one file and --against COMMAND")
    pairs = [(options.against or options.command, options.files[0]), (options.command, options.files[-1])]
    best = [{}, {}]
    for _ in range(options.rounds):
        for (command, file), least in zip(pairs, best):
            for seq, times in measure(command, file, options).items():
                least[seq] = tuple(map(min, zip(times, least.get(seq, times))))
    print("tokens  whole pass, ms         linear layers, ms")
    for seq, first in best[0].items():
        columns = [f"{a:7.3f} {b:7.3f} {b / a:5.2f}" for a, b in zip(first, best[1][seq])]
        print(f"{seq:6}  {'  '.join(columns)}")


if __name__ == "__main__":
    main()
