#!/usr/bin/env python3
"""verifier.py WORK [--only TEXT] [--jobs N]: does a test fail for every check of the verifier that is taken away?

Copies the project to WORK, gives every check a number, and builds the tests once: a check whose number is in BANTAM_MUTANT finds
nothing. Conditions that are joined by || (or, of what must hold, by &&) are checks of their own. A first run of each test notes which
checks find something in it; no other test can tell that a check is missing, so that each mutant runs those alone.

Prints the checks that no test misses, and fails where reasons.json gives no reason for one, or gives one for a check that a test
misses. WORK is kept: the next run compiles what has changed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TESTS = ("model_tests", "golden_tests", "tokenizer_tests", "tasks_tests", "session_tests")
FOUND = re.compile(r"\b(corrupt|unsupported)\(")
# In bantam's namespace, in the header that all checks include.
SWITCH = """
#include <stdio.h>
#include <stdlib.h>
namespace bantam {
/// Is check number `n` there? Asked only where it finds something.
inline bool is_there(int n) {
  static const char* const left_out = getenv("BANTAM_MUTANT");
  static FILE* const log = getenv("BANTAM_FOUND") ? fopen(getenv("BANTAM_FOUND"), "a") : nullptr;
  if (log != nullptr) fprintf(log, "%d\\n", n), fflush(log);
  return left_out == nullptr || atoi(left_out) != n;
}
}  // namespace bantam
"""


def opening(text, end):
    """The place of the parenthesis that text[end] closes."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (text[at] in ")]}") - (text[at] in "([{")
        if depth == 0:
            return at
    return -1


def closing(text, begin):
    """The place of the parenthesis that closes text[begin]."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def parts(condition, joint):
    """A condition's operands on its outermost level; one where the other joint stands there, too."""
    other = "&&" if joint == "||" else "||"
    out, depth, begin = [], 0, 0
    for at, letter in enumerate(condition):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and condition.startswith("?", at):
            return [condition]
        if depth == 0 and condition.startswith(joint, at):
            out.append(condition[begin:at])
            begin = at + 2
        elif depth == 0 and joint == "&&" and condition.startswith(other, at):
            return [condition]
    return [*out, condition[begin:]]


class Mutator:
    def __init__(self):
        self.checks = []  # file, line, condition, sentence

    def number(self, file, text, at, condition, sentence):
        self.checks.append((file, text.count("\n", 0, at) + 1, " ".join(condition.split()), sentence))
        return len(self.checks) - 1

    def forbidden(self, file, text, at, condition, sentence):
        """A condition that must not hold."""
        made = [
            f"(({one}) && ::bantam::is_there({self.number(file, text, at, one, sentence)}))"
            for one in parts(condition, "||")
        ]
        return " || ".join(made)

    def wanted(self, file, text, at, condition, sentence):
        """A condition that must hold."""
        made = [
            f"(({one}) || !::bantam::is_there({self.number(file, text, at, one, sentence)}))"
            for one in parts(condition, "&&")
        ]
        return " && ".join(made)

    def rewrite(self, file, text):
        changes = []
        for match in FOUND.finditer(text):
            sentence = re.match(r'\s*"([^"]*)"', text[match.end() :])
            sentence = sentence.group(1) if sentence else "(a sentence that is given)"
            front = text[: match.start()].rstrip()
            if front.endswith("constexpr Verdict") or "static constexpr" in front[-60:]:
                continue  # its definition
            begin = end = None
            if front.endswith("return"):
                front = front[: -len("return")].rstrip().removesuffix("{").rstrip()
                if front.endswith(")"):
                    begin, end = opening(front, len(front) - 1) + 1, len(front) - 1
                    if (
                        re.search(r"\b(if|if constexpr)\s*$", front[: begin - 1])
                        and "constexpr" not in front[begin - 14 : begin]
                    ):
                        changes.append((begin, end, self.forbidden(file, text, begin, text[begin:end], sentence)))
                        continue
            else:
                # return WANTED ? Verdict{} : corrupt(...), or return FORBIDDEN ? corrupt(...) : Verdict{}
                start = max(front.rfind("return "), 0) + len("return ")
                expression = front[start:]
                if expression.endswith(":") and expression[:-1].rstrip().endswith("? Verdict{}"):
                    end = start + expression.rindex("? Verdict{}")
                    condition = text[start:end]
                    changes.append((start, end, self.wanted(file, text, start, condition, sentence) + " "))
                    continue
                if expression.endswith("?"):
                    end = start + len(expression) - 1
                    condition = text[start:end]
                    changes.append((start, end, self.forbidden(file, text, start, condition, sentence) + " "))
                    continue
            # What else ends in a verdict: without the check it is no fault.
            last = closing(text, match.end() - 1) + 1
            number = self.number(file, text, match.start(), "", sentence)
            call = text[match.start() : last]
            changes.append((match.start(), last, f"(::bantam::is_there({number}) ? {call} : ::bantam::Verdict{{}})"))
        for begin, end, new in sorted(changes, reverse=True):
            text = text[:begin] + new + text[end:]
        return text


def write_if_other(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_tree(work, mutator):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=SOURCE, capture_output=True, check=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (SOURCE / name).is_file()]
    for name in names:
        content = (SOURCE / name).read_bytes()
        if name.startswith("runtime/") and name.endswith((".cpp", ".h")):
            text = content.decode()
            if name == "runtime/format/verdict.h":
                text = text.replace("\nnamespace bantam {", SWITCH + "\nnamespace bantam {", 1)
            elif FOUND.search(text):
                text = mutator.rewrite(name, text)
            content = text.encode()
        write_if_other(work / "tree" / name, content)


def run_test(binary, name, **more):
    return subprocess.run(
        [binary, f"--gtest_filter={name}", "--gtest_brief=1"],
        env={**os.environ, "GTEST_FAIL_FAST": "1", **more},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=600,
        check=False,
    ).returncode


def tests_of(binary):
    listed = subprocess.run([binary, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite = ""
    for line in listed.splitlines():
        word = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = word
        elif suite.endswith("."):
            yield suite + word.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="", help="checks whose file or sentence has this text")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    given = parser.parse_args()
    mutator = Mutator()
    given.work.mkdir(parents=True, exist_ok=True)
    copy_tree(given.work.resolve(), mutator)
    tree, build = given.work / "tree", given.work / "build"
    if not (build / "build.ninja").exists():
        subprocess.run(
            [
                "cmake",
                "-S",
                tree,
                "-B",
                build,
                "-G",
                "Ninja",
                "-DCMAKE_BUILD_TYPE=Release",
                "-DBANTAM_PCH=ON",
                "-DCMAKE_UNITY_BUILD=ON",
            ],
            check=True,
        )
    known = subprocess.run(
        ["cmake", "--build", build, "--target", "help"], capture_output=True, text=True, check=True
    ).stdout
    targets = [name for name in TESTS if f"{name}: phony" in known]
    subprocess.run(["cmake", "--build", build, "-j", given.jobs, "--target", *targets], check=True)
    binaries = [path for name in targets for path in sorted(build.glob(f"tests/*/{name}"))]

    # Which test finds what.
    finders, log = collections.defaultdict(list), given.work / "found"
    failing = 0
    for binary in binaries:
        for name in tests_of(binary):
            log.unlink(missing_ok=True)
            status = run_test(binary, name, BANTAM_FOUND=str(log))
            failing += status != 0
            if status != 0:
                print(f"{name} fails without a mutant", file=sys.stderr)
                continue
            for number in set(log.read_text().split()) if log.exists() else ():
                finders[int(number)].append((binary, name))

    reasons = {
        (one["file"], one["sentence"], one["check"]): one["reason"]
        for one in json.loads((HERE / "reasons.json").read_text())
    }
    missed, survivors, stale = 0, [], []
    for number, (file, line, condition, sentence) in enumerate(mutator.checks):
        if given.only not in file and given.only not in sentence:
            continue
        # The quickest way to a failure is a test that few checks are found by; the order is that of the tests.
        killed = any(run_test(binary, name, BANTAM_MUTANT=str(number)) != 0 for binary, name in finders[number])
        missed += killed
        key = (file, sentence, condition)
        if killed and key in reasons:
            stale.append(key)
        if not killed and key not in reasons:
            survivors.append((f"{file}:{line}", sentence, condition, len(finders[number])))
    for place, sentence, condition, found in survivors:
        print(
            f"{place}: {sentence}: {condition}: {'no test reaches it' if found == 0 else f'found by {found} tests, missed by none'}"
        )
    for key in stale:
        print(f"reasons.json: a test misses {key}; take its row out")
    asked = sum(given.only in file or given.only in sentence for file, _, _, sentence in mutator.checks)
    print(
        f"{asked} checks: {missed} missed by a test, {asked - missed - len(survivors)} with a reason, {len(survivors)} without"
    )
    sys.exit(1 if survivors or stale or failing else 0)


if __name__ == "__main__":
    main()
