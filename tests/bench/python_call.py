"""Compares the cost of a call from Python with the same call from C: one short text, one label.

  PYTHONPATH=targets/python BANTAM_LIBRARY=build/python/libbantam.so python3 tests/bench/python_call.py MODEL.bantam

Both run on one session in turn, round after round, so that a drift of the machine hits both. Rounds are short, and of each side the least
counts, so that it holds on a busy machine. Wants a C compiler (CC), and a file for classification: the smaller, the
less its own time hides.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

import bantam

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compiled(folder):
    out = pathlib.Path(folder) / "python_call.so"
    library = pathlib.Path(bantam.native.library.path).resolve()
    source = ROOT / "tests" / "bench" / "python_call.c"
    flags = ["-O2", "-shared", "-fPIC", f"-I{ROOT / 'runtime' / 'include'}", f"-Wl,-rpath,{library.parent}"]
    subprocess.run([os.environ.get("CC", "cc"), *flags, source, library, "-o", out], check=True)
    function = ctypes.CDLL(str(out)).python_call_c
    function.restype = ctypes.c_longlong
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32]
    return function


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--text", default="play some jazz")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=20, help="of a round and a side")
    options = parser.parse_args()
    model = bantam.load(options.model)
    with tempfile.TemporaryDirectory() as folder:
        from_c = compiled(folder)
    text, data = options.text, options.text.encode()
    model(text)
    session = model._sessions.take()
    model._sessions.give(session)  # the same one for both
    python, c = [], []
    for _ in range(options.rounds):
        spent = from_c(session.handle, data, len(data), options.calls)
        assert spent >= 0, "a call from C failed"
        c.append(spent / options.calls)
        begin = time.perf_counter_ns()
        for _ in range(options.calls):
            model(text)
        python.append((time.perf_counter_ns() - begin) / options.calls)
    cost = min(python) - min(c)
    print(f"C {min(c) / 1e3:.2f} us, Python {min(python) / 1e3:.2f} us: a call costs {cost / 1e3:.2f} us more")


if __name__ == "__main__":
    main()
