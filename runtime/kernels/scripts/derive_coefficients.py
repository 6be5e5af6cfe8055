#!/usr/bin/env python3
"""Derives the polynomial coefficients of runtime/kernels/generic/math.h and static_attention.h. Needs numpy.

Each function is fitted on a dense Chebyshev grid by Lawson's iteratively reweighted least squares, which tends to
the minimax polynomial; the coefficients are then rounded to f32 one after the other, lowest order first, refitting
the rest each time. Printed: the coefficients, lowest order first, and the largest error of the rounded polynomial
evaluated in double (the rounding of f32 arithmetic comes on top; tests/kernels measures the sum of both).

    python3 derive_coefficients.py
"""

import itertools
import math

import numpy as np

GRID = 4001
SWEEPS = 200


def grid(low, high):
    nodes = np.cos(np.pi * (np.arange(GRID) + 0.5) / GRID)
    return 0.5 * (high + low) + 0.5 * (high - low) * nodes


def lawson(basis, target, weight):
    """Coefficients that minimise max |weight * (basis @ c - target)|."""
    importance = np.ones(len(target)) / len(target)
    best, best_error = None, math.inf
    for _ in range(SWEEPS):
        root = np.sqrt(importance) * weight
        coefficients = np.linalg.lstsq(basis * root[:, None], target * root, rcond=None)[0]
        error = np.abs(weight * (basis @ coefficients - target))
        if error.max() < best_error:
            best, best_error = coefficients, error.max()
        importance = importance * (error + 1e-30)
        importance = importance / importance.sum()
    return best


def fit(x, target, weight, degree, fixed=()):
    """Lowest order first; `fixed` are leading coefficients that are given."""
    powers = np.vander(x, degree + 1, increasing=True)
    known = [float(np.float32(c)) for c in fixed]
    while len(known) <= degree:
        rest = target - powers[:, : len(known)] @ np.array(known) if known else target
        coefficients = lawson(powers[:, len(known) :], rest, weight)
        known.append(float(np.float32(coefficients[0])))
    error = np.abs(weight * (powers @ np.array(known) - target)).max()
    return known, error


def show(name, coefficients, error, what):
    print(f"// {name}: {what} {error:.2e}")
    print(", ".join(f"{np.float32(c):.9g}f" for c in coefficients))


def main():
    # exp(r) on [-ln2/2, ln2/2], relative error; the first two coefficients are 1.
    half = math.log(2) / 2 * 1.0001
    r = grid(-half, half)
    show("exp", *fit(r, np.exp(r), np.exp(-r), 5, fixed=(1.0, 1.0)), "relative error")

    # 2^f on [-1/2, 1/2], relative error; the first coefficient is 1. Probabilities are rounded to 8 bits afterwards.
    f = grid(-0.5001, 0.5001)
    show("exp2 of scores", *fit(f, 2.0**f, 2.0**-f, 4, fixed=(1.0,)), "relative error")

    # Integer 2^-f on [0, 1], times 2^15, in the integers of generic/static_attention.h: the neighbours of the rounded cubic that are
    # nearest once every product is shifted.
    f = grid(0.0, 1.0)
    start, _ = fit(f, 2.0**-f, 2.0**f, 3, fixed=(1.0,))
    u = np.arange(32768)
    best = None
    for step in itertools.product(range(-6, 7), repeat=3):
        a, b, c = (int(np.rint(start[3 - i] * 32768)) + step[i] for i in range(3))
        p = ((((((a * u) >> 15) + b) * u) >> 15) + c) * u >> 15
        error = np.abs((p + 32768) / 32768 * 2.0 ** (u / 32768) - 1).max()
        if best is None or error < best[0]:
            best = (error, a, b, c)
    print(f"// integer 2^-f: {best[1]}, {best[2]}, {best[3]}, 32768; relative error {best[0]:.2g}")

    # gelu(x) = max(x, 0) - g(|x|), g(t) = t / 2 * erfc(t / sqrt 2): degree 4 on 15 intervals whose centres are the multiples
    # of the width; the last ends where g < 2.4e-7, beyond it g is taken as 0. g(0) = 0 and g'(0) = 1/2 are exact.
    end = 5.35
    width = end / 14.5
    table, worst = [], 0.0
    for i in range(15):
        t = grid(max(0.0, (i - 0.5) * width), (i + 0.5) * width)
        target = np.array([0.5 * v * math.erfc(v / math.sqrt(2)) for v in t])
        coefficients, error = fit(t, target, np.ones_like(t), 4, fixed=(0.0, 0.5) if i == 0 else ())
        table.append(coefficients)
        worst = max(worst, error)
    print(f"// gelu: intervals per unit {np.float32(1 / width):.9g}f, last {np.float32(15 * width):.9g}f")
    for power, row in enumerate(zip(*table)):
        show(f"gelu, t^{power}, by interval", [*row, 0.0], worst, "absolute error")

    # tanh(x) = x + x^3 P(x^2) on |x| <= 0.625, relative error.
    square = np.maximum(grid(0.0, 0.625 * 0.625), 1e-6)
    x = np.sqrt(square)
    target = (np.tanh(x) - x) / (x * square)
    show("tanh", *fit(square, target, x * square / np.tanh(x), 4), "relative error")


if __name__ == "__main__":
    main()
