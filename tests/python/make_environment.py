"""make_environment.py --library LIBBANTAM --out FOLDER: the wheel, and a virtual environment with it and nothing else. Building twice
gives the same bytes, and the wheel is as small as the package says."""

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", options.out], check=True)
    wheel = build(options.library, options.out / "wheel")
    assert wheel.read_bytes() == build(options.library, options.out / "again").read_bytes(), (
        "another wheel of the same library"
    )
    assert wheel.stat().st_size <= MOST_BYTES, f"the wheel has {wheel.stat().st_size} bytes"
    assert "-py3-none-manylinux_2_17_" in wheel.name, (
        f"{wheel.name}: the library asks for a C library of later than 2012"
    )
    # What pip would do, but for scripts, of which there are none.
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([options.out / "bin" / "python", "-c", place], check=True, capture_output=True, text=True)
    for folder in (found.stdout.strip(), options.out / "package"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


if __name__ == "__main__":
    main()
