"""What callers pass as texts: UTF-8 for the runtime, and its byte offsets as characters of the str that came."""

from __future__ import annotations


def list_of(values) -> list:
    """The items of a list, a column or an array; those of Arrow's arrays as Python's own."""
    if isinstance(values, list):
        return values
    return values.to_pylist() if hasattr(values, "to_pylist") else list(values)


def utf8(text, what: str = "text") -> bytes:
    if hasattr(text, "as_py"):  # a scalar of Arrow
        text = text.as_py()
    if not isinstance(text, str):
        raise TypeError(f"{what}: a str is wanted, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what}: character {error.start} is a lone surrogate, which is not a text: {error.reason}"
        ) from None


def input_of(value, index=None) -> tuple:
    """(first, second or None) of a str, a pair of them, or a dict as transformers' pipelines take it."""
    what = "text" if index is None else f"text {index}"
    if isinstance(value, str):
        return value, None
    if isinstance(value, dict):
        for first, second in (("text", "text_pair"), ("question", "context")):
            if first in value and set(value) <= {first, second}:
                return input_of((value[first], value[second]) if value.get(second) is not None else value[first], index)
        raise TypeError(
            f"{what}: a dict has text and text_pair, or question and context; not {sorted(map(str, value))}"
        )
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(one, str) for one in value):
        return value[0], value[1]
    if hasattr(value, "as_py"):  # a scalar of Arrow
        return input_of(value.as_py(), index)
    raise TypeError(f"{what}: a str or a pair of them is wanted, not {type(value).__name__}")


class Positions:
    """Characters of byte offsets in `text`, whose UTF-8 is `data`; a byte within a character is that character's."""

    def __init__(self, text: str, data: bytes):
        self._data = None if len(text) == len(data) else data
        self.text = text

    def __call__(self, byte: int) -> int:
        return byte if self._data is None else len(self._data[:byte].decode("utf-8", "ignore"))

    def span(self, begin: int, end: int) -> dict:
        first, last = self(begin), self(end)
        return {
            "word": self.text[first:last],
            "start": first,
            "end": last,
            "start_byte": begin,
            "end_byte": end,
        }
