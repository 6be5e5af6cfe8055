"""Converts every model that the command-line tests read: convert_models.py COMMAND OUTPUT_DIRECTORY.

Once a build: a file that is newer than the command, this script and all that it was made from stays.
"""

import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def main():
    command, output = sys.argv[1], pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    voice = SOURCE / "models" / "voice-commands"
    jobs = [(voice, "voice", "int8"), (voice, "voice-f32", "f32")]
    jobs += [(path, path.name, "f32") for path in sorted((SOURCE / "tests" / "golden" / "models").iterdir())]
    jobs = [(source, name, ("--weights", weights)) for source, name, weights in jobs]
    for name in ("clip", "siglip"):
        whole = SOURCE / "tests" / "golden" / name
        jobs += [(whole, f"{name}-{tower}", ("--tower", tower, "--weights", "f32")) for tower in ("text", "vision")]
    jobs += [(voice, "voice-static", ("--activations", "static", "--calibrate", voice / "commands.txt"))]
    jobs += [(voice, "voice-int4", ("--weights", "int4", "--group", "64"))]
    for source, name, options in jobs:
        target = output / f"{name}.bantam"
        made_from = (pathlib.Path(command), pathlib.Path(__file__), source, *source.rglob("*"))
        if target.exists() and target.stat().st_mtime_ns > max(path.stat().st_mtime_ns for path in made_from):
            continue
        subprocess.run(
            [command, "convert", source, "-o", target, *options, "--parity", "none", "--json"],
            check=True,
            stdout=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main()
