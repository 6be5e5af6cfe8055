"""Sessions: each has an arena of its own and serves one thread at a time. A call takes one that is free, or makes one, and gives it
back; so many live as calls have run at once."""

from __future__ import annotations

import ctypes

from . import native
from .errors import check
from .file import File

_lib = native.library


_FIRST_MASKS = 16  # masks of a run that there is room for at first


def options_of(tokens: int, sequences: int, scored: int = 0) -> native.SessionOptions:
    options = native.SessionOptions()
    _lib.session_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
    options.max_tokens = tokens
    options.max_sequences = sequences
    options.scored_rows = scored
    return options


class Session:
    """An arena, the session in it, and the arguments that calls on it use again and again."""

    def __init__(self, file: File, tokens: int, sequences: int, scored: int = 0):
        self.file = file
        self.tokens, self.sequences = tokens, sequences
        self._open(scored)
        self.offsets = (ctypes.c_uint64 * (2 * sequences + 1))()
        self._taken = ctypes.c_uint32()
        self._count, self._above = ctypes.c_uint32(), ctypes.c_uint32()
        self.taken, self.count, self.above = map(ctypes.pointer, (self._taken, self._count, self._above))
        self.quick = None
        self._scores = (native.LabelScore * 1)()
        self._entities = (native.Entity * 32)()
        self._terms = (native.Candidate * 256)()

    def _open(self, scored: int) -> None:
        """Begins the session in a new arena. scored: scores of words are made for so many tokens of a run at most, its masks; 0, and of
        models that have none which are made alone: for all."""
        file, options = self.file, options_of(self.tokens, self.sequences, scored)
        size = _lib.arena_bytes(file.handle, ctypes.byref(options))  # 0: create() says why
        if size == 0 and scored:
            return self._open(0)
        self.scored = scored
        # Private pages: a child of fork() has its own from its first write on.
        self._arena = native.own_memory(size)
        self._anchor = ctypes.c_char.from_buffer(self._arena)
        self.handle = ctypes.c_void_p()
        fault = native.Fault()
        address, out = ctypes.addressof(self._anchor), ctypes.byref(self.handle)
        check(
            _lib.session_create(file.handle, ctypes.byref(options), address, size, out, ctypes.byref(fault)),
            file.path,
            fault,
        )

    def run(self, texts: list, pairs: bool) -> int:
        """Runs inputs (each a text, or with pairs two of them, as UTF-8) from the first on: how many there was room for."""
        offsets = self.offsets
        end, ends = 0, [0]
        for text in texts:
            end += len(text)
            ends.append(end)
        offsets[: len(ends)] = ends
        inputs = len(texts) // 2 if pairs else len(texts)
        data = b"".join(texts)
        status = _lib.session_run_texts(self.handle, data, offsets, inputs, pairs, None, self.taken)
        while status == native.TOO_MANY_TOKENS and 0 < self.scored < self.tokens:  # more masks than there is room for
            self._open(min(4 * self.scored, self.tokens))
            status = _lib.session_run_texts(self.handle, data, offsets, inputs, pairs, None, self.taken)
        if status:
            check(status, self.file.path)
        return self._taken.value

    def labels(self, sequence: int, label_set: int, capacity: int) -> tuple:
        """Pairs of a label and its score, best first; and how many of them hold."""
        if len(self._scores) < capacity:
            self._scores = (native.LabelScore * capacity)()
        scores = self._scores
        check(
            _lib.classify_set(self.handle, sequence, label_set, scores, capacity, self.count, self.above),
            self.file.path,
        )
        return [(scores[i].label, scores[i].score) for i in range(self._count.value)], self._above.value

    def entities(self, ask) -> list:
        """What ask(entities, capacity, count) fills: pieces of a text as (name, label, begin, end, score)."""
        while True:
            found = self._entities
            status = ask(found, len(found), self.count)
            if status != native.BUFFER_TOO_SMALL:
                break
            self._entities = (native.Entity * (4 * len(found)))()
        check(status, self.file.path)
        return [
            (e.name.text(), e.label, e.span.begin, e.span.end, e.score)
            for e in (found[i] for i in range(self._count.value))
        ]

    def terms(self, sequence: int) -> list:
        """Pairs of a term and its weight, those that are not 0, greatest first."""
        while True:
            found = self._terms
            check(_lib.terms(self.handle, sequence, found, len(found), self.count), self.file.path)
            if self._count.value < len(found):
                return [(one.id, one.score) for one in found[: self._count.value]]
            self._terms = (native.Candidate * (4 * len(found)))()

    def vector(self, sequence: int) -> tuple:
        """Address and width of a sequence's embedding."""
        return self._numbers(_lib.embed, sequence)

    def label_logits(self, sequence: int, label_set: int) -> tuple:
        return self._numbers(_lib.label_logits, sequence, label_set)

    def _numbers(self, function, *arguments) -> tuple:
        data, width = ctypes.c_void_p(), ctypes.c_uint32()
        check(function(self.handle, *arguments, ctypes.byref(data), ctypes.byref(width)), self.file.path)
        return data.value, width.value

    def width(self) -> int:
        """Of the file's embeddings, by a pass over a token."""
        first = (ctypes.c_int32 * 1)(0)
        check(_lib.session_run_ids(self.handle, first, None, None, 1, 1), self.file.path)
        return self.vector(0)[1]

    def output(self, index: int, sequence: int) -> native.Output:
        out = native.Output()
        check(_lib.session_output(self.handle, index, sequence, ctypes.byref(out)), self.file.path)
        return out


class Sessions:
    """Those of one file that are free, by their room."""

    def __init__(self, file: File, tokens: int | None, sequences: int | None):
        self.file = file
        longest = file.max_tokens or 512
        self.sequences = sequences or 32
        # Room for some short texts, and always for the longest: more rows at a time gain nothing.
        self.tokens = max(tokens or 512, longest if tokens is None else 1)
        if not file.max_tokens and tokens is None:
            self.tokens = longest  # what the command takes such texts to be cut at
        self.scored = _FIRST_MASKS if file.task in ("fill", "pretraining") else 0
        self.free: list = []
        self._special: dict = {}

    def make(self) -> Session:
        return Session(self.file, self.tokens, self.sequences, self.scored)

    def take(self) -> Session:
        try:
            return self.free.pop()
        except IndexError:
            return self.make()

    def give(self, session: Session) -> None:
        self.free.append(session)

    def of_all_rows(self) -> Sessions:
        """Sessions that make the scores of all tokens."""
        if self.scored == 0:
            return self
        if "all" not in self._special:
            self._special["all"] = Sessions(self.file, self.tokens, self.sequences)
            self._special["all"].scored = 0
        return self._special["all"]

    def for_choices(self, choices: int) -> Sessions:
        """Sessions that take so many sequences of any length at once."""
        if choices not in self._special:
            longest = self.file.max_tokens or 512
            self._special[choices] = Sessions(self.file, choices * longest, choices)
        return self._special[choices]
