"""index and search of records: ids, stored fields, conditions, chunks, changes by id, and what is refused."""

import json
import unittest

from support import CommandTest, bantam, model

MEAN = model("sentence-mean")
RECORDS = [
    {"key": "a", "text": "ba di", "team": "red", "year": 2023, "tags": ["new", "big"]},
    {"key": "b", "text": "ko", "team": "blue", "year": 2024, "size": 0.1234567890123},
    {"key": 3, "text": "di ba ba", "team": "red", "year": 2024},
    {"key": "d", "text": "lu", "team": None, "done": True},
]


class Records(CommandTest):
    def setUp(self):
        super().setUp()
        self.index = self.directory / "records.index"
        self.records = self.write("records.jsonl", RECORDS)

    def write(self, name, records):
        path = self.directory / name
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        return path

    def make(self, *options):
        return self.line("index", MEAN, *options, "-o", self.index, "--json")

    def found(self, *options, query="ba di"):
        return self.line("search", MEAN, self.index, query, *options, "--json")["found"]

    def ids(self, *options):
        return sorted(one["id"] for one in self.found(*options))

    def refused(self, code, words, *arguments):
        before = sorted((path.name, path.read_bytes()) for path in self.directory.iterdir())
        done = bantam(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.assertIn(words, done.stderr.decode())
        self.assertEqual(sorted((path.name, path.read_bytes()) for path in self.directory.iterdir()), before)

    def test_keeps_ids_and_fields(self):
        made = self.make(self.records, "--id", "key", "--keep", "year,team")
        self.assertEqual((made["texts"], made["chunks"], made["added"], made["replaced"]), (4, 4, 4, 0))
        for hit in self.found():
            record = next(one for one in RECORDS if str(one["key"]) == hit["id"])
            self.assertEqual(hit["text"], record["text"])
            self.assertEqual(hit["line"], RECORDS.index(record) + 1)
            kept = {name: record[name] for name in ("year", "team") if record.get(name) is not None}
            self.assertEqual(hit["fields"], kept)
            self.assertEqual(list(hit["fields"]), list(kept))
        shown = self.ok("search", MEAN, self.index, "ba di", "--top", "1").decode()
        self.assertRegex(shown, r"^ 0\.\d{4} +a  ba di  year=2023, team=red\n$")

    def test_keeps_all_fields_as_they_are(self):
        self.make(self.records, "--id", "key", "--keep-all")
        for hit in self.found():
            record = next(one for one in RECORDS if str(one["key"]) == hit["id"])
            kept = {name: value for name, value in record.items() if name not in ("key", "text") and value is not None}
            self.assertEqual(hit["fields"], kept)

    def test_tables_and_named_texts(self):
        table = self.directory / "records.csv"
        table.write_text('number,body,team\n7,"ba, di",red\n8,ko,\n', encoding="utf-8")
        self.make(table, "--id", "number", "--text", "body", "--keep-all")
        found = {one["id"]: one for one in self.found()}
        self.assertEqual(found["7"]["text"], "ba, di")
        self.assertEqual((found["7"]["fields"], found["8"]["fields"]), ({"team": "red"}, {}))
        self.refused(4, "column with the text by --text", "index", MEAN, table, "-o", self.directory / "x.index")

    def test_conditions(self):
        self.make(self.records, "--id", "key", "--keep-all")
        self.assertEqual(self.ids("--where", "team=red"), ["3", "a"])
        self.assertEqual(self.ids("--where", "team=red", "--where", "year=2024"), ["3"])
        self.assertEqual(self.ids("--where", "tags=big"), ["a"])
        self.assertEqual(self.ids("--where", "done=true"), ["d"])
        self.assertEqual(self.ids("--where", "size=0.1234567890123"), ["b"])
        self.assertEqual(self.ids("--where", "team=green"), [])
        self.assertEqual([one["id"] for one in self.found("--top", "1", "--where", "team=blue")], ["b"])
        search = ("search", MEAN, self.index, "ko", "--where")
        self.refused(2, "it has tags, team, year, size, done", *search, "tean=red")
        self.refused(2, "such as team=billing", *search, "team")
        self.make(self.records)
        self.refused(2, "the index has no fields", *search, "team=red")

    def test_an_added_record_replaces_the_one_with_its_id(self):
        self.make(self.records, "--id", "key", "--keep-all")
        more = self.write("more.jsonl", [{"key": "b", "text": "ko lu", "team": "green"}, {"key": "e", "text": "na"}])
        made = self.make(more, "--add")
        self.assertEqual((made["texts"], made["added"], made["replaced"]), (5, 2, 1))
        found = {one["id"]: one for one in self.found()}
        self.assertEqual({name: one["line"] for name, one in found.items()}, {"a": 1, "3": 3, "d": 4, "b": 5, "e": 6})
        self.assertEqual((found["b"]["text"], found["b"]["fields"]), ("ko lu", {"team": "green"}))
        self.make(self.write("new.jsonl", [{"key": "e", "text": "na", "fresh": [1]}]), "--add")
        self.assertEqual([one["fields"] for one in self.found("--where", "fresh=1")], [{"fresh": [1]}])
        self.make(more, "--add")
        again = self.index.read_bytes()
        self.assertEqual(self.make(more, "--add")["replaced"], 2)
        self.assertEqual(len(self.index.read_bytes()), len(again))

    def test_removes_by_id_and_line(self):
        self.make(self.records, "--id", "key")
        self.make("--remove-id", "3", "--remove-id", "b")
        self.assertEqual(self.ids(), ["a", "d"])
        self.refused(2, "--remove-id b: no record", "index", MEAN, "-o", self.index, "--remove-id", "b")
        self.refused(2, "no such line", "index", MEAN, "-o", self.index, "--remove", "2-3")
        self.make("--remove", "2-4")
        self.assertEqual(self.ids(), ["a"])
        self.make(self.records)
        self.refused(2, "the index has no ids", "index", MEAN, "-o", self.index, "--remove-id", "a")

    def test_numbers_of_lines_stay(self):
        self.make(self.records)
        self.make("--remove", "2,4")
        self.assertEqual(sorted((one["line"], one["text"]) for one in self.found()), [(1, "ba di"), (3, "di ba ba")])
        more = self.directory / "more.txt"
        more.write_text("na\n", encoding="utf-8")
        self.make(more, "--add")
        self.assertEqual(sorted(one["line"] for one in self.found()), [1, 3, 5])

    def test_chunks_of_long_texts(self):
        words = ["ba", "di", "ko", "lu", "na"]
        long = " ".join(words[i * i % 5] + words[i % 3] for i in range(60))
        records = self.write("long.jsonl", [{"key": "long", "text": long}, {"key": "short", "text": "ko"}])
        made = self.make(records, "--id", "key", "--stride", "4")
        self.assertGreater(made["chunks"], 3)
        self.assertEqual((made["texts"], made["truncated"]), (2, 0))
        chunks = set()
        for word in range(60):  # a query that is a part of the text finds a chunk with it
            (hit,) = (one for one in self.found(query=" ".join(long.split()[word : word + 6])) if one["id"] == "long")
            chunks.add(hit["text"])
        self.assertGreater(len(chunks), 1)
        for chunk in chunks:
            self.assertIn(f" {chunk} ", f" {long} ")  # between words
            score = self.line("similar", MEAN, "find: ba di", chunk, "--json")
            self.assertFalse(score["truncated"])
        if len(chunks) == made["chunks"] - 1:
            ordered = sorted(chunks, key=long.index)
            for one, following in zip(ordered, ordered[1:], strict=False):
                shared = long[long.index(following) : long.index(one) + len(one)]
                self.assertGreaterEqual(len(self.line("tokenize", MEAN, shared, "--json")["tokens"]) - 2, 4)
        self.assertGreaterEqual(len(self.found()), 2)
        self.make("--remove-id", "long")
        self.assertEqual(self.ids(), ["short"])
        more = self.write("more.jsonl", [{"key": "long", "text": long}])
        self.assertEqual(self.make(more, "--add")["chunks"], made["chunks"])
        self.refused(2, "cannot share", "index", MEAN, records, "-o", self.directory / "x.index", "--stride", "40")
        done = bantam("index", MEAN, records, "-o", self.index)
        self.assertIn(b"does not read to their ends: 1", done.stderr)

    def test_refuses(self):
        new = self.directory / "new.index"
        twice = self.write("twice.jsonl", [{"key": "q", "text": "ko"}, {"key": "q", "text": "lu"}])
        self.refused(4, "twice.jsonl, line 2: line 1 has the same id", "index", MEAN, twice, "-o", new, "--id", "key")
        self.refused(4, 'line 1: field "kei" is missing', "index", MEAN, twice, "-o", new, "--id", "kei")
        self.refused(4, 'line 1: field "body" is missing', "index", MEAN, twice, "-o", new, "--text", "body")
        self.refused(2, "--keep tean: no record", "index", MEAN, self.records, "-o", new, "--keep", "team,tean")
        self.refused(2, "--keep-all", "index", MEAN, self.records, "-o", new, "--keep", "team", "--keep-all")
        wrong = self.write("wrong.jsonl", [{"key": [1], "text": "ko"}])
        self.refused(4, "neither a string nor a whole number", "index", MEAN, wrong, "-o", new, "--id", "key")
        lines = self.directory / "lines.txt"
        lines.write_text("ko\n", encoding="utf-8")
        self.refused(4, "is a text alone", "index", MEAN, lines, "-o", new, "--id", "key")
        self.make(self.records, "--id", "key")
        self.refused(4, "is a text alone", "index", MEAN, lines, "-o", self.index, "--add")
        for option in (("--id", "key"), ("--text", "text"), ("--keep", "team"), ("--keep-all",), ("--stride", "2")):
            self.refused(2, option[0], "index", MEAN, self.records, "-o", self.index, "--add", *option)


if __name__ == "__main__":
    unittest.main()
