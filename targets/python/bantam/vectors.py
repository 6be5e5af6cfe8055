"""Rows of numbers: arrays of NumPy where it is installed, else lists of array('f'). Nothing imports NumPy before a row is asked for."""

from __future__ import annotations

import _thread
import array
import ctypes
import math


def numpy():
    """The module, or None."""
    try:
        import numpy as module
    except ImportError:
        return None
    return module


class Rows:
    """`count` rows that runs fill in any order, in memory of their own."""

    def __init__(self, count: int):
        self.count, self.width = count, 0
        self._memory, self._address = bytearray(), 0
        self._lock = _thread.allocate_lock()

    def put(self, row: int, data: int, width: int) -> None:
        if self.width == 0:
            self.shape(width)
        ctypes.memmove(self._address + 4 * row * self.width, data, 4 * self.width)

    def shape(self, width: int) -> None:
        """Zeros, as soon as it is known how wide rows are; once."""
        with self._lock:
            if self.width != 0:
                return
            self._memory = bytearray(4 * width * self.count)
            self._anchor = (ctypes.c_char * len(self._memory)).from_buffer(self._memory)
            self._address = ctypes.addressof(self._anchor)
            self.width = width

    def normalize(self) -> None:
        """Rows of length 1. Sums go from the first number to the last in doubles, so that every machine has the same bits."""
        np = numpy()
        if np is not None:
            rows = np.frombuffer(self._memory, np.float32).reshape(self.count, self.width)
            squares = np.cumsum(rows.astype(np.float64) ** 2, axis=1)[:, -1:] if self.width else rows
            lengths = np.sqrt(squares)
            rows[:] = rows / np.where(lengths > 0, lengths, 1)
            return
        values = memoryview(self._memory).cast("f")
        for begin in range(0, len(values), self.width or 1):
            row = values[begin : begin + self.width]
            total = 0.0
            for value in row:
                total += value * value
            length = math.sqrt(total) or 1.0
            for i, value in enumerate(row):
                row[i] = value / length

    def truncate(self, width: int) -> None:
        """The first `width` numbers of each row."""
        if width >= self.width:
            return
        old, stride = self._memory, 4 * self.width
        self.width = 0
        self.shape(width)
        for row in range(self.count):
            self._memory[4 * width * row : 4 * width * (row + 1)] = old[stride * row : stride * row + 4 * width]

    def take(self):
        """The rows, as the caller gets them."""
        np = numpy()
        if np is not None:
            return np.frombuffer(self._memory, np.float32).reshape(self.count, self.width)
        return [
            array.array("f", self._memory[i : i + 4 * self.width])
            for i in range(0, len(self._memory), 4 * self.width or 1)
        ]


def _matrix(np, vectors, what: str):
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim == 1:
        rows = rows[None, :]
    if rows.ndim != 2:
        raise ValueError(f"{what}: a vector or rows of vectors are wanted, not {rows.ndim} dimensions")
    return rows


def _unit(np, rows):
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _compare(by: str, a, b) -> float:
    if by == "euclidean":
        return -math.dist(a, b)
    if by == "manhattan":
        return -math.fsum(abs(x - y) for x, y in zip(a, b))
    lengths = 1.0
    if by != "dot":
        lengths = (math.sqrt(sum(x * x for x in a)) or 1.0) * (math.sqrt(sum(y * y for y in b)) or 1.0)
    return sum(x * y for x, y in zip(a, b)) / lengths


def similarity(first, second, by: str = ""):
    """Of each row of `first` with each of `second`: cosines, or by "dot" products, by "euclidean" or "manhattan" minus distances."""
    np = numpy()
    if np is not None:
        a, b = _matrix(np, first, "similarity"), _matrix(np, second, "similarity")
        if a.shape[1] != b.shape[1]:
            raise ValueError(f"similarity: vectors of {a.shape[1]} and of {b.shape[1]} numbers")
        if by == "dot":
            return a @ b.T
        if by == "euclidean":
            return np.stack([-np.sqrt(((row - b).astype(np.float64) ** 2).sum(axis=1)) for row in a]).astype(np.float32)
        if by == "manhattan":
            return np.stack([-np.abs(row - b).sum(axis=1) for row in a])
        return _unit(np, a) @ _unit(np, b).T
    first, second = ([one] if one and isinstance(one[0], float) else one for one in (first, second))
    return [[_compare(by, a, b) for b in second] for a in first]


def nearest(similarities, top_k: int) -> list:
    """For each row of numbers the `top_k` greatest, best first: [{"corpus_id", "score"}]."""
    np = numpy()
    found = []
    for row in similarities:
        if np is not None and 0 < top_k < len(row):
            best = np.argpartition(-row, top_k - 1)[:top_k].tolist()
            least = min(row[i] for i in best)
            best = sorted(set(best) | set(np.flatnonzero(row == least).tolist()))
        else:
            best = range(len(row))
        best = sorted(best, key=lambda i: (-row[i], i))[:top_k]
        found.append([{"corpus_id": i, "score": float(row[i])} for i in best])
    return found
