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


def png(path, width, height, rows, colour=2, cut=None, bits=8, more=()):
    """Writes a PNG: `rows` as bytes, `more` chunks in front of them."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    data = b"".join(b"\0" + row for row in rows)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    file += b"".join(chunk(kind, body) for kind, body in more)
    file += chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    path.write_bytes(file[:cut])
    return path


def directed(direction):
    """EXIF data that says only in which direction the camera was held."""
    return b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, direction, 0, 0)


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

    def test_pixels_are_those_of_pillow(self):
        """As transformers' load_image: numbers as they are stored, upright; see tests/conformance/images.py, which compares many files."""
        directory = self.directory / "same"
        shutil.copytree(GOLDEN / "vit-classify", directory)
        settings = json.loads((directory / "preprocessor_config.json").read_text())
        (directory / "preprocessor_config.json").write_text(json.dumps({**settings, "resample": 0}))
        model = self.directory / "same.bantam"
        self.ok("convert", directory, "-o", model, "--parity", "none")
        seen = [[(7 * x + y, 31 * y % 256, (x * y + 100 * x) % 256) for x in range(12)] for y in range(12)]

        def frame(pixels):
            return bytes(value for row in pixels for pixel in row for value in pixel)

        def shown(name, rows, **more):
            path = png(
                self.directory / f"{name}.png", 12, 12, [bytes(v for p in row for v in p) for row in rows], **more
            )
            return bytes.fromhex(self.ok("run", model, path, "--frame").decode())

        if not self.reads(model, png(self.directory / "seen.png", 12, 12, [frame([row]) for row in seen])):
            return
        wide = [[tuple(v for value in pixel for v in (value, 77)) for pixel in row] for row in seen]
        gamma = [(b"gAMA", struct.pack(">I", 100000)), (b"tRNS", struct.pack(">HHH", *seen[1][2]))]
        self.assertEqual(shown("plain", seen, more=gamma), frame(seen))
        self.assertEqual(shown("wide", wide, bits=16), frame(seen))
        palette = (b"PLTE", bytes(range(30))), (b"tRNS", b"\xff\0\x80")
        numbers = [[((x + y) % 10,) for x in range(12)] for y in range(12)]
        coloured = [[(3 * n, 3 * n + 1, 3 * n + 2) for (n,) in row] for row in numbers]
        self.assertEqual(shown("palette", numbers, colour=3, more=palette), frame(coloured))
        grey = [[((20 * x + y) % 256, 9 * x) for x in range(12)] for y in range(12)]
        self.assertEqual(shown("grey", grey, colour=4), frame([[(g, g, g) for g, _ in row] for row in grey]))
        ways = {
            1: seen,
            2: [row[::-1] for row in seen],
            3: [row[::-1] for row in seen[::-1]],
            4: seen[::-1],
            5: list(zip(*seen)),
            6: list(zip(*seen[::-1])),
            7: list(zip(*[row[::-1] for row in seen[::-1]])),
            8: list(zip(*[row[::-1] for row in seen])),
            9: seen,  # there is none
        }
        for direction, upright in ways.items():
            said = [(b"eXIf", directed(direction))]
            self.assertEqual(shown(f"way-{direction}", seen, more=said), frame(upright), direction)
        cut = [(b"eXIf", directed(6)[:12])]
        self.assertEqual(shown("cut", seen, more=cut), frame(seen))
        if not self.reads(model, GOLDEN / "photo.jpg"):
            return
        jpeg = (GOLDEN / "photo.jpg").read_bytes()
        exif = b"Exif\0\0" + directed(3)
        turned = self.directory / "turned.jpg"
        turned.write_bytes(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(exif)) + exif + jpeg[2:])
        back = bytes.fromhex(self.ok("run", model, turned, "--frame").decode())
        # The middle of 37 by 29 pixels, taken from the other side, is not at the same place: colours are near.
        there = bytes.fromhex(self.ok("run", model, GOLDEN / "photo.jpg", "--frame").decode())
        reversed_pixels = bytes(there[3 * i + c] for i in reversed(range(len(there) // 3)) for c in range(3))
        far = sum(abs(a - b) > 60 for a, b in zip(back, reversed_pixels, strict=True))
        self.assertLess(far, len(there) // 6)
        self.assertNotEqual(back, there)

    def test_bombs_and_broken_files_are_refused(self):
        model = self.convert("vit-classify")
        rows = self.photo_rows()
        whole = png(self.directory / "whole.png", 37, 29, rows)
        if not self.reads(model, whole):
            return
        for name, says, path in (
            ("large", "30000x30000", png(self.directory / "large.png", 30000, 30000, [b"\0" * 90000] * 2)),
            ("claims", "too short", png(self.directory / "claims.png", 9000, 9000, [b"\0" * 27000])),
            ("cut", "cut short", png(self.directory / "cut.png", 37, 29, rows, cut=300)),
            ("few", "broken", png(self.directory / "few.png", 37, 29, rows[:9])),
        ):
            self.fails(4, "run", model, path, says=[says, path.name])
        damaged = bytearray(whole.read_bytes())
        damaged[len(damaged) // 2] ^= 255
        whole.write_bytes(damaged)
        self.fails(4, "run", model, whole, says=["whole.png", "broken"])
        jpeg = (GOLDEN / "photo.jpg").read_bytes()
        if self.reads(model, GOLDEN / "photo.jpg"):
            for name, data in (("half", jpeg[: len(jpeg) // 2]), ("header", jpeg[:24])):
                path = self.directory / f"{name}.jpg"
                path.write_bytes(data)
                self.fails(4, "run", model, path, says=[path.name, "JPEG"])
            size = jpeg.index(b"\xff\xc0") + 5
            path = self.directory / "huge.jpg"
            path.write_bytes(jpeg[:size] + struct.pack(">HH", 60000, 60000) + jpeg[size + 4 :])
            self.fails(4, "run", model, path, says=["60000x60000"])

    def test_channels_are_those_of_the_model(self):
        directory = self.directory / "channels"
        for channels in (1, 2):
            shutil.rmtree(directory, ignore_errors=True)
            shutil.copytree(GOLDEN / "vit-classify", directory)
            for name, change in (
                ("config", {"num_channels": channels}),
                ("preprocessor_config", {"image_mean": [0.5] * channels, "image_std": [0.5] * channels}),
            ):
                path = directory / f"{name}.json"
                path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
            out = self.directory / f"{channels}.bantam"
            self.fails(4, "convert", directory, "-o", out, says=["patch_embeddings", f"[20, {channels}, 4, 4]"])
        settings = json.loads((directory / "preprocessor_config.json").read_text())
        (directory / "config.json").write_text((GOLDEN / "vit-classify" / "config.json").read_text())
        self.assertEqual(len(settings["image_mean"]), 2)
        self.fails(4, "convert", directory, "-o", out, says=["image_mean", "3 numbers"])

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
