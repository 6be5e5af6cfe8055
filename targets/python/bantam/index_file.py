"""Files of `bantam index` (schemas/index.fbs), mapped and checked: every number that is read lies in the file, whatever its bytes are."""

from __future__ import annotations

import mmap
import struct

_LANE, _QUAD = 16, 4  # of the tiles that vectors lie in
_WIDEST = 16384


class IndexDamaged(ValueError):
    """The file is not an index, or its bytes have changed."""


class _Table:
    """A table of FlatBuffers."""

    def __init__(self, file: Flat, at: int):
        self.file, self.at = file, at
        self.fields = at - file.number("<i", at)
        self.size = file.number("<H", self.fields)

    def place(self, field: int) -> int:
        """Where a field lies; 0: it is absent."""
        slot = 4 + 2 * field
        offset = self.file.number("<H", self.fields + slot) if slot + 2 <= self.size else 0
        return self.at + offset if offset else 0

    def scalar(self, field: int, form: str, default=0):
        at = self.place(field)
        return self.file.number(form, at) if at else default

    def vector(self, field: int, dtype: str):
        """An array of NumPy over the file; None: the field is absent."""
        at = self.place(field)
        return self.file.array(self.file.follow(at), dtype) if at else None

    def text(self, field: int):
        """Bytes of a string; None: it is absent."""
        at = self.place(field)
        return self.file.string(self.file.follow(at)) if at else None

    def items(self, field: int):
        """Where the items of a vector of strings or tables begin; None: it is absent."""
        at = self.place(field)
        if not at:
            return None
        begin = self.file.follow(at)
        offsets = self.file.array(begin, "<u4").astype("i8")
        return offsets + range(begin + 4, begin + 4 + 4 * len(offsets), 4)

    def strings(self, field: int):
        """items() of strings, all of which lie in the file."""
        places = self.items(field)
        if places is not None:
            self.file.check_strings(places)
        return places


class Flat:
    """The bytes of a file; what lies outside raises IndexDamaged."""

    def __init__(self, data, path: str):
        self.data, self.path = data, path

    def damaged(self, what: str) -> IndexDamaged:
        return IndexDamaged(f"{self.path}: not a sound search index ({what}); make it again with bantam index")

    def number(self, form: str, at: int):
        if at < 0 or at + struct.calcsize(form) > len(self.data):
            raise self.damaged("an offset")
        return struct.unpack_from(form, self.data, at)[0]

    def follow(self, at: int) -> int:
        return at + self.number("<I", at)

    def array(self, at: int, dtype: str):
        import numpy as np

        count, size = self.number("<I", at), np.dtype(dtype).itemsize
        if count * size > len(self.data) - at - 4:
            raise self.damaged("a length")
        return np.frombuffer(self.data, dtype, count, at + 4) if count else np.zeros(0, dtype)

    def check_strings(self, places) -> None:
        import numpy as np

        if not len(places):
            return
        if int(places.max()) + 4 > len(self.data):
            raise self.damaged("an offset")
        data = np.frombuffer(self.data, "u1")
        sizes = sum(data[places + i].astype("i8") << 8 * i for i in range(4))
        if int((places + 4 + sizes).max()) > len(self.data):
            raise self.damaged("a length")

    def string(self, at: int) -> bytes:
        size = self.number("<I", at)
        if size > len(self.data) - at - 4:
            raise self.damaged("a length")
        return bytes(self.data[at + 4 : at + 4 + size])

    def table(self, at: int) -> _Table:
        return _Table(self, at)


class IndexFile:
    """The checked contents of an index; `texts`, `ids` and values of fields are decoded when they are asked for."""

    def __init__(self, path: str):
        with open(path, "rb") as file:
            head = file.read(8)
            if len(head) < 8 or head[4:] != b"BIX1":
                raise IndexDamaged(f"{path}: not a search index; make one with bantam index")
            self._flat = Flat(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path)
        root = self._flat.table(self._flat.follow(0))
        self.model = self._text(root, 0)
        self.model_name = self._text(root, 1)
        self.width, self.count = root.scalar(2, "<I"), root.scalar(3, "<I")
        self.of_terms = root.place(9) != 0
        self._texts, self._starts = self._needed(root, 7, "u1"), self._needed(root, 8, "<u4").astype("i8")
        if len(self._starts) != self.count + 1 or not self._ascends(self._starts, len(self._texts)):
            raise self._flat.damaged("starts")
        self._check_records(root)
        if self.of_terms:
            self._check_terms(root)
        else:
            self._check_vectors(root)

    def _needed(self, table: _Table, field: int, dtype: str):
        found = table.vector(field, dtype)
        if found is None:
            raise self._flat.damaged("a field is absent")
        return found

    def _text(self, table: _Table, field: int) -> str:
        found = table.text(field)
        if found is None:
            raise self._flat.damaged("a field is absent")
        return found.decode("utf-8", "replace")

    @staticmethod
    def _ascends(starts, last: int) -> bool:
        return len(starts) > 0 and starts[0] == 0 and starts[-1] == last and bool((starts[1:] >= starts[:-1]).all())

    def _check_records(self, root: _Table) -> None:
        import numpy as np

        numbers = root.vector(12, "<u4")
        if numbers is None:
            self.numbers, self.place = np.arange(1, self.count + 1), np.arange(self.count)
        else:
            numbers = numbers.astype("i8")
            steps = np.diff(numbers, prepend=0)
            if len(numbers) != self.count or not (steps >= 0).all() or (self.count and numbers[0] < 1):
                raise self._flat.damaged("records")
            if self.count and root.scalar(13, "<I") < numbers[-1]:
                raise self._flat.damaged("last_record")
            self.numbers, self.place = numbers, np.cumsum(steps > 0) - 1
        self.records = int(self.place[-1]) + 1 if self.count else 0
        self._ids = root.strings(14)
        self.text_field, self.id_field = root.text(16), root.text(17)
        if (self._ids is None) != (self.id_field is None) or (self._ids is not None and len(self._ids) != self.records):
            raise self._flat.damaged("ids")
        self.fields = {}  # by name, in the file's order: places of values, and for each record the number of its own
        for at in [] if root.place(15) == 0 else root.items(15).tolist():
            table = self._flat.table(at)
            name, values, of = self._text(table, 0), table.strings(1), self._needed(table, 2, "<u4")
            if values is None or name in self.fields or len(of) != self.records or (of > len(values)).any():
                raise self._flat.damaged("fields")
            self.fields[name] = (values, of)

    def _check_vectors(self, root: _Table) -> None:
        import numpy as np

        rows, quads = -(-self.count // _LANE), -(-self.width // _QUAD)
        coarse, self.scales = self._needed(root, 4, "i1"), self._needed(root, 5, "<f4")[: self.count]
        fine = root.vector(6, "i1")
        if not 0 < self.width <= _WIDEST:
            raise self._flat.damaged("width")
        if len(coarse) != rows * quads * _LANE * _QUAD or (coarse == -128).any():
            raise self._flat.damaged("coarse")
        if len(self.scales) != self.count or not ((self.scales >= 0) & (self.scales <= 1)).all():
            raise self._flat.damaged("scales")
        if fine is not None and len(fine) != self.count * quads * _QUAD:
            raise self._flat.damaged("fine")
        self.coarse = np.empty((rows * _LANE, quads, _QUAD), np.float32)
        tiles = coarse.reshape(rows, quads, _LANE, _QUAD)
        self.coarse.reshape(rows, _LANE, quads, _QUAD)[:] = tiles.transpose(0, 2, 1, 3)
        self.coarse = self.coarse.reshape(rows * _LANE, quads * _QUAD)[: self.count, : self.width]
        self.fine = None if fine is None else fine.reshape(self.count, quads * _QUAD)[:, : self.width]

    def _check_terms(self, root: _Table) -> None:
        import numpy as np

        self.term_starts = self._needed(root, 9, "<u4").astype("i8")
        self.term_texts, self.term_weights = self._needed(root, 10, "<u4"), self._needed(root, 11, "<f4")
        if len(self.term_starts) != self.width + 1 or not self._ascends(self.term_starts, len(self.term_texts)):
            raise self._flat.damaged("term_starts")
        if len(self.term_weights) != len(self.term_texts) or (self.term_texts >= self.count).any():
            raise self._flat.damaged("term_texts")
        # Within a term's list texts ascend; a list may begin anywhere.
        falls = np.flatnonzero(np.diff(self.term_texts.astype("i8")) <= 0) + 1
        if not np.isin(falls, self.term_starts).all():
            raise self._flat.damaged("term_texts")
        if not ((self.term_weights > 0) & np.isfinite(self.term_weights)).all():
            raise self._flat.damaged("term_weights")

    def text(self, entry: int) -> str:
        begin, end = self._starts[entry], self._starts[entry + 1]
        return self._texts[begin:end].tobytes().decode("utf-8", "replace")

    @property
    def has_ids(self) -> bool:
        return self._ids is not None

    def id(self, entry: int) -> str:
        return self._flat.string(int(self._ids[self.place[entry]])).decode("utf-8", "replace")

    def values(self, name: str) -> list:
        """The different values of a field."""
        return [self._value(int(at)) for at in self.fields[name][0]]

    def _value(self, at: int):
        import json

        try:
            return json.loads(self._flat.string(at))
        except ValueError:
            raise self._flat.damaged("a field's value") from None

    def stored(self, entry: int) -> dict:
        """The fields of an entry's record."""
        place, found = int(self.place[entry]), {}
        for name, (values, of) in self.fields.items():
            if of[place]:
                found[name] = self._value(int(values[of[place] - 1]))
        return found
