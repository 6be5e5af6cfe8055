"""Texts that a decoder goes on with, token by token: bantam_generate.h. Beams, constraints and encoder-decoders are the command's."""

from __future__ import annotations

import ctypes
import mmap
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
_next_token = _function("next_token", c_void_p, c_uint32, c_void_p, c_void_p)
_ends_text = _function("ends_text", c_void_p, c_int32)


class Generator:
    """One text that goes on: an arena with a context, which ends with it."""

    def __init__(self, file, context: int):
        options = options_of(_RUN, 1)
        options.max_context = context
        size = _lib.arena_bytes(file.handle, ctypes.byref(options))
        self.file = file
        self._arena = mmap.mmap(-1, max(size, 64), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._anchor = ctypes.c_char.from_buffer(self._arena)
        self.handle, fault = ctypes.c_void_p(), native.Fault()
        address, out = ctypes.addressof(self._anchor), ctypes.byref(self.handle)
        status = _lib.session_create(file.handle, ctypes.byref(options), address, size, out, ctypes.byref(fault))
        check(status, file.path, fault)

    def run(self, ids: list) -> None:
        """In pieces; the scores behind the last token stay."""
        for begin in range(0, len(ids), _RUN):
            part = ids[begin : begin + _RUN]
            numbers, batch = (c_int32 * len(part))(*part), _Batch()
            _batch_init(ctypes.byref(batch), ctypes.sizeof(batch))
            batch.ids, batch.tokens, batch.last_rows = ctypes.addressof(numbers), len(part), 1
            check(_run_batch(self.handle, ctypes.byref(batch)), self.file.path)


def generate(file, prompt: str, max_new_tokens: int | None, context: int | None, settings: dict):
    """Yields the text so far, at first the empty one, a token more each time."""
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
    generator, following = Generator(file, places), _Next()
    yield ""
    while True:
        generator.run(ids)
        check(_next_token(generator.handle, 0, ctypes.byref(sampling), ctypes.byref(following)), file.path)
        if _ends_text(file.handle, following.id):
            return
        if not new:
            sampling.banned_count -= min(said.beams.begin_banned, sampling.banned_count)
        new.append(following.id)
        ids = [following.id]
        yield decode(file, tokens.ids + new, True)[given:]  # a blank in front of it shows behind the prompt only
        if len(new) >= most or len(tokens.ids) + len(new) > places:
            return
