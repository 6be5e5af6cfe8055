"""Builds for one target: tests/firmware/images, and the projects that `bantam firmware` makes of models/voice-commands."""

import argparse
import os
import pathlib
import shutil
import subprocess

import projects
from make_models import MODELS, pack, write

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Operators in integers are in logits_hash, too: a project of them is built by `./dev test all` (tests/exhaustive.h), and those that
# make texts where the target's RAM holds them.
PROJECTS = (
    ("voice", "voice-static", "decoder", "pair", "picture", "sound")
    if os.environ.get("BANTAM_EXHAUSTIVE")
    else ("voice",)
)
TARGETS = {
    "decoder": ("cortex-m7", "cortex-m55"),
    "pair": ("cortex-m4",),
    "picture": ("cortex-m7", "cortex-m55"),
    "sound": ("cortex-m0plus", "cortex-m4", "cortex-m55"),
}
TOKENS = {"pair": 16}


def device_models(command, target, models, out):
    """The files as `bantam firmware` changes them for the target."""
    out.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        new = out / f"{name}.new"
        arguments = [command, "firmware", models / f"{name}.bantam", "--target", target, "--format", "bin", "-o", new]
        subprocess.run([*arguments, "--force", "--json"], check=True, stdout=subprocess.DEVNULL)
        write(out / f"{name}.bantam", new.read_bytes())
        new.unlink()
    write(out / "models.pack", pack(out / f"{name}.bantam" for name in MODELS))


def build(command, target, models, out, images=()):
    device_models(command, target, models, out / "models")
    options = [
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_TOOLCHAIN_FILE={SOURCE}/targets/firmware/toolchain.cmake",
        f"-DBANTAM_BOARD_DIR={SOURCE}/targets/{target}",
        f"-DBANTAM_MODELS={out}/models",
    ]
    if shutil.which("ccache"):
        options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    folder = SOURCE / "tests" / "firmware" / "images"
    subprocess.run(["cmake", "--fresh", "-G", "Ninja", "-S", folder, "-B", out, *options], check=True)
    subprocess.run(["cmake", "--build", out, *(["--target", *images] if images else [])], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--command", required=True, help="the bantam command")
    given = parser.parse_args()
    out = given.out.resolve()
    build(given.command, given.target, given.models, out)
    for name in PROJECTS:
        if given.target in TARGETS.get(name, (given.target,)):
            file = given.models / f"{name}.bantam"
            projects.build(given.command, file, given.target, TOKENS.get(name, 0), out / name)


if __name__ == "__main__":
    main()
