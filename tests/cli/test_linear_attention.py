"""Attention whose cost is linear in tokens (docs/linear-attention.md): long texts, and what is refused."""

import json
import struct
import unittest

from support import GOLDEN, CommandTest, model

TOKENS = 4096
ONCE = [7, 11, 30, 8, 54, 23, 9, 41, 17, 5, 60, 12, 33, 28, 19, 46]
TIMES = TOKENS // len(ONCE)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def said_many_times(times):
    """Tensors of a model without positions, for texts of `times` times ONCE. Linformer's sums over places have each token of ONCE so
    many times, and are divided by that."""

    def change(tensors):
        for name, (dtype, shape, content) in list(tensors.items()):
            if name.endswith("position_embeddings.weight"):
                tokens = times * len(ONCE)
                tensors[name] = (dtype, [tokens, shape[1]], bytes(2 * tokens * shape[1]))
            if "projection.weight" in name:
                values = struct.unpack(f"<{shape[0] * shape[1]}e", content)
                rows = [values[row * shape[1] : row * shape[1] + len(ONCE)] * times for row in range(shape[0])]
                values = [value / times for row in rows for value in row]
                tensors[name] = ("F32", [shape[0], times * len(ONCE)], struct.pack(f"<{len(values)}f", *values))

    return change


class LinearAttention(CommandTest):
    def converted(self, golden, *options, times=TIMES, tokenizer=False):
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS]
        words += [f"[unused{i}]" for i in range(61 - len(words))]
        tokens = times * len(ONCE)
        directory = self.changed(golden, said_many_times(times), max_position_embeddings=tokens)
        if tokenizer:
            (directory / "vocab.txt").write_text("\n".join(words) + "\n")
            settings = {"model_max_length": tokens, "tokenizer_class": "BertTokenizer"}
            (directory / "tokenizer_config.json").write_text(json.dumps(settings))
        out = self.directory / f"{golden}.bantam"
        self.ok("convert", directory, "-o", out, "--parity", "none", *options)
        return out

    def raw(self, path, ids):
        (output,) = self.line("run", path, "--raw", "--ids", ",".join(map(str, ids)))["outputs"].values()
        return output["data"]

    def test_answers_are_those_of_the_papers(self):
        for pattern in ("performer-*", "linformer-*"):
            for path in sorted(GOLDEN.glob(pattern)):
                with self.subTest(model=path.name):
                    self.answers(path.name, model(path.name))

    def test_a_text_said_many_times_means_the_same(self):
        """Sums over a text that is repeated are as many times as large, and so is what divides them."""
        for golden in ("performer-tag", "performer-classify", "linformer-tag", "linformer-classify"):
            for weights in ("f32", "int8"):
                with self.subTest(model=golden, weights=weights):
                    short = self.raw(self.converted(golden, "--weights", weights, times=1), ONCE)
                    long = self.raw(self.converted(golden, "--weights", weights), ONCE * TIMES)
                    times = TIMES if "tag" in golden else 1
                    self.assertEqual(len(long), len(short) * times)
                    pairs = list(zip(long, short * times, strict=True))
                    if weights == "f32":
                        self.assertLessEqual(max(abs(found - wanted) for found, wanted in pairs), 1e-4)
                    product = sum(found * wanted for found, wanted in pairs)
                    lengths = sum(found**2 for found, _ in pairs) * sum(wanted**2 for _, wanted in pairs)
                    self.assertGreaterEqual(product / lengths**0.5, 0.99)

    def test_texts_of_4096_tokens(self):
        text = " ".join(LETTERS[i * i % len(LETTERS)] for i in range(TOKENS - 2))
        ids = [2, *(5 + LETTERS.index(word) for word in text.split()), 3]
        self.assertEqual(len(ids), TOKENS)
        long = self.write("long.txt", text + "\n")
        for family in ("performer", "linformer"):
            with self.subTest(family=family):
                path = self.converted(f"{family}-classify", tokenizer=True)
                raw = self.line("run", path, "--file", long, "--raw")["outputs"]["logits"]["data"]
                self.assertEqual(raw, self.raw(path, ids))
                self.assertIn("LABEL_", self.ok("run", path, "--file", long).decode())
                self.assertIn("LABEL_", self.ok("classify", path, "--file", long).decode())
                embeds = self.converted(f"{family}-encoder", "--task", "embed", tokenizer=True)
                vector = self.line("embed", embeds, "--file", long, "--json")["embedding"]
                self.assertEqual(len(vector), 18)
                threads = self.line("embed", embeds, "--file", long, "--json", "--threads", "2")
                self.assertEqual(threads["embedding"], vector)

    def test_shorter_texts_take_less_of_the_matrices(self):
        ids = ONCE[:11]
        for golden in ("linformer-tag", "linformer-classify", "performer-tag"):
            with self.subTest(model=golden):
                short = self.directory / "short.bantam"
                options = ("--weights", "f32", "--parity", "none", "--max-tokens", "11")
                self.ok("convert", GOLDEN / golden, "-o", short, *options)
                self.assertEqual(self.raw(short, ids), self.raw(model(golden), ids))

    def test_images_link_what_they_need(self):
        answer = self.line(
            *("firmware", model("performer-classify"), "--target", "cortex-m4", "--max-tokens", "24"),
            *("-o", self.directory / "p", "--json"),
        )
        self.assertIn("key sums", answer["linked"])
        self.assertIn("linear attention", answer["linked"])
        self.assertNotIn("attention", answer["linked"])
        other = self.line(
            *("firmware", model("bert-classify"), "--target", "cortex-m4", "--max-tokens", "24"),
            *("-o", self.directory / "q", "--json"),
        )
        self.assertNotIn("key sums", other["linked"])

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"
        name = "performer.encoder.layer.0.attention.self.features.weight"
        for golden, tensors, settings, code, says in (
            ("performer-classify", lambda held: held.pop(name), {}, 4, [name, "missing"]),
            ("performer-classify", None, {"nb_features": 15}, 4, [name, "[15, 6]", "[14, 6]"]),
            ("performer-classify", None, {"nb_features": 0}, 4, ["nb_features"]),
            ("performer-classify", None, {"kernel": "cosine"}, 5, ['"cosine"', '"softmax" and "relu"']),
            ("performer-classify", None, {"kernel_epsilon": 0}, 4, ["kernel_epsilon"]),
            ("performer-classify", None, {"num_attention_heads": 4}, 4, ["num_attention_heads"]),
            ("linformer-classify", None, {"projected_size": 6}, 4, ["linformer.encoder.projection.weight", "[6, 24]"]),
            ("linformer-classify", None, {"sharing": "some"}, 5, ['"some"', '"layerwise"']),
            ("linformer-classify", None, {"sharing": "key-value"}, 4, ["key_projection.weight", "missing"]),
            ("linformer-tag", None, {"sharing": "headwise"}, 4, ["key_projection.weight", "[5, 24]", "[15, 24]"]),
            ("linformer-tag", None, {"max_position_embeddings": 25}, 4, ["position_embeddings", "[25, 18]"]),
        ):
            with self.subTest(settings=settings, says=says):
                self.fails(code, "convert", self.changed(golden, tensors, **settings), "-o", out, says=says)
        self.fails(
            *(5, "convert", GOLDEN / "performer-classify", "-o", out, "--activations", "static"),
            *("--calibrate", self.write("texts.txt", "a\n")),
            says=["KeySums"],
        )

    def test_tokens_that_fill_queries_up_are_seen_or_refused(self):
        def as_performer(held):
            for name in [name for name in held if name.startswith("bert.")]:
                held["performer" + name.removeprefix("bert")] = held.pop(name)
            vectors = struct.pack("<48e", *([1.0] * 48))
            held["performer.encoder.layer.0.attention.self.features.weight"] = ("F16", [8, 6], vectors)

        out = self.directory / "x.bantam"
        directory = self.changed("colbert", as_performer, model_type="performer", nb_features=8)
        self.fails(5, "convert", directory, "-o", out, says=["filled up with", "attend_to_mask_tokens"])
        settings = {**json.loads((directory / "artifact.metadata").read_text()), "attend_to_mask_tokens": True}
        (directory / "artifact.metadata").write_text(json.dumps(settings))
        self.ok("convert", directory, "-o", out, "--parity", "none")


if __name__ == "__main__":
    unittest.main()
