"""Embeddings, similarity, search, pairs and logits; with NumPy where the Python that runs this has it."""

import array
import math
import struct
import unittest

from bantam.vectors import similarity
from support import TEXTS, PackageTest, command, load, of_task, path

try:
    import numpy
except ImportError:
    numpy = None

EMBED = "sentence-mean"


def values(row):
    return [float(value) for value in row]


class Vectors(PackageTest):
    def test_rows(self):
        model = load(EMBED)
        alone = [values(model.encode(text)) for text in TEXTS]
        for options in ({}, {"batch_size": 2}, {"threads": 2, "batch_size": 1}, {"convert_to_numpy": False}):
            self.assertEqual([values(row) for row in model.encode(TEXTS * 9, **options)], alone * 9, options)
        self.assertEqual(values(model(TEXTS[0])), alone[0])
        self.assertEqual([values(row) for row in model(TEXTS)], alone)
        self.assertEqual([values(row) for row in model.encode_document(TEXTS)], alone)
        self.assertEqual(values(model.encode_query(TEXTS[0])), values(model.encode("find: " + TEXTS[0])))
        self.assertEqual(len(model.encode([])), 0)
        self.assertIsInstance(model.encode(TEXTS[0], convert_to_numpy=False), array.array)
        prefixed = model.encode("play", prompt="query: ")
        self.assertEqual(values(prefixed), values(model.encode("query: play", prompt="")))

    def test_truncated(self):
        model = load(EMBED)
        rows = [values(row) for row in model.encode(TEXTS)]
        for options in ({}, {"copy": False}, {"convert_to_numpy": False}):
            kept = model.encode(TEXTS, truncate_dim=3, **options)
            self.assertEqual([values(row) for row in kept], [row[:3] for row in rows])
        for row in model.encode(TEXTS, truncate_dim=3, normalize_embeddings=True):
            self.assertAlmostEqual(sum(value * value for value in values(row)), 1, places=5)
        self.raises(ValueError, lambda: model.encode(TEXTS, truncate_dim=0), "truncate_dim")

    def test_prompts_of_queries_and_documents(self):
        model = load(EMBED)
        self.assertEqual(values(model.encode("play", prompt_name="query")), values(model.encode("find: play")))
        self.assertEqual(values(model.encode("play", prompt_name="document")), values(model.encode("play")))
        self.raises(ValueError, lambda: model.encode("play", prompt_name="other"), "other")

    def test_similarity_functions(self):
        for first, second in (([3.0, 4.0], [6.0, 8.0]),):
            for by, wanted in (("", 1), ("dot", 50), ("euclidean", -5), ("manhattan", -7)):
                self.assertAlmostEqual(float(similarity([first], [second], by)[0][0]), wanted, places=5, msg=by)

    def test_normalized(self):
        model = load("sentence-cls-dense")
        for row, plain in zip(model.encode(TEXTS, normalize_embeddings=True), model.encode(TEXTS)):
            total = 0.0
            for value in values(plain):
                total += value * value
            length = math.sqrt(total)
            wanted = [struct.unpack("f", struct.pack("f", value / length))[0] for value in values(plain)]
            self.assertEqual(values(row), wanted)  # without NumPy the same bits as with it

    def test_texts_without_tokens(self):
        model = load("static-plain")
        (expected,) = command("run", path("static-plain"), "--json", "play")
        for texts in (["", "play", ""], ["", ""], [""]):
            rows = model.encode(texts)
            self.assertEqual([any(values(row)) for row in rows], [bool(text) for text in texts])
            self.assertTrue(all(len(row) == len(expected["embedding"]) for row in rows))

    def test_similarity_and_search(self):
        model = load(EMBED)
        rows = model.encode(TEXTS)
        cosines = model.similarity(rows, rows)
        for i in range(len(TEXTS)):
            self.assertAlmostEqual(float(cosines[i][i]), 1.0, places=5)
        found = model.search(rows[2:4], rows, top_k=3)
        self.assertEqual([[len(one), one[0]["corpus_id"]] for one in found], [[3, 2], [3, 3]])
        for one in found:
            self.assertEqual(one, sorted(one, key=lambda hit: (-hit["score"], hit["corpus_id"])))
        self.assertEqual(len(model.search(rows[0], rows, top_k=100)[0]), len(TEXTS))
        same = model.search(rows[0], [rows[1]] * 5, top_k=2)[0]
        self.assertEqual([hit["corpus_id"] for hit in same], [0, 1])
        ranked = model.rank(TEXTS[4], TEXTS, top_k=1, return_documents=True)[0]
        (nearest,) = model.search(model.encode_query(TEXTS[4]), model.encode_document(TEXTS), top_k=1)[0]
        self.assertEqual((ranked["corpus_id"], ranked["text"]), (nearest["corpus_id"], TEXTS[nearest["corpus_id"]]))
        self.assertEqual(model.rank("a", []), [])

    def test_weights_of_terms(self):
        for name in ("splade", "splade-sum"):
            model = load(name)
            texts = ["ba di ko", "na ko", "ba", "di di", "mi mi", "di ko ba na"]
            rows = model.encode(texts)
            self.assertEqual(len(rows), len(texts))
            plain = []  # rows as long as the vocabulary, and their products in doubles
            for text, row in zip(texts, rows):
                (expected,) = command("embed", path(name), "--json", text)
                self.assertEqual(row, {one["id"]: one["weight"] for one in expected["terms"]})
                self.assertEqual(list(row), sorted(row))
                plain.append([row.get(term, 0.0) for term in range(64)])
            self.assertEqual(list(model.encode(texts, threads=2, batch_size=1)), list(rows))
            self.assertEqual((model.encode(texts[0]), rows[1:3][1]), (rows[0], rows[2]))
            self.assertEqual(rows[-1], rows[5])
            products = [[sum(a * b for a, b in zip(one, other)) for other in plain] for one in plain]
            for one, wanted in zip(model.similarity(rows, rows), products):
                self.assertEqual(values(one), [struct.unpack("f", struct.pack("f", value))[0] for value in wanted])
            hits = model.search(model.encode_query(texts[0]), rows, top_k=3)[0]
            wanted = sorted(range(len(texts)), key=lambda i: (-products[0][i], i))[:3]
            self.assertEqual([hit["corpus_id"] for hit in hits], wanted)
            (ranked,) = command("rank", path(name), "--json", texts[0], *texts)
            self.assertEqual(
                [(hit["corpus_id"], hit["score"]) for hit in model.rank(texts[0], texts)],
                [(one["line"] - 1, one["score"]) for one in ranked["found"]],
            )
            self.assertEqual(len(model.encode([])), 0)
            self.raises(ValueError, lambda: model.encode("a", normalize_embeddings=True), "as they are")
            self.raises(IndexError, lambda: rows[len(texts)], "row")

    def test_pairs(self):
        for name in of_task("regress"):
            model = load(name)
            pairs = [(TEXTS[0], text) for text in TEXTS]
            scores = model.predict(pairs)
            self.assertEqual([float(model.predict(pair)) for pair in pairs], values(scores))
            raw = [values(row)[0] for row in model.logits(pairs)]
            self.assertEqual(raw, [values(model.logits(pair))[0] for pair in pairs])
            ranked = model.rank(TEXTS[0], TEXTS, top_k=3)
            self.assertEqual([hit["score"] for hit in ranked], sorted(values(scores), reverse=True)[:3])
            (expected,) = command("run", path(name), "--json", "--pair", TEXTS[1], TEXTS[0])
            self.assertEqual(raw[1], expected["labels"][0]["score"])
        self.assertEqual(model.predict([]) if numpy is None else list(model.predict([])), [])
        several = load("bert-classify")
        self.raises(ValueError, lambda: several.rank("a", ["b", "c"]), "several numbers")
        for row in several.predict([("a", "b"), ("b", "c")], apply_softmax=True):
            self.assertAlmostEqual(sum(values(row)), 1, places=5)

    def test_logits(self):
        model = load("bert-classify")
        for text in TEXTS:
            row = values(model.logits(text))
            self.assertEqual(
                model.labels[row.index(max(row))] if model.labels else 0, model(text)["label"] if model.labels else 0
            )
        self.assertEqual([values(row) for row in model.logits(TEXTS, threads=2, batch_size=2)],
                         [values(model.logits(text)) for text in TEXTS])  # fmt: skip

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_numpy(self):
        model = load(EMBED)
        rows = model.encode(TEXTS)
        self.assertEqual((rows.dtype, rows.shape[0]), (numpy.float32, len(TEXTS)))
        rows[0, 0] = 7  # its own memory
        views = [model.encode(TEXTS[i : i + 3], copy=False) for i in range(4)]
        for i, view in enumerate(views):  # each holds its session
            self.assertTrue((view == model.encode(TEXTS[i : i + 3])).all())
            self.assertFalse(view.flags.writeable)
        free = len(model._sessions.free)
        del view, views
        self.assertEqual(len(model._sessions.free), free + 4)
        one = model.encode(TEXTS[0], copy=False)
        model.close()
        self.assertEqual(one.shape, rows[0].shape)
        self.assertTrue(numpy.isfinite(one).all())
        self.assertEqual(load(EMBED).encode([]).shape, (0, 0))
        many = load(EMBED).encode(TEXTS * 20, copy=False)
        self.assertEqual(many.shape, (len(TEXTS) * 20, rows.shape[1]))


if __name__ == "__main__":
    unittest.main()
