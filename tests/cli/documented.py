"""Commands that a reader copies: ```sh and ```console blocks of README.md and docs/*.md, and the Examples of every --help."""

import pathlib
import re

# Why a command is not run here, by what it holds. Everything else must succeed.
SKIPPED = (
    (r"^\./dev |^cmake --preset|^cmake --install|^sudo apt-get", "works on the source tree or the machine"),
    (
        r"arm-none-eabi|^cmake -S|run\.py --board",
        "needs the firmware compiler: the firmware tests build such projects",
    ),
    (r"^bantam bench .*(128|120)", "needs a model that takes 128 tokens"),
    (r"^bantam answer .* --stride 64", "needs a model for answers that takes more than 64 tokens"),
    (r"--runner build-", "needs a build for another machine"),
    (r"\bdistill\b|\btrained\b", "needs libtorch: the training tests run such commands"),
    (
        r"untrained_marian\.py|student (marian|teacher) --decoder|\btranslator",
        "trains a translator: the training tests do",
    ),
    (
        r"\bkws\b|\bkeywords\b|\bmotions?\b",
        "makes data and trains on it: tests/conformance/audio.py follows these steps",
    ),
    (r"\bdigits", "trains a reader of digits: tests/conformance/digits.py follows these steps"),
    (r"^bantam serve |^curl ", "waits for requests: test_serve.py asks some"),
    (r"^bantam monitor ", "asks a device: test_monitor.py has some"),
    (r"^npm |^node |http\.server|build/web", "of the package for browsers: tests/wasm runs that and its examples"),
    (r"^python3 -m venv|^bantam-python/", "of the wheel: tests/python installs it and runs its examples"),
    (r"pkg-config|^\./ask ", "of the library: tests/package installs it, builds the example and runs it"),
    (r"^gunzip ", "unpacks what was downloaded"),
    (r"sysroot\.sh", "downloads another machine's libraries"),
    (r"\bSRC\b|\bCOMMAND\b|\bTEACHER\b|\bFILE\b|\.\.\.$|path/to", "says how a command is written"),
)


def blocks_of_markdown(path):
    """(where, commands) of each ```sh block."""
    for number, block in enumerate(re.findall(r"```sh\n(.*?)```", path.read_text(), re.S), 1):
        yield f"{path.name}, block {number}", block


def transcripts_of_markdown(path):
    """(where, [(command, output)]) of each ```console block: "$ " begins a command, what follows is its output."""
    for number, block in enumerate(re.findall(r"```console\n(.*?)```", path.read_text(), re.S), 1):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.M)
        yield f"{path.name}, transcript {number}", list(zip(parts[1::2], parts[2::2]))


def blocks_of_help(text, name):
    """(where, commands): the indented lines under "Examples:"."""
    found = re.search(r"^Examples:\n((?:  .*\n?|\n)+)", text, re.M)
    if found:
        yield f"bantam {name} --help".replace("  ", " "), found.group(1)


def commands_of(block):
    """The commands of a block: continued lines are joined, comments and what a report of a line says are left out."""
    joined = re.sub(r"\\\n\s*", " ", block)
    for line in joined.split("\n"):
        command = re.sub(r"\s+#.*$|\s{3,}writes .*$", "", line.strip())
        if command and not command.startswith(("#", "[")):
            yield command


def reason_to_skip(command):
    for pattern, reason in SKIPPED:
        if re.search(pattern, command):
            return reason
    return None


def command_names(text):
    """Names of the subcommands that `bantam --help` lists: the first word of an indented line with a summary."""
    return [n for n in re.findall(r"^  ([a-z-]+) {2,}\S", text, re.M)]


def markdown_files(root: pathlib.Path):
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]
