"""The models that images hold: converts them with the command, and packs them for images/logits_hash.cpp."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from rows_model import FILTERS, write_rows_model  # noqa: E402

GOLDEN = SOURCE / "tests" / "golden" / "models"
EXPECTED = SOURCE / "tests" / "firmware" / "expected"  # what every machine must answer; test_host.py --write
KERNEL_SEEDS = 8
VOICE = SOURCE / "models" / "voice-commands"
STATIC = ["--activations", "static", "--calibrate", VOICE / "commands.txt"]
MODELS = {
    "voice": [VOICE],
    "tiny": [GOLDEN / "bert-tag"],
    "voice-static": [VOICE, *STATIC],
    "tiny-int4": [GOLDEN / "bert-tag", "--weights", "int4"],
    "tiny-static": [GOLDEN / "bert-tag", *STATIC],
}
# Goes on with texts; a project of `./dev test all`.
STORIES = SOURCE.parent / "shared" / "models" / "stories260k"
DECODER = STORIES if STORIES.exists() else GOLDEN / "gpt2-text"
# Makes texts of others with states.
PHONEMES = SOURCE.parent / "shared" / "models" / "g2p-gru"
PAIR = PHONEMES if PHONEMES.exists() else GOLDEN / "seq2seq-gru"
# Has weights of -1, 0 and 1.
TERNARY = SOURCE / "tests" / "golden" / "ternary" / "packed"
# Takes pixels.
PICTURE = SOURCE / "tests" / "golden" / "images" / "vit-classify"


def write(path, data):
    """Only when it changed, so that nothing is linked anew."""
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def convert(command, out, source, *options):
    new = out.with_suffix(".new")
    arguments = [command, "convert", source, "-o", new, *options, "--parity", "none", "--json"]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    write(out, new.read_bytes())
    new.unlink()


def pack(paths):
    """A 64-byte block that begins with the size, the file, zeros up to a multiple of 64; a zero block ends the list."""
    blob = b""
    for path in paths:
        data = path.read_bytes()
        blob += len(data).to_bytes(64, "little") + data + bytes(-len(data) % 64)
    return blob + bytes(64)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the bantam command")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, arguments in MODELS.items():
        convert(given.command, given.out / f"{name}.bantam", *arguments)
    convert(given.command, given.out / "decoder.bantam", DECODER)
    convert(given.command, given.out / "pair.bantam", PAIR)
    convert(given.command, given.out / "tiny-ternary.bantam", TERNARY, "--weights", "ternary")
    convert(given.command, given.out / "picture.bantam", PICTURE)
    with tempfile.TemporaryDirectory() as folder:
        source = write_rows_model(pathlib.Path(folder) / "sound", 49, 40, ["low", "high", "none"], FILTERS)
        convert(given.command, given.out / "sound.bantam", source)
    write(given.out / "models.pack", pack(given.out / f"{name}.bantam" for name in MODELS))


if __name__ == "__main__":
    main()
