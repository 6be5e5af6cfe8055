"""Labels for millions of texts on engines that people already have: a function each, which takes texts and gives (label, score) pairs.

A model pickles as its path, so that every process of an engine opens the same file; a call takes a session that is free, so that
its threads need no care. Answers have the same bits for any partitioning, and a part that is computed again, because a worker died,
gives the same again. docs/python.md, "Bulk".

  python3 examples/bulk.py ENGINE MODEL.bantam < texts.txt     # ENGINE: polars, duckdb, dask, spark
"""

import functools
import sys

import bantam


@functools.cache
def opened(path):
    """One model a process."""
    return bantam.load(path)


def answers(path, texts):
    """A list of texts to their labels; of a joint file, the intents."""
    found = opened(path)(texts)
    return [one.get("intent", one) for one in found]


def polars(path, texts, parts=4):
    import polars

    struct = polars.Struct({"label": polars.String, "score": polars.Float32})

    def label(column):
        return polars.Series(answers(path, column.to_list()), dtype=struct)

    size = -(-len(texts) // parts)
    frame = polars.DataFrame({"text": texts})
    labelled = [
        frame.slice(begin, size).select(polars.col("text").map_batches(label, return_dtype=struct).struct.unnest())
        for begin in range(0, len(texts), size)
    ]
    return polars.concat(labelled).rows()


def duckdb(path, texts, parts=4):
    """By vectors of 2,048 rows, as DuckDB has it."""
    import duckdb
    import pyarrow

    def label(column):
        found = answers(path, column.to_pylist())
        return pyarrow.array([f"{one['score']!r} {one['label']}" for one in found])

    connection = duckdb.connect(config={"threads": parts})
    connection.create_function("label", label, ["VARCHAR"], "VARCHAR", type="arrow")
    table = pyarrow.table({"i": range(len(texts)), "text": texts})
    connection.register("texts", table)
    rows = connection.execute("SELECT label(text) FROM texts ORDER BY i").fetchall()
    found = (row[0].split(" ", 1) for row in rows)
    return [(label, float(score)) for score, label in found]


def dask(path, texts, parts=4, scheduler="threads"):
    """scheduler="processes" for processes, or a client of dask.distributed for machines."""
    import dask.bag

    bag = dask.bag.from_sequence(texts, npartitions=parts)
    labelled = bag.map_partitions(lambda part: [(one["label"], one["score"]) for one in answers(path, list(part))])
    return labelled.compute(scheduler=scheduler)


def spark(path, texts, parts=4, session=None, part=answers):
    from pyspark.sql import SparkSession

    session = session or SparkSession.builder.master("local[2,4]").getOrCreate()
    frame = session.createDataFrame(list(enumerate(texts)), "i long, text string").repartition(parts)

    def label(frames):
        for found in frames:
            said = part(path, found["text"].tolist())
            found["label"] = [one["label"] for one in said]
            found["score"] = [one["score"] for one in said]
            yield found[["i", "label", "score"]]

    rows = frame.mapInPandas(label, "i long, label string, score double").orderBy("i").collect()
    return [(row["label"], row["score"]) for row in rows]


ENGINES = {"polars": polars, "duckdb": duckdb, "dask": dask, "spark": spark}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ENGINES:
        raise SystemExit(__doc__.rstrip())
    for label, score in ENGINES[sys.argv[1]](sys.argv[2], [line.rstrip("\n") for line in sys.stdin]):
        print(f"{label}\t{score:.6f}")


if __name__ == "__main__":
    main()
