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


def _lengths(np, rows):
    """Of each row, 1 for zeros. One pass over the rows, without a copy of them."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    if not ((squares > 1e-30) & (squares < 1e30)).all():  # f32 has no such small and great squares
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    lengths = np.sqrt(squares)
    return np.where(lengths > 0, lengths, 1).astype(np.float32)


class Vectors:
    """Rows that are searched often, prepared once: of length 1 where they are compared by cosines. See Model.vectors()."""

    def __init__(self, rows, by: str = ""):
        """by: "" for cosines, "dot", "euclidean" or "manhattan"."""
        np = numpy()
        self.by = by
        if np is None:
            self.rows = list(rows)
        else:
            given = _matrix(np, rows, "vectors")
            divides = by not in ("dot", "euclidean", "manhattan")
            self.rows = given / _lengths(np, given)[:, None] if divides else given

    def __len__(self) -> int:
        return len(self.rows)

    def similarity(self, queries):
        """Of each query with each row."""
        np = numpy()
        if np is None or self.by in ("euclidean", "manhattan"):
            return similarity(queries, self.rows, self.by)
        a = _matrix(np, queries, "search")
        _same_width(a, self.rows, "search")
        if self.by != "dot":
            a = a / _lengths(np, a)[:, None]
        return (self.rows @ a[0])[None, :] if len(a) == 1 else a @ self.rows.T


def _same_width(a, b, what: str) -> None:
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"{what}: vectors of {a.shape[1]} and of {b.shape[1]} numbers")


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
        _same_width(a, b, "similarity")
        if by == "dot":
            return a @ b.T
        if by == "euclidean":
            return np.stack([-np.sqrt(((row - b).astype(np.float64) ** 2).sum(axis=1)) for row in a]).astype(np.float32)
        if by == "manhattan":
            return np.stack([-np.abs(row - b).sum(axis=1) for row in a])
        return (a / _lengths(np, a)[:, None]) @ b.T / _lengths(np, b)
    first, second = ([one] if one and isinstance(one[0], float) else one for one in (first, second))
    return [[_compare(by, a, b) for b in second] for a in first]


def best_of(row, count: int):
    """Where the `count` greatest numbers of an array are, greatest first, smaller places first among equals."""
    np = numpy()
    if count >= len(row):
        return np.argsort(-row, kind="stable")
    if count <= 0:
        return np.zeros(0, np.int64)
    rest = len(row) // 16
    # The count-th greatest of the maxima of sixteen numbers each is at most the count-th greatest of all.
    some = row[: 16 * rest].reshape(16, rest).max(axis=0) if rest > 4 * count else row
    least = np.partition(some, len(some) - count)[len(some) - count]
    found = np.flatnonzero(row >= least)
    if not len(found):  # numbers that are none
        return np.argsort(-row, kind="stable")[:count]
    return found[np.argsort(-row[found], kind="stable")[:count]]


def nearest(similarities, top_k: int) -> list:
    """For each row of numbers the `top_k` greatest, best first: [{"corpus_id", "score"}]."""
    np = numpy()
    found = []
    for row in similarities:
        if np is None:
            best = sorted(range(len(row)), key=lambda i: (-row[i], i))[:top_k]
            scores = [float(row[i]) for i in best]
        else:
            places = best_of(row, top_k)
            best, scores = places.tolist(), row[places].tolist()
        found.append([{"corpus_id": i, "score": score} for i, score in zip(best, scores)])
    return found


def lists_of(rows: Rows) -> list:
    return [one if isinstance(one, array.array) else array.array("f", one.tobytes()) for one in rows.take()]


def sigmoid(x: float) -> float:
    return ctypes.c_float(1 / (1 + math.exp(-x)) if x >= -700 else 0.0).value


def softmax(row: list) -> list:
    top = max(row)
    powers = [math.exp(x - top) for x in row]
    return [power / sum(powers) for power in powers]
