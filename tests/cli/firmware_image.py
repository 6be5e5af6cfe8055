"""A project of `bantam firmware`, built and run in QEMU: firmware_image.py TARGET. Its answers are the host's, byte for byte.
Exit code 77 where the cross compiler or QEMU is missing."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from support import SOURCE, bantam, model

TOKENS = "32"
BAD = b"\n\xff\xfe noise \x80\n" + b"x" * 600 + b"\nplay \x00\x1b[2J jazz\r\n" + bytes(range(14, 256)) + b"\n"


def run(*command):
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def main():
    target = sys.argv[1]
    needed = ("arm-none-eabi-g++", "qemu-system-arm", "cmake")
    if missing := [tool for tool in needed if shutil.which(tool) is None]:
        print("skipped: not installed:", *missing)
        return 77
    lines = (SOURCE / "models" / "voice-commands" / "commands.txt").read_bytes() + BAD
    expected = bantam("run", model("voice"), "--uart", "--max-tokens", TOKENS, stdin=lines).stdout
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "project"
        made = bantam(
            "firmware",
            model("voice"),
            "--target",
            target,
            "--max-tokens",
            TOKENS,
            "-o",
            project,
        )
        if made.returncode != 0:
            sys.exit(made.stderr.decode())
        build = project / "build"
        run("cmake", "-S", project, "-B", build)
        report = run("cmake", "--build", build, "--parallel", "2")
        for part in ("flash, bytes", "kernels", "tokenizer", "RAM, bytes", "arena"):
            assert part in report, f"no {part} in the build's report:\n{report}"
        done = subprocess.run(
            [
                sys.executable,
                project / "bantam/targets/firmware/run.py",
                "--target",
                target,
                build / "firmware.elf",
            ],
            input=lines,
            stdout=subprocess.PIPE,
            check=False,
        )
    answers = done.stdout.split(b"\n")
    print(done.stdout.decode(errors="replace"))
    assert done.returncode == 0, f"the image ended with {done.returncode}"
    assert answers[0] == b"ready", "the image did not get ready"
    end = answers[-2].split(b"\t")
    assert end[0] == b"end" and end[1].startswith(b"arena "), "the image did not end well"
    assert b"\n".join(answers[1:-2]) + b"\n" == expected, "not the host's answers:\n" + expected.decode(
        errors="replace"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
