"""Answers of a session's last run as Python's values, in the layouts of transformers' pipelines. Everything is decoded by the library;
here are names and dicts only."""

from __future__ import annotations

import array
import ctypes

from . import native
from .errors import check
from .texts import Positions

_lib = native.library
_MOST_LEVELS = 16  # bantam::kMostLevels


class Item:
    """One input on its way: its texts, their UTF-8, and what the caller wants of it."""

    __slots__ = ("first", "second", "data", "context", "aggregation")

    def __init__(self, first, second, data, context=b"", aggregation=native.AGGREGATIONS[None]):
        self.first, self.second, self.data, self.context = first, second, data, context
        self.aggregation = aggregation


def _labels(session, sequence: int, top, label_set: int):
    """The best label, or a list of the `top` best (0: all); of a multi-label file those that hold, or the `top` best."""
    file = session.file
    every = len(file.names[label_set]) if label_set < file.sets else 0
    every = every or session.label_logits(sequence, label_set)[1]
    levels = file.has_levels(label_set) and file.task != "multi_label"
    holding = top is None and file.task == "multi_label"
    capacity = _MOST_LEVELS if levels else every if top == 0 or holding else min(top or 1, every)
    if file.task == "regress" and top is None:
        capacity = every
    found, holds = session.labels(sequence, label_set, max(capacity, 1))
    answers = [{"label": file.label(label_set, label), "score": score} for label, score in found]
    if holding:
        return answers[:holds]
    if top is not None:
        return answers
    if file.task == "regress":
        return answers if len(answers) > 1 else answers[0]
    best = answers[min(holds, len(answers)) - 1 if levels and holds else 0]
    if holds == 0:
        best["out_of_scope"] = True
    return best


def _spans(positions: Positions, entities: list, names=None) -> list:
    return [
        {"entity": names[label] if names else name, "score": score, **positions.span(begin, end)}
        for name, label, begin, end, score in entities
    ]


def _words(session, sequence: int, item: Item, label_set: int) -> list:
    buffer = ctypes.c_char_p(item.data)
    text = native.Text(ctypes.cast(buffer, ctypes.c_void_p), len(item.data))

    def ask(found, capacity, count):
        return _lib.tag_as(session.handle, sequence, label_set, item.aggregation, text, found, capacity, count)

    return _spans(Positions(item.first, item.data), session.entities(ask))


def _word_set(file) -> int:
    return 1 if file.task == "joint" else 0


def _further(session, sequence: int, item: Item, top, answer):
    """The answer, with what label sets beyond the task's own say: {"labels" or "entities": answer, "sets": {...}}."""
    file = session.file
    if file.label_sets <= file.task_sets:
        return answer
    sets = {}
    for label_set in range(file.task_sets, file.label_sets):
        words = file.of_words(label_set)
        one = _words(session, sequence, item, label_set) if words else _labels(session, sequence, top, label_set)
        sets[file.set_name(label_set)] = one
    if isinstance(answer, dict):
        return {**answer, "sets": sets}
    return {"entities" if file.task == "tag" else "labels": answer, "sets": sets}


def labelled(session, sequence: int, item: Item, top):
    return _further(session, sequence, item, top, _labels(session, sequence, top, 0))


def tagged(session, sequence: int, item: Item, top):
    return _further(session, sequence, item, top, _words(session, sequence, item, 0))


def joint(session, sequence: int, item: Item, top):
    answer = {
        "intent": _labels(session, sequence, top, 0),
        "slots": _words(session, sequence, item, _word_set(session.file)),
    }
    return _further(session, sequence, item, top, answer)


def answered(session, sequence: int, item: Item, top):
    found = native.Answer()
    check(_lib.find_answer(session.handle, sequence, ctypes.byref(found)), session.file.path)
    context = item.second if item.second is not None else item.first
    positions = Positions(context, item.context if item.second is not None else item.data)
    span = positions.span(found.span.begin, found.span.end) if found.answerable else positions.span(0, 0)
    return {"answer": span.pop("word"), "score": found.score, **span, "answerable": bool(found.answerable)}


def _candidates(session, ask, top):
    most = top if top is not None else 5
    capacity = most or _lib.model_vocabulary(session.file.handle)
    found = (native.Candidate * capacity)()
    check(ask(found, capacity, session.count), session.file.path)
    return [(found[i].id, found[i].score) for i in range(session.count.contents.value)]


def _candidate(file, text: bytes, begin: int, end: int, token: int, score: float) -> dict:
    piece = _lib.token_piece(file.handle, token)
    filled = ctypes.string_at(piece.data, piece.size) if piece.data else b""
    return {
        "token": token,
        "token_str": _lib.token(file.handle, token).text(),
        "score": score,
        "sequence": (text[:begin] + filled + text[end:]).decode("utf-8", "replace"),
    }


def filled(session, sequence: int, item: Item, top):
    """Candidates of the mask, or a list of them for each of several; of none a ValueError."""
    file, mask_id = session.file, _lib.mask_id(session.file.handle)
    encoded = _lib.session_sequence(session.handle, sequence)
    masks = []
    for row in range(encoded.row_count):
        if encoded.ids[row] != mask_id:
            continue
        number = len(masks)

        def ask(found, capacity, count):
            return _lib.fill(session.handle, sequence, number, found, capacity, count)

        span = encoded.offsets[row]
        found = _candidates(session, ask, top)
        masks.append([_candidate(file, item.data, span.begin, span.end, *one) for one in found])
    if not masks:
        mask = _lib.token(file.handle, mask_id).text() if mask_id >= 0 else "[MASK]"
        raise ValueError(
            f"there is no {mask} in a text, or behind what was read of it: write {mask} where a word is missing"
        )
    return masks[0] if len(masks) == 1 else masks


def next_words(session, sequence: int, item: Item, top):
    def ask(found, capacity, count):
        return _lib.next_words(session.handle, sequence, found, capacity, count)

    end = len(item.data)
    return [_candidate(session.file, item.data, end, end, *one) for one in _candidates(session, ask, top)]


def follows(session, sequence: int, item: Item, top):
    probability = ctypes.c_float()
    check(_lib.next_sentence(session.handle, sequence, ctypes.byref(probability)), session.file.path)
    yes = probability.value
    no = ctypes.c_float(1.0 - yes).value
    pairs = sorted([(0, yes), (1, no)], key=lambda pair: (-pair[1], pair[0]))
    answers = [{"label": session.file.label(0, label), "score": score} for label, score in pairs]
    return answers[0] if top is None else answers[: top or 2]


def pretraining(session, sequence: int, item: Item, top):
    return follows(session, sequence, item, top) if item.second is not None else filled(session, sequence, item, top)


def vector(session, sequence: int, item: Item, top):
    data, width = session.vector(sequence)
    return array.array("f", ctypes.string_at(data, 4 * width))


def weighted(session, sequence: int, item: Item, top):
    """Terms of a sparse embedding whose weight is not 0, greatest first."""
    found = session.terms(sequence)[: top or None]
    return [{"term": _lib.token(session.file.handle, t).text(), "weight": w, "token": t} for t, w in found]


DECODERS = {
    "classify": labelled,
    "multi_label": labelled,
    "regress": labelled,
    "tag": tagged,
    "joint": joint,
    "answer": answered,
    "embed": vector,
    "sparse_embed": weighted,
    "fill": filled,
    "next_sentence": follows,
    "pretraining": pretraining,
    "generate": next_words,
}
TAKES_SECOND = {"classify", "multi_label", "regress", "answer", "fill", "next_sentence", "pretraining", "choose"}
NEEDS_SECOND = {"answer", "next_sentence"}
