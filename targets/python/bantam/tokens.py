"""Tokens of a text, with their places in bytes and in characters."""

from __future__ import annotations

import ctypes

from . import native
from .errors import check
from .file import File
from .texts import Positions, utf8

_lib = native.library
_SPECIAL = 255


class Tokens:
    """`ids`, `tokens` (as the vocabulary has them), `offsets` (characters of the text that each token is from) and `byte_offsets`,
    `sequence` (0, 1: the text or its pair; None: a special token, whose offsets are (0, 0)), `segments`, `truncated`."""

    __slots__ = ("ids", "tokens", "offsets", "byte_offsets", "sequence", "segments", "truncated")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Tokens({self.tokens!r})"


def _text(data: bytes | None) -> native.Text:
    if data is None:
        return native.Text(None, 0)
    return native.Text(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


def tokenize(file: File, text: str, text_pair: str | None, add_special_tokens: bool, max_tokens: int) -> Tokens:
    data = [utf8(text), None if text_pair is None else utf8(text_pair, "text_pair")]
    positions = [None if one is None else Positions(text if i == 0 else text_pair, one) for i, one in enumerate(data)]
    options = native.EncodeOptions()
    _lib.encode_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
    options.add_special, options.max_tokens = int(add_special_tokens), max_tokens
    limit = max_tokens or file.max_tokens
    capacity = limit or sum(len(one) for one in data if one) + 64
    while True:
        ids, segments = (ctypes.c_int32 * capacity)(), (ctypes.c_int32 * capacity)()
        offsets, sequences = (native.Offset * capacity)(), (ctypes.c_uint8 * capacity)()
        pointers = (ctypes.cast(one, ctypes.c_void_p) for one in (ids, segments, offsets, sequences))
        buffer = native.TokenBuffer(*pointers, capacity)
        result = native.EncodeResult()
        status = _lib.encode(
            file.handle,
            _text(data[0]),
            _text(data[1]),
            ctypes.byref(options),
            ctypes.byref(buffer),
            ctypes.byref(result),
        )
        check(status, file.path)
        if limit or not result.truncated:
            break
        capacity = sum(result.content) + 64  # a text of more tokens than bytes, and no limit
    count, out = result.count, Tokens()
    out.ids = ids[:count]
    out.segments = segments[:count]
    out.tokens = [_lib.token(file.handle, one).text() for one in out.ids]
    out.byte_offsets = [(offsets[i].begin, offsets[i].end) for i in range(count)]
    out.sequence = [None if sequences[i] == _SPECIAL else sequences[i] for i in range(count)]
    out.offsets = [
        (0, 0) if which is None else (positions[which](begin), positions[which](end))
        for which, (begin, end) in zip(out.sequence, out.byte_offsets)
    ]
    out.truncated = bool(result.truncated)
    return out


def decode(file: File, ids, skip_special_tokens: bool) -> str:
    ids = list(ids)
    if not all(isinstance(one, int) and 0 <= one < 2**31 for one in ids):
        raise TypeError("decode: ids are wanted, which are ints from 0 on")
    numbers, size = (ctypes.c_int32 * max(len(ids), 1))(*ids), ctypes.c_size_t()
    capacity = 16 * len(ids) + 64
    while True:
        out = ctypes.create_string_buffer(capacity)
        status = _lib.decode(
            file.handle, numbers, len(ids), int(skip_special_tokens), out, capacity, ctypes.byref(size)
        )
        if status != native.BUFFER_TOO_SMALL:
            break
        capacity = size.value
    check(status, file.path)
    return out.raw[: size.value].decode("utf-8", "replace")
