#!/usr/bin/env python3
"""Tests commands while the system fails them: every call that opens, reads, writes, maps, renames, flushes, cuts or closes a file,
starts a thread or allocates memory fails in turn (shim.c), or a sample of them without BANTAM_EXHAUSTIVE; processes are killed, files
are cut short, disks are full, stacks are small."""

import errno
import http.client
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))
from support import COMMAND, GOLDEN  # noqa: E402

BANTAM = str(pathlib.Path(COMMAND).resolve())
SHIM = str(pathlib.Path(os.environ.get("BANTAM_FAULTS", "build/tests/faults/libbantam_faults.so")).resolve())
EXHAUSTIVE = bool(os.environ.get("BANTAM_EXHAUSTIVE"))
# Faults of a command, and of these calls for memory; exhaustive: of all other calls each one.
SAMPLE, MEMORY_SAMPLE = (None, 400) if EXHAUSTIVE else (20, 8)
PRIMES = [p for p in range(2, 100000) if p < 4 or all(p % d for d in range(2, int(p**0.5) + 1))]
FOREVER = 10**9
CODES = (2, 3, 4, 5, 7)  # what the help says, without the quality gate, internal errors and interrupts
OUT_OF_SPACE = 7

# How calls of a kind fail: (errno or word of shim.c, for good?).
MANNERS = {
    "system": [(errno.ENOENT, True)],
    "open": [(errno.EMFILE, False), (errno.EIO, False)],
    "stat": [(errno.EIO, False)],
    "read": [(errno.EIO, False), ("short", False), ("end", False), (errno.EINTR, False)],
    "write": [(errno.ENOSPC, True), (errno.EIO, False), ("short", False), (errno.EINTR, False)],
    "map": [(errno.ENOMEM, False), ("torn", False)],
    "rename": [(errno.EACCES, False)],
    "sync": [(errno.EIO, False)],
    "cut": [(errno.ENOSPC, False)],
    "close": [(errno.EIO, False)],
    "folder": [(errno.ENOSPC, False)],
    "thread": [(errno.EAGAIN, False)],
    "memory": [(errno.ENOMEM, False), (errno.ENOMEM, True)],
}
HARMLESS = ("short", errno.EINTR)  # what a caller has to go on after


class Case:
    """A command line, where `out` is the folder of its output `target`: a file, or a folder (`whole`: that appears at once)."""

    def __init__(self, line, target, whole=True, before=None, skipped=()):
        self.arguments = line.split()
        self.target = target
        self.whole = whole
        self.before = before  # bytes that may lie there, of a file
        self.skipped = skipped  # kinds


OLD = b"what was there\n"
WRITERS = {
    "convert": Case("convert model -o out/a.bantam", "a.bantam", before=OLD),
    "convert pruned": Case("convert model -o out/a.bantam --prune 0.5 --parity none", "a.bantam", before=OLD),
    "convert onnx": Case("convert model.onnx -o out/a.bantam --parity none", "a.bantam", before=OLD),
    "label": Case("label model.bantam records.jsonl -o out/a.jsonl", "a.jsonl", before=OLD),
    "index": Case("index vectors.bantam texts.txt -o out/a.index --threads 2", "a.index", before=OLD),
    "index records": Case(
        "index vectors.bantam tickets.jsonl -o out/a.index --id id --keep-all --stride 2", "a.index", before=OLD
    ),
    "sign": Case("sign model.bantam --key test.key -o out/a.minisig", "a.minisig", before=OLD),
    "firmware": Case("firmware model.bantam --board cortex-m4 -o out/project", "project"),
    "firmware bin": Case("firmware model.bantam --board cortex-m4 --format bin -o out/a.bin", "a.bin", whole=False),
    "report": Case("report model.bantam -o out/a.html --no-times --source model", "a.html", before=OLD),
    "bundle": Case("bundle model.bantam -o out/program", "program", before=OLD),
    "student": Case("student model -o out/student --layers 1", "student"),
    # Where its path cannot be made relative, it is kept as it is.
    "sensitivity": Case("sensitivity model texts.txt -o out/a.json --limit 2", "a.json", before=OLD, skipped=("stat",)),
    "man": Case("man out/man", "man", whole=False),
}
READERS = {
    "run": Case("run model.bantam --file texts.txt --threads 2", None),
    "verify": Case("verify model.bantam --key test.pub", None),
    "inspect": Case("inspect model.bantam", None),
    "search": Case("search vectors.bantam texts.index words", None),
    "search records": Case("search vectors.bantam tickets.index words --where team=red --json", None),
}


def contents(folder):
    """{path below: bytes, or None of a folder}."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def is_temporary(path):
    """Is it, or does it lie in, what an output is called until it is complete?"""
    return re.search(r"(^|/)\.[^/]+\.\d+\.part(/|$)", path) is not None


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._scratch.cleanup)
        cls.folder = pathlib.Path(cls._scratch.name)
        cls.out = cls.folder / "out"
        shutil.copytree(GOLDEN / "bert-tag", cls.folder / "model")
        shutil.copy(TESTS / "golden" / "onnx" / "bert-classify-dynamic.onnx", cls.folder / "model.onnx")
        (cls.folder / "texts.txt").write_text("".join(f"text {i} of some words\n" for i in range(9)))
        (cls.folder / "records.jsonl").write_text("".join(f'{{"text": "hello {i} world"}}\n' for i in range(9)))
        tickets = [{"id": i, "text": "some words " * (1 + 9 * i), "team": "red"} for i in range(6)]
        (cls.folder / "tickets.jsonl").write_text("".join(json.dumps(one) + "\n" for one in tickets))
        for line in (
            "convert model -o model.bantam --parity none",
            f"convert {GOLDEN}/bert-encoder -o vectors.bantam --parity none --task embed",
            "sign --new-keys test",
            "sign model.bantam --key test.key",
            "index vectors.bantam texts.txt -o texts.index",
            "index vectors.bantam tickets.jsonl -o tickets.index --id id --keep-all --stride 2",
        ):
            done = cls.call(line.split())
            assert done.returncode == 0, done.stderr
        cls.sources = contents(cls.folder)
        cls.known = {}

    @classmethod
    def call(cls, arguments, fault=None, counts=None, **options):
        variables = {name: value for name, value in os.environ.items() if name != "BANTAM_ISA"}
        if fault or counts:
            variables["LD_PRELOAD"] = SHIM
        if fault:
            kind, how, first, last = fault
            variables["BANTAM_FAULT"] = f"{kind} {how} {first} {last} 1"
        if counts:
            variables["BANTAM_FAULT_COUNTS"] = str(counts)
        return subprocess.run(
            [BANTAM, *map(str, arguments)],
            cwd=cls.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
            **options,
        )

    def begin(self, case, old):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        if old and case.before is not None:
            (self.out / case.target).write_bytes(case.before)

    def undisturbed(self, name, case):
        """The command's messages and files, and how often it makes calls of each kind."""
        if name not in self.known:
            self.begin(case, False)
            counts = self.folder / "counts"
            done = self.call(case.arguments, counts=counts)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertNotEqual(case.target is None, any(self.out.iterdir()))
            kinds = dict(line.split() for line in counts.read_text().splitlines())
            self.known[name] = done.stdout, contents(self.out), {kind: int(count) for kind, count in kinds.items()}
        return self.known[name]

    def check(self, case, done, expected, old, fault):
        """Exit code, message and files after a fault."""
        message = done.stderr.decode(errors="replace")
        after = contents(self.out)
        said, complete = expected
        self.assertGreaterEqual(done.returncode, 0, message)
        if done.returncode == 0:
            self.assertEqual(after, complete)
            if fault is None or fault[0] != "system":  # without XNNPACK a reference's last digits differ
                self.assertEqual(done.stdout, said)
            return
        self.assertIn(done.returncode, CODES, message)
        self.assertRegex(message, r"^bantam: .+\n")
        self.assertNotIn("internal error", message)
        before = {case.target: case.before} if old and case.before is not None else {}
        # Without any memory a folder cannot be removed either.
        poor = fault is not None and fault[0] == "memory" and fault[3] == FOREVER
        resumable = {case.target + ".part", case.target + ".state"} if case.arguments[0] == "label" else set()
        for path, content in after.items():
            if (poor and is_temporary(path)) or path in resumable:
                continue
            self.assertIn(path, {**before, **complete}, f"left behind: {message}")
            self.assertIn(content, (before.get(path, b"?"), complete.get(path, b"?")), path)
        self.assertLessEqual(set(before), set(after))
        if case.whole and not resumable and case.target in after and after.get(case.target) != case.before:
            self.assertLessEqual(set(complete), set(after), "a part of the output")
        if f"{case.target}.part" in after:
            self.assertEqual(self.call([*case.arguments, "--resume"]).returncode, 0)
            self.assertEqual(contents(self.out), complete)

    def faults(self, counts, skipped):
        """Some of (kind, how, first, last), as far from each other as a prime."""
        memory, others = [], []
        for kind, manners in MANNERS.items():
            if kind in skipped:
                continue
            for how, for_good in manners:
                first = [1] if kind == "system" else range(1, counts[kind] + 1)
                some = [(kind, how, n, FOREVER if for_good else n) for n in first]
                (memory if kind == "memory" else others).extend(some)
        for all_of_them, sample in ((others, SAMPLE), (memory, MEMORY_SAMPLE)):
            wanted = len(all_of_them) // (sample or len(all_of_them) or 1)
            step = 1 if wanted <= 1 else next(p for p in PRIMES if p >= wanted)
            yield from all_of_them[step // 2 :: step]

    def go_through(self, cases):
        for name, case in cases.items():
            said, complete, counts = self.undisturbed(name, case)
            for at, fault in enumerate(self.faults(counts, case.skipped)):
                old = at % 2 == 1
                if fault[1] == "torn":
                    continue  # a test of its own: it takes the source away
                with self.subTest(command=name, fault=fault, old=old):
                    self.begin(case, old)
                    done = self.call(case.arguments, fault)
                    self.check(case, done, (said, complete), old, fault)
                    if fault[1] in HARMLESS:
                        self.assertEqual(done.returncode, 0, done.stderr.decode())
        now = contents(self.folder)
        for path, content in self.sources.items():
            self.assertEqual(now.get(path, b"?"), content, path)

    def test_commands_that_write(self):
        self.go_through(WRITERS)

    def test_commands_that_read(self):
        self.go_through(READERS)

    def test_keys_are_a_pair_or_an_error(self):
        case = Case("sign --new-keys out/new", "new.key", whole=False)
        _, _, counts = self.undisturbed("keys", case)
        for fault in self.faults(counts, ("memory",)):
            with self.subTest(fault=fault):
                self.begin(case, False)
                done = self.call(case.arguments, fault)
                self.assertIn(done.returncode, (0, *CODES), done.stderr)
                self.assertFalse(any(is_temporary(path) for path in contents(self.out)))
                if done.returncode == 0:
                    sign = ["sign", "model.bantam", "--key", "out/new.key", "-o", "out/s"]
                    self.assertEqual(self.call(sign).returncode, 0)
                    verify = ["verify", "model.bantam", "--key", "out/new.pub", "--signature", "out/s"]
                    self.assertEqual(self.call(verify).returncode, 0)

    def test_a_mapped_file_that_is_cut_short(self):
        for line, source in (
            ("convert out/s.onnx -o out/a.bantam --parity none", "model.onnx"),
            ("inspect out/s.onnx", "model.bantam"),
            ("sign out/s.onnx --key test.key -o out/a.minisig", "model.bantam"),
            ("search vectors.bantam out/s.onnx words", "texts.index"),
        ):
            counts = self.folder / "counts"
            self.begin(Case("", ""), False)
            shutil.copy(self.folder / source, self.out / "s.onnx")
            self.assertEqual(self.call(line.split(), counts=counts).returncode, 0, line)
            for number in range(1, int(re.search(r"map (\d+)", counts.read_text())[1]) + 1):
                with self.subTest(line=line, number=number):
                    self.begin(Case("", ""), False)
                    shutil.copy(self.folder / source, self.out / "s.onnx")
                    shutil.copy(self.sources_of("vectors.bantam"), self.folder / "vectors.bantam")
                    done = self.call(line.split(), ("map", "torn", number, number))
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    if done.returncode == 3:
                        self.assertIn(b"cut short while it was read", done.stderr)
                        self.assertEqual(list(contents(self.out)), ["s.onnx"])

    def sources_of(self, name):
        """A path with the bytes that `name` has had from the beginning."""
        path = self.folder / "kept"
        path.write_bytes(self.sources[name])
        return path

    def test_killed_at_any_time(self):
        chance = random.Random(1)
        for name, case in WRITERS.items():
            said, complete, _ = self.undisturbed(name, case)
            self.begin(case, False)
            began = time.monotonic()
            self.call(case.arguments)
            seconds = time.monotonic() - began
            for number in range(40 if EXHAUSTIVE else 2):
                with self.subTest(command=name, number=number):
                    old = number % 2 == 0
                    self.begin(case, old)
                    process = subprocess.Popen(
                        [BANTAM, *case.arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                    )
                    time.sleep(seconds * chance.random())
                    process.kill()
                    process.wait()
                    after = contents(self.out)
                    before = {case.target: case.before} if old and case.before is not None else {}
                    resumed = case.arguments[0] == "label" and f"{case.target}.part" in after
                    left = [path for path in after if is_temporary(path)]
                    for path, content in after.items():
                        if path in left or path in (case.target + ".part", case.target + ".state"):
                            continue
                        self.assertIn(content, (before.get(path, b"?"), complete.get(path, b"?")), path)
                    # The next run does it, and takes away what a killed one left more than a minute ago.
                    for path in left:
                        os.utime(self.out / path, (0, 0))
                    if case.target in after and after[case.target] is None and case.whole:
                        continue  # a folder that is complete
                    again = [*case.arguments, *(["--resume"] if resumed else [])]
                    done = self.call(again)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual({p: c for p, c in contents(self.out).items() if not is_temporary(p)}, complete)
                    self.assertEqual([p for p in contents(self.out) if is_temporary(p)], [])

    def test_two_writers_at_once(self):
        lines = [f"convert model -o out/a.bantam --parity none --weights {w}".split() for w in ("f32", "int8")]
        complete = []
        for line in lines:
            self.begin(Case("", ""), False)
            self.assertEqual(self.call(line).returncode, 0)
            complete.append((self.out / "a.bantam").read_bytes())
        for _ in range(20 if EXHAUSTIVE else 3):
            self.begin(Case("", ""), False)
            writers = [
                subprocess.Popen([BANTAM, *line], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for line in lines
            ]
            for writer in writers:
                _, message = writer.communicate(timeout=120)
                self.assertEqual(writer.returncode, 0, message)
            self.assertEqual(list(contents(self.out)), ["a.bantam"])
            self.assertIn((self.out / "a.bantam").read_bytes(), complete)

    def test_a_writer_of_another_container_has_the_same_process_id(self):
        case = WRITERS["sign"]
        self.begin(case, False)
        for number in range(100, 140):  # of a namespace of its own, the command's is low
            (self.out / f".a.minisig.{number}.part").write_bytes(b"being written")
        taken = contents(self.out)
        # Its process id is not known before it runs: a shell tells its own, and becomes the command.
        script = 'echo being > out/.a.minisig.$$.part; exec "$0" "$@"'
        done = subprocess.run(["sh", "-c", script, BANTAM, *case.arguments], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = contents(self.out)
        self.assertEqual(after.pop("a.minisig"), self.undisturbed("sign", case)[1]["a.minisig"])
        self.assertEqual(len(after), len(taken) + 1)

    def test_a_full_disk(self):
        for name, case in WRITERS.items():
            said, complete, _ = self.undisturbed(name, case)
            largest = max(len(content or b"") for content in complete.values())
            for most in (0, largest // 2, largest - 1):
                with self.subTest(command=name, most=most):
                    self.begin(case, most != 0)
                    limit = (most, most)
                    done = self.call(
                        case.arguments, preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
                    )
                    self.assertEqual(done.returncode, OUT_OF_SPACE, done.stderr)
                    self.check(case, done, (said, complete), most != 0, None)

    def test_a_small_stack(self):
        small = (256 << 10, 256 << 10)
        for name, case in {**WRITERS, **READERS}.items():
            with self.subTest(command=name):
                said, complete, _ = self.undisturbed(name, case)
                self.begin(case, False)
                done = self.call(case.arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, small))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((done.stdout, contents(self.out)), (said, complete))


class Server(unittest.TestCase):
    """`bantam serve` whose memory is refused again and again."""

    @classmethod
    def setUpClass(cls):
        cls._scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._scratch.cleanup)
        cls.folder = pathlib.Path(cls._scratch.name)
        cls.counts = cls.folder / "counts"
        cls.model = cls.folder / "model.bantam"
        line = ["convert", GOLDEN / "bert-tag", "-o", cls.model, "--parity", "none"]
        subprocess.run([BANTAM, *map(str, line)], check=True, capture_output=True)

    def start(self, fault=None):
        variables = {**os.environ, "LD_PRELOAD": SHIM, "BANTAM_FAULT_COUNTS": str(self.counts)}
        if fault:
            variables["BANTAM_FAULT"] = fault
        process = subprocess.Popen(
            [BANTAM, "serve", str(self.model), "--port", "0"],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.addCleanup(process.kill)
        line = process.stdout.readline().decode()
        found = re.search(r"http://[\d.]+:(\d+)", line)
        return process, int(found[1]) if found else None, line

    def stop(self, process):
        """Its exit code."""
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.stdout.close()
        return process.wait(timeout=60)

    def ask(self, port, times=1):
        """(status, body) of a request, or None where the connection was closed."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            body = json.dumps({"texts": ["hello world", "one more text"] * times})
            connection.request("POST", "/tag", body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, reply.read()
        except (http.client.HTTPException, ConnectionError):
            return None
        finally:
            connection.close()

    def memory_calls(self, requests):
        process, port, line = self.start()
        self.assertIsNotNone(port, line)
        answers = [self.ask(port) for _ in range(requests)]
        self.assertEqual(self.stop(process), 0)
        return int(re.search(r"memory (\d+)", self.counts.read_text())[1]), answers

    def test_requests_that_meet_no_memory(self):
        begin, _ = self.memory_calls(0)
        end, (answer,) = self.memory_calls(1)
        self.assertEqual(answer[0], 200, answer)
        # Rarer than steps of a request, each of which begins with the reserve (base/memory_reserve.h).
        self.assertLess(end - begin, 400)
        for every in range(401, 425) if EXHAUSTIVE else (401, 499):
            with self.subTest(every=every):
                # Refused from behind the start on, and not any more for the last requests.
                last = begin + 40 * (end - begin)
                process, port, line = self.start(f"memory {errno.ENOMEM} {begin + 1} {last} {every}")
                self.assertIsNotNone(port, line)
                answers = [self.ask(port) for _ in range(60)]
                right = 0  # one after the other
                for _ in range(3000):
                    right = right + 1 if self.ask(port) == answer else 0
                    if right == every:
                        break
                self.assertEqual(right, every, "the service does not come back")
                for got in answers:
                    if got is not None and got[0] != 200:
                        self.assertIn(got[0], (429, 500, 503, 507), got)
                    elif got is not None:
                        self.assertEqual(got, answer)
                self.assertEqual(self.stop(process), 0)

    def test_each_allocation_of_a_request(self):
        begin, _ = self.memory_calls(0)
        end, (answer,) = self.memory_calls(1)
        for number in range(begin + 1, end + 20, 1 if EXHAUSTIVE else 23):
            with self.subTest(number=number):
                process, port, line = self.start(f"memory {errno.ENOMEM} {number} {number} 1")
                self.assertIsNotNone(port, line)
                first = self.ask(port)
                self.assertTrue(first is None or first == answer or first[0] in (500, 503, 507), first)
                self.assertEqual(self.ask(port), answer)
                self.assertEqual(self.stop(process), 0)

    def test_a_process_without_more_memory(self):
        process, port, line = self.start()
        self.assertIsNotNone(port, line)
        answer, large = self.ask(port), self.ask(port, 300)
        self.assertEqual((answer[0], large[0], self.stop(process)), (200, 200, 0))
        refused = 0
        for more in range(40) if EXHAUSTIVE else (0, 3, 17):
            with self.subTest(more=more):
                process, port, line = self.start()
                size = re.search(r"VmSize:\s*(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())
                limit = (int(size[1]) << 10) + (more << 20)
                resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
                for times, right in ((1, answer), (300, large)) * 2:
                    got = self.ask(port, times)
                    refused += got != right
                    self.assertTrue(got is None or got == right or got[0] in (413, 503, 507), got)
                resource.prlimit(process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                self.assertEqual(self.ask(port), answer)
                self.assertEqual(self.ask(port, 300), large)
                self.assertEqual(self.stop(process), 0)
        self.assertGreater(refused, 0)

    def test_a_start_without_memory_or_threads(self):
        begin, _ = self.memory_calls(0)
        threads = int(re.search(r"thread (\d+)", self.counts.read_text())[1])
        self.assertGreater(threads, 0)
        faults = [f"thread {errno.EAGAIN} {n} {n} 1" for n in range(1, threads + 1)]
        faults += [f"memory {errno.ENOMEM} {n} {n} 1" for n in range(1, begin, begin // (300 if EXHAUSTIVE else 12))]
        for fault in faults:
            with self.subTest(fault=fault):
                process, port, line = self.start(fault)
                if port is not None:
                    self.assertIsNotNone(self.ask(port))
                    self.assertEqual(self.stop(process), 0)
                else:
                    self.assertIn("bantam: ", line)
                    process.stdout.close()
                    self.assertEqual(process.wait(timeout=60), OUT_OF_SPACE, line)


if __name__ == "__main__":
    unittest.main()
