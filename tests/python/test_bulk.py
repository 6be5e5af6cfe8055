"""examples/bulk.py on the engines that are installed: the same bits for any partitioning, and where a worker dies on the way."""

import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

from support import TEXTS, PackageTest, load, path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import bulk  # noqa: E402

NAME = "voice"
MANY = [f"{text} {i}" for i in range(60) for text in TEXTS if "\0" not in text]


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Bulk(PackageTest):
    def setUp(self):
        self.wanted = [(one["intent"]["label"], one["intent"]["score"]) for one in load(NAME)(MANY)]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.flag = os.path.join(folder.name, "died")

    def partitions(self, engine, counts=(1, 3, 8)):
        for parts in counts:
            self.assertEqual(engine(path(NAME), MANY, parts), self.wanted, parts)

    @needs("polars")
    def test_polars(self):
        self.partitions(bulk.polars)

    @needs("duckdb", "pyarrow")
    def test_duckdb(self):
        self.partitions(bulk.duckdb, (1, 2))

    @needs("dask")
    def test_dask(self):
        self.partitions(bulk.dask)
        self.assertEqual(bulk.dask(path(NAME), MANY, 3, scheduler="processes"), self.wanted)

    @needs("pyspark", "pandas", "pyarrow")
    def test_spark(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")  # of the worker that dies, too
        self.addCleanup(session.stop)
        self.partitions(lambda *rest: bulk.spark(*rest, session=session), (1, 4))
        flag = self.flag

        def part(path, texts):
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return bulk.answers(path, texts)
            os._exit(9)

        found = bulk.spark(path(NAME), MANY, 4, session=session, part=part)
        self.assertTrue(os.path.exists(self.flag), "no worker died")
        self.assertEqual(found, self.wanted)


if __name__ == "__main__":
    unittest.main()
