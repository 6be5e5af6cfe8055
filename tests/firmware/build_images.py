"""Configures and builds tests/firmware/images for one target."""

import argparse
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def build(target, models, out, images=()):
    if not (out / "build.ninja").exists():
        options = [
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_TOOLCHAIN_FILE={SOURCE}/targets/{target}/toolchain.cmake",
            f"-DBANTAM_MODELS={models}",
        ]
        if shutil.which("ccache"):
            options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        folder = SOURCE / "tests" / "firmware" / "images"
        subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", out, *options], check=True)
    subprocess.run(["cmake", "--build", out, *(["--target", *images] if images else [])], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("images", nargs="*", help="all of them unless named")
    given = parser.parse_args()
    build(given.target, given.models.resolve(), given.out, given.images)


if __name__ == "__main__":
    main()
