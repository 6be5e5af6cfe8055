#!/usr/bin/env python3
"""Removes each check of the code that verifies a model file, one at a time, and asks whether a test finds that.

One build of a copy of the tree holds all of them: BANTAM_MUTANT, a number, is the check that is not there. The first pass notes
which test meets which check (BANTAM_FOUND), so that each mutant runs only these. A check that no test misses has a reason in
reasons.json, or this fails. Exit codes: 0 all found or with a reason, 1 survivors or reasons of checks that are gone.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

import checks

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build-mutants"
TREE = FOLDER / "tree"
BUILD = TREE / "build"
# GoogleTest programs, and fuzzers that replay their corpus. Of the former those with the fewest milliseconds come first.
TESTS = {
    "model_tests": "model",
    "session_test": "session",
    "session_linked_test": "session",
    "session_text_test": "session",
    "tokenizer_tests": "text",
    "tokenizer_test": "text",
    "golden_tests": "golden",
    "verdicts_test": "fuzz",
}
REPLAYS = {"model_fuzz": "model", "structure_fuzz": "structure"}
TIMEOUT = 120  # a mutant that never ends is found
MEMORY = 8 << 30  # nor does one take the machine's memory
TOGETHER = 6  # tests that one process runs before others are tried


def write(path, content):
    """Keeps the time of a file that stays the same, for the build."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_tree(sources):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    names = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    asking = {source.file: source.asking() for source in sources}
    for name in names:
        target = TREE / name
        write(target, asking.get(name) or (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, target)
    for path in TREE.rglob("*"):  # what is gone
        name = str(path.relative_to(TREE))
        if path.is_file() and name not in names and not name.startswith("build/"):
            path.unlink()
    write(TREE / "runtime/mutants.h", (HERE / "mutants.h").read_bytes())
    main = (ROOT / "tests/test_main.cpp").read_bytes() + (HERE / "listener.inc").read_bytes()
    write(TREE / "tests/test_main.cpp", main)


def build(jobs, options):
    subprocess.run(["cmake", "--preset", "release", *options], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    targets = [*TESTS, *REPLAYS, "bantam_command"]
    subprocess.run(["cmake", "--build", "build", f"-j{jobs}", "--target", *targets], cwd=TREE, check=True)
    seeds = ["ctest", "--test-dir", "build", "-R", "fuzz_seed_", f"-j{jobs}"]  # model files for verdicts_test
    subprocess.run(seeds, cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def run(command, folder, **variables):
    """True if the tests pass."""
    environment = {**os.environ, "RC_PARAMS": "seed=1 max_success=25", "BANTAM_EXHAUSTIVE": "", **variables}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT if "BANTAM_MUTANT" in variables else None,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def program(name):
    folder = BUILD / "tests" / TESTS.get(name, "fuzz")
    return folder / name, folder


def replay(name):
    return [program(name)[0], ROOT / "tests/fuzz/corpus" / REPLAYS[name]]


def meet(name):
    """The tests of the program that meet each check, the quickest first, with milliseconds."""
    binary, folder = program(name)
    log = FOLDER / f"{name}.found"
    log.unlink(missing_ok=True)
    start = time.monotonic()
    command = replay(name) if name in REPLAYS else [binary, "--gtest_brief=1"]
    if not run(command, folder, BANTAM_FOUND=str(log)):
        raise SystemExit(f"{name} fails without a mutant: BANTAM_FOUND= {binary}")
    took, met = {}, collections.defaultdict(list)
    lines = log.read_text().splitlines() if log.exists() else []
    for line in lines:
        if match := re.fullmatch(r"= (\S+) (\d+)", line):
            took[match[1]] = int(match[2])
    for line in lines:
        if match := re.fullmatch(r"(\d+) (\S+)", line):
            met[int(match[1])].append((took.get(match[2], 0), match[2]))
    print(f"{name}: {time.monotonic() - start:.0f} s, meets {len(met)} checks", flush=True)
    return {number: sorted(tests) for number, tests in met.items()}


def finder(number, met):
    """The first program that fails without check `number`; None if none does."""
    variables = {"BANTAM_MUTANT": str(number)}
    rounds = []
    for order, name in enumerate(TESTS):
        tests = met[name].get(number, [])
        for at in range(0, len(tests), TOGETHER):
            some = tests[at : at + TOGETHER]
            rounds.append((sum(t for t, _ in some), order, name, [test for _, test in some]))
    for _, _, name, tests in sorted(rounds):
        binary, folder = program(name)
        if not run([binary, "--gtest_fail_fast", "--gtest_filter=" + ":".join(tests)], folder, **variables):
            return name
    for name in REPLAYS:
        if number in met[name] and not run(replay(name), program(name)[1], **variables):
            return name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--cmake", action="append", default=[], help="an option for the build, such as -DBANTAM_XNNPACK=OFF"
    )
    parser.add_argument("--only", default="", help="regular expression: only checks of these files or sentences")
    options = parser.parse_args()

    sources = checks.find()
    every = [check for source in sources for check in source.checks]
    reasons = json.loads((HERE / "reasons.json").read_text())
    copy_tree(sources)
    build(options.jobs, options.cmake)
    met = {name: meet(name) for name in (*TESTS, *REPLAYS)}

    wanted = [check for check in every if re.search(options.only, check.key())]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        finders = dict(zip(wanted, pool.map(lambda check: finder(check.number, met), wanted), strict=True))
    survivors = [check for check, name in finders.items() if name is None]
    table = [f"{check.file}:{check.line}: {check.what}: {check.operand}" for check in survivors]
    (FOLDER / "survivors.txt").write_text("".join(line + "\n" for line in table))
    found = collections.Counter(name for name in finders.values() if name)
    print(
        f"{time.monotonic() - start:.0f} s for mutants; found by",
        ", ".join(f"{n}: {c}" for n, c in found.most_common()),
    )

    keys = {check.key() for check in every}
    wrong = [f"reasons.json names a check that is gone: {key}" for key in reasons if key not in keys]
    wrong += [f"reasons.json names a check that {name} finds: {check.key()}"
              for check, name in finders.items() if name and check.key() in reasons]  # fmt: skip
    bare = [check for check in survivors if check.key() not in reasons]
    wrong += [f"no test finds that this is gone: {check.file}:{check.line}: {check.what}: {check.operand}"
              + ("" if any(check.number in met[name] for name in met) else " (never met)") for check in bare]  # fmt: skip
    print("\n".join(wrong))
    print(
        f"{len(wanted)} checks: {len(wanted) - len(survivors)} found, {len(survivors) - len(bare)} with a reason, {len(bare)} without"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
