"""Standard input as a stream, odd bytes, long lines; standard output that cannot be written."""

import gzip
import json
import os
import pty
import select
import signal
import subprocess
import unittest

from support import COMMAND, SOURCE, CommandTest, bantam, model

VOICE = SOURCE / "models" / "voice-commands"


class Stream(CommandTest):
    def open(self, *arguments):
        process = subprocess.Popen(
            [COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        return process

    def read_line(self, process):
        ready, _, _ = select.select([process.stdout], [], [], 60)
        self.assertTrue(ready, "no answer came while standard input was open")
        return json.loads(process.stdout.readline())

    def test_each_line_is_answered_before_the_next(self):
        process = self.open("run", model("voice"), "-", "--json")
        for text in ("play jazz", "book a table", ""):
            process.stdin.write(text.encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(self.read_line(process)["text"], text)
        process.stdin.write(b"no newline at the end")
        process.stdin.close()
        self.assertEqual(self.read_line(process)["text"], "no newline at the end")
        self.assertEqual(process.wait(timeout=60), 0)

    def test_lines_that_are_there_go_together_and_wait_for_no_other(self):
        process = self.open("run", model("voice"), "--json")
        process.stdin.write(b"play jazz\nbook a table\nwhat is")
        process.stdin.flush()
        self.assertEqual(self.read_line(process)["text"], "play jazz")
        self.assertEqual(json.loads(process.stdout.readline())["text"], "book a table")
        process.stdin.write(b" the weather\n")
        process.stdin.flush()
        self.assertEqual(self.read_line(process)["text"], "what is the weather")
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_packed_texts_have_the_bits_of_each_alone(self):
        words = ["play", "some jazz", "book a table for two", "", "ba", "the weather in rome " * 30]
        texts = "".join(f"{words[i % 6]} {i * 7 % 11 * 'jazz '}\n" for i in range(300))
        path = self.write("lines.txt", texts)
        for name, more in (
            ("voice", ["--threads", "3"]),
            ("voice", ["--stride", "4"]),
            ("bert-tag", []),
            ("sentence-mean", []),
            ("colbert", []),
        ):
            alone = self.ok("run", model(name), "--file", path, "--json", "--batch", "1", *more)
            self.assertEqual(alone.count(b"\n"), 300)
            self.assertEqual(self.ok("run", model(name), "--file", path, "--json", *more), alone, name)
            self.assertEqual(self.ok("run", model(name), "--json", *more, stdin=texts.encode()), alone, name)

    def test_one_bad_text_costs_its_neighbours_nothing(self):
        lines = ["ba [MASK]"] * 100 + ["none"] + ["[MASK] di"] * 50
        done = bantam("fill", model("bert-fill"), "--json", stdin="\n".join(lines).encode())
        self.assertEqual(done.returncode, 4)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["text"] for answer in answers], lines)
        self.assertEqual([i for i, answer in enumerate(answers) if "error" in answer], [100])
        self.assertIn("1 of 151 texts could not be answered", done.stderr.decode())

    def test_interrupt(self):
        process = self.open("run", model("voice"), "-", "--json")
        process.stdin.write(b"play jazz\n")
        process.stdin.flush()
        self.read_line(process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        process.stdin.close()

    def test_reader_that_goes_away(self):
        process = self.open("run", model("voice"), "-", "--json")
        process.stdout.close()
        try:
            process.stdin.write(b"play jazz\n" * 100)
            process.stdin.close()
        except BrokenPipeError:
            pass
        # As other tools end: by the signal, and without a word.
        self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for arguments in (
            ["run", model("voice"), "play jazz", "--json"],
            ["version"],
            ["--help"],
            ["inspect", model("voice")],
        ):
            with open("/dev/full", "wb") as full:
                self.fails(7, *arguments, stdout=full, says=["standard output"])


class Input(CommandTest):
    def test_a_pipe_or_file_is_read_without_being_named(self):
        for command in (["run", model("voice")], ["tokenize", model("voice")], ["classify", model("voice")]):
            wanted = self.ok(*command, "-", "--json", stdin=b"play jazz\nbook a table\n")
            self.assertEqual(wanted.count(b"\n"), 2)
            self.assertEqual(self.ok(*command, "--json", stdin=b"play jazz\nbook a table\n"), wanted)
        path = self.write("lines.txt", "play jazz\n")
        with open(path, "rb") as file:
            done = subprocess.run(
                [COMMAND, "run", model("voice"), "--json"], stdin=file, capture_output=True, timeout=60, check=False
            )
        self.assertEqual(json.loads(done.stdout)["text"], "play jazz")
        # A text that is given is all that is answered.
        self.assertEqual(len(self.lines("run", model("voice"), "a", "--json", stdin=b"b\n")), 1)
        self.fails(2, "run", model("voice"), says=["no text"])  # standard input is /dev/null

    def test_bad_lines_do_not_end_a_stream(self):
        lines = b"no mask\nba [MASK]\nnone here\n[MASK] di\n"
        for batch in ("1", "3", "8"):
            done = bantam("fill", model("bert-fill"), "-", "--json", "--batch", batch, stdin=lines)
            self.assertEqual(done.returncode, 4)
            answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
            self.assertEqual([answer["text"] for answer in answers], lines.decode().splitlines())
            self.assertEqual(["error" in answer for answer in answers], [True, False, True, False])
            self.assertIn("[MASK]", answers[0]["error"])
            self.assertIn("2 of 4 texts could not be answered", done.stderr.decode())
        done = bantam("fill", model("bert-fill"), "-", stdin=lines)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr.decode().count("bantam: "), 3)
        self.assertIn("ba [MASK]", done.stdout.decode())
        long = ("play " * 200).encode()
        done = bantam("run", model("voice"), "-", "--json", "--strict", stdin=b"a\n" + long + b"\nb\n")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(["error" in json.loads(line) for line in done.stdout.splitlines()], [False, True, False])

    def test_bad_lines_of_choose_similar_and_tokenize(self):
        path = self.write("data.jsonl", '{"text": "ba"}\n{"x": 1}\n{"text": "di"}\n')
        for command in (
            ["choose", model("bert-choose"), "--pair", "ko", "--pair", "lan"],
            ["similar", model("sentence-mean"), "--pair", "ko"],
            ["tokenize", model("voice")],
        ):
            done = bantam(*command, "--file", path, "--json")
            self.assertEqual(done.returncode, 4)
            answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
            self.assertEqual(["error" in answer for answer in answers], [False, True, False])
            self.assertIn("1 of 3 texts could not be answered", done.stderr.decode())

    def test_ids_become_text(self):
        ids = self.lines("tokenize", model("voice"), "play some jazz", "--json")[0]["ids"]
        words = " ".join(map(str, ids))
        said = self.lines("tokenize", model("voice"), "--decode", words, "--no-special", "--json")[0]
        self.assertEqual((said["ids"], said["text"]), (ids, "play some jazz"))
        self.assertIn(b"[CLS] play some jazz", self.ok("tokenize", model("voice"), "--decode", words))
        done = bantam("tokenize", model("voice"), "--decode", "-", stdin=b"x\n" + words.encode() + b"\n99999999\n")
        self.assertEqual(done.returncode, 4)
        self.assertIn("play some jazz", done.stdout.decode())
        for part in ("not a token number", "99999999 (number 1 of 1) is out of range", "2 of 3 texts"):
            self.assertIn(part, done.stderr.decode())
        self.fails(2, "tokenize", model("voice"), "--decode", words, "--pair", "a", says=["--pair"])

    def test_json_lines(self):
        rows = ['{"text": "play jazz", "label": 1}', "play jazz", '{"text_a": "book a table"}', '{"x": 1}']
        path = self.write("data.jsonl", "\n".join(rows))
        done = bantam("run", model("voice"), "--file", path, "--json")
        self.assertEqual(done.returncode, 4)
        answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual([answer["text"] for answer in answers], ["play jazz", "", "book a table", ""])
        self.assertIn("data.jsonl, line 2", answers[1]["error"])
        plain = self.write("data.txt", rows[0])
        done = bantam("run", model("voice"), "--file", plain, "--json")
        self.assertEqual(json.loads(done.stdout)["text"], rows[0])
        self.assertIn("name it .jsonl", done.stderr.decode())

    def test_json_lines_by_their_first_line(self):
        rows = ['{"text": "play jazz"}', '  { "text_a": "book a table"}', '{"text": "a"}']
        lines, wanted = "\n".join(rows), ["play jazz", "book a table", "a"]
        for name in ("data", "data.ndjson", "data.json", "data.log"):
            path = self.write(name, lines)
            for command in (["run", model("voice")], ["tokenize", model("voice")], ["embed", model("sentence-mean")]):
                answers = self.lines(*command, "--file", path, "--json")
                self.assertEqual([answer["text"] for answer in answers], wanted, (name, command))
        self.assertEqual(
            [one["text"] for one in self.lines("run", model("voice"), "--json", stdin=lines.encode())], wanted
        )
        index = self.directory / "lines.index"
        self.ok("index", model("sentence-mean"), "-", "-o", index, stdin=lines.encode())
        found = self.lines("search", model("sentence-mean"), index, "--top", "0", "--json", stdin=lines.encode())
        self.assertEqual([one["text"] for one in found], wanted)
        self.assertEqual(sorted(one["text"] for one in found[0]["found"]), sorted(wanted))
        texts = ["play jazz", '{"text": "a"}', "", "{name}"]  # the first line is a text
        for data in (texts, ["[MASK] is", *texts], ["{play} jazz", *texts]):
            answers = self.lines("run", model("voice"), "--json", stdin="\n".join(data).encode())
            self.assertEqual([answer["text"] for answer in answers], data)
        for data in ('{"x": 1}', '{"text": "a"'):
            done = bantam("run", model("voice"), "--json", stdin=data.encode())
            self.assertEqual(done.returncode, 4)
            self.assertIn(".txt file", json.loads(done.stdout)["error"])
        path = self.write("list.json", '[\n{"text": "a"}\n]\n')
        self.fails(4, "label", model("voice"), path, "-o", self.directory / "x", says=["jq -c"])

    def test_compressed_texts(self):
        lines = "".join(f'{{"text": "play jazz {i}"}}\n' for i in range(9000))
        plain = self.write("in.jsonl", lines)
        members = gzip.compress(lines[:99].encode()) + gzip.compress(lines[99:].encode())
        self.ok("label", model("voice"), plain, "-o", self.directory / "plain.out")
        wanted = (self.directory / "plain.out").read_bytes()
        for name, data in (("in.jsonl.gz", members), ("in.gz", members), ("in", members + bytes(512))):
            path = self.write(name, data)
            done = bantam("label", model("voice"), path, "-o", "-")
            if b"this build does not read" in done.stderr:
                self.assertEqual(done.returncode, 5)
                self.assertIn(b"gzip -dc", done.stderr)
                self.skipTest("built without zlib")
            self.assertEqual((done.returncode, done.stdout), (0, wanted), (name, done.stderr))
        few = gzip.compress(b"play jazz\nbook a table\n")
        for place in (["--file", self.write("few.txt.gz", few)], ["-"]):
            answers = self.lines("run", model("voice"), *place, "--json", stdin=few)
            self.assertEqual([one["text"] for one in answers], ["play jazz", "book a table"])
        table = self.write("in.csv.gz", gzip.compress(b"text,label\nplay jazz,1\n"))
        self.assertEqual(self.line("run", model("voice"), "--file", table, "--json")["text"], "play jazz")
        said = self.fails(2, "label", model("voice"), path, "-o", self.directory / "x", "--shard", "1/2")
        self.assertIn("compressed", said)
        for data, says in ((members[:-9], "ends in the middle"), (members[:200] + b"x" * 99, "damaged")):
            path = self.write("bad.gz", data)
            self.fails(4, "label", model("voice"), path, "-o", "/dev/null", says=["bad.gz", says])
            done = bantam("run", model("voice"), "--file", path)
            self.assertEqual(done.returncode, 4)
            self.assertIn(says, done.stderr.decode())
        bomb = self.write("bomb.gz", gzip.compress(bytes(64 << 20)))
        self.fails(4, "tokenize", model("voice"), "--file", bomb, says=["line 1", "longer than"])

    def test_other_compressed_texts_are_named(self):
        for begin, name, command in (
            (b"\x28\xb5\x2f\xfd\x04", "zstd", "zstd -dc"),
            (b"\xfd7zXZ\0\0", "xz", "xz -dc"),
            (b"BZh91AY&SY\0", "bzip2", "bzip2 -dc"),
            (b"PK\x03\x04\0", "zip", "unzip -p"),
        ):
            path = self.write("in.jsonl", begin + b'{"text": "play jazz"}\n')
            says = [path, f"compressed by {name}", command]
            self.fails(5, "run", model("voice"), "--file", path, says=says)
            self.fails(5, "label", model("voice"), path, "-o", self.directory / "x", says=says)
            self.fails(5, "index", model("sentence-mean"), path, "-o", self.directory / "x", says=says)
            self.fails(5, "eval", model("voice"), path, says=says)
            data = begin + b"\n"
            self.fails(5, "run", model("voice"), "-", stdin=data, says=["standard input", name])
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.jsonl"])
        for data in (b"(", b"P", b"BZh9", b"\x1f\n"):  # beginnings of such, and of texts
            self.assertEqual(len(self.lines("run", model("voice"), "--json", stdin=data)), 1)

    def test_long_texts_are_shortened_as_headings(self):
        text = self.ok("run", model("voice"), "-", stdin="é".encode() * 100000 + b"\nplay jazz\n").decode()
        self.assertLess(len(text), 2000)
        self.assertIn("é ...", text)


class Terminal(CommandTest):
    """The output that a person sees, over a pseudo-terminal."""

    def talk(self, arguments, typed, interrupt_at=None):
        """All that appears; `typed` is sent when a prompt is there."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            close_fds=True,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(slave)
        shown = b""
        try:
            while True:
                ready, _, _ = select.select([master], [], [], 60)
                self.assertTrue(ready, shown)
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
                if typed and shown.endswith(b"> "):
                    os.write(master, typed.pop(0))
                if interrupt_at is not None and interrupt_at in shown:
                    process.send_signal(signal.SIGINT)
                    interrupt_at = None
        finally:
            os.close(master)
        return process.wait(timeout=60), shown

    def test_prompt(self):
        code, shown = self.talk(["run", model("voice")], [b"play jazz\n", b"\x04"])
        self.assertEqual(code, 0, shown)
        self.assertEqual(shown.count(b"> "), 2)
        self.assertIn(b"PlayMusic", shown)
        self.assertEqual(shown.count(b"play jazz"), 1)  # what was typed; no heading repeats it
        self.assertTrue(shown.endswith(b"\n"))

    def test_progress_and_interrupt(self):
        texts = self.write("texts.txt", "play some jazz\n" * 500)
        target = self.directory / "v.bantam"
        convert = ["convert", VOICE, "-o", target, "--parity", texts]
        code, shown = self.talk(convert, [], interrupt_at=b" % ")
        self.assertEqual(code, 130, shown)
        self.assertRegex(shown, rb"[0-9] %")
        self.assertTrue(shown.endswith(b"\n"), shown[-100:])
        code, shown = self.talk([*convert, "--quiet"], [])
        self.assertEqual((code, shown), (0, b""))
        data = self.write("data.jsonl", '{"text": "play jazz", "intent": "PlayMusic"}\n' * 500)
        code, shown = self.talk(["eval", model("voice"), data], [])
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, rb"[0-9]+ of 500 examples")


class Bytes(CommandTest):
    def test_only_newline_ends_a_line(self):
        texts = ["a\rb", "a\u2028b", "a\x0bb", "a\x0cb", "a\x85b"]
        answers = self.lines("run", model("voice"), "-", "--json", stdin="\n".join(texts).encode())
        self.assertEqual([answer["text"] for answer in answers], texts)

    def test_nul_and_control_bytes(self):
        answer = self.line("run", model("voice"), "-", "--json", stdin=b"play\0 \x01jazz\n")
        self.assertEqual(answer["text"], "play\0 \x01jazz")

    def test_invalid_utf8_is_echoed_as_replacement(self):
        cases = {
            b"a\xff\xfe": "a\ufffd\ufffd",
            b"\xe2\x82": "\ufffd",
            b"\xe2\x82A": "\ufffdA",
            b"\xf0\x9f\x98a": "\ufffda",
            b"\xc0\xaf": "\ufffd\ufffd",
            b"\xed\xa0\x80": "\ufffd\ufffd\ufffd",
            b"\xf4\x90\x80\x80": "\ufffd" * 4,
        }
        for raw, shown in cases.items():
            for command in ("run", "tokenize"):
                answer = self.line(command, model("voice"), "-", "--json", stdin=raw + b"\n")
                self.assertEqual(answer["text"], shown, raw)

    def test_files_of_other_systems(self):
        for raw in (b"\xef\xbb\xbfplay jazz\r\nstop\r\n", b"play jazz\r\nstop", b"\xef\xbb\xbfplay jazz\nstop\n"):
            path = self.directory / "texts.txt"
            path.write_bytes(raw)
            for answers in (
                self.lines("tokenize", model("voice"), "-", "--json", stdin=raw),
                self.lines("tokenize", model("voice"), "--file", str(path), "--json"),
            ):
                self.assertEqual([answer["text"] for answer in answers], ["play jazz", "stop"])
                self.assertEqual(answers[0]["offsets"][1], [0, 4])

    def test_other_encodings_are_named(self):
        text = "play jazz\nturn on the light in the kitchen\n"
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
            name = "UTF-32" if "32" in encoding else "UTF-16"
            self.fails(4, "run", model("voice"), "-", stdin=text.encode(encoding), says=[name, "iconv"])
        done = bantam("run", model("voice"), "-", "--json", stdin="play\ncaf\u00e9\nth\u00e9\n".encode("latin-1"))
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3))
        self.assertEqual(done.stderr.count(b"not UTF-8"), 1)
        self.assertIn(b"line 2", done.stderr)

    def test_offsets_are_bytes_of_the_input(self):
        raw = "\u00e9t\u00e9 ".encode() + b"\xff jazz"
        tokens = self.line("tokenize", model("voice"), "-", "--json", stdin=raw)
        self.assertEqual(raw[slice(*tokens["offsets"][-2])], b"jazz")

    def test_megabyte_line(self):
        for content in (
            b"a" * (1 << 20),
            b"play jazz " * (1 << 17),
            b"\xf0\x9f\x98\x80" * (1 << 18),
            b"\xff" * (1 << 20),
        ):
            answers = self.lines("run", model("voice"), "-", "--json", stdin=content + b"\nplay jazz\n")
            self.assertEqual(len(answers), 2)
            self.assertEqual(answers[1]["intent"]["label"], "PlayMusic")
            self.assertFalse(answers[1]["truncated"])

    def test_empty_input(self):
        self.assertEqual(self.ok("run", model("voice"), "-", "--json", stdin=b""), b"")
        self.assertEqual(self.line("run", model("voice"), "", "--json")["slots"], [])

    def test_file_and_arguments_in_order(self):
        path = self.write("texts.txt", "b\nc")
        answers = self.lines("run", model("voice"), "a", "--file", path, "--json")
        self.assertEqual([answer["text"] for answer in answers], ["a", "b", "c"])
        self.fails(3, "run", model("voice"), "--file", str(self.directory / "missing"), says=["missing"])
        self.fails(3, "run", model("voice"), "--file", str(self.directory), says=[str(self.directory)])


if __name__ == "__main__":
    unittest.main()
