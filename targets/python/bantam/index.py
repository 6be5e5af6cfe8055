"""Index: texts that `bantam index` has embedded, searched and changed from Python. Searching needs NumPy; changing, the command."""

from __future__ import annotations

import math
import os

from .convert import run_command
from .errors import ModelChanged
from .index_file import IndexFile
from .model import Model, load
from .texts import list_of
from .vectors import best_of, numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEAST = 40  # candidates beside four times the hits that are wanted: the same as the command's
_EXACT = 1040  # so many products of bytes add up to less than 2**24, which f32 holds exactly


class Index:
    """An index and the model that made it. Hits and scores are those of `bantam search`, to the last bit.

    The file may be used by all threads. It is mapped; add() and remove() write a new one in its place, as the command does, so that
    who has opened the former one keeps it."""

    def __init__(self, path: str | os.PathLike, model: Model | str | os.PathLike):
        if numpy() is None:
            raise ImportError("bantam.Index needs NumPy, which is not installed: pip install numpy")
        self.path = os.path.abspath(os.fsdecode(os.fspath(path)))
        self.model = model if isinstance(model, Model) else load(model)
        self._opened = _Opened(self.path, self.model)

    @classmethod
    def create(cls, path, model, records, **options) -> Index:
        """Makes a new index of records: str, or dicts with a text. Options are those of `bantam index` with "_" for "-": id="key",
        keep=["team", "year"], keep_all=True, text="body", stride=16, compact=True, truncate_dim=256."""
        file = model.path if isinstance(model, Model) else os.fspath(model)
        if "keep" in options and not isinstance(options["keep"], str):
            options["keep"] = ",".join(options["keep"])
        lines = _lines(records, options.get("text") or "text")
        run_command(["index", file, "-", "-o", os.fspath(path), "--json"], options, lines)
        return cls(path, model)

    def __reduce__(self):
        return (Index, (self.path, self.model))

    def __len__(self) -> int:
        """Records."""
        return self._opened.file.records

    def __repr__(self) -> str:
        return f"<bantam.Index {self.path!r}: {len(self)} records>"

    @property
    def fields(self) -> list:
        """Names of the stored fields."""
        return list(self._opened.file.fields)

    def search(self, query: Any, top: int = 10, where: dict | None = None) -> list:
        """The nearest records of a text, or of a vector as encode_query() makes it: [{"line", "id", "score", "text", "fields"}, ...],
        best first; "id" and "fields" where the index has them. Of a list of texts or of rows, a list of such lists.

        top: at most so many; 0: all. where: {"team": "billing", "year": 2024}: only records whose fields have these values, or lists with
        them."""
        if isinstance(top, bool) or not hasattr(top, "__index__") or top < 0:
            raise ValueError(f"top: a number from 0 on is wanted, not {top!r}")
        opened = self._opened
        allowed = opened.allowed({} if where is None else where)
        single, queries = opened.queries(query)
        found = [opened.nearest(one, int(top) or opened.file.records, allowed) for one in queries]
        return found[0] if single else found

    def add(self, records) -> dict:
        """Appends records, str or dicts; one with the id of an older one replaces it. Returns what the command reports."""
        field = self._opened.file.text_field
        return self._change(["-", "--add"], {}, _lines(records, field.decode() if field else "text"))

    def remove(self, ids=(), lines=()) -> dict:
        """Removes the records with these ids, or numbers of lines. Returns what the command reports."""
        ids = [ids] if isinstance(ids, str) else [str(one) for one in ids]
        numbers = ",".join(str(int(one)) for one in lines)
        if not ids and not numbers:
            raise ValueError("remove: ids or lines are wanted")
        return self._change([], {"remove_id": ids, "remove": numbers or None}, b"")

    def _change(self, arguments: list, options: dict, data: bytes) -> dict:
        command = ["index", self.model.path, *arguments, "-o", self.path, "--json"]
        report = run_command(command, options, data)
        self._opened = _Opened(self.path, self.model)
        return report


def _lines(records, field: str) -> bytes:
    """Records as JSON lines."""
    import json

    lines = []
    for i, one in enumerate(list_of(records)):
        if isinstance(one, str):
            one = {field: one}
        if not isinstance(one, dict):
            raise TypeError(f"record {i}: a str or a dict is wanted, not {type(one).__name__}")
        try:
            lines.append(json.dumps(one, ensure_ascii=False, allow_nan=False).encode())
        except (TypeError, ValueError) as error:
            raise type(error)(f"record {i}: {error}") from None
    return b"\n".join(lines) + b"\n"


class _Opened:
    """One version of the file."""

    def __init__(self, path: str, model: Model):
        import hashlib

        self.path, self.model = path, model
        self.file = IndexFile(path)
        with open(model.path, "rb") as file:
            digest = hashlib.sha256()
            while block := file.read(1 << 20):
                digest.update(block)
        if digest.hexdigest() != self.file.model:
            raise ModelChanged(model.path, self.file.model, digest.hexdigest())
        self._values: dict = {}
        self._divides = not self.file.of_terms and model._open().property("similarity") != "dot"

    # ----------------------------------------------------------------------------------------- conditions

    def allowed(self, where: dict):
        """For each entry whether all conditions hold; None: there are none."""
        if not isinstance(where, dict):
            raise TypeError(f"where: a dict of fields and values is wanted, not {type(where).__name__}")
        all_hold = None
        for name, value in where.items():
            if name not in self.file.fields:
                has = ", ".join(self.file.fields) or "none: make it with --keep or --keep-all"
                raise ValueError(f"where: the index has no field {name!r}; it has {has}")
            if not isinstance(value, (str, bool, int, float)):
                raise TypeError(f"where: {name}: a str, a number, True or False is wanted, not {type(value).__name__}")
            holds = self._holds(name, value)
            all_hold = holds if all_hold is None else all_hold & holds
        return all_hold

    def _holds(self, name: str, value):
        """For each entry whether its field is `value`: the same string, number or truth value, or one that is written so."""
        import json

        np = numpy()
        if name not in self._values:
            known: dict = {}
            for number, stored in enumerate(self.file.values(name), 1):
                for item in stored if isinstance(stored, list) else [stored]:
                    known.setdefault(_key(item), set()).add(number)
            self._values[name] = known
        text = value if isinstance(value, str) else json.dumps(value)
        wanted = set(self._values[name].get(("str", text), ()))
        try:
            typed = json.loads(text)
        except ValueError:
            typed = None
        if isinstance(typed, (int, float)):
            wanted |= self._values[name].get(_key(typed), set())
        flags = np.zeros(len(self.file.fields[name][0]) + 1, bool)
        flags[list(wanted)] = True
        return flags[self.file.fields[name][1]][self.file.place]

    # ------------------------------------------------------------------------------------------- queries

    def queries(self, query) -> tuple:
        """Whether the query is a single one, and vectors, or dicts of terms."""
        np, width = numpy(), self.file.width
        single = isinstance(query, (str, dict))
        if isinstance(query, str) or (isinstance(query, list) and query and isinstance(query[0], str)):
            texts = [query] if single else query
            options = {} if self.file.of_terms else {"truncate_dim": width}
            query = self.model.encode_query(texts, **options)
        if self.file.of_terms:
            return single, [query] if isinstance(query, dict) else list(query)
        if not isinstance(query, np.ndarray) and len(query) == 0:
            return False, []
        rows = np.asarray(query, np.float32)
        single = single or rows.ndim == 1
        rows = rows[None, :] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ValueError(f"search: a text or vectors of {width} numbers are wanted, not {rows.shape[-1]} numbers")
        if not np.isfinite(rows).all():
            raise ValueError("search: the vector is not finite")
        return single, rows

    def nearest(self, query, top: int, allowed) -> list:
        entries, scores = (
            self._of_terms(query, allowed) if self.file.of_terms else self._of_vectors(query, top, allowed)
        )
        order = numpy().lexsort((entries, -scores))
        hits, seen = [], set()
        for entry, score in zip(entries[order].tolist(), scores[order].tolist()):
            place = int(self.file.place[entry])
            if place in seen:
                continue
            seen.add(place)
            if len(hits) == top:
                break
            hits.append(self._hit(entry, score))
        return hits

    def _hit(self, entry: int, score: float) -> dict:
        hit = {"line": int(self.file.numbers[entry])}
        if self.file.has_ids:
            hit["id"] = self.file.id(entry)
        hit["score"] = score
        hit["text"] = self.file.text(entry)
        if self.file.fields:
            hit["fields"] = self.file.stored(entry)
        return hit

    def _of_terms(self, query: dict, allowed) -> tuple:
        """Entries that share a term, and the sums of products: in doubles, smaller terms first."""
        np, file = numpy(), self.file
        sums = np.zeros(file.count)
        for term in sorted(query):
            if 0 <= term < file.width:
                part = slice(file.term_starts[term], file.term_starts[term + 1])
                sums[file.term_texts[part]] += float(query[term]) * file.term_weights[part].astype(np.float64)
        found = np.flatnonzero(sums > 0 if allowed is None else (sums > 0) & allowed)
        return found, sums[found].astype(np.float32)

    def _of_vectors(self, query, top: int, allowed) -> tuple:
        """Candidates by products of bytes, and their scores with both bytes, in the order of the command's sums."""
        np, file = numpy(), self.file
        length = math.sqrt(np.cumsum(query.astype(np.float64) ** 2)[-1]) if self._divides else 0.0
        unit = (query.astype(np.float64) / length).astype(np.float32) if length else query
        most = np.float32(np.abs(unit).max())
        scale = most / np.float32(127) if most > 0 else np.float32(1)
        rough = self._products(np.rint(unit / scale)) * (scale * file.scales)
        if allowed is not None:
            rough[~allowed] = -np.inf
            count = int(allowed.sum())
        else:
            count = file.count
        records = 4 * top + _LEAST
        wanted = min(file.count, records)
        while True:
            found = best_of(rough, min(wanted, count))
            enough = file.records == file.count or wanted > count or wanted == file.count
            if enough or len(np.unique(file.place[found])) >= records:
                break
            wanted = min(file.count, 4 * wanted)
        vectors = file.coarse[found].astype(np.float64)
        if file.fine is not None:
            vectors += file.fine[found] / 256.0
        if not len(found):
            return found, np.zeros(0, np.float32)
        sums = np.cumsum(vectors * unit.astype(np.float64), axis=1)[:, -1]
        return found, (sums * file.scales[found].astype(np.float64)).astype(np.float32)

    def _products(self, row):
        """Sums of products of integers, exact, as f32."""
        np, coarse = numpy(), self.file.coarse
        if len(row) <= _EXACT:
            return coarse @ row
        parts = (coarse[:, i : i + _EXACT] @ row[i : i + _EXACT] for i in range(0, len(row), _EXACT))
        return sum(part.astype(np.float64) for part in parts).astype(np.float32)


def _key(value) -> tuple:
    """What equal values share: 1 is 1.0, and True is not."""
    if isinstance(value, (bool, str)) or value is None:
        return (type(value).__name__, value)
    return ("number", value) if isinstance(value, (int, float)) else ("", None)
