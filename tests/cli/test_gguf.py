"""GGUF files: the same answers as the directory of the same weights, what blocks of integers stand for, and what is refused. The files are
written by tests/golden/gguf_files.py with the `gguf` package."""

import json
import struct
import unittest

from support import GOLDEN, CommandTest

FILES = GOLDEN.parent / "gguf"
PLAIN = ("convert", "--weights", "f32", "--parity", "none")
# Settings that GGUF files do not contain, so that their readers assume them: Gemma's width of scores, which layers have windows.
ASSUMED = {
    "qwen2-generate": {"use_sliding_window": False, "layer_types": None},
    "gemma2-generate": {"query_pre_attn_scalar": 8},
    "gemma3-generate": {
        "query_pre_attn_scalar": 8,
        "layer_types": None,
        "sliding_window_pattern": 6,
        "_sliding_window_pattern": None,
    },
}
SAME = ("nomic-encoder", "llama-generate", "qwen2-generate", "qwen3-generate", "gemma-generate", "gemma2-generate")
SAME += ("gemma3-generate", "gpt2-text")
IDS = ("7", "5,6,7,8,9,10,11,12,13", "40,3,17,17,8,29,31,5,6,12,2,44")


class Gguf(CommandTest):
    def converted(self, source, *options):
        path = self.directory / "made.bantam"
        done = self.ok(*PLAIN, source, "-o", path, *options)
        return path, done.decode()

    def outputs(self, path, ids):
        return self.line("run", path, "--raw", "--ids", ids)["outputs"]

    def test_files_answer_as_directories_do(self):
        for name in SAME:
            directory = self.changed(name, **ASSUMED.get(name, {}))
            expected = [self.outputs(self.converted(directory)[0], ids) for ids in IDS]
            path = self.converted(FILES / f"{name}.gguf")[0]
            for ids, wanted in zip(IDS, expected, strict=True):
                found = self.outputs(path, ids)
                self.assertEqual(list(found), list(wanted), name)
                for output in wanted:
                    self.assertEqual(found[output], wanted[output], (name, ids, output))

    def test_divisors_of_rotary_positions(self):
        expected = self.converted(GOLDEN / "llama-scaled")[0]
        wanted = [self.outputs(expected, ids)["logits"]["data"] for ids in IDS]
        path = self.converted(FILES / "llama-scaled.gguf")[0]
        for ids, values in zip(IDS, wanted, strict=True):
            for a, b in zip(self.outputs(path, ids)["logits"]["data"], values, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-4)

    def test_vectors_of_texts(self):
        texts = ["Play some jazz!", "caf\u00e9 na\u00efve", "[CLS] the film [MASK]", "unbelievable", "\u4f60\u597d", ""]
        lines = self.write("texts.txt", "\n".join(texts) + "\n")
        self.converted(GOLDEN / "sentence-mean")
        wanted = self.lines("embed", self.directory / "made.bantam", "--file", lines, "--json")
        path = self.converted(FILES / "sentence-mean.gguf")[0]
        found = self.lines("embed", path, "--file", lines, "--json")
        for a, b in zip(found, wanted, strict=True):
            self.assertEqual({**a, "ms": 0}, {**b, "ms": 0})
        pair = ("tokenize", "--json", "the film", "--pair", "was good")
        self.assertEqual(
            self.line(*pair[:1], path, *pair[1:])["ids"],
            self.line(*pair[:1], self.directory / "made.bantam", *pair[1:])["ids"],
        )

    def test_byte_pairs(self):
        texts = ["Hello  world's 42 things", "caf\u00e9 \u4f60\u597d\n\n x", "<|endoftext|>end", " "]
        path = self.converted(FILES / "gpt2-text.gguf")[0]
        found = [self.line("tokenize", path, "--json", text)["ids"] for text in texts]
        wanted = self.converted(GOLDEN / "gpt2-text")[0]
        self.assertEqual(found, [self.line("tokenize", wanted, "--json", text)["ids"] for text in texts])

    def test_blocks_stand_for_their_values(self):
        cases = [json.loads(line) for line in (FILES / "llama-blocks.jsonl").read_text().splitlines()]
        self.assertEqual({case["type"] for case in cases}, {"q8_0", "q4_0", "bf16"})
        for kind in ("q8_0", "q4_0", "bf16"):
            path, report = self.converted(FILES / f"llama-blocks-{kind}.gguf")
            self.assertEqual("read as the values" in report, kind != "bf16", report)
            for case in cases:
                if case["type"] != kind:
                    continue
                raw = self.outputs(path, ",".join(map(str, case["ids"])))["logits"]
                last = raw["data"][-320:][: len(case["logits"])]
                for a, b in zip(last, case["logits"], strict=True):
                    self.assertAlmostEqual(a, b, delta=2e-4, msg=(kind, case["text"]))

    def test_sentence_pieces(self):
        path = self.converted(FILES / "llama-blocks-q8_0.gguf")[0]
        cases = [json.loads(line) for line in (FILES / "llama-blocks.jsonl").read_text().splitlines()]
        for case in cases:
            if case["type"] != "q8_0" or case["text"].startswith("<s>"):
                continue  # SentencePiece itself does not look for special tokens
            found = self.line("tokenize", path, "--json", case["text"])
            self.assertEqual(found["ids"], case["ids"], case["text"])
        self.assertEqual(self.line("tokenize", path, "--json", "<s>")["ids"], [1, 1])

    def test_integers_are_rounded_anew(self):
        path = self.directory / "int8.bantam"
        self.ok("convert", FILES / "llama-blocks-q8_0.gguf", "-o", path, "--weights", "int8")
        self.assertIn(
            "Golden nomic-encoder", self.ok("inspect", self.converted(FILES / "nomic-encoder.gguf")[0]).decode()
        )

    def spoilt(self, name, old, new):
        whole = (FILES / f"{name}.gguf").read_bytes()
        self.assertEqual(whole.count(old), 1)
        return self.write("spoilt.gguf", whole.replace(old, new))

    def refused(self, code, path, *says):
        target = self.directory / "none.bantam"
        self.fails(code, *PLAIN, path, "-o", target, says=says)
        self.assertFalse(target.exists())

    def test_what_is_not_supported_is_named(self):
        name = b"general.architecture"
        key = struct.pack("<Q", len(name)) + name + struct.pack("<I", 8)
        self.refused(
            5,
            self.spoilt("llama-generate", key + struct.pack("<Q", 5) + b"llama", key + struct.pack("<Q", 5) + b"mamba"),
            '"mamba" is not supported from GGUF; bert, nomic-bert, llama',
        )
        whole = (FILES / "llama-generate.gguf").read_bytes()
        self.refused(5, self.write("old.gguf", whole[:4] + struct.pack("<I", 1) + whole[8:]), "version 1 of GGUF")
        self.refused(5, self.write("big.gguf", whole[:4] + struct.pack(">I", 3) + whole[8:]), "other order of bytes")
        at = whole.index(b"token_embd.weight") + len(b"token_embd.weight") + 4 + 16
        k_quant = whole[:at] + struct.pack("<I", 14) + whole[at + 4 :]
        self.refused(4, self.write("q6.gguf", k_quant), "token_embd.weight", "whole blocks of Q6_K")
        wide = bytearray((FILES / "llama-blocks-q8_0.gguf").read_bytes())
        at = wide.index(b"token_embd.weight") + len(b"token_embd.weight") + 4 + 16
        wide[at : at + 4] = struct.pack("<I", 41)
        self.refused(4, self.write("q1.gguf", bytes(wide)), "token_embd.weight", "whole blocks of Q1_0")
        self.refused(
            5, self.spoilt("gpt2-text", b"\x05\0\0\0\0\0\0\0gpt-2", b"\x05\0\0\0\0\0\0\0gpt-9"), '"gpt-9" is not'
        )

    def test_truncated_files_are_refused(self):
        whole = (FILES / "llama-generate.gguf").read_bytes()
        for size in (0, 3, 4, 7, 20, 23, 24, 100, 1000, 3000, len(whole) // 2, len(whole) - 600):
            self.refused(4, self.write("cut.gguf", whole[:size]), "cut.gguf")

    def test_students_are_not_made_of_them(self):
        self.fails(
            2,
            "student",
            FILES / "llama-generate.gguf",
            "--layers",
            "1",
            "-o",
            self.directory / "student",
            says=["is a file; students are made of directories"],
        )


if __name__ == "__main__":
    unittest.main()
