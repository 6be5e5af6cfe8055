"""Many inputs through sessions: packed into runs, by several threads where asked, answers in the order of the inputs.

A run takes inputs one after the other without padding, until its rows are full. Neither that nor the order changes a bit of an answer,
so inputs go by length: runs are then alike, and threads end at about the same time."""

from __future__ import annotations

from . import native
from .errors import BantamError
from .sessions import Sessions


def _chunks(data: list, batch_size: int):
    """Numbers of inputs, longest first, so many at a time."""
    order = sorted(range(len(data)), key=lambda i: (-sum(map(len, data[i])), i))
    for begin in range(0, len(order), batch_size):
        yield order[begin : begin + batch_size]


def _run_chunk(session, data: list, chunk: list, pairs: bool, done, empty) -> None:
    at = 0
    while at < len(chunk):
        part = chunk[at:]
        try:
            taken = session.run([text for i in part for text in data[i]], pairs)
        except BantamError as error:
            # The first of them finds no room, or the tokenizer no token in it.
            if error.status == native.INVALID_ARGUMENT and empty is not None:
                empty(part[0])
                at += 1
                continue
            if error.status == native.INVALID_ARGUMENT:
                raise BantamError(
                    error.status, f"{error.where}: text {part[0]}", "the tokenizer finds no token in it"
                ) from None
            raise BantamError(error.status, f"{error.where}: text {part[0]} or one behind it", error.fault) from None
        for k in range(taken):
            done(session, k, part[k])
        at += taken


def run(sessions: Sessions, data: list, pairs: bool, batch_size: int, threads: int, done, empty=None) -> None:
    """done(session, sequence, i) for every input i of `data` (tuples of UTF-8, two with `pairs`), by `threads` threads at once;
    empty(i) instead where no token is in it."""
    batch_size = max(1, min(batch_size, sessions.sequences))
    chunks = _chunks(data, batch_size)
    if threads <= 1 or len(data) <= batch_size:
        session = sessions.take()
        try:
            for chunk in chunks:
                _run_chunk(session, data, chunk, pairs, done, empty)
        finally:
            sessions.give(session)
        return
    import threading

    lock, failures = threading.Lock(), []

    def work():
        session = sessions.take()
        try:
            while not failures:
                with lock:
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                _run_chunk(session, data, chunk, pairs, done, empty)
        except BaseException as failure:  # raised by the caller's thread
            failures.append(failure)
        finally:
            sessions.give(session)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, -(-len(data) // batch_size)))]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except BaseException:
        failures.append(None)  # interrupted: workers stop behind their run
        raise
    if failures:
        raise failures[0]
