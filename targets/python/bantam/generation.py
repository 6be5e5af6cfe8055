"""Texts that a decoder goes on with, token by token: bantam_generate.h. Beams, constraints and encoder-decoders are the command's."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_float, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

from . import native
from .errors import BantamError, check
from .sessions import options_of
from .tokens import decode, tokenize

_lib = native.library
_NEW_TOKENS = 128  # where the file says nothing
_CONTEXT = 2048  # more is asked for by name
_RUN = 128  # tokens of a prompt at a time


class _Batch(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ids", c_void_p),
        ("segments", c_void_p),
        ("offsets", c_void_p),
        ("contexts", c_void_p),
        ("sources", c_void_p),
        ("sequences", c_uint32),
        ("tokens", c_uint32),
        ("last_rows", c_uint8),
    ]


class _Sampling(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("temperature", c_float),
        ("top_k", c_uint32),
        ("top_p", c_float),
        ("min_p", c_float),
        ("repetition_penalty", c_float),
        ("no_repeat_ngram", c_uint32),
        ("seed", c_uint64),
        ("banned", c_void_p),
        ("banned_count", c_uint32),
        ("forced", c_int32),
        ("log_probability", c_uint8),
        ("constraint", c_void_p),
        ("prompt", c_uint32),
        ("max_new", c_uint32),
        ("source_no_repeat_ngram", c_uint32),
        ("source_ids", c_void_p),
        ("source_count", c_uint32),
    ]


class _Beams(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("beams", c_uint32),
        ("max_new", c_uint32),
        ("min_new", c_uint32),
        ("length_penalty", c_float),
        ("early_stopping", c_uint32),
        ("repetition_penalty", c_float),
        ("no_repeat_ngram", c_uint32),
        ("banned_count", c_uint32),
        ("banned", c_void_p),
        ("first_id", c_int32),
        ("last_id", c_int32),
        ("constraint", c_void_p),
        ("begin_banned", c_uint32),
        ("source_no_repeat_ngram", c_uint32),
        ("source_ids", c_void_p),
        ("source_count", c_uint32),
    ]


class _Generation(Structure):
    _fields_ = [("name", native.Text), ("prefix", native.Text), ("beams", _Beams), ("start_id", c_int32)]


class _Next(Structure):
    _fields_ = [("id", c_int32), ("log_probability", c_float)]


def _function(name: str, *arguments, result=c_int):
    function = _lib.shared["bantam_" + name]
    function.restype, function.argtypes = result, arguments
    return function


_generation_count = _function("generation_count", c_void_p, result=c_uint32)
_generation_get = _function("generation_get", c_void_p, c_uint32, c_void_p)
_batch_init = _function("batch_init_sized", c_void_p, c_size_t, result=None)
_sampling_init = _function("sampling_init_sized", c_void_p, c_size_t, result=None)
_run_batch = _function("session_run_batch", c_void_p, c_void_p)
_next_token_of_row = _function("next_token_of_row", c_void_p, c_uint32, c_uint32, c_void_p, c_void_p)
_truncate = _function("session_truncate", c_void_p, c_uint32, c_uint32)
_guess_repeat = _function("guess_repeat", c_void_p, c_uint32, c_uint32, c_void_p, result=c_uint32)
_guess_count_init = _function("guess_count_init", c_void_p, c_uint32, result=None)
_guess_count_next = _function("guess_count_next", c_void_p, result=c_uint32)
_guess_count_took = _function("guess_count_took", c_void_p, c_uint32, c_uint32, result=None)
_ends_text = _function("ends_text", c_void_p, c_int32)
_GUESSES = 8  # the most at a time


class Generator:
    """One text that is generated: an arena with a context, which ends with it."""

    def __init__(self, file, context: int):
        options = options_of(_RUN, 1)
        options.max_context = context
        size = _lib.arena_bytes(file.handle, ctypes.byref(options))
        self.file = file
        self._arena = native.own_memory(size)
        self._anchor = ctypes.c_char.from_buffer(self._arena)
        self.handle, fault = ctypes.c_void_p(), native.Fault()
        address, out = ctypes.addressof(self._anchor), ctypes.byref(self.handle)
        status = _lib.session_create(file.handle, ctypes.byref(options), address, size, out, ctypes.byref(fault))
        check(status, file.path, fault)

    def run(self, ids: list, all_rows: bool = False) -> None:
        """Runs ids in pieces. The scores after the last token remain, or with all_rows those after each token of one piece."""
        for begin in range(0, len(ids), _RUN):
            part = ids[begin : begin + _RUN]
            numbers, batch = (c_int32 * len(part))(*part), _Batch()
            _batch_init(ctypes.byref(batch), ctypes.sizeof(batch))
            batch.ids, batch.tokens, batch.last_rows = ctypes.addressof(numbers), len(part), not all_rows
            check(_run_batch(self.handle, ctypes.byref(batch)), self.file.path)

    def choose(self, sampling: _Sampling, row: int = 0) -> int:
        """The token after a row of the last run."""
        following = _Next()
        status = _next_token_of_row(self.handle, 0, row, ctypes.byref(sampling), ctypes.byref(following))
        check(status, self.file.path)
        return following.id

    def keep(self, length: int) -> None:
        check(_truncate(self.handle, 0, length), self.file.path)


class _Guesses:
    """Guesses what follows a text: from repetitions in it, or by a smaller model."""

    def __init__(self, file, draft, places: int):
        self._count = (c_uint32 * 4)()
        _guess_count_init(ctypes.byref(self._count), _GUESSES)
        self._draft = None
        if draft is None:
            return
        if draft.task != "generate" or draft.info()["vocabulary"] != file.info()["vocabulary"]:
            raise BantamError(8, draft.path, "a draft is a smaller decoder with the model's tokenizer")
        self._places, self._held = min(places, draft.max_tokens or places), []
        self._draft = Generator(draft, self._places)

    def make(self, ids: list, most: int, sampling: _Sampling) -> list:
        most = min(most, _guess_count_next(ctypes.byref(self._count)))
        if most <= 0:
            return []
        if self._draft is None:
            given, out = (c_int32 * len(ids))(*ids), (c_int32 * most)()
            return list(out[: _guess_repeat(ctypes.byref(given), len(ids), most, ctypes.byref(out))])
        guesses = []
        if len(ids) + most > self._places:
            return guesses
        same = next((i for i, (a, b) in enumerate(zip(self._held, ids)) if a != b), len(self._held))
        same = min(same, len(ids) - 1)
        self._draft.keep(same)
        self._draft.run(ids[same:])
        while len(guesses) < most:
            if guesses:
                self._draft.run(guesses[-1:])
            guesses.append(self._draft.choose(sampling))
        self._held = ids + guesses[:-1]
        return guesses

    def took(self, guessed: int, kept: int) -> None:
        _guess_count_took(ctypes.byref(self._count), guessed, kept)


def generate(file, prompt: str, max_new_tokens: int | None, context: int | None, settings: dict, lookup: bool, draft):
    """Yields the text so far, at first the empty one, a token more each time. `draft`: a file that guesses tokens, or None."""
    if file.task != "generate":
        raise BantamError(native.NO_SUCH_TASK, file.path, f"its task is {file.task}, not generate")
    said = _Generation()
    known = bool(_generation_count(file.handle))
    if known:
        check(_generation_get(file.handle, 0, ctypes.byref(said)), file.path)
        if said.start_id >= 0 or (said.beams.beams > 1):
            raise BantamError(8, file.path, "encoder-decoders and beams: use bantam generate")
    sampling = _Sampling()
    _sampling_init(ctypes.byref(sampling), ctypes.sizeof(sampling))
    if known:
        sampling.repetition_penalty = said.beams.repetition_penalty
        sampling.no_repeat_ngram = said.beams.no_repeat_ngram
        sampling.banned, sampling.banned_count = said.beams.banned, said.beams.banned_count
        sampling.source_no_repeat_ngram = said.beams.source_no_repeat_ngram
    for name, value in settings.items():
        setattr(sampling, name, value)
    most = max_new_tokens or (said.beams.max_new if known else 0) or _NEW_TOKENS
    places = context or min(file.max_tokens or _CONTEXT, _CONTEXT)
    tokens = tokenize(file, (said.prefix.text() if known else "") + prompt, None, True, 2**20)
    ids, new = list(tokens.ids), []
    if not ids:
        raise ValueError("generate: the prompt becomes no token")
    if len(ids) > places:
        raise ValueError(f"generate: the prompt has {len(ids)} tokens, the context {places}")
    source = (c_int32 * len(ids))(*ids)
    sampling.source_ids, sampling.source_count = ctypes.addressof(source), len(ids)
    given = len(decode(file, tokens.ids, True))
    generator = Generator(file, places)
    guesses = _Guesses(file, draft, places) if lookup or draft is not None else None
    yield ""
    generator.run(ids)
    following, guessed, row = generator.choose(sampling), [], 0
    while not _ends_text(file.handle, following):
        if not new:
            sampling.banned_count -= min(said.beams.begin_banned, sampling.banned_count)
        new.append(following)
        yield decode(file, tokens.ids + new, True)[given:]  # a blank in front of it shows behind the prompt only
        room = min(most - len(new), places - len(ids) - len(new) + 1)
        if room <= 0:
            return
        if row < len(guessed) and guessed[row] == following:
            row += 1
        else:
            if row < len(guessed):
                generator.keep(len(ids) + len(new) - 1)  # without the wrong guesses
            if guesses is not None:
                guesses.took(len(guessed), row)
                guessed, row = guesses.make(ids + new, room - 1, sampling), 0
            generator.run([following, *guessed], all_rows=bool(guessed))
        following = generator.choose(sampling, row)
