"""One text of a file of plain labels, as quickly as it goes: what a call costs beside the forward pass is two calls of the library."""

from __future__ import annotations

import ctypes

from . import native
from .errors import check
from .sessions import Sessions
from .texts import utf8

_lib = native.library


def answerer(sessions: Sessions):
    """one(text): the best label of a text; None for files whose answers hold more."""
    file = sessions.file
    plain = file.task == "classify" and file.label_sets == file.task_sets == 1 and file.sets == 1
    if not plain or file.has_levels(0):
        return None
    run, classify = _lib.quick("session_run_texts"), _lib.quick("classify")
    names, path, free, make = file.names[0], file.path, sessions.free, sessions.make
    nothing = ctypes.c_void_p()  # offsets[0] is 0 for ever

    def prepared(session):
        """The arguments of both calls, made once a session; the best label is the first number behind them."""
        scores = (native.LabelScore * 1)()
        numbers = (ctypes.c_uint32 * 1).from_buffer(scores)
        values = (ctypes.c_float * 1).from_buffer(scores, 4)
        held = (session.handle, session.offsets, session.taken, scores, session.count, session.above, numbers, values)
        session.quick = held + (session._above,)
        return session.quick

    def one(text):
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = utf8(text)
        try:
            session = free.pop()
        except IndexError:
            session = make()
        try:
            handle, offsets, taken, scores, count, above, numbers, values, holds = session.quick or prepared(session)
            offsets[1] = len(data)
            status = run(handle, data, offsets, 1, 0, nothing, taken) or classify(handle, 0, scores, 1, count, above)
            if status:
                check(status, path)
            answer = {"label": names[numbers[0]], "score": values[0]}
            if holds.value == 0:
                answer["out_of_scope"] = True
            return answer
        finally:
            free.append(session)

    return one
