#!/usr/bin/env python3
"""motions.py DATA: windows of a made-up accelerometer and an untrained transformer for them, as docs/audio.md trains and measures it.

Nothing was measured: signals are sums of sines, pulses and noise by the formulas below, so that scores say that the way from samples to labels
works, and nothing of people. DATA gets

  train, valid, test   windows of 128 samples (2.56 s at 50 Hz) of three axes as grey images (PGM) of 16 rows of 24 bytes: eight samples,
                       x, y and z of each in turn, 128 + 32 a g; and their .jsonl for `bantam distill` and `bantam eval`. Wearers (cadence,
                       strength, gait) of each are in none of the others
  untrained            a directory of transformers with random weights: ViTForImageClassification, whose picture is 1 high, 16 wide and has
                       24 channels

Needs numpy. The same seed gives the same files.
"""

import argparse
import json
import pathlib

import numpy
from keywords import write_untrained

RATE, LENGTH, AT_ONCE = 50, 128, 8
LABELS = ["still", "walk", "run", "shake", "ride", "fall"]
PARTS = {"train": (400, 2), "valid": (40, 2), "test": (60, 2)}  # wearers, windows of each label of one
MODEL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def rotation(random):
    """Any orientation, each as likely."""
    q, r = numpy.linalg.qr(random.standard_normal((3, 3)))
    q *= numpy.sign(numpy.diag(r))
    return q * numpy.sign(numpy.linalg.det(q))


class Wearer:
    def __init__(self, random):
        self.random = random
        self.cadence = {
            "walk": random.uniform(1.5, 2.2),
            "run": random.uniform(2.4, 3.3),
            "shake": random.uniform(3, 6),
        }
        self.strength = {
            "walk": random.uniform(0.15, 0.45),
            "run": random.uniform(0.7, 1.6),
            "shake": random.uniform(0.8, 2),
        }
        self.harmonics = {label: random.uniform(0.1, 1, (3, 4)) / [1, 2, 3, 4] for label in self.cadence}
        self.phases = {label: random.uniform(0, 6.28, (3, 4)) for label in self.cadence}

    def window(self, label):
        """Acceleration [LENGTH, 3] in g, in the sensor's axes."""
        random, time = self.random, numpy.arange(LENGTH) / RATE
        body = random.normal(0, 0.012, (LENGTH, 3))
        gravity = numpy.tile([0.0, 0.0, 1.0], (LENGTH, 1))
        if label in self.cadence:
            cadence = self.cadence[label] * random.uniform(0.92, 1.08)
            angle = 2 * numpy.pi * cadence * (time + random.uniform(0, 1)) + numpy.cumsum(
                random.normal(0, 0.05, LENGTH)
            )
            waves = numpy.sin(numpy.arange(1, 5) * angle[:, None, None] + self.phases[label])
            shape = numpy.array([0.4, 0.5, 1]) if label != "shake" else rotation(random)[0]
            body += (waves * self.harmonics[label]).sum(2) * shape * self.strength[label] * random.uniform(0.8, 1.2)
        if label == "ride":  # an engine, and bumps of the road
            engine = numpy.sin(2 * numpy.pi * random.uniform(11, 22) * time[:, None] + random.uniform(0, 6.28, 3))
            body += engine * random.uniform(0.02, 0.08) + numpy.cumsum(random.normal(0, 0.01, (LENGTH, 3)), 0) * 0.3
            for at in random.integers(0, LENGTH - 12, 2):
                bump = numpy.exp(-numpy.arange(12) / 4) * numpy.sin(numpy.arange(12) * 1.2)
                body[at : at + 12, 2] += bump * random.uniform(0.1, 0.4)
        if label == "fall":  # weightless, a blow, then lying somewhere
            at, fall = random.integers(10, LENGTH - 50), random.integers(12, 26)
            gravity[at : at + fall] *= numpy.linspace(0.9, 0.1, fall)[:, None]
            hit = at + fall
            blow = numpy.exp(-numpy.arange(16) / 3)[:, None] * random.normal(0, 1, (16, 3))
            body[hit : hit + 16] += blow * random.uniform(1.5, 3)
            gravity[hit:] = rotation(random)[0]
        return (gravity + body) @ rotation(random).T


def stored(acceleration):
    """Rows of bytes, as a sensor of 8 bits and 4 g has them, 128 for 0."""
    whole = numpy.clip(numpy.round(acceleration * 32) + 128, 0, 255).astype(numpy.uint8)
    return whole.reshape(LENGTH // AT_ONCE, AT_ONCE * 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for number, (part, (wearers, windows)) in enumerate(PARTS.items()):
        random = numpy.random.default_rng([asked.seed, number])
        (asked.data / part).mkdir(parents=True, exist_ok=True)
        lines = []
        for wearer in range(wearers):
            worn = Wearer(random)
            for label in LABELS:
                for window in range(windows):
                    path = asked.data / part / f"{label}-{wearer:02}-{window:02}.pgm"
                    rows = stored(worn.window(label))
                    path.write_bytes(f"P5 {rows.shape[1]} {rows.shape[0]} 255\n".encode() + rows.tobytes())
                    lines.append(json.dumps({"text": str(path.resolve()), "label": label}))
        (asked.data / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{part}: {len(lines)} windows, {wearers} wearers", flush=True)
    processor = {"image_mean": 0.5, "image_std": 0.1}
    write_untrained(asked.data / "untrained", LABELS, LENGTH // AT_ONCE, AT_ONCE * 3, MODEL, processor, asked.seed)


if __name__ == "__main__":
    main()
