"""Time grows with a text, not with its square: a text of four times the bytes takes about four times the processor's time, whatever it
is made of and whichever option reads it. Ratios are compared, not times: work that grows with the square takes sixteen times as long."""

import json
import pathlib
import resource
import subprocess
import tempfile
import unittest

from support import COMMAND, CommandTest, model

SMALL, LARGE = 150_000, 600_000  # bytes
MOST = 9  # times the work: a half of 16, and noise

PIECES = {
    "words": "play some jazz in the kitchen, ",
    "one word": "a",
    "blanks": " ",
    "lines": "\t\r",
    "digits": "0123456789",
    "marks": "e\u0301\u0323\u0327",
    "ideographs": "東京都",
    "special tokens": "[MASK]</s><s>[SEP]",
    "broken": "\ufffd\x01'",
}
TOKENIZERS = ("voice", "gpt2-text", "bart-text", "minilm-multilingual", "marian-text")


def processor_seconds(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [COMMAND, *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=300,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done


class Growth(CommandTest):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def check(self, write, arguments):
        """write(path, bytes) makes what `arguments` read as `path`."""
        path = self.folder / "input"
        words = [str(path) if word == "INPUT" else word for word in arguments]
        for last in (False, False, True):
            seconds = []
            for size in (SMALL, LARGE):
                write(path, size)
                one, done = processor_seconds(words)
                self.assertEqual(done.returncode, 0, done.stderr)
                seconds.append(one)
            # The start of a process is not work on the text.
            if seconds[1] < MOST * max(seconds[0], 0.01):
                return
            self.assertFalse(last, f"{seconds} s")

    def test_tokenizers(self):
        for name in TOKENIZERS:
            for kind, piece in PIECES.items():
                with self.subTest(model=name, text=kind):

                    def write(path, size, piece=piece):
                        path.write_text(piece * (size // len(piece.encode())) + "\n", encoding="utf-8", newline="")

                    self.check(write, ["tokenize", model(name), "--file", "INPUT", "-q", "--json", "--truncate"])

    def test_windows_and_records(self):
        words = PIECES["words"]

        def line(path, size):
            path.write_text(words * (size // len(words)) + "\n")

        def many_lines(path, size):
            path.write_text("play\n" * (size // 5))

        def record(path, size):
            path.with_suffix(".jsonl").write_text(json.dumps({"text": words * (size // len(words))}) + "\n")

        def nested(path, size):
            path.with_suffix(".jsonl").write_text(
                '{"text": "a", "more": ' + "[1," * 30 + "1, " * (size // 3) + "1" + "]" * 30 + "}\n"
            )

        for write, arguments in (
            (line, ["run", model("voice"), "--file", "INPUT", "--stride", "8", "--json"]),
            (line, ["run", model("bert-answer"), "--question", "where", "--file", "INPUT", "--stride", "4", "--json"]),
            (line, ["run", model("bert-tag"), "--file", "INPUT", "--stride", "2", "--json"]),
            (many_lines, ["run", model("voice"), "--file", "INPUT", "--json"]),
            (record, ["run", model("voice"), "--file", str(self.folder / "input.jsonl"), "--json"]),
            (nested, ["run", model("voice"), "--file", str(self.folder / "input.jsonl"), "--json"]),
        ):
            with self.subTest(arguments=arguments):
                self.check(write, arguments)


if __name__ == "__main__":
    unittest.main()
