"""bantam.Index: hits and scores of the command, records added and removed, damaged files and wrong arguments."""

import pathlib
import pickle
import random
import shutil
import struct
import tempfile
import types
import unittest

import bantam
from bantam.vectors import Vectors, best_of, nearest
from support import PackageTest, command, load, of_task, path

try:
    import numpy
except ImportError:
    numpy = None

WORDS = ["ba", "di", "ko", "lu", "na", "mi"]
OLDER = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "index"


def records(count, seed=1):
    draw = random.Random(seed)
    return [
        {
            "key": f"k{i}",
            "text": " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 90 if i % 5 == 0 else 6))),
            "team": draw.choice(["red", "blue"]),
            "year": 2020 + i % 3,
            "tags": [f"t{i % 4}", i % 2 == 0],
            "size": i / 7,
        }
        for i in range(count)
    ]


class IndexTest(PackageTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "texts.index"

    def create(self, name="sentence-mean", made=None, **options):
        made = records(60) if made is None else made
        return bantam.Index.create(self.file, path(name), made, **options)


@unittest.skipIf(numpy is not None, "NumPy is installed")
class WithoutNumPy(IndexTest):
    def test_says_what_is_missing(self):
        self.raises(ImportError, lambda: bantam.Index(self.file, path("sentence-mean")), "pip install numpy")

    def test_prepared_vectors(self):
        model = load("sentence-mean")
        rows = model.encode(WORDS)
        wanted = model.search(rows[:2], rows, top_k=3)
        self.assertEqual(model.search(rows[:2], model.vectors(rows), top_k=3), wanted)


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Index(IndexTest):
    def check(self, index, name, query, top, where, *options):
        (said,) = command("search", path(name), index.path, query, "--json", "--top", top, *options)
        wanted = said["found"]
        for hit in wanted:
            fields = hit.get("fields", {})
            if "size" in fields:  # support.command rounds numbers to f32, which fields are not
                fields["size"] = next(one["size"] for one in records(60) if one["key"] == hit["id"])
        self.assertEqual(index.search(query, top, where), wanted)

    def test_hits_of_the_command(self):
        names = [*of_task("embed"), "splade", "static-plain"]
        for name in names:
            if "similarity" in load(name).info and load(name).info["similarity"] in ("euclidean", "manhattan"):
                continue
            for options in ({}, {"id": "key", "keep_all": True, "stride": 3}, {"id": "key", "keep": ["team", "year"]}):
                if "stride" in options and load(name).max_tokens not in range(12, 80):
                    continue
                index = self.create(name, **options)
                self.assertEqual(len(index), 60)
                for query in ("ba di", "ko", "lu na mi ba"):
                    self.check(index, name, query, 10, None)
                    self.check(index, name, query, 0, {})
                    if options:
                        self.check(index, name, query, 3, {"team": "red"}, "--where", "team=red")
                        where = {"team": "blue", "year": 2021}
                        self.check(index, name, query, 0, where, "--where", "team=blue", "--where", "year=2021")

    def test_compact_and_short_vectors(self):
        for options in ({"compact": True}, {"truncate_dim": 7}):
            index = self.create(**options)
            for query in WORDS:
                self.check(index, "sentence-mean", query, 5, None)

    def test_conditions(self):
        index = self.create(id="key", keep_all=True)
        self.assertEqual(index.fields, ["size", "tags", "team", "year"])
        ids = {one["key"] for one in records(60) if one["team"] == "red" and "t1" in one["tags"]}
        self.assertEqual({hit["id"] for hit in index.search("ba", 0, {"team": "red", "tags": "t1"})}, ids)
        even = {one["key"] for one in records(60) if True in one["tags"]}
        self.assertEqual({hit["id"] for hit in index.search("ba", 0, {"tags": True})}, even)
        self.assertEqual({hit["id"] for hit in index.search("ba", 0, {"tags": "true"})}, even)
        self.assertEqual([hit["id"] for hit in index.search("ba", 0, {"size": 3 / 7})], ["k3"])
        self.assertEqual(index.search("ba", 0, {"year": 1}), [])
        self.raises(ValueError, lambda: index.search("ba", 5, {"tean": "red"}), "tean", "size, tags, team, year")
        self.raises(TypeError, lambda: index.search("ba", 5, {"team": ["red"]}), "team")
        self.raises(TypeError, lambda: index.search("ba", 5, "team=red"), "a dict")
        self.raises(ValueError, lambda: self.create().search("ba", 5, {"team": "red"}), "no field", "--keep")

    def test_texts_and_rows(self):
        index = self.create()
        rows = index.model.encode_query(["ba di", "ko"])
        both = index.search(["ba di", "ko"], 4)
        self.assertEqual(index.search(rows, 4), both)
        self.assertEqual([index.search(rows[0], 4), index.search("ko", 4)], both)
        self.assertEqual(index.search(rows[0].tolist(), 4), both[0])
        self.assertEqual(index.search([], 4), [])
        self.assertEqual(pickle.loads(pickle.dumps(index)).search("ko", 4), both[1])
        self.assertEqual(len(index.search(numpy.zeros(rows.shape[1]), 4)), 4)
        self.raises(ValueError, lambda: index.search(rows[0][:5]), "vectors of 40 numbers")
        self.raises(ValueError, lambda: index.search(rows[0] * numpy.nan), "not finite")
        self.raises(ValueError, lambda: index.search("ba", -1), "top")
        self.raises(ValueError, lambda: index.search("ba", "5"), "top")

    def test_adds_and_removes(self):
        index = self.create(id="key", keep=["team"])
        before = bantam.Index(self.file, index.model)  # keeps the file that it has opened
        report = index.add([{"key": "k1", "text": "na na", "team": "green"}, {"key": "new", "text": "ba"}])
        self.assertEqual((report["added"], report["replaced"], len(index)), (2, 1, 61))
        (hit,) = index.search("na na", where={"team": "green"})
        self.assertEqual((hit["id"], hit["line"], hit["text"]), ("k1", 61, "na na"))
        index.remove(ids=["k1", "new"])
        index.remove("k2")
        index.remove(lines=[1, 4])
        self.assertEqual(len(index), 56)
        self.assertEqual({hit["id"] for hit in index.search("ba", 0)}, {f"k{i}" for i in range(4, 60)} - {"k1"})
        self.assertEqual((len(before), len(before.search("ba", 0))), (60, 60))
        kept = self.file.read_bytes()
        for call in (
            lambda: index.add([{"text": "without an id"}]),
            lambda: index.add(["a text alone"]),
            lambda: index.remove("k2"),
        ):
            self.raises(bantam.CommandFailed, call)
        self.raises(TypeError, lambda: index.add([7]), "record 0")
        self.raises(ValueError, lambda: index.add([{"key": "a", "text": "b", "n": float("nan")}]), "record 0")
        self.raises(ValueError, lambda: index.remove(), "ids or lines")
        self.assertEqual(self.file.read_bytes(), kept)
        plain = self.create(made=["ba di", "ko"], text="body")
        self.assertEqual(plain.add(["lu"])["texts"], 3)

    def test_other_models_and_files(self):
        index = self.create()
        self.raises(bantam.ModelChanged, lambda: bantam.Index(self.file, path("sentence-cls-dense")))
        self.raises(FileNotFoundError, lambda: bantam.Index(self.folder / "none.index", index.model))
        self.raises(bantam.IndexDamaged, lambda: bantam.Index(path("sentence-mean"), index.model), "not a search index")
        model = self.folder / "model.bantam"
        shutil.copy(path("sentence-mean"), model)
        for name in ("small", "compact"):  # of bantam 0.9.0
            self.assertGreater(bantam.index_file.IndexFile(str(OLDER / name)).records, 0)

    def test_damaged_files(self):
        for name, options in (("sentence-mean", {"id": "key", "keep_all": True, "stride": 3}), ("splade", {})):
            index = self.create(name, records(12), **options)
            bytes_of = bytearray(self.file.read_bytes())
            digest = index._opened.file.model
            refused = 0
            places = [*range(0, 400, 3), *range(400, len(bytes_of), 61)]
            for at in places:
                for flip in (0x01, 0x80, 0xFF):
                    changed = bytearray(bytes_of)
                    changed[at] ^= flip
                    self.file.write_bytes(changed)
                    try:
                        file = bantam.index_file.IndexFile(str(self.file))
                        for entry in range(min(file.count, 20)):
                            file.text(entry)
                            file.stored(entry)
                            if file.has_ids:
                                file.id(entry)
                    except bantam.IndexDamaged:
                        refused += 1
                        continue
                    if file.model == digest:
                        bantam.Index(self.file, index.model).search("ba")
            self.assertGreater(refused, 30)
            for size in range(0, len(bytes_of) - 8, 29):  # a string's end and padding are not read
                self.file.write_bytes(bytes_of[:size])
                self.raises(bantam.IndexDamaged, lambda: bantam.index_file.IndexFile(str(self.file)))

    def test_sums_of_wide_vectors_are_exact(self):
        draw = numpy.random.default_rng(1)
        for width in (1, 1040, 1041, 5000):
            coarse = draw.integers(-127, 128, (9, width)).astype(numpy.float32)
            coarse[0], row = 127, numpy.full(width, 127, numpy.float32)
            opened = types.SimpleNamespace(file=types.SimpleNamespace(coarse=coarse))
            sums = bantam.index._Opened._products(opened, row)
            wanted = [struct.unpack("f", struct.pack("f", sum(127 * int(x) for x in one)))[0] for one in coarse]
            self.assertEqual(sums.tolist(), wanted)


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Prepared(PackageTest):
    def test_rows_that_are_prepared_give_the_same(self):
        draw = numpy.random.default_rng(2)
        rows = draw.standard_normal((333, 24), numpy.float32)
        rows[5] = 0
        for name in of_task("embed")[:2]:
            model = load(name)
            for queries in (rows[:1], rows[7:12], rows[3]):
                plain = model.search(queries, rows, top_k=9)
                prepared = model.search(queries, model.vectors(rows), top_k=9)
                for one, other in zip(plain, prepared):
                    self.assertEqual([hit["corpus_id"] for hit in one], [hit["corpus_id"] for hit in other])
                    for hit, same in zip(one, other):
                        self.assertAlmostEqual(hit["score"], same["score"], places=5)
        self.assertEqual(len(Vectors(rows)), 333)
        for by in ("dot", "euclidean", "manhattan"):
            scores = bantam.vectors.similarity(rows[:3], rows, by)
            self.assertTrue(numpy.allclose(Vectors(rows, by).similarity(rows[:3]), scores))
        self.raises(ValueError, lambda: Vectors(rows).similarity(rows[:, :5]), "vectors of 5 and of 24 numbers")

    def test_great_and_small_vectors(self):
        rows = numpy.array([[3e25, 4e25], [3e-25, 4e-25], [0, 0], [-3, -4]], numpy.float32)
        for scores in (Vectors(rows).similarity(rows[1]), bantam.vectors.similarity(rows[1], rows)):
            self.assertTrue(numpy.allclose(scores, [[1, 1, 0, -1]], atol=1e-5), scores)

    def test_terms(self):
        model = load("splade")
        rows = model.encode(["ba di", "ko"])
        self.assertEqual(model.search(rows[:1], model.vectors(rows)), model.search(rows[:1], rows))

    def test_the_greatest(self):
        draw = numpy.random.default_rng(3)
        for count in (0, 1, 5, 16, 17, 1000, 5003):
            for numbers in (draw.standard_normal(count), draw.integers(0, 4, count), numpy.zeros(count)):
                row = numbers.astype(numpy.float32)
                order = sorted(range(count), key=lambda i: (-row[i], i))
                for top in (1, 10, 70, 6000):
                    self.assertEqual(best_of(row, top).tolist(), order[:top])
                    self.assertEqual([hit["corpus_id"] for hit in nearest([row], top)[0]], order[:top])
        row = numpy.full(100, numpy.nan, numpy.float32)
        self.assertEqual(len(best_of(row, 3)), 3)


if __name__ == "__main__":
    unittest.main()
