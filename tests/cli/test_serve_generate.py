"""The server's generated texts: those of the command, whoever else asks; streams, forms, refusals, clients that leave."""

import concurrent.futures
import http.client
import json
import shlex
import shutil
import signal
import socket
import time
import unittest

from documented import transcripts_of_markdown
from support import GOLDEN, SHARED, SOURCE, model
from test_serve import Serving

NAME = "gpt2-text"
PROMPTS = ["the cat", "a dog runs", "a", "when it rains the cat sleeps", "the", "dog dog dog", "it", "a cat"]


class Generating(Serving):
    def line_of(self, prompt, *options, name=NAME):
        return self.line("generate", model(name), prompt, "--json", *options)

    def complete(self, prompt, **fields):
        return json.loads(self.good("/v1/completions", {"prompt": prompt, **fields}))

    def events(self, path, body):
        """The objects of a stream, which must end with [DONE]."""
        code, headers, answer = self.ask("POST", path, {**body, "stream": True})
        self.assertEqual(code, 200, answer)
        self.assertTrue(headers["Content-Type"].startswith("text/event-stream"))
        *events, done, nothing = answer.decode().split("\n\n")
        self.assertEqual((done, nothing), ("data: [DONE]", ""))
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def chat_model(self, form="zephyr"):
        source, made = self.directory / form, self.directory / f"{form}.bantam"
        shutil.copytree(GOLDEN / NAME, source)
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "", "eos_token": "<|endoftext|>"}
        (source / "tokenizer_config.json").write_text(json.dumps(settings))
        template = (GOLDEN.parent / "chat" / f"{form}.jinja").read_text(encoding="utf-8")
        (source / "chat_template.jinja").write_text(template)
        self.ok("convert", source, "-o", made, "--weights", "f32")
        return made


class Completions(Generating):
    def test_texts_are_those_of_the_command(self):
        self.serve(model(NAME))
        for prompt in PROMPTS:
            for fields, options in (
                ({}, []),
                (
                    {"temperature": 1.1, "top_p": 0.8, "seed": 7},
                    ["--temperature", "1.1", "--top-p", "0.8", "--seed", "7"],
                ),
                ({"temperature": 0.9, "top_k": 9, "min_p": 0.01}, "--temperature 0.9 --top-k 9 --min-p 0.01".split()),
                ({"repetition_penalty": 1.4}, ["--repetition-penalty", "1.4"]),
            ):
                wanted = self.line_of(prompt, "--max-new", "12", *options)
                found = self.complete(prompt, max_tokens=12, **fields)
                self.assertEqual(found["choices"][0]["text"], wanted["generated"])
                self.assertEqual(found["usage"]["prompt_tokens"], wanted["prompt_tokens"])
                self.assertEqual(found["usage"]["completion_tokens"], len(wanted["ids"]))
        self.assertEqual((found["object"], found["model"]), ("text_completion", NAME))

    def test_many_at_once_are_as_each_alone(self):
        wanted = {
            (prompt, seed): self.line_of(prompt, "--max-new", "14", "--temperature", "1.2", "--seed", str(seed))
            for prompt in PROMPTS
            for seed in (1, 2, 3)
        }
        for contexts in ("1", "3", "16"):
            self.serve(model(NAME), "--contexts", contexts)
            with concurrent.futures.ThreadPoolExecutor(12) as pool:

                def ask(key):
                    return key, self.complete(key[0], max_tokens=14, temperature=1.2, seed=key[1])

                for key, found in pool.map(ask, [*wanted, *reversed(wanted)]):
                    self.assertEqual(found["choices"][0]["text"], wanted[key]["generated"], (contexts, key))
                    self.assertEqual(found["usage"]["completion_tokens"], len(wanted[key]["ids"]))

    def test_several_prompts_and_several_choices(self):
        self.serve(model(NAME), "--contexts", "2")
        found = self.complete(PROMPTS[:3], max_tokens=8, n=2, temperature=1.3, seed=11)
        wanted = [
            self.line_of(prompt, "--max-new", "8", "--temperature", "1.3", "--seed", str(seed))
            for prompt in PROMPTS[:3]
            for seed in (11, 12)
        ]
        self.assertEqual([choice["index"] for choice in found["choices"]], list(range(6)))
        self.assertEqual([choice["text"] for choice in found["choices"]], [one["generated"] for one in wanted])
        self.assertEqual(found["usage"]["completion_tokens"], sum(len(one["ids"]) for one in wanted))

    def test_prompts_of_tokens(self):
        self.serve(model(NAME))
        ids = [int(i) for i in self.lines("tokenize", model(NAME), "the cat", "--json")[0]["ids"]]
        texts = [self.complete(prompt, max_tokens=9)["choices"] for prompt in ("the cat", ids, [ids, ids])]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual([one["text"] for one in texts[2]], [texts[0][0]["text"]] * 2)
        for wrong in ([1 << 31], [-1], [[1], "a"], [[]], [1, None]):
            self.refused(400, "/v1/completions", {"prompt": wrong}, '"prompt"')

    def test_texts_end(self):
        self.serve(model(NAME))
        text = self.line_of("the cat", "--max-new", "12")["generated"]
        stop = text[-2:]
        found = self.complete("the cat", max_tokens=12, stop=[stop, "never"])["choices"][0]
        self.assertEqual((found["text"], found["finish_reason"]), (text.split(stop)[0], "stop"))
        self.assertEqual(self.complete("the cat", max_tokens=12, stop=stop)["choices"][0], found)
        self.assertEqual(self.complete("the cat", max_tokens=2)["choices"][0]["finish_reason"], "length")
        self.refused(400, "/v1/completions", {"prompt": "a", "stop": ""}, '"stop"')
        self.refused(400, "/v1/completions", {"prompt": "a", "stop": ["x"] * 17}, '"stop"')

    def test_a_context_has_an_end(self):
        self.serve(model(NAME), "--context", "10")
        wanted = self.line_of("the cat", "--context", "10")
        found = self.complete("the cat")
        self.assertEqual(wanted["finish"], "context")
        self.assertEqual(found["choices"][0]["text"], wanted["generated"])
        self.assertEqual(found["choices"][0]["finish_reason"], "length")
        self.refused(400, "/v1/completions", {"prompt": "the cat " * 9}, "context of 10")
        self.refused(400, "/v1/completions", {"prompt": ""}, "empty")

    def test_encoder_decoders(self):
        self.serve(model("bart-text"), model("marian-text"))
        for name in ("bart-text", "marian-text"):
            for fields, options in (({}, []), ({"temperature": 1, "seed": 3}, ["--temperature", "1", "--seed", "3"])):
                wanted = self.line_of("the cat", "--max-new", "9", *options, name=name)
                found = self.complete("the cat", max_tokens=9, model=name, **fields)
                self.assertEqual(found["choices"][0]["text"], wanted["generated"])
        self.refused(400, "/run", {"text": "a", "model": "bart-text"}, "/v1/completions")
        self.refused(400, "/v1/completions", {"prompt": "a", "n": 2, "model": "bart-text"}, '"n"')
        self.refused(400, "/v1/completions", {"prompt": [1], "model": "bart-text"}, '"prompt"')
        self.refused(400, "/v1/completions", {"prompt": "a", "to": "de", "model": "bart-text"}, '"to" de')

    def test_decoders_of_other_kinds(self):
        for name in ("mamba-text", "lfm2-text", "rwkv-text"):
            server = self.serve(model(name), "--contexts", "3")
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                found = list(pool.map(lambda prompt: self.complete(prompt, max_tokens=10), PROMPTS))
            for prompt, one in zip(PROMPTS, found, strict=True):
                wanted = self.line_of(prompt, "--max-new", "10", name=name)
                self.assertEqual(one["choices"][0]["text"], wanted["generated"], (name, prompt))
            server.kill()

    def test_next_words_are_still_answered(self):
        self.serve(model(NAME))
        self.assertEqual(self.good("/run", {"text": "the cat"}), self.ok("run", model(NAME), "the cat", "--json"))
        listed = json.loads(self.ask("GET", "/v1/models")[2])["data"]
        self.assertEqual([one["id"] for one in listed], [NAME])


class Streams(Generating):
    def test_pieces_make_the_text(self):
        self.serve(model(NAME))
        for prompt in PROMPTS:
            body = {"prompt": prompt, "max_tokens": 12, "temperature": 1, "seed": 5}
            whole = json.loads(self.good("/v1/completions", body))["choices"][0]
            events = self.events("/v1/completions", body)
            self.assertEqual("".join(one["choices"][0]["text"] for one in events), whole["text"])
            self.assertEqual(events[-1]["choices"][0]["finish_reason"], whole["finish_reason"])
            self.assertEqual({one["choices"][0]["finish_reason"] for one in events[:-1]} - {None}, set())
            self.assertEqual(len({one["id"] for one in events}), 1)

    def test_usage_is_the_last_event(self):
        self.serve(model(NAME))
        body = {"prompt": PROMPTS[:2], "max_tokens": 5, "n": 2, "stream_options": {"include_usage": True}}
        *events, last = self.events("/v1/completions", body)
        self.assertEqual(last["choices"], [])
        self.assertEqual(last["usage"]["completion_tokens"], 20)
        self.assertEqual({one["usage"] for one in events}, {None})
        self.assertEqual({one["choices"][0]["index"] for one in events}, {0, 1, 2, 3})
        self.refused(400, "/v1/completions", {"prompt": "a", "stream_options": {"include_usage": True}}, "stream")

    def test_a_connection_serves_on_after_a_stream(self):
        self.serve(model(NAME))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        body = {"prompt": "a", "max_tokens": 4, "stream": True}
        first = self.ask("POST", "/v1/completions", body, connection)
        self.assertEqual(first[1]["Transfer-Encoding"], "chunked")
        self.assertEqual(self.ask("GET", "/health", None, connection)[0], 200)
        # A client of HTTP/1.0 knows no chunks.
        data = json.dumps(body).encode()
        head = b"POST /v1/completions HTTP/1.0\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(data)
        answer = self.raw(head + data)
        self.assertNotIn(b"chunked", answer)
        self.assertTrue(answer.endswith(b"}\n\ndata: [DONE]\n\n"), answer)

    def test_refusals_come_before_the_stream(self):
        self.serve(model(NAME))
        self.refused(400, "/v1/completions", {"prompt": "", "stream": True}, "empty")
        self.refused(400, "/v1/completions", {"prompt": "the " * 999, "stream": True}, "context")


class Chat(Generating):
    def test_answers_are_those_of_the_command(self):
        made = self.chat_model()
        self.serve(made)
        for system in ("", "Sing."):
            messages = [
                {"role": "user", "content": [{"type": "text", "text": "the "}, {"type": "text", "text": "cat"}]}
            ]
            if system:
                messages.insert(0, {"role": "developer", "content": system})
            options = ["--system", system] if system else []
            wanted = self.line("generate", made, "the cat", "--chat", *options, "--max-new", "8", "--json")
            found = json.loads(self.good("/v1/chat/completions", {"messages": messages, "max_completion_tokens": 8}))
            self.assertEqual(found["object"], "chat.completion")
            message = found["choices"][0]["message"]
            self.assertEqual((message["role"], message["content"]), ("assistant", wanted["generated"]))
            self.assertEqual(found["usage"]["prompt_tokens"], wanted["prompt_tokens"])
            events = self.events("/v1/chat/completions", {"messages": messages, "max_tokens": 8})
            self.assertEqual(events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
            text = "".join(one["choices"][0]["delta"].get("content", "") for one in events)
            self.assertEqual(text, wanted["generated"])
            # Clients send the answer back as it came.
            body = {"messages": [*messages, message, {"role": "user", "content": "a"}], "max_tokens": 2}
            self.good("/v1/chat/completions", body)

    def test_conversations_that_are_wrong(self):
        self.serve(self.chat_model(), model(NAME))
        for messages, says in (
            (None, "messages"),
            ([], "conversation"),
            ([1], "messages"),
            ([{"role": "user"}], "content"),
            ([{"role": "tool", "content": "a"}], "tool"),
            ([{"role": "assistant", "content": "a"}], "conversation"),
            ([{"role": "user", "content": [{"type": "image_url", "image_url": "a"}]}], "content"),
            ([{"role": "user", "content": "a", "tool_calls": [1]}], "tool_calls"),
        ):
            self.refused(400, "/v1/chat/completions", {"messages": messages} if messages is not None else {}, says)
        right = [{"role": "user", "content": "a"}]
        self.refused(400, "/v1/chat/completions", {"messages": right, "model": NAME}, "/v1/completions")
        self.refused(404, "/v1/chat/completions", {"messages": right, "model": "gpt-4o"}, "gpt-4o", NAME)


class Forms(Generating):
    def ask_for(self, schema):
        form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": True}}
        body = {"prompt": "the cat", "max_tokens": 40, "response_format": form}
        return json.loads(json.loads(self.good("/v1/completions", body))["choices"][0]["text"])

    def test_texts_are_json(self):
        self.serve(model(NAME))
        body = {"prompt": "a", "max_tokens": 30, "response_format": {"type": "json_object"}}
        self.assertIsInstance(json.loads(json.loads(self.good("/v1/completions", body))["choices"][0]["text"]), dict)
        members = {"b": {"type": "boolean", "description": "?"}, "a": {"type": "integer"}}
        made = self.ask_for(
            {"type": "object", "properties": members, "required": ["b", "a"], "additionalProperties": False}
        )
        self.assertEqual(list(made), ["b", "a"])
        self.assertIsInstance(made["b"], bool)
        self.assertIsInstance(made["a"], int)
        self.assertIsInstance(self.ask_for({"type": "string"}), str)
        wanted = self.line_of("the cat", "--max-new", "40", "--field", "b:boolean", "--field", "a:integer")
        self.assertEqual(json.loads(wanted["generated"]), made)

    def test_schemas_that_are_not_supported(self):
        self.serve(model(NAME))
        for schema, says in (
            ({"type": "object", "properties": {"a": {"enum": ["x"]}}}, '"enum"'),
            ({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}, '"properties"'),
            ({"type": "array", "items": {"type": "string"}}, '"items"'),
            ({"$ref": "#"}, "$ref"),
            ({"type": ["string", "null"]}, '"type"'),
            ({"type": "object", "properties": {"a\u00e9": {}}}, "ASCII"),
            ({"type": "object", "properties": {"a": {}}, "required": ["b"]}, '"b"'),
            (3, "schema"),
        ):
            form = {"type": "json_schema", "json_schema": {"schema": schema}}
            self.refused(400, "/v1/completions", {"prompt": "a", "response_format": form}, "response_format", says)
        for form in (3, {"type": "grammar"}, {"type": "json_schema"}):
            self.refused(400, "/v1/completions", {"prompt": "a", "response_format": form}, "response_format")
        form = {"type": "json_object"}
        self.refused(400, "/v1/completions", {"prompt": "a", "response_format": form, "max_tokens": 1}, "max_tokens")
        self.refused(400, "/v1/completions", {"prompt": "a", "response_format": form, "stop": "a"}, '"stop"')


class Refusals(Generating):
    def test_fields(self):
        self.serve(model(NAME))
        for field, wrong, harmless in (
            ("tools", [{}], []),
            ("logprobs", 3, None),
            ("logit_bias", {"5": 1}, {}),
            ("frequency_penalty", 0.5, 0),
            ("presence_penalty", -1, 0.0),
            ("echo", True, False),
            ("best_of", 3, 1),
            ("suffix", "a", None),
            ("tool_choice", "required", "none"),
        ):
            self.refused(400, "/v1/completions", {"prompt": "a", field: wrong}, f'"{field}"')
            self.complete("a", max_tokens=1, **{field: harmless})
        self.complete("a", max_tokens=1, user="me", metadata={"a": "b"}, seed=-3)
        for field, wrong in (
            ("max_tokens", 0),
            ("max_tokens", "4"),
            ("max_tokens", 1.5),
            ("temperature", -1),
            ("temperature", 3),
            ("top_p", 0),
            ("top_p", 1.1),
            ("seed", 1.5),
            ("n", 0),
            ("n", 129),
            ("stream", 1),
            ("max_token", 4),
            ("prompt", 3),
            ("prompt", []),
        ):
            self.refused(400, "/v1/completions", {"prompt": "a", field: wrong}, f'"{field}"')
        self.refused(400, "/v1/completions", {"prompt": ["a"] * 65, "n": 2}, '"n"')
        self.refused(404, "/v1/completions", {"prompt": "a", "model": "gpt"}, '"gpt"')

    def test_files_and_options(self):
        self.fails(5, "serve", model("bart-generate"), says=["tokenizer"])
        self.fails(2, "serve", model(NAME), "--contexts", "0", says=["--contexts"])
        self.fails(2, "serve", model(NAME), "--context", "1", says=["--context"])


class Clients(Generating):
    """Clients that do not read, that leave, and the server's end."""

    LASTS = "mamba-text"  # its texts have no greatest length

    def endless(self, stream=True):
        """Sends a request for texts that last, and returns the connection."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(connection.close)
        body = {"prompt": "a", "max_tokens": 2000, "stream": stream, "n": 64}
        data = json.dumps(body).encode()
        connection.sendall(
            b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(data)
        )
        connection.sendall(data)
        return connection

    def test_clients_that_leave_free_their_contexts(self):
        self.serve(model(self.LASTS), "--contexts", "2")
        for _ in range(40):
            self.endless().close()
        wanted = self.line_of("the cat", "--max-new", "6", name=self.LASTS)["generated"]
        self.assertEqual(self.complete("the cat", max_tokens=6)["choices"][0]["text"], wanted)
        metrics = self.ask("GET", "/metrics")[2].decode().splitlines()
        made = int(next(line for line in metrics if line.startswith("bantam_tokens_total")).split()[1])
        self.assertLess(made, 20 * 64 * 2000)

    def test_clients_that_do_not_read_stop_nobody(self):
        server = self.serve(model(self.LASTS), "--contexts", "2", "--timeout", "2")
        silent = [self.endless() for _ in range(3)]
        wanted = self.line_of("the cat", "--max-new", "6", name=self.LASTS)["generated"]
        for _ in range(30):
            code, _, answer = self.ask("POST", "/v1/completions", {"prompt": "the cat", "max_tokens": 6})
            if code == 200:
                break
            self.assertEqual(code, 503, answer)  # it waited behind them
        self.assertEqual(json.loads(answer)["choices"][0]["text"], wanted)
        self.assertEqual(len(silent), 3)
        self.assertLess(self.memory(server, "VmRSS"), 512 << 20)

    def test_a_full_queue(self):
        self.serve(model(NAME), "--contexts", "1", "--queue", "4")
        self.refused(413, "/v1/completions", {"prompt": "a", "n": 5}, "--queue")
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            codes = list(
                pool.map(lambda _: self.ask("POST", "/v1/completions", {"prompt": "a", "n": 4}), range(40)),
            )
        self.assertEqual({code for code, _, _ in codes} - {200, 429}, set())
        for code, headers, _ in codes:
            self.assertEqual("Retry-After" in headers, code == 429)

    def test_the_end_answers_what_has_begun(self):
        server = self.serve(model(NAME), "--contexts", "2")
        wanted = self.line_of("the cat", "--max-new", "20")["generated"]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(self.ask, "POST", "/v1/completions", {"prompt": "the cat", "max_tokens": 20, "n": 8})]
            time.sleep(0.2)
            server.send_signal(signal.SIGTERM)
            code, _, answer = asked[0].result()
        self.assertEqual(code, 200)
        self.assertEqual({one["text"] for one in json.loads(answer)["choices"]}, {wanted})
        self.assertEqual(server.wait(timeout=60), 0)

    def test_the_end_does_not_wait_for_ever(self):
        server = self.serve(model(self.LASTS), "--contexts", "2", "--timeout", "1")
        asked = [self.endless(stream=False) for _ in range(40)]
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=30), 0)
        self.assertEqual(len(asked), 40)


@unittest.skipUnless((SHARED / "models" / "stories260k").exists(), "needs ../shared/models/stories260k")
class Documented(Generating):
    def test_transcripts_of_the_page(self):
        made = self.directory / "stories.bantam"
        self.ok("convert", SHARED / "models" / "stories260k", "-o", made)
        self.serve(made)
        transcripts = [shown for _, shown in transcripts_of_markdown(SOURCE / "docs" / "serve.md")]
        asked = [shown for one in transcripts for shown in one if shown[0].startswith("curl ")]
        self.assertGreater(len(asked), 1)
        for command, shown in asked:
            _, _, address, _, body, _, _, *_, wanted = shlex.split(command)
            found = json.loads(self.ask("POST", address.removeprefix("http://127.0.0.1:8080"), body.encode())[2])
            found = found["choices"][0]["text"] if wanted == ".choices[0].text" else found[wanted.removeprefix(".")]
            self.assertEqual(found, json.loads(shown))


if __name__ == "__main__":
    unittest.main()
