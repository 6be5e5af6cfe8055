"""Reformer (docs/reformer.md): answers, long texts, what the report says of hashes and places, and what is refused."""

import math
import shutil
import struct
import unittest

from support import GOLDEN, CommandTest, model

ROWS = 512


def many_places(tensors):
    """More rows of the first axis: those of the model, over and over, a little smaller each time."""
    name = "reformer.embeddings.position_embeddings.weights.0"
    kind, shape, data = tensors[name]
    rows = struct.unpack(f"<{len(data) // 2}e", data)
    longer = [value / (1 + row / 64) for row in range(ROWS // shape[0]) for value in rows]
    tensors[name] = (kind, [ROWS, *shape[1:]], struct.pack(f"<{len(longer)}e", *longer))


class Reformer(CommandTest):
    def convert(self, source, *options):
        out = self.directory / "r.bantam"
        return out, self.ok("convert", source, "-o", out, "--parity", "none", *options).decode()

    def raw(self, path, ids, *options):
        return next(
            iter(self.line("run", path, "--raw", "--ids", ",".join(map(str, ids)), *options)["outputs"].values())
        )["data"]

    def test_answers_are_those_of_transformers(self):
        for path in sorted(GOLDEN.glob("reformer-*")):
            with self.subTest(model=path.name):
                self.answers(path.name, model(path.name))

    def test_texts_of_thousands_of_tokens(self):
        ids = [5 + i * i * 7 % 56 for i in range(5001)]
        source = self.changed(
            "reformer-classify",
            many_places,
            axial_pos_shape=[ROWS, 10],
            max_position_embeddings=5120,
        )
        for weights in ("f32", "int8"):
            with self.subTest(weights=weights):
                path, _ = self.convert(source, "--weights", weights)
                one = self.raw(path, ids)
                self.assertEqual(len(one), 3)
                self.assertEqual(self.raw(path, ids, "--threads", "2"), one)
                # Its first half alone is another text.
                self.assertNotEqual(self.raw(path, ids[:2500]), one)

    def test_the_report_says_what_is_chosen(self):
        for golden, settings, options, says in (
            ("reformer-classify", {"hash_seed": None}, (), ["no hash_seed", "seed 0"]),
            ("reformer-fill", {}, (), ["no num_buckets", "4 x 8", "80 tokens"]),
            (
                "reformer-fill",
                {},
                ("--max-tokens", "12"),
                ["no num_buckets", "have 4,", "12 tokens"],
            ),
        ):
            with self.subTest(golden=golden, settings=settings):
                _, report = self.convert(self.changed(golden, **settings), *options)
                for words in says:
                    self.assertIn(words, report)
        _, report = self.convert(GOLDEN / "reformer-classify")
        self.assertNotIn("hash_seed", report)
        self.assertNotIn("num_buckets", report)

    def test_tables_of_places_have_a_size(self):
        def wide(tensors):
            name = "reformer.embeddings.position_embeddings.weights."
            tensors[name + "0"] = ("F16", [1024, 1, 6], bytes(2 * 1024 * 6))
            tensors[name + "1"] = ("F16", [1, 1024, 12], bytes(2 * 1024 * 12))

        source = self.changed(
            "reformer-answer",
            wide,
            axial_pos_shape=[1024, 1024],
            max_position_embeddings=1 << 20,
        )
        _, report = self.convert(source)
        self.assertIn("up to 466032 tokens", report)  # 2^23 numbers of 18 columns, in chunks of 16
        _, report = self.convert(source, "--max-tokens", "64")
        self.assertNotIn("multiplied out", report)

    def test_other_seeds_give_other_hashes(self):
        ids = [5 + i * i * 7 % 56 for i in range(61)]
        rows = {
            seed: self.raw(self.convert(self.changed("reformer-encoder", hash_seed=seed))[0], ids) for seed in (7, 8)
        }
        self.assertNotEqual(rows[7], rows[8])
        same = self.raw(
            self.convert(self.changed("reformer-encoder", hash_seed=7 + (1 << 32)))[0],
            ids,
        )
        self.assertEqual(same, rows[7])

    def test_whole_texts_alone_have_next_tokens(self):
        source = self.changed("reformer-generate")
        shutil.copy(GOLDEN / "minilm-multilingual" / "tokenizer.json", source)
        path, _ = self.convert(source, "--weights", "f32")
        for command in (
            ("generate", path, "le chat"),
            ("bench", path, "--prompt", "4", "--generate", "2"),
        ):
            self.fails(5, *command, says=["whole texts", "perplexity"])
        text = "le chat at sea " * 5
        ids = self.line("tokenize", path, text, "--json")["ids"]

        def log_probabilities(first, last):
            """The logarithms of the probabilities of the tokens after the window's first one."""
            scores = self.raw(path, ids[first:last])
            for at, token in enumerate(ids[first + 1 : last + 1]):
                row = scores[at * 61 : (at + 1) * 61]
                yield row[token] - math.log(sum(map(math.exp, row)))

        found = self.line("perplexity", path, text, "--json")
        self.assertEqual(found["tokens"], len(ids) - 1)
        self.assertAlmostEqual(
            found["log_probability"],
            sum(log_probabilities(0, len(ids) - 1)),
            delta=1e-3,
        )
        # Windows of 12 tokens, of which each has 4 of the one before.
        found = self.line("perplexity", path, text, "--json", "--context", "12", "--overlap", "4")
        self.assertEqual(found["tokens"], len(ids) - 1)
        wanted = sum(log_probabilities(0, 12))
        for begin in range(8, len(ids) - 5, 8):
            wanted += sum(list(log_probabilities(begin, min(begin + 12, len(ids) - 1)))[4:])
        self.assertAlmostEqual(found["log_probability"], wanted, delta=1e-3)

    def test_images_link_what_they_need(self):
        answer = self.line(
            *(
                "firmware",
                model("reformer-classify"),
                "--target",
                "cortex-m4",
                "--max-tokens",
                "24",
            ),
            *("-o", self.directory / "p", "--json"),
        )
        self.assertIn("chunk attention", answer["linked"])
        self.assertIn("rms norm", answer["linked"])
        self.assertNotIn("attention", answer["linked"])

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        name = "reformer.encoder.layers.1.attention.self_attention.query_key.weight"
        for golden, tensors, settings, code, says in (
            (
                "reformer-classify",
                lambda held: held.pop(name),
                {},
                4,
                [name, "missing"],
            ),
            (
                "reformer-classify",
                None,
                {"attn_layers": ["local", "global", "lsh"]},
                5,
                ["attn_layers", '"global"'],
            ),
            ("reformer-classify", None, {"attn_layers": []}, 4, ["attn_layers"]),
            (
                "reformer-classify",
                None,
                {"attn_layers": ["local", "lsh"]},
                4,
                ["2 layers", "3"],
            ),
            ("reformer-classify", None, {"num_buckets": 5}, 4, ["num_buckets", "5"]),
            (
                "reformer-classify",
                None,
                {"num_buckets": [2, 3]},
                4,
                ["num_buckets", "[2,3]"],
            ),
            ("reformer-classify", None, {"num_buckets": 1 << 20}, 4, ["num_buckets"]),
            ("reformer-classify", None, {"num_hashes": 65}, 4, ["num_hashes"]),
            ("reformer-classify", None, {"hash_seed": 0.5}, 4, ["hash_seed"]),
            (
                "reformer-classify",
                None,
                {"lsh_attn_chunk_length": 0},
                4,
                ["lsh_attn_chunk_length"],
            ),
            (
                "reformer-classify",
                None,
                {"lsh_attn_chunk_length": 257, "local_attn_chunk_length": 256},
                5,
                ["65536"],
            ),
            (
                "reformer-classify",
                None,
                {"axial_pos_shape": [8]},
                4,
                ["axial_pos_shape", "[8]"],
            ),
            (
                "reformer-classify",
                None,
                {"axial_pos_embds_dim": [6, 6]},
                4,
                ["axial_pos_embds_dim", "18"],
            ),
            (
                "reformer-classify",
                None,
                {"axial_pos_shape": [10, 8]},
                4,
                ["weights.0", "[10, 1, 6]"],
            ),
        ):
            with self.subTest(settings=settings, says=says):
                self.fails(
                    code,
                    "convert",
                    self.changed(golden, tensors, **settings),
                    "-o",
                    out,
                    says=says,
                )
        self.fails(
            *(
                5,
                "convert",
                GOLDEN / "reformer-classify",
                "-o",
                out,
                "--activations",
                "static",
            ),
            *("--calibrate", self.write("texts.txt", "a\n")),
            says=["ChunkAttention"],
        )
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
