"""Vision transformers (docs/images.md): files of images in, answers out, and what is refused."""

import json
import pathlib
import shutil
import struct
import subprocess
import unittest
import zlib

from support import COMMAND, CommandTest
from support import model as support_model

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "images"
PHOTO = GOLDEN / "photo.ppm"


def png(path, width, height, rows, colour=2, cut=None):
    """Writes a PNG of 8 bits: `rows` as bytes."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    data = b"".join(b"\0" + row for row in rows)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
    file += chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    path.write_bytes(file[:cut])
    return path


class Images(CommandTest):
    def convert(self, name, *options):
        path = self.directory / f"{name}.bantam"
        self.ok("convert", GOLDEN / name, "-o", path, "--parity", "none", *options)
        return path

    def photo_rows(self):
        data = PHOTO.read_bytes()
        pixels = data[data.index(b"255\n") + 4 :]
        return [pixels[y * 37 * 3 : (y + 1) * 37 * 3] for y in range(29)]

    def reads(self, model, path):
        """Is the image read? A build without its library says so."""
        done = subprocess.run([COMMAND, "run", model, path], capture_output=True, text=True)
        if done.returncode == 5 and "this build reads no" in done.stderr:
            return False
        self.assertEqual(done.returncode, 0, done.stderr)
        return True

    def test_answers_are_those_of_transformers(self):
        for name in ("vit-classify", "deit-classify", "deit-teacher", "dinov2-classify"):
            model = self.convert(name, "--weights", "f32")
            raw = json.loads(self.ok("run", model, PHOTO, "--raw"))["outputs"]["logits"]["data"]
            wanted = json.loads((GOLDEN / name / "expected.json").read_text())["outputs"]["logits"]
            for found, logit in zip(raw, wanted, strict=True):
                self.assertAlmostEqual(found, logit, delta=2e-4)
            best = ["cat", "dog", "tram"][wanted.index(max(wanted))]
            self.assertEqual(self.line("classify", model, PHOTO, "--json")["labels"][0]["label"], best)

    def test_commands_take_images(self):
        model = self.convert("vit-classify")
        paths = self.write("paths.txt", f"{PHOTO}\n{PHOTO}\n{PHOTO}\n")
        lines = self.ok("run", model, "--file", paths, "--batch", "2", "--json").decode().splitlines()
        self.assertEqual(len({json.dumps(json.loads(line)["labels"]) for line in lines}), 1)
        self.assertEqual(len(lines), 3)
        label = json.loads(lines[0])["labels"][0]["label"]
        data = self.write("data.jsonl", json.dumps({"text": str(PHOTO), "label": label}) + "\n")
        self.assertEqual(self.line("eval", model, data, "--json")["metrics"]["accuracy"], 1)
        self.ok("inspect", model)
        self.ok("report", model, "-o", self.directory / "page.html")
        self.ok("bench", model, "--seq", "10", "--repetitions", "1", "--per-op", "--json")
        vectors = self.convert("dinov2-encoder", "--task", "embed")
        self.assertEqual(len(self.line("embed", vectors, PHOTO, "--json")["embedding"]), 20)
        similar = self.line("similar", vectors, PHOTO, PHOTO, "--json")
        self.assertAlmostEqual(similar["score"], 1, delta=1e-5)

    def test_lines_of_pixels_are_answered_as_files(self):
        model = self.convert("vit-classify")
        frames = self.ok("run", model, PHOTO, PHOTO, "--frame")
        lines = frames.split(b"\n")
        self.assertEqual((len(lines), lines[0], len(lines[0])), (3, lines[1], 2 * 12 * 12 * 3))
        best = self.line("run", model, PHOTO, "--json")["labels"][0]
        wanted = f"ok\t{best['score']:.3f} {best['label']}\t#"
        answers = self.ok("run", model, "--uart", stdin=frames + lines[0].upper().replace(b"F", b" F")).decode()
        self.assertEqual(len(set(answers.splitlines())), 1)
        self.assertEqual([line[: len(wanted)] for line in answers.splitlines()], [wanted] * 3)
        for line, said in (
            (b"", "empty line"),
            (b"zz" + lines[0], "not hexadecimal digits"),
            (lines[0][:-1], "too few pixels"),
            (lines[0] + b"0", "too many pixels"),
            (lines[0] + lines[0] * 9, "too many pixels"),
        ):
            self.assertEqual(self.ok("run", model, "--uart", stdin=line + b"\n").decode(), f"error\t{said}\n")
        again = self.ok("run", model, "--uart", stdin=b"zz\n00\n" + lines[0] + b"\n").decode().splitlines()
        self.assertEqual(again[2], answers.splitlines()[0])
        self.fails(2, "run", model, PHOTO, "--frame", "--json", says=["--frame"])
        self.fails(5, "run", support_model("voice"), "hello", "--frame", says=["--frame"])
        self.fails(
            2,
            "firmware",
            model,
            "--target",
            "cortex-m7",
            "--max-tokens",
            "9",
            "-o",
            self.directory / "few",
            says=["10"],
        )
        project = self.line("firmware", model, "--target", "cortex-m7", "-o", self.directory / "project", "--json")
        self.assertEqual(project["ram"]["image"], 12 * 12 * 3 + 10 * 48 * 4)

    def test_the_gate_looks_at_images(self):
        path = self.directory / "gated.bantam"
        said = self.ok("convert", GOLDEN / "vit-classify", "-o", path, "--weights", "f16").decode()
        self.assertIn("made-up images", said)

    def test_png_and_jpeg(self):
        model = self.convert("vit-classify", "--weights", "f32")
        photo = self.ok("run", model, PHOTO, "--raw").decode()
        rows = self.photo_rows()
        of_png = png(self.directory / "photo.png", 37, 29, rows)
        if self.reads(model, of_png):
            data = json.loads(photo)["outputs"]
            self.assertEqual(json.loads(self.ok("run", model, of_png, "--raw"))["outputs"], data)
            clear = [bytes(b for x in range(37) for b in (*row[3 * x : 3 * x + 3], 9 * x % 256)) for row in rows]
            seen = png(self.directory / "clear.png", 37, 29, clear, colour=6)
            self.assertEqual(json.loads(self.ok("run", model, seen, "--raw"))["outputs"], data)
        if self.reads(model, GOLDEN / "photo.jpg"):
            of_jpeg = json.loads(self.ok("run", model, GOLDEN / "photo.jpg", "--raw"))["outputs"]["logits"]["data"]
            decoded = json.loads(self.ok("run", model, GOLDEN / "photo_of_jpg.ppm", "--raw"))["outputs"]["logits"][
                "data"
            ]
            for one, other in zip(of_jpeg, decoded, strict=True):
                self.assertAlmostEqual(one, other, delta=0.05)

    def test_what_is_no_image_is_refused(self):
        model = self.convert("vit-classify")
        rows = self.photo_rows()
        bomb = png(self.directory / "bomb.png", 30000, 30000, [b"\0" * 90000] * 2)
        cut = png(self.directory / "cut.png", 37, 29, rows, cut=300)
        for path, codes in (
            (self.directory / "none.png", {3}),
            (pathlib.Path(self.write("text.txt", "a cat")), {4}),
            (pathlib.Path(self.write("broken.ppm", "P6\n37 29\n255\nxxxx")), {4}),
            (bomb, {4, 5}),
            (cut, {4, 5}),
        ):
            done = subprocess.run([COMMAND, "run", model, path], capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, codes, done.stderr)
            self.assertIn(path.name, done.stderr)
        self.fails(2, "run", model, "--ids", "0,0")

    def test_what_is_refused_of_directories(self):
        out = self.directory / "x.bantam"
        for name, file, settings, code, says in (
            ("vit-classify", "config.json", {"patch_size": 5}, 5, ["patch_size", "12x12"]),
            ("vit-classify", "config.json", {"image_size": [12, 12, 12]}, 4, ["image_size"]),
            ("vit-classify", "config.json", {"image_size": 16}, 4, ["position_embeddings"]),
            ("dinov2-classify", "config.json", {"use_swiglu_ffn": True}, 5, ["use_swiglu_ffn"]),
            ("vit-classify", "preprocessor_config.json", {"image_std": [0.5, 0, 0.5]}, 4, ["image_std"]),
            ("vit-classify", "preprocessor_config.json", {"image_mean": [0.5]}, 4, ["image_mean", "3"]),
            ("vit-classify", "preprocessor_config.json", {"size": {"height": 99, "width": 12}}, 4, ["12x99", "12x12"]),
            ("vit-classify", "preprocessor_config.json", {"resample": 9}, 4, ["resample"]),
        ):
            directory = self.directory / "copy"
            shutil.rmtree(directory, ignore_errors=True)
            shutil.copytree(GOLDEN / name, directory)
            config = json.loads((directory / file).read_text())
            config.update(settings)
            (directory / file).write_text(json.dumps(config))
            error = self.fails(code, "convert", directory, "-o", out)
            for word in says:
                self.assertIn(word, error)
            self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
