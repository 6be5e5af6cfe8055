"""Weights of terms (SPLADE): the few that a text has, never a row as long as the vocabulary; and sums of products of them."""

from __future__ import annotations

import array
import ctypes

from .vectors import numpy


class SparseRows:
    """A row a text, as compressed sparse rows keep them: terms[starts[i]:starts[i + 1]] are row i's, smaller ones first, and weights
    the same part of `weights` (float32). rows[i] is a dict {term: weight}. scipy.sparse.csr_matrix((rows.weights, rows.terms,
    rows.starts)) has the same memory."""

    def __init__(self, rows):
        """rows: for each text a dict {term: weight}."""
        self.starts, self.terms, self.weights = array.array("q", [0]), array.array("i"), array.array("f")
        for row in rows:
            for term in sorted(row):
                self.terms.append(term)
                self.weights.append(row[term])
            self.starts.append(len(self.terms))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            return SparseRows([self[i] for i in range(*index.indices(len(self)))])
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        begin, end = self.starts[index], self.starts[index + 1]
        return dict(zip(self.terms[begin:end], self.weights[begin:end]))

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def rows_of(vectors) -> SparseRows:
    """Of a dict, of several, or of rows that are some already."""
    if isinstance(vectors, SparseRows):
        return vectors
    return SparseRows([vectors] if isinstance(vectors, dict) else list(vectors))


def _products(query: dict, rows: SparseRows) -> list:
    """The sum of products of weights with each row: in doubles, smaller terms first, so that every machine has the same bits."""
    np = numpy()
    if np is None:
        sums = [0.0] * len(rows)
        for i in range(len(rows)):
            for k in range(rows.starts[i], rows.starts[i + 1]):
                sums[i] += rows.weights[k] * query.get(rows.terms[k], 0.0)
        return [ctypes.c_float(one).value for one in sums]
    starts, terms = np.frombuffer(rows.starts, np.int64), np.frombuffer(rows.terms, np.int32)
    dense = np.zeros(max([int(terms.max(initial=0)), *query]) + 1)  # of the query alone
    dense[list(query)] = list(query.values())
    products = dense[terms] * np.frombuffer(rows.weights, np.float32).astype(np.float64)
    texts = np.repeat(np.arange(len(rows)), np.diff(starts))
    return np.bincount(texts, weights=products, minlength=len(rows)).astype(np.float32)


def similarity(first, second):
    """Sums of products of each of the first rows with each of the second."""
    rows = rows_of(second)
    found = [_products(one, rows) for one in rows_of(first)]
    np = numpy()
    return np.asarray(found, np.float32).reshape(len(found), len(rows)) if np is not None else found
