"""Data as people have them: tables, the names of fields, labels that a model does not know; what eval says of each label."""

import csv
import io
import json
import pathlib
import unittest

from support import SOURCE, CommandTest, bantam, measured, model

TEXTS = ["ba di", "ko", "lan men", "ren si", "bing"]


def jsonl(objects):
    return "".join(json.dumps(o) + "\n" for o in objects)


def table(rows, **style):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n", **style)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


class Data(CommandTest):
    def score(self, name, file, content, *arguments):
        return self.line("eval", model(name), self.write(file, content), "--json", *arguments)["metrics"]

    def said(self, name, rows):
        """The labels of each row in the predictions file: gold and predicted."""
        path = self.directory / "said.jsonl"
        self.ok(
            "eval",
            model(name),
            self.write("rows.jsonl", jsonl(rows)),
            "--predictions",
            path,
        )
        return [json.loads(line) for line in path.read_text().splitlines()]


class Tables(Data):
    def test_every_layout(self):
        tokens = ["ba", "di", "ko"]
        cases = (
            (
                "bert-classify",
                [{"text": t, "label": i % 3} for i, t in enumerate(TEXTS)],
                {},
            ),
            (
                "bert-multi-label",
                [{"text": t, "labels": ["joy", "calm"]} for t in TEXTS],
                {"labels": "joy, calm"},
            ),
            (
                "bert-regress",
                [{"text_a": "ba", "text_b": t, "score": i / 4} for i, t in enumerate(TEXTS)],
                {},
            ),
            (
                "sentence-mean",
                [{"text_a": "ba", "text_b": t, "score": i} for i, t in enumerate(TEXTS)],
                {},
            ),
            (
                "bert-joint",
                [
                    {
                        "text": "ba di ko",
                        "intent": "on",
                        "tokens": tokens,
                        "slots": ["B-room", "O", "O"],
                    }
                ],
                {"tokens": "ba di ko", "slots": "B-room O O"},
            ),
            (
                "bert-tag",
                [{"tokens": tokens, "tags": ["B-room", "O", "O"]}],
                {"tags": '["B-room", "O", "O"]'},
            ),
            (
                "bert-answer",
                [{"question": "ko", "context": "ba di ko", "answers": ["di ko"]}],
                {"answers": "di ko"},
            ),
            (
                "bert-choose",
                [{"text": "ba", "choices": ["ko", "di"], "label": 1}],
                {"choices": '["ko", "di"]'},
            ),
        )
        for name, rows, cells in cases:
            with self.subTest(name):
                wanted = self.score(name, "data.jsonl", jsonl(rows))
                flat = [
                    {k: cells.get(k, " ".join(v) if isinstance(v, list) else v) for k, v in r.items()} for r in rows
                ]
                self.assertEqual(self.score(name, "data.csv", table(flat)), wanted)
                self.assertEqual(
                    self.score(name, "semicolons.csv", table(flat, delimiter=";")),
                    wanted,
                )
                plain = table(flat, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None)
                self.assertEqual(self.score(name, "data.tsv", plain), wanted)

    def test_quotes(self):
        texts = ['say "ba", di', "two\nlines", "", "semi;colon", " blanks "]
        rows = [{"text": t, "label": 0} for t in texts]
        path = self.write("data.csv", table(rows))
        answers = self.lines("run", model("bert-classify"), "--file", path, "--json")
        self.assertEqual([a["text"] for a in answers], texts)
        crlf = self.write("crlf.csv", b"\xef\xbb\xbf" + table(rows[:1]).replace("\n", "\r\n").encode())
        self.assertEqual(
            self.line("run", model("bert-classify"), "--file", crlf, "--json")["text"],
            texts[0],
        )
        tsv = self.write("data.tsv", 'text\tlabel\n"ba di\t0\n')
        self.assertEqual(
            self.line("run", model("bert-classify"), "--file", tsv, "--json")["text"],
            '"ba di',
        )

    def test_bad_tables(self):
        for content, says in (
            ("a,b\n1,2\n", ["first line names no known field"]),
            ("text,label\nba\n", ["data.csv:2: 1 cells, but the first line names 2"]),
            ('text,label\n"ba,0\n', ["data.csv:2: a quotation mark has no end"]),
            ("text,label\nba,\n", ["data.csv:2: ", "label"]),
            ("text,label\n", ["no example"]),
        ):
            with self.subTest(content):
                self.fails(
                    4,
                    "eval",
                    model("bert-classify"),
                    self.write("data.csv", content),
                    says=says,
                )

    def test_convert_reads_them_too(self):
        source = SOURCE / "models" / "voice-commands-tiny"
        rows = [{"utterance": t, "intent": "PlayMusic"} for t in ("play jazz", "play some rock", "play the blues")] * 8
        data = self.write("data.csv", table(rows))
        for option in ("--gate-data", "--calibrate-scores", "--parity"):
            done = bantam(
                "convert",
                source,
                "-o",
                self.directory / "m.bantam",
                option,
                data,
                "--max-label-flips",
                "1",
            )
            self.assertEqual(done.returncode, 0, done.stderr.decode())
        bad = self.write("bad.csv", "a,b\n1,2\n")
        for option in ("--gate-data", "--calibrate-scores"):
            self.fails(
                4,
                "convert",
                source,
                "-o",
                self.directory / "m.bantam",
                option,
                bad,
                says=[option, "bad.csv"],
            )


class Names(Data):
    def test_other_names(self):
        for name, usual, other in (
            (
                "bert-classify",
                {"text": "ba", "label": 0},
                {"sentence": "ba", "label": 0},
            ),
            (
                "bert-classify",
                {"text": "ba", "label": 0},
                {"utterance": "ba", "category": "LABEL_0"},
            ),
            ("bert-classify", {"text": "ba", "label": 0}, {"text": "ba", "labels": 0}),
            (
                "bert-classify",
                {"text_a": "ba", "text_b": "di", "label": 0},
                {"premise": "ba", "hypothesis": "di", "label": 0},
            ),
            (
                "bert-classify",
                {"text_a": "ba", "text_b": "di", "label": 0},
                {"sentence1": "ba", "sentence2": "di", "label": 0},
            ),
            (
                "bert-tag",
                {"tokens": ["ba"], "tags": ["B-room"]},
                {"words": ["ba"], "ner_tags": ["B-room"]},
            ),
            (
                "bert-tag",
                {"tokens": ["ba"], "tags": ["O"]},
                {"tokens": ["ba"], "ner_tags": [0]},
            ),
            (
                "bert-tag",
                {"tokens": ["ba"], "tags": ["O"]},
                {"tokens": ["ba"], "labels": ["O"]},
            ),
            (
                "bert-answer",
                {"question": "a", "context": "ba", "answers": ["ba"]},
                {"question": "a", "context": "ba", "answer": "ba"},
            ),
        ):
            with self.subTest(name, other=other):
                wanted, got = self.said(name, [usual])[0], self.said(name, [other])[0]
                self.assertEqual(got, wanted)

    def test_help_has_them(self):
        text = " ".join(self.ok("eval", "--help-all").decode().split())
        for words in (
            "premise",
            "ner_tags",
            "sentence1",
            "text, label (name or number)",
            "--per-label",
        ):
            self.assertIn(words, text)


class Unknown(Data):
    def test_tags(self):
        strange = {"tokens": ["ba", "di"], "tags": ["B-planet", "O"]}
        path = self.write("tags.jsonl", jsonl([strange]))
        for name in ("bert-tag", "bert-joint"):
            self.fails(
                4,
                "eval",
                model(name),
                path,
                says=["none of its tags", '"B-planet" in line 1', "bantam inspect"],
            )
        known = {"tokens": ["ba"], "tags": ["I-room"]}
        both = self.write("both.jsonl", jsonl([strange, known]))
        self.assertEqual(self.line("eval", model("bert-tag"), both, "--json")["unknown_labels"], 1)
        self.assertIn(
            'such as "B-planet" in line 1',
            self.ok("eval", model("bert-tag"), both).decode(),
        )
        # Other marks of the same entities, and data without any, are not unknown.
        for tags in (["S-room", "O"], ["O", "O"]):
            path = self.write("marks.jsonl", jsonl([{"tokens": ["ba", "di"], "tags": tags}]))
            self.assertEqual(
                self.line("eval", model("bert-tag"), path, "--json")["unknown_labels"],
                0,
            )

    def test_numbers_of_another_task(self):
        path = self.write("data.jsonl", jsonl([{"text": "ba", "label": 0, "label_name": "negative"}]))
        self.fails(
            4,
            "eval",
            model("voice"),
            path,
            says=['"negative" in line 1', "AddToPlaylist"],
        )
        # A model whose names are numbers has no other.
        self.assertEqual(
            self.line("eval", model("bert-classify"), path, "--json")["unknown_labels"],
            0,
        )

    def test_a_table_and_a_task_that_do_not_fit(self):
        path = self.write("data.jsonl", jsonl([{"text": "ba", "label": "strange"}]))
        self.fails(5, "eval", model("bert-tag"), path, says=["tag"])
        alone = self.write("alone.jsonl", jsonl([{"text": "ba", "score": 1}]))
        self.fails(4, "eval", model("sentence-mean"), alone, says=["text_b"])


class Strangers(Data):
    def test_depth(self):
        """nlohmann's values are copied by recursion: a deep one would end the process."""
        deep = "[" * 100_000 + "]" * 100_000
        for field in ("entities", "bantam", "text"):
            text = "utterance" if field == "text" else "text"
            path = self.write("deep.jsonl", '{"text": "a"}\n{"%s": "b", "%s": %s}\n' % (text, field, deep))
            for command in ("run", "classify", "tag", "tokenize"):
                self.fails(4, command, model("voice"), "--file", path, says=["line 2", "nested deeper than 64"])
            out = self.directory / "out.jsonl"
            for more in [[]] if field == "text" else [[], ["--as", field]]:
                self.fails(4, "label", model("voice"), path, "-o", out, *more, says=["line 2", "nested deeper than 64"])
                pathlib.Path(f"{out}.part").unlink()
            said = self.line("label", model("voice"), path, "-o", out, "--on-error", "keep", "--json")
            self.assertEqual(said["failed"], 1)
            self.fails(4, "eval", model("voice"), path, says=["nested deeper than 64"])
        table = self.write("deep.tsv", f"text\tlabels\na\t{deep}\n")
        self.fails(4, "eval", model("bert-multi-label"), table, says=["nested deeper than 64"])
        expected = self.write("deep-expected.jsonl", f'{{"ids": {deep}}}\n')
        out = self.directory / "out.bantam"
        source = SOURCE / "tests" / "golden" / "models" / "bert-classify"
        self.fails(4, "convert", source, "-o", out, "--expect", expected, says=["nested deeper than 64"])
        self.fails(4, "student", source, "-o", self.directory / "student", "--layers", "[" * 1000, says=["layers"])

    def test_a_line_without_an_end(self):
        for name, first in (("long.jsonl", b""), ("long.csv", b"text,label\n")):
            path = self.write(name, first + b"a" * (17 << 20))
            command = ["eval"] if name.endswith("csv") else ["run"]
            options = [path] if command == ["eval"] else ["--file", path]
            self.fails(4, *command, model("voice"), *options, says=[name, "line", "longer than"])
        path = self.write("two.jsonl", b"a" * (17 << 20) + b'\n{"text": "play jazz"}\n')  # goes on behind it
        self.assertIn(b"PlayMusic", bantam("run", model("voice"), "--file", path).stdout)
        quoted = self.write("quoted.csv", b'text\n"' + b"a\n" * ((8 << 20) + 8))
        self.fails(4, "run", model("voice"), "--file", quoted, says=["quoted cell", "longer than"])

    def test_a_file_that_is_none_is_not_read(self):
        """Its first bytes say so: 2 GB of zeros take no memory."""
        path = self.directory / "zeros.bantam"
        with open(path, "wb") as zeros:
            zeros.truncate(2 << 30)
        for command in (["run", path, "-"], ["serve", path, "--port", "0"], ["label", path, "-", "-o", "-"]):
            code, message, peak = measured(*command)
            self.assertEqual(code, 4, message)
            self.assertIn("magic", message)
            self.assertLess(peak, 1 << 30)


class PerLabel(Data):
    def test_labels(self):
        rows = [{"text": t, "label": f"LABEL_{i % 2}"} for i, t in enumerate(TEXTS)]
        pairs = [(s["gold"]["label"], s["predicted"]["label"]) for s in self.said("bert-classify", rows)]
        path = self.write("data.jsonl", jsonl(rows))
        answer = self.line("eval", model("bert-classify"), path, "--json", "--per-label")
        names = sorted({name for pair in pairs for name in pair})
        self.assertEqual([row["label"] for row in answer["labels"]], names)
        for row in answer["labels"]:
            right = sum(g == p == row["label"] for g, p in pairs)
            support, predicted = (sum(pair[k] == row["label"] for pair in pairs) for k in (0, 1))
            self.assertEqual((row["support"], row["predicted"]), (support, predicted))
            self.assertAlmostEqual(row["precision"], right / predicted if predicted else 0, places=6)
            self.assertAlmostEqual(row["recall"], right / support if support else 0, places=6)
            self.assertAlmostEqual(row["f1"], 2 * right / (support + predicted), places=6)
        self.assertEqual(answer["confusion"]["labels"], names)
        counts = [[pairs.count((g, p)) for p in names] for g in names]
        self.assertEqual(answer["confusion"]["counts"], counts)
        text = self.ok("eval", model("bert-classify"), path, "--per-label").decode()
        for word in ("precision", "recall", "label of the data", *names):
            self.assertIn(word, text)
        self.assertNotIn("labels", self.line("eval", model("bert-classify"), path, "--json"))

    def test_entities_and_several_labels(self):
        tokens = ["ba", "di"]
        rows = [
            {"tokens": tokens, "tags": ["B-room", "O"]},
            {"tokens": tokens, "tags": ["B-level", "I-level"]},
        ]
        (room,) = (
            row
            for row in self.line(
                "eval",
                model("bert-tag"),
                self.write("tags.jsonl", jsonl(rows)),
                "--json",
                "--per-label",
            )["entities"]
            if row["label"] == "room"
        )
        self.assertEqual(room["support"], 1)
        rows = [{"text": t, "labels": ["joy"]} for t in TEXTS]
        answer = self.line(
            "eval",
            model("bert-multi-label"),
            self.write("several.jsonl", jsonl(rows)),
            "--json",
            "--per-label",
        )
        self.assertNotIn("confusion", answer)
        joy = next(row for row in answer["labels"] if row["label"] == "joy")
        self.assertEqual(joy["support"], len(TEXTS))

    def test_predictions(self):
        rows = [{"text": t, "label": 0} for t in TEXTS]
        answers = self.said("bert-classify", rows)
        stdin = "\n".join(TEXTS).encode()
        wanted = self.lines("classify", model("bert-classify"), "-", "--json", "--top", "1", stdin=stdin)
        self.assertEqual(
            [a["predicted"]["label"] for a in answers],
            [w["labels"][0]["label"] for w in wanted],
        )
        self.assertEqual([(a["line"], a["text"]) for a in answers], list(enumerate(TEXTS, 1)))
        path = self.write("data.jsonl", jsonl(rows))
        self.fails(
            2,
            "eval",
            model("bert-classify"),
            path,
            "--predictions",
            path,
            says=["input"],
        )
        out = self.directory / "none.jsonl"
        self.fails(
            4,
            "eval",
            model("bert-classify"),
            self.write("bad.jsonl", "{}\n"),
            "--predictions",
            out,
        )
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
