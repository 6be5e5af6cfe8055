"""Bad model files of every kind: a clear message, the right exit code, no crash."""

import random
import struct
import unittest

from support import CommandTest, bantam, model


class BadFiles(CommandTest):
    def setUp(self):
        super().setUp()
        with open(model("voice"), "rb") as file:
            self.good = file.read()

    def every_command(self, code, path, says=()):
        for arguments in (
            ["run", path, "a"],
            ["tokenize", path, "a"],
            ["inspect", path],
            ["verify", path],
            ["bench", path, "--seq", "8"],
            ["run", path, "--ids", "1", "--raw"],
        ):
            self.fails(code, *arguments, says=says)

    def test_missing(self):
        self.write("voice.bantam", self.good)
        wrong = str(self.directory / "vioce.bantam")
        self.every_command(3, wrong, says=[wrong, "did you mean", "voice.bantam"])

    def test_directory(self):
        self.every_command(3, str(self.directory), says=["bantam convert"])

    def test_empty_and_foreign(self):
        self.every_command(4, self.write("empty.bantam", b""))
        self.every_command(4, self.write("text.bantam", b"not a model at all" * 100), says=["bantam convert"])
        self.every_command(4, self.write("zeros.bantam", bytes(4096)))

    def test_an_index_is_no_model(self):
        index = str(self.directory / "lines.index")
        self.ok("index", model("sentence-mean"), self.write("lines.txt", "ba di\n"), "-o", index)
        self.every_command(
            4, index, says=[f"{index}: is an index of texts", f"bantam search FILE.bantam {index} QUERY"]
        )

    def test_truncated(self):
        for size in (1, 8, 63, 64, 100, 4096, len(self.good) // 2, len(self.good) - 1):
            self.fails(4, "run", self.write("cut.bantam", self.good[:size]), "a", says=["cut.bantam"])

    def test_oversized(self):
        # More bytes than the header states: verify and run must agree on whether that is a model.
        path = self.write("long.bantam", self.good + b"more")
        run, verify = bantam("run", path, "a"), bantam("verify", path)
        self.assertIn(run.returncode, (0, 4))
        self.assertEqual(run.returncode, verify.returncode, verify.stderr)
        huge = bytearray(self.good)
        huge[16:24] = struct.pack("<Q", 1 << 60)
        self.every_command(4, self.write("huge.bantam", bytes(huge)))

    def test_versions(self):
        newer = bytearray(self.good)
        newer[8:10] = struct.pack("<H", 2)
        self.every_command(5, self.write("newer.bantam", bytes(newer)), says=["newer"])
        minor = bytearray(self.good)
        minor[10:12] = struct.pack("<H", 9)
        self.ok("run", self.write("minor.bantam", bytes(minor)), "a")

    def test_flipped_bits_are_found_by_verify(self):
        numbers = random.Random(7)
        graph_end = sum(struct.unpack_from("<QQ", self.good, 24))
        data = struct.unpack_from("<Q", self.good, 40)[0]
        chosen = [64, graph_end - 1, graph_end, data - 1, data, len(self.good) - 1]  # graph_end: padding
        for at in chosen + [numbers.randrange(64, len(self.good)) for _ in range(34)]:
            damaged = bytearray(self.good)
            damaged[at] ^= 1 << numbers.randrange(8)
            path = self.write("flipped.bantam", bytes(damaged))
            message = self.fails(4, "verify", path)
            self.assertIn("flipped.bantam", message)
            # Running it may give another answer, or be refused; it never crashes.
            self.assertIn(bantam("run", path, "play jazz").returncode, (0, 4, 5))

    def test_flipped_header(self):
        for at in range(64):
            for bit in (0, 7):
                damaged = bytearray(self.good)
                damaged[at] ^= 1 << bit
                path = self.write("flipped.bantam", bytes(damaged))
                self.assertIn(bantam("run", path, "play jazz").returncode, (0, 4, 5), at)
                self.assertIn(bantam("verify", path).returncode, (4, 5), at)

    def test_unreadable_values(self):
        self.fails(4, "run", model("voice"), "--ids", "5553", "--raw")
        self.ok("verify", model("voice"))
        self.assertTrue(self.line("verify", model("voice"), "--json")["ok"])


class Refused(CommandTest):
    def test_commands_for_a_model_without_tokenizer(self):
        from support import SOURCE

        source = self.directory / "ids-only"
        source.mkdir()
        for name in ("config.json", "model.safetensors"):
            (source / name).write_bytes((SOURCE / "tests" / "golden" / "models" / "bert-classify" / name).read_bytes())
        path = str(self.directory / "ids.bantam")
        self.ok("convert", source, "-o", path, "--weights", "f32", "--parity", "none")
        self.fails(4, "run", path, "text", says=["--ids"])
        self.fails(4, "tokenize", path, "text", says=["tokenizer"])
        self.assertEqual(self.line("run", path, "--ids", "5,6", "--raw")["outputs"]["logits"]["shape"], [1, 3])

    def test_backend(self):
        self.fails(5, "run", model("voice"), "a", "--backend", "xnnpack", says=["--backend"])
        self.fails(2, "run", model("voice"), "a", "--backend", "gpu", says=["--backend"])


if __name__ == "__main__":
    unittest.main()
