#!/usr/bin/env python3
"""sound.py SOUND_IMAGE: compares rows of the filter bank (bantam/sound.h) with NumPy's in f64.

Numbers of bands at most 63 dB below the row's largest may differ by one (0.4 dB); fewer than one number in a hundred
may differ at all. Exit status 77 if NumPy is missing.
"""

import subprocess
import sys

RATE, WINDOW, STEP, POINTS, BANDS = 16000, 480, 320, 512, 40


def rows(numpy, samples):
    """Rows [windows, BANDS] of quantized values, and which of them are compared."""

    def mel(hertz):
        return 1127 * numpy.log1p(hertz / 700)

    starts = numpy.arange(0, len(samples) - WINDOW + 1, STEP)
    windows = samples[starts[:, None] + numpy.arange(WINDOW)] * numpy.hanning(WINDOW + 1)[:-1]
    power = numpy.abs(numpy.fft.rfft(windows, POINTS)) ** 2
    edges = numpy.linspace(mel(20), mel(RATE / 2), BANDS + 2)
    corners = 700 * numpy.expm1(edges / 1127)
    assert numpy.allclose(mel(corners), edges)
    at = mel(numpy.fft.rfftfreq(POINTS, 1 / RATE))
    triangles = numpy.stack([numpy.interp(at, edges[b : b + 3], [0, 1, 0], 0, 0) for b in range(BANDS)])
    sums = power @ triangles.T
    with numpy.errstate(divide="ignore"):
        steps = numpy.clip(numpy.round(8 * (numpy.log2(sums) - 12)), 0, 255)
    return steps, sums > sums.max(1, keepdims=True) * 2.0**-21


def main():
    try:
        import numpy
    except ImportError as error:
        print(f"sound.py: {error}; pip install -r tests/conformance/requirements.txt")
        sys.exit(77)
    random = numpy.random.default_rng(1)
    time = numpy.arange(4 * RATE) / RATE
    off = judged = 0
    for round_ in range(24):
        pitch = (
            numpy.cumsum(2 * numpy.pi * random.uniform(50, 3000) * (1 + 0.3 * numpy.sin(2 * numpy.pi * time))) / RATE
        )
        sound = sum(numpy.sin(k * pitch) / k for k in range(1, 6)) + random.normal(0, 0.3 * random.random(), time.shape)
        sound *= 10 ** random.uniform(0.5, 4.5) * numpy.exp(-((time % 1) * 4)) / 3
        samples = numpy.clip(numpy.round(sound), -32768, 32767).astype("<i2")
        done = subprocess.run(
            [sys.argv[1]], input=b"r" + samples.tobytes().hex().encode() + b"\n", stdout=subprocess.PIPE, check=True
        )
        found = numpy.array([list(bytes.fromhex(line.decode())) for line in done.stdout.split()])
        wanted, counts = rows(numpy, samples.astype(float))
        assert found.shape == wanted.shape, (found.shape, wanted.shape)
        difference = numpy.abs(found - wanted)[counts]
        assert difference.max(initial=0) <= 1, (round_, difference.max())
        off += int((difference > 0).sum())
        judged += difference.size
    print(f"{judged} numbers, {off} of them one step off")
    assert judged > 50000 and off < judged / 100, (judged, off)


if __name__ == "__main__":
    main()
