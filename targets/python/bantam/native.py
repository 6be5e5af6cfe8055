"""libbantam's C API (bantam.h) by ctypes: its structures as they are in the header, and its functions with their arguments.

Every call releases the interpreter's lock while C works. Nothing else in the package talks to the library."""

from __future__ import annotations

import ctypes
import mmap
import os
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_float,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

ALL_SEQUENCES = 0xFFFFFFFF

# bantam_status: those that the package itself tells apart.
OK, INVALID_ARGUMENT, NOT_A_MODEL, TRUNCATED = 0, 1, 4, 6
TOO_MANY_TOKENS = 10
INDEX_OUT_OF_RANGE, NO_TOKENIZER, NO_SUCH_TASK, BUFFER_TOO_SMALL = 12, 14, 15, 17
STATUS_NAMES = (
    "ok invalid_argument misaligned arena_too_small not_a_model version_too_new truncated corrupt unsupported"
    " op_not_linked too_many_tokens too_many_sequences index_out_of_range non_finite no_tokenizer no_such_task"
    " text_too_long buffer_too_small not_run unavailable io internal no_token_allowed"
).split()

# bantam_task, by number.
TASKS = (
    "none classify multi_label regress choose tag joint answer embed fill next_sentence pretraining token_vectors"
    " generate find sparse_embed"
).split()

# bantam_aggregation, by name; None: the file's.
AGGREGATIONS = {"words": 0, "none": 1, "simple": 2, "first": 3, "average": 4, "max": 5, None: 255}


class Model(Structure):
    _fields_ = [("opaque", c_uint64 * 16)]


class Fault(Structure):
    _fields_ = [("what", c_char_p), ("name", c_void_p), ("name_size", c_uint32), ("index", c_uint32)]


class Text(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def text(self) -> str:
        return ctypes.string_at(self.data, self.size).decode("utf-8", "replace") if self.data else ""


class SessionOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("max_tokens", c_uint32),
        ("max_sequences", c_uint32),
        ("workers", c_uint32),
        ("tile_rows", c_uint32),
        ("isa", c_uint8),
        ("f32_attention", c_uint8),
        ("parallel", c_void_p),
        ("block_rows", c_uint32),
        ("max_context", c_uint32),
        ("max_source", c_uint32),
        ("max_sources", c_uint32),
        ("scored_rows", c_uint32),
    ]


class EncodeOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("max_tokens", c_uint32),
        ("skip", c_uint32),
        ("add_special", c_uint8),
        ("truncation", c_uint8),
    ]


class EncodeResult(Structure):
    _fields_ = [("count", c_uint32), ("truncated", c_uint32), ("content", c_uint32 * 2), ("kept", c_uint32 * 2)]


class Offset(Structure):
    _fields_ = [("begin", c_uint32), ("end", c_uint32)]


class Sequence(Structure):
    _fields_ = [
        ("row_begin", c_uint32),
        ("row_count", c_uint32),
        ("ids", POINTER(c_int32)),
        ("segments", POINTER(c_int32)),
        ("offsets", POINTER(Offset)),
        ("sequences", POINTER(c_uint8)),
        ("result", EncodeResult),
    ]


class Output(Structure):
    _fields_ = [
        ("name", Text),
        ("data", c_void_p),
        ("rows", c_uint32),
        ("width", c_uint32),
        ("stride", c_size_t),
        ("per_token", c_uint8),
        ("squeeze", c_uint8),
    ]


class TokenBuffer(Structure):
    _fields_ = [
        ("ids", c_void_p),
        ("segments", c_void_p),
        ("offsets", c_void_p),
        ("sequences", c_void_p),
        ("capacity", c_uint32),
    ]


class LabelScore(Structure):
    _fields_ = [("label", c_uint32), ("score", c_float)]


class Entity(Structure):
    _fields_ = [("label", c_uint32), ("name", Text), ("span", Offset), ("score", c_float)]


class FindOptions(Structure):
    _fields_ = [("size", c_size_t), ("threshold", c_float), ("nested", c_uint8), ("several", c_uint8)]


class Answer(Structure):
    _fields_ = [
        ("span", Offset),
        ("score", c_float),
        ("logit", c_float),
        ("no_answer", c_float),
        ("mass", c_float),
        ("answerable", c_uint32),
    ]


class Candidate(Structure):
    _fields_ = [("id", c_int32), ("score", c_float)]


_PROTOTYPES = {
    "status_message": (c_char_p, c_int),
    "model_open": (c_int, c_void_p, c_size_t, c_void_p, c_void_p),
    "model_task": (c_int, c_void_p),
    "model_name": (Text, c_void_p),
    "model_tool": (Text, c_void_p),
    "model_licence": (Text, c_void_p),
    "model_prompt": (Text, c_void_p),
    "model_role_prompt": (Text, c_void_p, c_int),
    "model_property": (Text, c_void_p, Text),
    "model_max_sequence": (c_uint32, c_void_p),
    "model_max_tokens": (c_uint32, c_void_p),
    "model_vocabulary": (c_uint32, c_void_p),
    "model_has_tokenizer": (c_int, c_void_p),
    "model_feature_width": (c_uint32, c_void_p),
    "model_output_count": (c_uint32, c_void_p),
    "model_label_set_count": (c_uint32, c_void_p),
    "model_label_count": (c_uint32, c_void_p, c_uint32),
    "model_label": (Text, c_void_p, c_uint32, c_uint32),
    "model_label_set_name": (Text, c_void_p, c_uint32),
    "model_label_above": (c_int32, c_void_p, c_uint32, c_uint32),
    "session_options_init_sized": (None, c_void_p, c_size_t),
    "arena_bytes": (c_size_t, c_void_p, c_void_p),
    "session_create": (c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p),
    "encode_options_init_sized": (None, c_void_p, c_size_t),
    "session_clear": (None, c_void_p),
    "session_add_labelled": (c_int, c_void_p, Text, c_void_p, c_uint32, c_void_p),
    "session_run_ids": (c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32),
    "session_run": (c_int, c_void_p),
    "session_run_texts": (c_int, c_void_p, c_char_p, c_void_p, c_uint32, c_int, c_void_p, c_void_p),
    "session_sequence": (Sequence, c_void_p, c_uint32),
    "session_output": (c_int, c_void_p, c_uint32, c_uint32, c_void_p),
    "encode": (c_int, c_void_p, Text, Text, c_void_p, c_void_p, c_void_p),
    "token": (Text, c_void_p, c_uint32),
    "token_piece": (Text, c_void_p, c_uint32),
    "token_id": (c_int32, c_void_p, Text),
    "mask_id": (c_int32, c_void_p),
    "decode": (c_int, c_void_p, c_void_p, c_size_t, c_int, c_void_p, c_size_t, c_void_p),
    "classify_set": (c_int, c_void_p, c_uint32, c_uint32, c_void_p, c_uint32, c_void_p, c_void_p),
    "task_label_sets": (c_uint32, c_void_p),
    "label_logits": (c_int, c_void_p, c_uint32, c_uint32, c_void_p, c_void_p),
    "choose": (c_int, c_void_p, c_uint32, c_uint32, c_void_p, c_uint32, c_void_p),
    "tag": (c_int, c_void_p, c_uint32, Text, c_void_p, c_uint32, c_void_p),
    "tag_as": (c_int, c_void_p, c_uint32, c_uint32, c_int, Text, c_void_p, c_uint32, c_void_p),
    "find_options_init_sized": (None, c_void_p, c_size_t),
    "find": (c_int, c_void_p, c_uint32, c_void_p, c_void_p, c_uint32, c_void_p),
    "find_answer": (c_int, c_void_p, c_uint32, c_void_p),
    "embed": (c_int, c_void_p, c_uint32, c_void_p, c_void_p),
    "terms": (c_int, c_void_p, c_uint32, c_void_p, c_uint32, c_void_p),
    "fill": (c_int, c_void_p, c_uint32, c_uint32, c_void_p, c_uint32, c_void_p),
    "next_words": (c_int, c_void_p, c_uint32, c_void_p, c_uint32, c_void_p),
    "next_sentence": (c_int, c_void_p, c_uint32, c_void_p),
}


class Library:
    """The functions of bantam.h without their prefix: library.model_open is bantam_model_open."""

    def __init__(self, path: str):
        self.path = path
        self.shared = ctypes.CDLL(path)
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = self.shared["bantam_" + name]
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def quick(self, name: str):
        """A function that checks no argument, for calls whose time counts: pointers are c_void_p or arrays, numbers are ints of
        at most 31 bits, and the result is an int."""
        return self.shared["bantam_" + name]


_NAME = "bantam.dll" if os.name == "nt" else "libbantam.so"
library = Library(os.environ.get("BANTAM_LIBRARY") or os.path.join(os.path.dirname(__file__), _NAME))


def own_memory(size: int) -> mmap.mmap:
    """Memory of this process alone, which begins at a page."""
    size = max(size, 64)
    if os.name == "nt":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
