"""make_environment.py --library LIBBANTAM --out FOLDER: the wheel, and a virtual environment with it and nothing else. Building twice
gives the same bytes, and the wheel is as small as the package says. Of another machine's library, with --emulator COMMAND and --sysroot
FOLDER: a script in the environment's place that lets the emulator run that machine's Python."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 1_500_000


def build(library, folder):
    backend = ROOT / "targets" / "python" / "backend" / "bantam_build.py"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-B", backend, "--out", folder, "--library", library], check=True)
    (wheel,) = pathlib.Path(folder).glob("bantam-*.whl")
    return wheel


def write_emulated(out, emulator, sysroot):
    """OUT/bin/python: the Python of `sysroot`, which knows the wheel's package and nothing else of others."""
    programs = [path for path in pathlib.Path(sysroot, "usr", "bin").glob("python3.*") if path.suffix[1:].isdigit()]
    assert len(programs) == 1, f"{sysroot} has {len(programs)} Pythons, not one"
    script = out / "bin" / "python"
    script.parent.mkdir(parents=True)
    places = f"-E PYTHONHOME='{sysroot}/usr' -E PYTHONPATH='{out.resolve() / 'package'}'"
    script.write_text(f"#!/bin/sh\nexec {emulator} {places} '{programs[0]}' \"$@\"\n")
    script.chmod(0o755)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--emulator", help="quoted as for a shell")
    parser.add_argument("--sysroot")
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    if options.emulator:
        write_emulated(options.out, options.emulator, options.sysroot)
    else:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", options.out], check=True)
    wheel = build(options.library, options.out / "wheel")
    assert wheel.read_bytes() == build(options.library, options.out / "again").read_bytes(), (
        "another wheel of the same library"
    )
    assert wheel.stat().st_size <= MOST_BYTES, f"the wheel has {wheel.stat().st_size} bytes"
    assert "-py3-none-manylinux_2_17_" in wheel.name, (
        f"{wheel.name}: the library asks for a C library of later than 2012"
    )
    folders = [options.out / "package"]
    if not options.emulator:  # what pip would do, but for scripts, of which there are none
        place = "import sysconfig; print(sysconfig.get_path('purelib'))"
        found = subprocess.run(
            [options.out / "bin" / "python", "-c", place], check=True, capture_output=True, text=True
        )
        folders.append(found.stdout.strip())
    for folder in folders:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


if __name__ == "__main__":
    main()
