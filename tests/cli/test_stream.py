"""Standard input as a stream, odd bytes, long lines; standard output that cannot be written."""

import json
import os
import select
import signal
import subprocess
import unittest

from support import COMMAND, CommandTest, model


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
        self.assertEqual(process.wait(timeout=60), 3)
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
                self.fails(3, *arguments, stdout=full, says=["standard output"])


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
