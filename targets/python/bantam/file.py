"""A model file: mapped, verified once, shared by all sessions of a process; and what it says of itself."""

from __future__ import annotations

import ctypes
import mmap
import os

from . import native
from .errors import check

_lib = native.library

_ROLES = ((1, "query"), (2, "document"))  # bantam_text_role


class File:
    """An open file. Nothing is written to it, also by processes that fork: the mapping is private."""

    def __init__(self, path: str, mapped: bool = True):
        self.path = path
        with open(path, "rb") as opened:
            self.size = os.fstat(opened.fileno()).st_size
            if mapped and self.size > 0:
                # A private mapping that could be written to is what ctypes takes the address of; its pages stay the file's.
                self._bytes = mmap.mmap(opened.fileno(), self.size, access=mmap.ACCESS_COPY)
            else:
                content = opened.read()
                self.size = len(content)
                self._bytes = native.own_memory(self.size)
                self._bytes[: self.size] = content
        self._anchor = ctypes.c_char.from_buffer(self._bytes)  # holds the mapping while anything needs it
        self.model = native.Model()
        fault = native.Fault()
        address = ctypes.addressof(self._anchor)
        model, why = ctypes.byref(self.model), ctypes.byref(fault)
        check(_lib.model_open(address, self.size, model, why), path, fault)
        self.handle = ctypes.c_void_p(ctypes.addressof(self.model))
        # The header's size and checksums, which every file that differs has others of.
        self.digest = (self._bytes[16:24] + self._bytes[56:64]).hex()
        self.task = native.TASKS[_lib.model_task(self.handle)]
        self.max_tokens = _lib.model_max_tokens(self.handle)
        self.prompt = _lib.model_prompt(self.handle).text()
        self.prompts = {name: _lib.model_role_prompt(self.handle, role).text() for role, name in _ROLES}
        self.task_sets = _lib.task_label_sets(self.handle)
        self.sets = _lib.model_label_set_count(self.handle)
        self.names = [self._names(label_set) for label_set in range(self.sets)]
        self.label_sets = max(self.sets, self.task_sets)
        self._levels: dict = {}

    def property(self, name: str) -> str:
        """What the file's property of that name says; "" where it has none."""
        key = name.encode()
        text = native.Text(ctypes.cast(ctypes.c_char_p(key), ctypes.c_void_p), len(key))
        return _lib.model_property(self.handle, text).text()

    def _names(self, label_set: int) -> list:
        count = _lib.model_label_count(self.handle, label_set)
        return [_lib.model_label(self.handle, label_set, i).text() for i in range(count)]

    def label(self, label_set: int, label: int) -> str:
        """As the command names it: labels without a name by their numbers."""
        names = self.names[label_set] if label_set < self.sets else ()
        if label < len(names):
            return names[label]
        if self.task in ("next_sentence", "pretraining"):
            return "not_next" if label else "is_next"
        return f"LABEL_{label}"

    def set_name(self, label_set: int) -> str:
        return _lib.model_label_set_name(self.handle, label_set).text() or f"set {label_set}"

    def of_words(self, label_set: int) -> bool:
        """Whether its labels are of words, not of the text."""
        if label_set < self.task_sets:
            return self.task == "tag" or (self.task == "joint" and label_set == 1)
        return self.task == "tag"

    def has_levels(self, label_set: int) -> bool:
        """Whether labels of the set stand above each other."""
        if label_set not in self._levels:
            count = len(self.names[label_set]) if label_set < self.sets else 0
            above = _lib.model_label_above
            self._levels[label_set] = any(above(self.handle, label_set, i) >= 0 for i in range(count))
        return self._levels[label_set]

    def info(self) -> dict:
        return {
            "path": self.path,
            "bytes": self.size,
            "digest": self.digest,
            "task": self.task,
            "name": _lib.model_name(self.handle).text(),
            "tool": _lib.model_tool(self.handle).text(),
            "licence": _lib.model_licence(self.handle).text(),
            "tokenizer": bool(_lib.model_has_tokenizer(self.handle)),
            "max_tokens": self.max_tokens,
            "vocabulary": _lib.model_vocabulary(self.handle),
            "prompt": self.prompt,
            "label_sets": {self.set_name(i) if i else "labels": list(names) for i, names in enumerate(self.names)},
        }
