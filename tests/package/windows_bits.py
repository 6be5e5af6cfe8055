"""windows_bits.py COMMAND NATIVE WINDOWS EMULATOR WORK: golden models, kernels and sounds have the same bits on Windows, by Wine, as here.
COMMAND converts the models; NATIVE and WINDOWS are the folders of tests/firmware/images in both builds. Models run with every
instruction set of this machine."""

import pathlib
import shlex
import subprocess
import sys

from support import SOURCE, check, skip

sys.path.insert(0, str(SOURCE / "tests" / "firmware"))
from make_models import EXPECTED, KERNEL_SEEDS, pack  # noqa: E402
from test_host import ISAS  # noqa: E402

FEWEST = 300  # models that take ids alone, which the program gives them


def convert(command, folder):
    """The golden models as files, of those that this command converts."""
    files = []
    for source in sorted((SOURCE / "tests" / "golden" / "models").iterdir()):
        file = folder / f"{source.name}.bantam"
        call = [command, "convert", source, "-o", file, "--parity", "none"]
        if source.is_dir() and subprocess.run(call, capture_output=True, check=False).returncode == 0:
            files.append(file)
    return files


def hashes(program, packed, isa):
    done = subprocess.run([*program, packed, isa], capture_output=True, check=False)
    return done.returncode, as_lines(done.stdout)


def as_lines(said):
    return said.replace(b"\r\n", b"\n")


def check_images(windows, emulator):
    """Kernels and sounds against the hashes of every machine."""
    for program, asked, expected in (
        ("kernels_image.exe", b"%d\n" % KERNEL_SEEDS, "kernels.hash"),
        ("sound_image.exe", b"h\n", "sound.hash"),
    ):
        done = subprocess.run(
            [*emulator, windows / program],
            input=asked,
            capture_output=True,
            check=False,
        )
        check(as_lines(done.stdout) == (EXPECTED / expected).read_bytes(), program, done)


def main(command, native, windows, emulator, work):
    work, emulator, windows = (
        pathlib.Path(work),
        shlex.split(emulator),
        pathlib.Path(windows),
    )
    check_images(windows, emulator)
    native, windows = (
        pathlib.Path(native) / "logits_hash",
        [*emulator, windows / "logits_hash.exe"],
    )
    for program in (command, native):
        if not pathlib.Path(program).exists():
            skip(f"{program} is not built, with which the bits are compared")
    work.mkdir(parents=True, exist_ok=True)
    one, packed = work / "one.pack", work / "all.pack"
    takes_ids = []
    for file in convert(command, work):
        one.write_bytes(pack([file]))
        if hashes([native], one, "auto")[0] == 0:
            takes_ids.append(file)
    check(len(takes_ids) >= FEWEST, f"{len(takes_ids)} models take ids")
    packed.write_bytes(pack(takes_ids))
    expected = hashes([native], packed, "reference")
    ran = []
    for isa in ISAS:
        status, said = hashes(windows, packed, isa)
        if status != 77:
            check((status, said) == expected, f"{isa}: other bits, or exit code {status}")
            ran.append(isa)
    check("reference" in ran and len(ran) > 1, ran)
    print(f"{len(takes_ids)} models, one hash:", *ran)


if __name__ == "__main__":
    main(*sys.argv[1:])
