"""index and search: the nearest lines, lines added and removed, and what is refused."""

import unittest

from support import CommandTest, bantam, model

TEXTS = ["ba di", "ko", "di ba ba", "lu", "ko ko ba"]


class Search(CommandTest):
    def setUp(self):
        super().setUp()
        self.texts = self.directory / "lines.txt"
        self.texts.write_text("\n".join(TEXTS) + "\n\n", encoding="utf-8")
        self.index = self.directory / "lines.index"

    def make(self, *options):
        return self.line("index", model("sentence-mean"), *options, "-o", self.index, "--json")

    def search(self, *arguments, **options):
        return self.lines("search", model("sentence-mean"), self.index, *arguments, "--json", **options)

    def test_finds_what_similar_scores(self):
        made = self.make(self.texts)
        self.assertEqual((made["texts"], made["added"], made["truncated"]), (5, 5, 0))
        self.assertEqual(made["bytes"], self.index.stat().st_size)
        found = self.search("ba di")[0]["found"]
        self.assertEqual(found[0]["line"], 1)
        self.assertEqual(sorted(one["line"] for one in found), [1, 2, 3, 4, 5])
        for one in found:
            self.assertEqual(one["text"], TEXTS[one["line"] - 1])
            similar = self.line("similar", model("sentence-mean"), "find: ba di", one["text"], "--json")
            self.assertAlmostEqual(one["score"], similar["score"], places=3)  # the model's prompt for queries
        self.assertEqual([one["score"] for one in found], sorted((one["score"] for one in found), reverse=True))

    def test_searches_by_static_embeddings(self):
        for name in ("static-plain", "static-mapped"):
            with self.subTest(model=name):
                self.ok("index", model(name), self.texts, "-o", self.index)
                found = self.lines("search", model(name), self.index, "ko", "--json")[0]["found"]
                self.assertEqual((found[0]["text"], round(found[0]["score"], 3)), ("ko", 1.0))
                nothing = self.line("embed", model(name), " ", "--json")["embedding"]
                self.assertEqual(nothing, [0.0] * 22)

    def test_streams_queries_and_shows_a_table(self):
        self.make(self.texts)
        streamed = self.search("--top", "2", stdin=b"ba di\nko\n")
        self.assertEqual([one["text"] for one in streamed], ["ba di", "ko"])
        self.assertEqual([len(one["found"]) for one in streamed], [2, 2])
        shown = self.ok("search", model("sentence-mean"), self.index, "ko", "--top", "1").decode()
        self.assertRegex(shown, r"^ 0\.\d{4} +1  ba di\n$")

    def test_prompts_of_queries_and_documents(self):
        name = model("sentence-mean")
        self.assertEqual(
            self.line("embed", name, "ko", "--query", "--json")["embedding"],
            self.line("embed", name, "find: ko", "--json")["embedding"],
        )
        plain = self.line("embed", name, "ko", "--json")["embedding"]
        self.assertEqual(self.line("embed", name, "ko", "--document", "--json")["embedding"], plain)
        self.fails(2, "embed", name, "ko", "--document", "--query", says=["one of the two"])

    def test_first_numbers_of_vectors(self):
        whole = self.line("embed", model("sentence-mean"), "ko", "--json")["embedding"]
        short = self.line("embed", model("sentence-mean"), "ko", "--json", "--truncate-dim", "5")["embedding"]
        self.assertEqual(short, whole[:5])
        made = self.make(self.texts, "--truncate-dim", "5")
        self.assertEqual(made["width"], 5)
        self.assertEqual(len(self.search("ko")[0]["found"]), 5)
        added = self.directory / "more.txt"
        added.write_text("lu\n", encoding="utf-8")
        self.assertEqual(self.make(added, "--add")["width"], 5)
        for options in (("--truncate-dim", "41"), ("--add", "--truncate-dim", "5")):
            self.fails(
                2, "index", model("sentence-mean"), self.texts, "-o", self.index, *options, says=["--truncate-dim"]
            )
        self.fails(2, "embed", model("sentence-mean"), "ko", "--truncate-dim", "41", says=["40 numbers"])

    def test_adds_and_removes_lines(self):
        self.make(self.texts, "--compact")
        compact = self.index.stat().st_size
        self.make(self.texts)
        self.assertLess(compact, self.index.stat().st_size)
        whole, found = self.index.stat().st_size, self.search("ko")
        more = self.directory / "more.txt"
        more.write_text("lu lu\n", encoding="utf-8")
        self.assertEqual(self.make(more, "--add")["texts"], 6)
        self.assertEqual(self.search("lu lu", "--top", "1")[0]["found"][0]["line"], 6)
        self.assertEqual(self.make("--remove", "6")["texts"], 5)
        self.assertEqual(self.search("ko"), found)
        self.assertGreater(self.index.stat().st_size, whole)  # it knows that the number 6 was given
        self.make("--remove", "1,3-4")
        left = self.search("ko")[0]["found"]
        self.assertEqual({one["line"]: one["text"] for one in left}, {2: "ko", 5: "ko ko ba"})

    def refused(self, code, words, *arguments):
        done = bantam(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.assertIn(words, done.stderr.decode())

    def test_refuses(self):
        mean = model("sentence-mean")
        self.make(self.texts)
        self.refused(2, "its last line is 5", "index", mean, "-o", self.index, "--remove", "6")
        self.refused(2, "--remove x", "index", mean, "-o", self.index, "--remove", "x")
        self.refused(2, "TEXTS: missing", "index", mean, "-o", self.index)
        self.refused(2, "alone take none", "index", mean, self.texts, "-o", self.index, "--remove", "1")
        self.refused(2, "--compact", "index", mean, self.texts, "-o", self.index, "--add", "--compact")
        self.refused(5, "this needs vectors of texts", "index", model("bert-classify"), self.texts, "-o", self.index)
        self.refused(4, "another model", "search", model("sentence-cls-dense"), self.index, "ko")
        self.refused(3, "make an index", "search", mean, self.directory / "none.index", "ko")
        broken = self.directory / "broken.index"
        broken.write_bytes(self.index.read_bytes()[:-40])
        self.refused(4, "not a sound search index", "search", mean, broken, "ko")
        empty = self.directory / "empty.txt"
        empty.write_text("\n")
        self.refused(4, "holds no text", "index", mean, empty, "-o", self.directory / "e.index")
        self.assertEqual(
            sorted(path.name for path in self.directory.iterdir()),
            ["broken.index", "empty.txt", "lines.index", "lines.txt"],
        )


if __name__ == "__main__":
    unittest.main()
