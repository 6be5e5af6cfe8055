"""Many mixed requests, in threads and through `bantam serve`: every answer is the first one that its text had, and memory stays what
it was. BANTAM_SOAK is the number of requests: 4,000 by default, 10^6 in `./dev test all`; 10^7 take 50 minutes."""

import concurrent.futures
import gc
import http.client
import json
import os
import random
import subprocess
import threading
import unittest

import bantam
from support import COMMAND, PackageTest, load, of_task, path

REQUESTS = int(os.environ.get("BANTAM_SOAK") or (10**6 if os.environ.get("BANTAM_EXHAUSTIVE") else 4000))
THREADS = 8
TASKS = ("classify", "tag", "joint", "answer", "embed", "fill", "generate")
MOST_GROWN = 8 << 20  # bytes: what allocators round up and Python keeps
WORDS = ("play", "some", "jazz", "zürich", "東京", "at", "7", "😀", "the", "the", "blue", "café", "[MASK]", "\0", "\t")

chance = random.Random(20261129)
TEXTS = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 40))) for _ in range(50)]


def resident(process="self"):
    """Bytes of memory that a process holds."""
    gc.collect()
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ask(model, text, how):
    """One request of the kind `how`; of one that the file refuses, why."""
    try:
        return answer(model, text, how)
    except (ValueError, bantam.BantamError) as error:
        return str(error)


def answer(model, text, how):
    if model.task == "generate":
        return model.generate(text, 1 + how % 4)
    if model.task == "embed":
        return [list(row) for row in model.encode([text] * (1 + how % 3))]
    if model.task == "answer":
        return model("where is it?", text)
    return model([text, TEXTS[how]], top_k=0) if how % 2 else model(text)


class Soak(PackageTest):
    def soak(self, request, memory):
        """request(number of the thread, random) in THREADS threads; memory() before and after the second half."""

        def work(thread, count):
            numbers = random.Random(thread)
            for _ in range(count):
                request(thread, numbers)

        with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(work, range(THREADS), [REQUESTS // 2 // THREADS] * THREADS))
            before = memory()
            list(threads.map(work, range(THREADS), [REQUESTS // 2 // THREADS] * THREADS))
        self.assertLess(memory() - before, MOST_GROWN)

    def test_sessions(self):
        names = [name for task in TASKS for name in of_task(task)[:1]]
        models = [load(name) for name in names]
        first = {}

        def request(thread, numbers):
            which, text, how = numbers.randrange(len(models)), numbers.randrange(len(TEXTS)), numbers.randrange(6)
            model = models[which]
            if numbers.random() < 0.01:  # a file is opened and let go beside the others
                model = bantam.load(model.path, mapped=bool(how % 2))
            said = ask(model, TEXTS[text], how)
            self.assertEqual(first.setdefault((which, text, how), said), said)

        for which, model in enumerate(models):
            for text in range(len(TEXTS)):
                for how in range(6):
                    first[which, text, how] = ask(model, TEXTS[text], how)
        together = threading.Barrier(THREADS)

        def meet(thread):  # as many sessions of each model as there will ever be
            for model in models * 5:
                together.wait()
                ask(model, " ".join(TEXTS), thread % 6)

        with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(meet, range(THREADS)))
        self.soak(request, resident)

    def test_server(self):
        with subprocess.Popen(
            [COMMAND, "serve", path("voice"), path("bert-tag"), path("sentence-mean"), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                port = int(server.stdout.readline().decode().rsplit(":", 1)[1])
                self.ask_server(server.pid, port)
            finally:
                server.kill()

    def ask_server(self, process, port):
        first, connections = {}, [None] * THREADS

        def request(thread, numbers):
            text = numbers.randrange(len(TEXTS))
            model = numbers.choice(("voice", "bert-tag", "sentence-mean", "absent"))
            kind = numbers.choice(("run", "classify", "embed", "nothing"))
            body = json.dumps({"model": model, "text": TEXTS[text]})
            if numbers.random() < 0.05:
                body = body[:-2]
            if connections[thread] is None or numbers.random() < 0.05:
                if connections[thread] is not None:
                    connections[thread].close()
                connections[thread] = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connections[thread].request("POST", f"/{kind}", body)
            reply = connections[thread].getresponse()
            said = reply.status, reply.read()
            if reply.getheader("Connection") == "close":
                connections[thread].close()
                connections[thread] = None
            self.assertEqual(first.setdefault((kind, body), said), said)

        self.soak(request, lambda: resident(process))
        self.assertGreaterEqual(len({code for code, _ in first.values()}), 3)
        for connection in connections:
            if connection is not None:
                connection.close()


if __name__ == "__main__":
    unittest.main()
