"""Compares the cost of fill in Python with scores of words for masks alone and for all tokens: python_fill.py FILE.bantam [TOKENS].

FILE fills in masks. Both ways take turns, so that another's load moves neither against the other; answers must be the same."""

import ctypes
import statistics
import sys
import time

import bantam
from bantam import native
from bantam.sessions import options_of

ROUNDS = 15


def arena(model, tokens, scored):
    options = options_of(tokens, 32, scored)
    return native.library.arena_bytes(model._file.handle, ctypes.byref(options))


def main():
    file, tokens = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 32
    masks, whole = bantam.load(file), bantam.load(file)
    whole._sessions = whole._sessions.of_all_rows()
    mask = "[MASK]" if "[CLS]" in masks.tokenize("a").tokens else "<mask>"
    text = mask + " the" * (tokens - len(masks.tokenize(mask).ids))
    assert masks(text) == whole(text)
    times = {masks: [], whole: []}
    for _ in range(ROUNDS):
        for model, taken in times.items():
            begin = time.perf_counter()
            model(text)
            taken.append(time.perf_counter() - begin)
    alone, every = (statistics.median(taken) for taken in times.values())
    room = masks._sessions.tokens
    bytes_alone, bytes_every = arena(masks, room, masks._sessions.scored), arena(masks, room, 0)
    print(
        f"{len(masks.tokenize(text).ids)} tokens, one mask: {1e3 * alone:.2f} ms for {1e3 * every:.2f} ({alone / every:.2f})"
    )
    print(f"arena: {bytes_alone / 1e6:.1f} MB for {bytes_every / 1e6:.1f} ({bytes_alone / bytes_every:.3f})")


if __name__ == "__main__":
    main()
