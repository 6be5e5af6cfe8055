#!/usr/bin/env python3
"""Removes each check of the code that verifies a model file, one at a time, and asks whether a test finds that.

One build of a copy of the tree holds all of them: BANTAM_MUTANT, a number, is the check that is not there. hunt.cpp first opens the
changed files of verdicts_test with and without each check that they meet, in one process. Of what is left, a pass notes
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
}
HUNT = """
add_executable(hunt ${PROJECT_SOURCE_DIR}/tests/mutants/hunt.cpp)
target_link_libraries(hunt PRIVATE bantam_fuzz_structure bantam_hardened)
target_include_directories(hunt PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime)
"""
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
    for name in names - {"tests/fuzz/CMakeLists.txt", "tests/test_main.cpp"}:
        target = TREE / name
        write(target, asking.get(name) or (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, target)
    for path in TREE.rglob("*"):  # what is gone
        name = str(path.relative_to(TREE))
        if path.is_file() and name not in names and not name.startswith("build/"):
            path.unlink()
    write(TREE / "tests/fuzz/CMakeLists.txt", (ROOT / "tests/fuzz/CMakeLists.txt").read_bytes() + HUNT.encode())
    write(TREE / "runtime/mutants.h", (HERE / "mutants.h").read_bytes())
    main = (ROOT / "tests/test_main.cpp").read_bytes() + (HERE / "listener.inc").read_bytes()
    write(TREE / "tests/test_main.cpp", main)


def build(jobs, options):
    subprocess.run(["cmake", "--preset", "release", *options], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    targets = [*TESTS, *REPLAYS, "bantam_command", "hunt"]
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


def hunt(wanted, seconds):
    """{number: (test or random, seed, kind, change)} of the checks that changed files find."""
    found = FOLDER / "hunt.found"
    chosen, seeds = ROOT / "tests/fuzz/chosen.txt", BUILD / "tests/fuzz/seeds"
    command = [BUILD / "tests/fuzz/hunt", str(seconds), seeds, chosen, found, *(str(check.number) for check in wanted)]
    subprocess.run(command, check=True)
    rows = [line.split() for line in found.read_text().splitlines()]
    return {int(number): (how, *change) for how, number, *change in rows}


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
    parser.add_argument(
        "--hunt", type=int, default=60, metavar="SECONDS", help="how long random changes of files go on"
    )
    parser.add_argument("--choose", action="store_true", help="add the random changes that found a check to chosen.txt")
    options = parser.parse_args()

    sources = checks.find()
    every = [check for source in sources for check in source.checks]
    reasons = json.loads((HERE / "reasons.json").read_text())
    copy_tree(sources)
    build(options.jobs, options.cmake)
    wanted = [check for check in every if re.search(options.only, check.key())]
    hunted = hunt(wanted, options.hunt)
    met = {name: meet(name) for name in (*TESTS, *REPLAYS)}

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tests = pool.map(
            lambda check: "verdicts_test" if hunted.get(check.number, [""])[0] == "test" else finder(check.number, met),
            wanted,
        )
        finders = dict(zip(wanted, tests, strict=True))
    random = {c: " ".join(hunted[c.number][1:]) for c, name in finders.items() if name is None and c.number in hunted}
    if options.choose:
        finders.update(dict.fromkeys(random, "verdicts_test"))
        path = ROOT / "tests/fuzz/chosen.txt"
        path.write_text("".join(line + "\n" for line in sorted({*path.read_text().splitlines(), *random.values()})))
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
              + (f" (but {random[check]}: --choose)" if check in random else "" if any(check.number in met[name] for name in met) else " (never met)") for check in bare]  # fmt: skip
    print("\n".join(wrong))
    print(
        f"{len(wanted)} checks: {len(wanted) - len(survivors)} found, {len(survivors) - len(bare)} with a reason, {len(bare)} without"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
