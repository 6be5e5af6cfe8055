"""Models of sounds and of rows of sensors (docs/audio.md): WAV files and samples in, answers out; training; what is refused."""

import json
import math
import pathlib
import random
import struct
import unittest

from rows_model import FILTERS, write_rows_model
from support import COMMAND, CommandTest
from torch_file import read_safetensors

RATE, WINDOW, STEP, BANDS = 16000, 480, 320, 40
ROWS = 9  # of the model here: 3040 samples
SAMPLES = WINDOW + (ROWS - 1) * STEP
TRAINER = pathlib.Path(COMMAND).parent / "bantam-train"


def wave(samples, channels=1, rate=RATE, bits=16, kind=1, extra=b"", size=None):
    """A WAV file of 16-bit samples; `extra`: chunks in front of them; `size`: what the header says of their bytes."""
    data = struct.pack(f"<{len(samples)}h", *samples)
    head = struct.pack("<HHIIHH", kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    chunks = b"fmt " + struct.pack("<I", len(head)) + head + extra
    chunks += b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def tone(hertz, loud=8000, count=SAMPLES, phase=0.0):
    return [round(loud * math.sin(phase + 2 * math.pi * hertz * n / RATE)) for n in range(count)]


def line_of(samples):
    return struct.pack(f"<{len(samples)}h", *samples).hex()


class Sounds(CommandTest):
    def source(self, name="sound", rows=ROWS, **settings):
        return write_rows_model(self.directory / name, rows, BANDS, ["low", "high"], {**FILTERS, **settings})

    def convert(self, source, *options):
        path = self.directory / f"{source.name}.bantam"
        self.ok("convert", source, "-o", path, "--parity", "none", *options)
        return path

    def file(self, name, content):
        path = self.directory / name
        path.write_bytes(content)
        return path

    def scores(self, model, *paths):
        lines = self.ok("run", model, *paths, "--json").decode().splitlines()
        return [json.loads(line)["labels"] for line in lines]

    def uart(self, model, *lines):
        return (
            self.ok("run", model, "--uart", stdin="".join(line + "\n" for line in lines).encode()).decode().splitlines()
        )


class Audio(Sounds):
    def test_files_and_lines_of_samples(self):
        model = self.convert(self.source())
        sounds = [tone(300), tone(3000), tone(700, loud=20), [0] * SAMPLES]
        paths = [self.file(f"{i}.wav", wave(sound)) for i, sound in enumerate(sounds)]
        frames = self.ok("run", model, *paths, "--frame").decode().splitlines()
        self.assertEqual(frames, [line_of(sound) for sound in sounds])
        answers = self.uart(model, *frames)
        for answer, labels in zip(answers, self.scores(model, *paths), strict=True):
            best = labels[0]
            self.assertEqual(answer.split("\t")[:2], ["ok", f"{best['score']:.3f} {best['label']}"])
        self.assertEqual(len({answer.split("#")[1] for answer in answers}), len(sounds))

    def test_short_and_long_sounds(self):
        model = self.convert(self.source())
        short = tone(500, count=1000)
        same = [short, short + [0] * (SAMPLES - 1000), short + [0] * (SAMPLES - 1000) + tone(900)]
        paths = [self.file(f"{i}.wav", wave(sound)) for i, sound in enumerate(same)]
        scores = self.scores(model, *paths)
        self.assertEqual(scores[0], scores[1])
        self.assertEqual(scores[0], scores[2])
        first, second = self.uart(model, line_of(short), line_of(same[1]))
        self.assertEqual(first, second)

    def test_lines_that_are_none(self):
        model = self.convert(self.source())
        line = line_of(tone(300))
        spaced = line.upper().replace("0", " 0")
        answers = self.uart(model, line, "", "0", line[:-2], line + "0000", line[:-1] + "x", "x", spaced, line)
        self.assertEqual(
            [answer.split("\t")[1] for answer in answers[1:7]],
            ["empty line", "half a sample", "half a sample", "too many samples"] + 2 * ["not hexadecimal digits"],
        )
        for answer in answers[7:]:
            self.assertEqual(answer, answers[0])

    def test_other_files(self):
        model = self.convert(self.source())
        sound = tone(300)
        good = self.scores(model, self.file("good.wav", wave(sound)))
        for name, content in (
            ("list.wav", wave(sound, extra=b"LIST" + struct.pack("<I", 3) + b"abc\0")),
            ("pipe.wav", wave(sound, size=0xFFFFFFFF)),
        ):
            self.assertEqual(self.scores(model, self.file(name, content)), good)
        other = {
            "two.wav": {"channels": 2},
            "rate.wav": {"rate": 8000},
            "bits.wav": {"bits": 8},
            "float.wav": {"kind": 3},
        }
        for name, settings in other.items():
            self.fails(5, "run", model, self.file(name, wave(sound, **settings)), says=[name, "sox"])
        whole = wave(sound)
        for size in (12, 15, 20, 36, 40):
            self.fails(4, "run", model, self.file("cut.wav", whole[:size]), says=["cut.wav"])
        self.fails(4, "run", model, self.file("late.wav", whole[:12] + whole[36:]), says=["before their format"])
        self.fails(3, "run", model, self.directory / "none.wav", says=["none.wav"])

    def test_says_what_it_has_not(self):
        for key, value in (("hop_length", 160), ("sampling_rate", 8000), ("n_fft", 1024), ("num_mel_bins", 64)):
            source = self.source(**{key: value})
            self.fails(5, "convert", source, "-o", self.directory / "x.bantam", says=[key, "another number"])
        source = write_rows_model(self.directory / "narrow", ROWS, 39, ["a", "b"], FILTERS)
        self.fails(4, "convert", source, "-o", self.directory / "x.bantam", says=["feature_extractor_type", "40"])

    def test_firmware(self):
        model = self.convert(self.source())
        out = self.directory / "project"
        made = self.line("firmware", model, "--target", "cortex-m4", "-o", out, "--json")
        self.assertRegex((out / "bantam_config.h").read_text(), r"\bSound\b")
        self.assertTrue((out / "bantam/runtime/sound/filter_bank.cpp").exists())
        numbers = ROWS * BANDS + (ROWS + 1) * BANDS * 4
        self.assertGreater(made["ram"]["image"], numbers + 3000)
        self.assertLess(made["ram"]["image"], numbers + 3100)
        device = self.directory / "device.bantam"
        self.ok("firmware", model, "--target", "cortex-m4", "--format", "bin", "-o", device)
        line = line_of(tone(300))
        self.assertEqual(self.uart(device, line), self.uart(model, line))

    def test_rows_of_sensors(self):
        source = write_rows_model(self.directory / "motion", 16, 24, ["still", "moving"], {})
        model = self.convert(source)
        rows = bytes(random.Random(1).randrange(256) for _ in range(16 * 24))
        picture = self.file("window.pgm", b"P5 24 16 255\n" + rows)
        frame = self.ok("run", model, picture, "--frame").decode().strip()
        self.assertEqual(frame, rows.hex())
        best = self.scores(model, picture)[0][0]
        self.assertEqual(self.uart(model, frame)[0].split("\t")[1], f"{best['score']:.3f} {best['label']}")
        turned = self.file("turned.pgm", b"P5 16 24 255\n" + rows)
        self.fails(4, "run", model, turned, says=["turned.pgm", "16 rows of 24 numbers"])
        sound = self.file("sound.wav", wave(tone(300)))
        self.fails(4, "run", model, sound, says=["sound.wav"])
        out = self.directory / "project"
        self.ok("firmware", model, "--target", "cortex-m4", "-o", out)
        self.assertNotIn("SOUND", (out / "bantam_config.h").read_text())


@unittest.skipUnless(TRAINER.exists(), "this build has no bantam-train: libtorch-dev is not installed")
class Training(Sounds):
    """Trains from random weights, on tones."""

    def sounds(self, name, count, seed):
        chance = random.Random(seed)
        lines = []
        for number in range(count):
            label = chance.choice(["low", "high"])
            hertz = chance.uniform(200, 600) if label == "low" else chance.uniform(1500, 4000)
            samples = tone(hertz, 10 ** chance.uniform(2.5, 4.3), phase=chance.uniform(0, 6))
            path = self.file(f"{name}{number}.wav", wave(samples))
            lines.append(json.dumps({"text": str(path), "label": label}) + "\n")
        return self.write(f"{name}.jsonl", "".join(lines))

    def test_learns_from_sounds(self):
        source, data, valid = self.source(), self.sounds("train", 60, 1), self.sounds("valid", 20, 2)
        out = self.directory / "trained"
        options = ["--epochs", "6", "--batch", "10", "--learning-rate", "3e-3", "--dropout", "0"]
        made = self.line(
            "distill", "--student", source, "--data", data, "--validation", valid, "-o", out, *options, "--json"
        )
        self.assertGreaterEqual(made["validation"]["accuracy"], 0.95)
        before, after = (read_safetensors(path / "model.safetensors") for path in (source, out))
        self.assertEqual(before.keys(), after.keys())
        changed = {name for name in before if before[name] != after[name]}
        embeddings = "vit.embeddings."
        self.assertIn(embeddings + "position_embeddings", changed)
        self.assertIn(embeddings + "patch_embeddings.projection.weight", changed)
        for name in ("cls_token", "patch_embeddings.projection.bias"):  # parts of sums, which stay
            self.assertNotIn(embeddings + name, changed)
        model = self.convert(out, "--weights", "f32")
        found = self.line("eval", model, valid, "--json")["metrics"]["accuracy"]
        self.assertAlmostEqual(found, made["validation"]["accuracy"], places=6)

    def test_teaches_and_is_refused(self):
        data = self.sounds("train", 12, 3)
        options = ["--epochs", "1", "--batch", "6", "-o", self.directory / "out", "--json"]
        teacher, student = self.source("teacher"), self.source("student")
        made = self.line(
            "distill", "--teacher", teacher, "--student", student, "--data", data, "--hidden", "1", *options
        )
        self.assertTrue(made["complete"])
        more = ["--teacher", teacher, "--augment", "1"]
        self.fails(2, "distill", "--student", student, "--data", data, *more, *options, says=["--augment", "sounds"])


if __name__ == "__main__":
    unittest.main()
