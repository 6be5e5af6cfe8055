"""The server: paths, answers with the bits of the command, limits, framing that is refused, its end."""

import base64
import http.client
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from support import COMMAND, SOURCE, CommandTest, bantam, model


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


SANITIZED = b"Sanitize" in bantam("version").stdout


class Serving(CommandTest):
    def serve(self, *arguments, memory=None, environment=None):
        """`memory`: bytes of address space."""
        limits = None if memory is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        process = subprocess.Popen(
            [COMMAND, "serve", *arguments, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            preexec_fn=limits,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stdout.readline().decode()
        self.assertRegex(line, r"^Listening on http://127\.0\.0\.1:\d+\n$")
        self.port = int(line.rsplit(":", 1)[1])
        return process

    def ask(self, method, path, body=None, connection=None, headers=None):
        """Code, headers and body; a body that is not bytes is JSON."""
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.addCleanup(connection.close)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, headers or {})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()

    def good(self, path, body, **options):
        code, _, answer = self.ask("POST", path, body, **options)
        self.assertEqual(code, 200, answer)
        return answer

    def refused(self, code, path, body, *says):
        found, headers, answer = self.ask("POST", path, body)
        self.assertEqual(found, code, answer)
        self.assertEqual(headers["Content-Type"], "application/json")
        error = json.loads(answer)["error"]
        self.assertEqual(error["code"], code)
        for words in says:
            self.assertIn(words, error["message"])

    def memory(self, process, name="VmHWM"):
        """Bytes that a process has held at most, or holds ("VmRSS")."""
        with open(f"/proc/{process.pid}/status") as status:
            return int(re.search(name + r":\s+(\d+)", status.read())[1]) * 1024

    def raw(self, request):
        """All that comes back for these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(request)
            back = b""
            while data := connection.recv(65536):
                back += data
        return back


class Answers(Serving):
    def test_answers_are_those_of_the_command(self):
        self.serve(
            model("voice"),
            model("bert-tag"),
            model("bert-answer"),
            model("bert-fill"),
            model("colbert"),
            model("splade"),
        )
        text = "play some jazz by miles davis"
        for command, name, more in (
            ("run", "voice", []),
            ("classify", "voice", []),
            ("tag", "voice", ["--offsets", "chars"]),
            ("tag", "bert-tag", []),
            ("run", "bert-tag", []),
            ("embed", "colbert", []),
        ):
            said = self.ok(command, model(name), text, "--json", *more)
            body = {"text": text, **({"offsets": "chars"} if more else {})}
            self.assertEqual(self.good(f"/models/{name}/{command}", body), said)
            self.assertEqual(self.good(f"/{command}", {**body, "model": name}), said)
        said = self.ok("fill", model("bert-fill"), "ba [MASK] di", "--json")
        self.assertEqual(self.good("/fill", {"text": "ba [MASK] di"}), said)
        said = self.ok("answer", model("bert-answer"), "--question", "ba", "--context", "ko lan di", "--json")
        self.assertEqual(self.good("/answer", {"question": "ba", "context": "ko lan di"}), said)
        said = self.ok("rank", model("colbert"), "ba", "ko", "lan ba", "--top", "1", "--json")
        self.assertEqual(self.good("/rank", {"query": "ba", "texts": ["ko", "lan ba"], "top": 1}), said)
        ranked = self.ok("rank", model("splade"), "ba", "ko", "lan ba", "--top", "1", "--json")
        body = {"query": "ba", "texts": ["ko", "lan ba"], "top": 1, "model": "splade"}
        self.assertEqual(self.good("/rank", body), ranked)
        texts = [f"play {'jazz ' * (i % 7)}" for i in range(200)]
        lines = [json.loads(line) for line in self.ok("run", model("voice"), *texts, "--json").splitlines()]
        self.assertEqual(json.loads(self.good("/run", {"texts": texts, "model": "voice"}))["answers"], lines)

    def make_index(self, name, records, *options):
        data, index = self.directory / f"{name}.jsonl", self.directory / f"{name}.index"
        data.write_text("".join(json.dumps(one) + "\n" for one in records))
        self.ok("index", model("sentence-mean"), data, "-o", index, *options)
        return index

    def test_search(self):
        teams = [
            {"id": f"r{i}", "text": "ba di ko lu".split()[i % 4] + " na" * i, "team": "ab"[i % 2]} for i in range(9)
        ]
        tickets = self.make_index("tickets", teams, "--id", "id", "--keep", "team")
        short = self.make_index("short", teams[:5], "--truncate-dim", "5")
        terms = self.directory / "terms.index"
        self.ok("index", model("splade"), self.directory / "tickets.jsonl", "-o", terms)
        models = [model(name) for name in ("voice", "sentence-mean", "splade")]
        self.serve(*models, "--index", tickets, "--index", short, "--index", terms)

        def said(name, index, *options):
            return self.ok("search", model(name), index, *options, "--json")

        mean = "sentence-mean"
        self.assertEqual(self.good("/search", {"query": "ba di"}), said(mean, tickets, "ba di"))
        body = {"query": "ko", "top": 3, "where": {"team": "a"}, "index": "tickets"}
        self.assertEqual(self.good("/search", body), said(mean, tickets, "ko", "--top", "3", "--where", "team=a"))
        self.assertEqual(self.good("/search", {"query": "ko", "index": "short"}), said(mean, short, "ko"))
        self.assertEqual(self.good("/models/splade/search", {"query": "ba di"}), said("splade", terms, "ba di"))
        answers = json.loads(self.good("/search", {"queries": ["ko", "lu"], "top": 2}))["answers"]
        wanted = said(mean, tickets, "ko", "lu", "--top", "2").splitlines()
        self.assertEqual(answers, [json.loads(line) for line in wanted])
        for body, *says in (
            ({}, '"query": missing'),
            ({"query": "a", "queries": ["b"]}, "goes without"),
            ({"query": 7}, '"query": wanted a string'),
            ({"query": "ba", "top": 0}, '"top"'),
            ({"query": "ba", "top": 10001}, "from 1 to 10000"),
            ({"query": "ba", "where": ["team"]}, '"where": wanted an object'),
            ({"query": "ba", "where": {"team": None}}, '"where": "team"'),
            ({"query": "ba", "where": {"tean": "a"}}, 'no field "tean"; it has team'),
            ({"query": "ba", "where": {"team": "a"}, "index": "short"}, "the index has no fields"),
            ({"query": "ba", "index": "none"}, '"index": "none"', "tickets (of sentence-mean)"),
            ({"query": "ba", "model": "voice"}, '"model"', 'no such index of "voice"'),
            ({"query": "ba", "wher": {}}, "wher"),
        ):
            self.refused(400, "/search", body, *says)
        self.assertIn(b"tickets  (of sentence-mean)", self.ask("GET", "/")[2])
        self.assertEqual(self.ask("GET", "/search")[0], 405)

    def test_indexes_that_are_not_served(self):
        self.serve(model("voice"))
        self.refused(400, "/search", {"query": "ba"}, "--index")
        index = self.make_index("texts", [{"text": "ba"}])
        (self.directory / "more").mkdir()
        twice = self.directory / "more" / "texts.index"
        twice.write_bytes(index.read_bytes())
        broken = self.directory / "broken.index"
        broken.write_bytes(index.read_bytes()[:-40])
        for code, words, *arguments in (
            (4, "none of the files made it; serve the one that did too, sentence-mean.bantam", model("voice"), index),
            (3, "none.index", model("sentence-mean"), self.directory / "none.index"),
            (4, "not a sound search index", model("sentence-mean"), broken),
            (2, "another index is called texts", model("sentence-mean"), index, "--index", twice),
        ):
            done = bantam("serve", arguments[0], "--index", *arguments[1:], "--port", "0")
            self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
            self.assertIn(words, done.stderr.decode())

    def test_many_at_once_have_the_bits_of_each_alone(self):
        self.serve(model("voice"))
        texts = [f"wake me at {i} {'or so ' * (i % 9)}" for i in range(24)]
        alone = self.ok("run", model("voice"), *texts, "--json").splitlines(keepends=True)
        wrong = []

        def client(first):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            for i in range(60):
                k = (first + i) % len(texts)
                _, _, answer = self.ask("POST", "/run", {"text": texts[k]}, connection)
                if answer != alone[k]:
                    wrong.append(answer)
            connection.close()

        threads = [threading.Thread(target=client, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        metrics = self.ask("GET", "/metrics")[2].decode()
        self.assertIn('bantam_requests_total{endpoint="/run",code="200"} 960\n', metrics)
        self.assertIn("bantam_texts_total 960\n", metrics)
        self.assertIn("bantam_request_seconds_count 960\n", metrics)
        self.assertIn('bantam_request_seconds_bucket{le="+Inf"} 960\n', metrics)
        self.assertIn("bantam_waiting_texts 0\n", metrics)
        for line in metrics.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+)$')

    def test_embeddings_as_openai_has_them(self):
        self.serve(model("sentence-mean"))
        texts = ["ba ko", "lan"]
        lines = self.ok("embed", model("sentence-mean"), *texts, "--json").splitlines()
        vectors = [json.loads(line)["embedding"] for line in lines]
        answer = json.loads(self.good("/v1/embeddings", {"input": texts, "model": "sentence-mean", "user": "me"}))
        self.assertEqual((answer["object"], answer["model"]), ("list", "sentence-mean"))
        self.assertEqual([one["embedding"] for one in answer["data"]], vectors)
        self.assertEqual([one["index"] for one in answer["data"]], [0, 1])
        ids = [
            json.loads(line)["ids"]
            for line in self.ok("tokenize", model("sentence-mean"), *texts, "--json").splitlines()
        ]
        self.assertEqual(answer["usage"]["total_tokens"], sum(map(len, ids)))
        answer = json.loads(self.good("/v1/embeddings", {"input": texts[0], "encoding_format": "base64"}))
        data = base64.b64decode(answer["data"][0]["embedding"], validate=True)
        self.assertEqual(data, struct.pack(f"<{len(vectors[0])}f", *vectors[0]))
        self.assertEqual(json.loads(self.ask("GET", "/v1/models")[2])["data"][0]["id"], "sentence-mean")
        short = json.loads(self.good("/v1/embeddings", {"input": texts[0], "dimensions": 3}))
        whole = json.loads(self.good("/v1/embeddings", {"input": texts[0]}))
        self.assertEqual(short["data"][0]["embedding"], whole["data"][0]["embedding"][:3])
        asked = json.loads(self.good("/v1/embeddings", {"input": texts[0], "prompt_name": "query"}))
        self.assertNotEqual(asked["data"], whole["data"])  # the model has a prompt for queries
        plain = json.loads(self.good("/v1/embeddings", {"input": "find: " + texts[0]}))
        self.assertEqual(asked["data"], plain["data"])
        for wanted in (0, -1, 100000, "3"):
            self.refused(400, "/v1/embeddings", {"input": "ba", "dimensions": wanted}, '"dimensions"')
        self.refused(400, "/v1/embeddings", {"input": "ba", "prompt_name": "passage"}, "query or document")
        self.refused(400, "/v1/embeddings", {"input": [1, "a"]}, '"input"', "tokens")
        self.refused(400, "/v1/embeddings", {"input": [1, 1 << 40]}, '"input"', "vocabulary")
        self.refused(400, "/v1/embeddings", {"input": [[1], []]}, '"input"', "tokens")
        self.refused(400, "/v1/embeddings", {"input": {"a": 1}}, '"input"', "string")
        self.refused(400, "/v1/embeddings", {"input": []}, '"input"')
        self.refused(400, "/v1/embeddings", {"input": "ba", "encoding_format": "hex"}, "float or base64")
        self.refused(404, "/v1/embeddings", {"input": "ba", "model": "gpt"}, '"gpt"', "sentence-mean")

    def test_tokens_have_the_vectors_of_their_texts(self):
        self.serve(model("sentence-mean"))
        texts = ["ba di", "ko", "ba ba lan"]
        ids = [self.line("tokenize", model("sentence-mean"), text, "--json")["ids"] for text in texts]
        for more in ({}, {"dimensions": 3}, {"encoding_format": "base64"}):
            wanted = self.good("/v1/embeddings", {"input": texts, **more})
            self.assertEqual(self.good("/v1/embeddings", {"input": ids, **more}), wanted)
        one = self.good("/v1/embeddings", {"input": ids[0]})
        self.assertEqual(one, self.good("/v1/embeddings", {"input": texts[0]}))
        self.refused(400, "/v1/embeddings", {"input": ids, "prompt_name": "query"}, "prompt_name")
        self.refused(400, "/v1/embeddings", {"input": [1] * 60000}, "at most")

    def test_forms_of_text_embeddings_inference_and_jina(self):
        self.serve(model("sentence-mean"), model("colbert"))
        texts = ["ba di", "ko"]
        wanted = [self.line("embed", model("sentence-mean"), text, "--json")["embedding"] for text in texts]
        asked = {"inputs": texts, "truncate": True, "normalize": True, "model": "sentence-mean"}
        self.assertEqual(json.loads(self.good("/embed", asked)), wanted)
        self.assertEqual(
            json.loads(self.good("/embed", {**asked, "inputs": texts[0], "dimensions": 2})), [wanted[0][:2]]
        )
        for field, wrong in (("truncate", False), ("normalize", False), ("truncation_direction", "Left")):
            self.refused(400, "/embed", {**asked, field: wrong}, f'"{field}"')
        self.refused(400, "/embed", {**asked, "model": "colbert"}, "colbert")
        texts = ["ko", "lan ba", "di"]
        ranked = json.loads(self.good("/rank", {"query": "ba", "texts": texts}))["found"]
        best = [texts.index(one["text"]) for one in ranked]
        body = {"query": "ba", "texts": texts, "return_text": True}
        found = json.loads(self.good("/rerank", body))
        self.assertEqual([(one["index"], one["text"]) for one in found], [(i, texts[i]) for i in best])
        self.assertEqual([one["score"] for one in found], [one["score"] for one in ranked])
        self.refused(400, "/rerank", {**body, "raw_scores": True}, '"raw_scores"')
        body = {"query": "ba", "documents": [texts[0], {"text": texts[1]}, texts[2]], "top_n": 2}
        for path in ("/rerank", "/v1/rerank"):
            found = json.loads(self.good(path, body))
            self.assertEqual(found["model"], "colbert")
            self.assertEqual([one["index"] for one in found["results"]], best[:2])
            self.assertEqual([one["document"]["text"] for one in found["results"]], [texts[i] for i in best[:2]])
            self.assertEqual([one["relevance_score"] for one in found["results"]], [one["score"] for one in ranked[:2]])
        bare = json.loads(self.good("/rerank", {**body, "return_documents": False}))["results"]
        self.assertEqual({tuple(one) for one in bare}, {("index", "relevance_score")})
        self.refused(400, "/rerank", {**body, "documents": [1]}, '"documents"')
        self.refused(400, "/rerank", {**body, "top_n": 0}, '"top_n"')

    def test_requests_that_are_wrong(self):
        self.serve(model("voice"), model("bert-fill"))
        self.refused(400, "/run", b"{", "the request's body")
        self.refused(400, "/run", b"[]", "JSON object")
        self.refused(400, "/run", b'{"text": "a", "text": "b"}', "text")
        self.refused(400, "/run", b'{"text": "\xff"}', "body")
        self.refused(400, "/run", b"[" * 100, "body", "nested deeper than 64")
        self.refused(413, "/run", b"[" * 100000, "lists")
        self.refused(400, "/run", {"txt": "a"}, "text")
        self.refused(400, "/run", {}, '"text"', "missing")
        self.refused(400, "/run", {"text": 1}, '"text"', "string")
        self.refused(400, "/run", {"text": "a", "texts": ["b"]}, "goes without")
        self.refused(400, "/run", {"texts": []}, '"texts"')
        self.refused(400, "/run", {"text": "a", "offsets": "x"}, "utf16")
        self.refused(400, "/tag", {"text": "a", "pair": "b", "model": "voice"}, '"pair"')
        self.refused(400, "/fill", {"text": "no mask"}, "[MASK]")
        self.refused(400, "/answer", {"question": "a", "context": "b"}, "/run")
        self.refused(400, "/fill", {"text": "[MASK]", "model": "voice"}, "voice", "/run")
        self.refused(404, "/models/none/run", {"text": "a"}, '"none"', "voice, bert-fill")
        self.refused(400, "/models/voice/run", {"text": "a", "model": "bert-fill"}, "path")
        self.refused(400, "/rank", {"query": "a", "texts": ["b"]}, "/run")
        self.refused(404, "/nothing", {}, "/classify", "/v1/embeddings")
        self.refused(404, "/models/voice", {}, "no such path")
        code, headers, answer = self.ask("GET", "/run")
        self.assertEqual((code, headers["Allow"]), (405, "POST"))
        self.assertIn("takes POST", json.loads(answer)["error"]["message"])
        self.assertEqual(self.ask("DELETE", "/health")[0], 405)
        self.assertEqual(json.loads(self.ask("GET", "/health")[2]), {"status": "ok"})
        self.assertEqual(self.ask("HEAD", "/health")[::2], (200, b""))
        self.assertIn(b"voice", self.ask("GET", "/")[2])

    def test_one_bad_text_costs_its_neighbours_nothing(self):
        self.serve(model("bert-fill"))
        replies = {}

        def client(i):
            replies[i] = self.ask("POST", "/fill", {"text": "none" if i % 3 == 0 else "ba [MASK]"})[0]

        threads = [threading.Thread(target=client, args=(i,)) for i in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([replies[i] for i in range(30)], [400, 200, 200] * 10)


class Limits(Serving):
    def test_bodies(self):
        self.serve(model("voice"), "--max-body", "1", "--queue", "3")
        self.assertEqual(len(json.loads(self.good("/run", {"texts": ["a"] * 3}))["answers"]), 3)
        self.refused(413, "/run", {"texts": ["a"] * 4}, "--queue")
        back = self.raw(b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1025\r\n\r\n")
        self.assertTrue(back.startswith(b"HTTP/1.1 413 "), back)  # before the body comes
        self.assertIn(b"--max-body", back)
        chunks = b"400\r\n" + b"a" * 1024 + b"\r\n"
        head = b"POST /run HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        request = head + chunks * 3 + b"0\r\n\r\n"
        self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 413 "))
        body = b'{"text": "play jazz"}'
        pieces = b"".join(b"%x\r\n%s\r\n" % (1, body[i : i + 1]) for i in range(len(body))) + b"0\r\n\r\n"
        head = b"POST /run HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertTrue(self.raw(head + pieces).endswith(self.ok("run", model("voice"), "play jazz", "--json")))

    def test_framing_that_two_could_read_in_two_ways(self):
        self.serve(model("voice"))
        behind = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"  # must not be answered
        body = b'{"text": "a"}'
        sized = b"Content-Length: %d\r\n" % len(body)
        chunked = b"Transfer-Encoding: chunked\r\n"
        for headers, content in (
            (sized + chunked, b"0\r\n\r\n"),
            (chunked + sized, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
            (sized + b"Content-Length: 5\r\n", body),
            (sized + sized, body),
            (b"Content-Length: +13\r\n", body),
            (b"Content-Length: 13, 13\r\n", body),
            (b"Content-Length: 0x0d\r\n", body),
            (b"Content-Length: -1\r\n", body),
            (b"Content-Length: 99999999999999999999\r\n", body),
            (b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"),
            (b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"),
            (chunked + b"Transfer-Encoding: identity\r\n", b"0\r\n\r\n"),
            (chunked, b"xyz\r\n" + body),
            (chunked, b"-1\r\n" + body),
            (chunked, b"+d\r\n%s\r\n0\r\n\r\n" % body),
            (chunked, b"0xd\r\n%s\r\n0\r\n\r\n" % body),
            (chunked, b"fffffffffffffffff\r\n" + body),
            (chunked, b"2\r\n" + body + b"\r\n0\r\n\r\n"),
            (b"Content-Length : %d\r\n" % len(body), body),
            (b"Content-Length:\r\n %d\r\n" % len(body), body),
            (b"Content-Length: %d\0\r\n" % len(body), body),
            (b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
            (b"Host: b\r\n" + sized, body),
            (b"X: y\n" + sized, body),
            (chunked, b"%x\n%s\n0\n\n" % (len(body), body)),
        ):
            back = self.raw(b"POST /run HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + content + behind)
            self.assertRegex(back, rb"^HTTP/1\.[01] (400|413) ", (headers, content))
            self.assertNotIn(b"status", back, (headers, content))  # of /health
            self.assertNotIn(b" 200 ", back)
        back = self.raw(b"POST /run HTTP/1.0\r\n" + chunked + b"\r\n0\r\n\r\n" + behind)
        self.assertTrue(back.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 ")), back)
        self.assertNotIn(b"status", back)
        back = self.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40000 + b"\r\n\r\n")
        self.assertRegex(back, rb"^HTTP/1\.[01] 431 ")
        back = self.raw(b"GET /health%00x HTTP/1.1\r\nHost: localhost\r\n\r\n" + behind)
        self.assertRegex(back, rb"^HTTP/1\.1 400 ")
        self.assertNotIn(b"status", back)
        self.assertEqual(self.ask("GET", "/health")[0], 200)

    def test_full_queue(self):
        self.serve(model("voice"), "--queue", "64")
        codes = []

        def client():
            code, headers, _ = self.ask("POST", "/run", {"texts": ["play some jazz " * 12] * 64})
            codes.append((code, headers.get("Retry-After")))

        threads = [threading.Thread(target=client) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual({code for code, _ in codes}, {200, 429})
        self.assertIn((200, None), codes)
        self.assertIn((429, "1"), codes)

    def await_no_connection(self):
        """Until the one that asks is the only one."""
        for _ in range(1200):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                if b"bantam_connections 1\n" in self.ask("GET", "/metrics", connection=connection)[2]:
                    return
            except (OSError, http.client.HTTPException):  # all places are taken
                pass
            finally:
                connection.close()
            time.sleep(0.05)
        self.fail("connections of clients that are slow, or have gone, are held")

    def test_slow_clients_are_left(self):
        self.serve(model("voice"), model("colbert"), "--timeout", "2")
        firsts = {
            "line": (b"GET /", b"a"),
            "value": (b"GET /health HTTP/1.1\r\nX: ", b"a"),
            "fields": (b"GET /health HTTP/1.1\r\n", b"a: b\r\n"),
            "body": (b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", b"a"),
            "chunks": (
                b"POST /run HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"1\r\na\r\n",
            ),
            "nothing": (b"", b""),
        }
        open_ = {}
        for name, (first, more) in firsts.items():
            connection = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(connection.close)
            connection.settimeout(0.02)
            connection.sendall(first)
            open_[name] = (connection, more)
        reader = socket.socket()
        self.addCleanup(reader.close)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", self.port))
        reader.settimeout(0.02)
        body = json.dumps({"texts": ["ba ko lan men ren si " * 8] * 4000}).encode()  # 7 MB come back
        reader.sendall(b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        begin = time.monotonic()
        while open_ and time.monotonic() < begin + 15:  # a byte now and then, all of them
            for name, (connection, more) in list(open_.items()):
                try:
                    connection.sendall(more)
                    if connection.recv(100) == b"":
                        del open_[name]
                except TimeoutError:
                    pass
                except OSError:
                    del open_[name]
            time.sleep(0.2)
        self.assertEqual(list(open_), [])
        self.await_no_connection()
        # The system has taken some of the reply; the server does not keep the rest for who reads it byte by byte.
        left = 0
        reader.settimeout(60)
        while data := reader.recv(65536):
            left += len(data)
        self.assertLess(left, 5_000_000)
        self.assertEqual(self.ask("GET", "/health")[0], 200)

    def test_closed_clients_free_their_place(self):
        process = self.serve(model("voice"), "--timeout", "60", "--connections", "40")
        for first in (b"GET /he", b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{", b""):
            for _ in range(60):
                with socket.create_connection(("127.0.0.1", self.port)) as connection:
                    connection.sendall(first)
        self.await_no_connection()
        self.assertLess(len(os.listdir(f"/proc/{process.pid}/fd")), 30)

    @unittest.skipIf(SANITIZED, "shadow memory is not the server's")
    def test_memory_of_a_request(self):
        """At most 8 times its bytes and 16 MB, for each of these."""
        texts = 4000
        requests = (
            ("/run", {"texts": ["a"] * texts, "pair": "b" * 900_000}, 400),
            ("/run", b'{"texts": [' + b'"",' * 340_000 + b'""]}', 413),
            ("/run", b"{" + b",".join(b'"%06d":1' % i for i in range(80_000)) + b"}", 413),
            ("/run", {f"{i:0600}": 1 for i in range(1500)}, 400),
            ("/run", {"text": "a", "offsets": "b" * 1_000_000}, 400),
            ("/models/bert-next-sentence/run", {"texts": ["a"] * texts, "pair": "b" * 900_000}, 413),
            ("/models/bert-classify/rank", {"query": "b" * 900_000, "texts": ["a"] * 200, "label": "LABEL_0"}, 200),
            ("/models/colbert/embed", {"texts": ["ba ko lan men ren si " * 8] * 4000}, 200),
            ("/models/bert-next-sentence/run", b"[" * 1_000_000, 413),
        )
        for path, body, code in requests:
            models = ["voice", "bert-next-sentence", "bert-classify", "colbert"]
            process = self.serve(*map(model, models))
            self.ask("POST", "/run", {"text": "a", "model": "voice"})
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            before = self.memory(process)
            found, _, answer = self.ask("POST", path, data)
            self.assertEqual(found, code, answer[:300])
            self.assertLess(self.memory(process) - before, 8 * len(data) + (16 << 20), (path, data[:40]))
            if code != 200:
                self.assertLess(len(answer), 5000)
            process.kill()

    @unittest.skipIf(SANITIZED, "shadow memory is not the server's")
    def test_memory_of_all_requests(self):
        """Bodies that do not end are held up to a sum."""
        process = self.serve(model("voice"), "--timeout", "20")
        head = b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
        refused = 0
        for _ in range(150):
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            self.addCleanup(connection.close)
            connection.sendall(head + b"a" * 900_000)
            connection.settimeout(0.01)
            try:
                refused += b" 503 " in connection.recv(1000)
            except OSError:
                pass
        self.assertGreater(refused, 30)
        self.assertLess(self.memory(process), 250 << 20)
        self.assertEqual(self.ask("GET", "/health")[0], 200)

    @unittest.skipIf(SANITIZED, "shadow memory is not the server's")
    def test_no_request_ends_the_service(self):
        """Where memory runs out a request gets a status or a closed connection, and the next one an answer."""
        idle = self.serve(model("voice"))
        with open(f"/proc/{idle.pid}/status") as status:
            needs = int(re.search(r"VmSize:\s+(\d+)", status.read())[1]) * 1024
        idle.kill()
        for more in (1 << 20, 4 << 20, 10 << 20, 30 << 20):
            process = self.serve(model("voice"), "--timeout", "5", memory=needs + more)
            codes = []

            def client(count):
                for _ in range(2):
                    try:
                        codes.append(self.ask("POST", "/run", {"texts": ["play some jazz " * 20] * count})[0])
                    except (OSError, http.client.HTTPException):
                        codes.append(0)

            threads = [threading.Thread(target=client, args=(200 * (i + 1),)) for i in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertIsNone(process.poll(), more)
            self.assertLessEqual(set(codes), {0, 200, 429, 500, 503, 507})
            for _ in range(50):  # what is left is given back
                try:
                    if self.ask("GET", "/health")[0] == 200:
                        break
                except (OSError, http.client.HTTPException):
                    time.sleep(0.1)
            else:
                self.fail(f"does not answer with {more} bytes")
            process.kill()


class Strangers(Serving):
    def get(self, **headers):
        return self.ask("GET", "/v1/models", headers=headers)

    def test_hosts(self):
        self.serve(model("voice"), "--allow-host", "box.example")
        for host in ("localhost", f"127.0.0.1:{self.port}", "[::1]", "box.example"):
            self.assertEqual(self.get(Host=host)[0], 200, host)
        code, _, answer = self.get(Host="evil.example")
        self.assertEqual(code, 403)
        self.assertIn(b"--allow-host", answer)

    def test_origins(self):
        self.serve(model("voice"), "--cors", "https://a.example")
        code, headers, _ = self.get(Origin="https://a.example")
        self.assertEqual((code, headers["Access-Control-Allow-Origin"]), (200, "https://a.example"))
        self.assertEqual(headers["Vary"], "Origin")
        code, headers, _ = self.get(Origin="https://b.example")
        self.assertEqual(code, 403)
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        code, headers, answer = self.ask(
            "OPTIONS", "/run", headers={"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
        )
        self.assertEqual((code, answer), (204, b""))
        self.assertIn("POST", headers["Access-Control-Allow-Methods"])
        self.assertIn("authorization", headers["Access-Control-Allow-Headers"])
        self.assertNotIn("Access-Control-Allow-Origin", self.get()[1])

    def test_keys(self):
        keys = self.write("keys", "first\nsecond\r\n\n")
        self.serve(model("voice"), "--api-key-file", keys, environment={"BANTAM_API_KEY": "third"})
        for key in ("first", "second", "third"):
            self.assertEqual(self.get(Authorization=f"Bearer {key}")[0], 200)
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "first"}, {"Authorization": "Bearer "}):
            code, said, _ = self.get(**headers)
            self.assertEqual((code, said["WWW-Authenticate"]), (401, "Bearer"))
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        back = self.raw(b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        self.assertTrue(back.startswith(b"HTTP/1.1 401 "), back)  # before the body comes
        self.fails(4, "serve", model("voice"), "--api-key-file", self.write("none", "\n"), says=["no key"])
        self.fails(3, "serve", model("voice"), "--api-key-file", self.directory / "gone", says=["gone"])

    def test_requests_behind_each_other(self):
        self.serve(model("voice"))
        get = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        body = b'{"text": "play jazz"}'
        post = b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        back = self.raw(get * 3 + post + get + post + last)
        self.assertEqual(back.count(b"HTTP/1.1 200 OK\r\n"), 7)
        alone = self.ok("run", model("voice"), "play jazz", "--json")
        self.assertEqual(back.count(alone), 2)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            head = b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 21\r\n"
            connection.sendall(head + b"Expect: 100-continue\r\n\r\n")
            self.assertEqual(connection.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(body)
            connection.shutdown(socket.SHUT_WR)  # who has asked may still read
            self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200 OK\r\n"))


class Sockets(Serving):
    def test_unix_socket(self):
        path = str(self.directory / "s")
        for _ in range(2):  # what a killed server leaves is taken over
            process = subprocess.Popen(
                [COMMAND, "serve", model("voice"), "--unix", path, "--log"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.stderr.close)
            self.assertEqual(process.stdout.readline().decode(), f"Listening on unix:{path}\n")
            connection = UnixConnection(path)
            self.assertEqual(
                self.good("/run", {"text": "play jazz"}, connection=connection),
                self.ok("run", model("voice"), "play jazz", "--json"),
            )
            self.fails(3, "serve", model("voice"), "--unix", path, says=["--unix", "in use"])
            connection.close()
            process.kill()
            process.wait()
            self.assertRegex(process.stderr.read().decode(), r"^POST /run 200 [0-9.]+ ms\n$")

    def test_what_cannot_be_served(self):
        self.fails(5, "serve", model("bert-choose"), says=["choose", "not served"])
        self.fails(5, "serve", model("bart-generate"), says=["not served", "tokenizer"])
        self.fails(3, "serve", self.directory / "none.bantam", says=["none.bantam"])
        self.fails(2, "serve", model("voice"), model("voice"), says=["names"])
        self.fails(2, "serve", model("voice"), "--port", "65536", says=["--port"])
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.fails(3, "serve", model("voice"), "--port", taken.getsockname()[1], says=["in use", "--port"])

    def test_end(self):
        process = self.serve(model("voice"))
        texts = ["play some jazz " * 12] * 800
        result = {}
        thread = threading.Thread(target=lambda: result.update(r=self.ask("POST", "/run", {"texts": texts})))
        idle = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.assertEqual(self.ask("GET", "/health", connection=idle)[0], 200)
        thread.start()
        while b"bantam_runs_total 0\n" in self.ask("GET", "/metrics", connection=idle)[2]:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        thread.join()
        code, _, answer = result["r"]
        self.assertEqual((code, len(json.loads(answer)["answers"])), (200, 800))
        self.assertEqual(process.wait(timeout=60), 0)
        idle.close()
        self.assertEqual(process.stderr.read(), b"")

    def test_documented_unit_and_container(self):
        """The paths and options in docs/serve.md are right."""
        text = (SOURCE / "docs" / "serve.md").read_text()
        options = set(re.findall(r"(?<![\w-])--[a-z-]+", "\n".join(re.findall(r"bantam serve[^`\n]*", text))))
        shown = bantam("help", "serve").stdout.decode()
        self.assertTrue(options)
        for option in options:
            self.assertIn(option, shown)
        packages = (SOURCE / "targets" / "packages" / "debian.txt").read_text()
        for package in re.findall(r"\blib[a-z0-9-]+-dev\b", text):
            self.assertIn(package, packages)
        for line in re.findall(r"^COPY (?!--from)(\S+) ", text, re.M):
            self.assertTrue((SOURCE / line).exists(), line)


if __name__ == "__main__":
    unittest.main()
