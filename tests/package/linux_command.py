"""linux_command.py MACHINE STATIC COMMAND EMULATOR WORK: the archive of the command without libraries, of a build for another machine. The
emulator runs it without that machine's libraries: it converts and answers as COMMAND does, which has them."""

import pathlib
import shutil
import sys
import tarfile

from support import SOURCE, check, facts, generate, run

MODEL = SOURCE / "models" / "voice-commands-tiny"
LINES = SOURCE / "models" / "voice-commands" / "commands.txt"


def main(machine, program, command, emulator, work):
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    name = f"bantam-{facts.version()}-linux-{machine}"
    packed = [
        generate(work / at, "linux", "--linux", f"{machine}={program}") / f"{name}.tar.gz" for at in ("first", "second")
    ]
    check(packed[0].read_bytes() == packed[1].read_bytes(), "two runs differ")
    with tarfile.open(packed[0]) as tar:
        modes = {member.name.removeprefix(f"{name}/"): (member.mode, member.uid) for member in tar}
        tar.extractall(work, filter="data")
    check(modes == {"LICENSE": (0o644, 0), "README.md": (0o644, 0), "bantam": (0o755, 0)}, modes)
    for other in ("riscv64" if machine == "aarch64" else "aarch64", "sparc"):
        refused = "another machine" if other != "sparc" else "MACHINE is one of"
        done = run("sh", "-c", '"$@" 2>&1 || true', "sh", sys.executable, "-B", SOURCE / "targets/packages/generate.py",
                   "linux", "--out", work / "refused", "--linux", f"{other}={program}")  # fmt: skip
        check(refused in done, other, done)
    alone = (emulator, work / name / "bantam")
    check(run(*alone, "--version").split() == ["bantam", facts.version()], "another version")
    file = work / "tiny.bantam"
    run(*alone, "convert", MODEL, "-o", file, "--parity", "none")
    asked = ("run", file, "--file", LINES, "--json")
    answers = run(*alone, *asked)
    check(answers.count("\n") == len(LINES.read_text().splitlines()), answers)
    check(answers == run(command, *asked), "answers of another kind")
    print(f"{machine}: {(work / name / 'bantam').stat().st_size} bytes, {packed[0].stat().st_size} packed")


if __name__ == "__main__":
    main(*sys.argv[1:])
