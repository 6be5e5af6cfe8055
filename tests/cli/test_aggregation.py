"""Entities as transformers' token-classification pipeline gives them (entities.jsonl of the golden models, by
tests/golden/aggregation.py), strategies chosen at conversion and when running, and bantam's own decoding over words."""

import json
import shutil
import unittest

from support import GOLDEN, SOURCE, CommandTest, model

TAGGERS = ("bert", "distilbert", "roberta", "xlm-roberta")
STRATEGIES = ("none", "simple", "first", "average", "max")
DEFAULTS = {"bert": "first", "distilbert": "first", "roberta": "simple", "xlm-roberta": "simple"}


class Aggregation(CommandTest):
    def expected(self, tagger):
        lines = (GOLDEN / f"aggregation-{tagger}" / "entities.jsonl").read_text(encoding="utf-8").splitlines()
        self.assertGreater(len(lines), 40)
        return [json.loads(line) for line in lines]

    def texts(self, texts):
        return self.write("texts.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    def entities(self, file, texts, *options):
        arguments = ("--file", self.texts(texts), "--offsets", "chars", "--json", *options)
        return [line["entities"] for line in self.lines("tag", file, *arguments)]

    def compare(self, found, wanted, text):
        places = [[entity["label"], entity["start"], entity["end"]] for entity in found]
        self.assertEqual(places, [entity[:3] for entity in wanted], text)
        for one, other in zip(found, wanted):
            self.assertAlmostEqual(one["score"], other[3], delta=1e-4, msg=text)

    def test_every_strategy_gives_what_transformers_gives(self):
        for tagger in TAGGERS:
            expected = self.expected(tagger)
            for strategy in STRATEGIES:
                with self.subTest(tagger=tagger, strategy=strategy):
                    texts = [line["text"] for line in expected]
                    found = self.entities(model(f"aggregation-{tagger}"), texts, "--aggregation", strategy)
                    self.assertGreater(sum(len(line[strategy]) for line in expected), 50)
                    for line, entities in zip(expected, found, strict=True):
                        self.compare(entities, line[strategy], line["text"])

    def test_the_default_follows_the_tokenizer(self):
        for tagger, strategy in DEFAULTS.items():
            with self.subTest(tagger=tagger):
                expected = self.expected(tagger)[:12]
                found = self.entities(model(f"aggregation-{tagger}"), [line["text"] for line in expected])
                for line, entities in zip(expected, found, strict=True):
                    self.compare(entities, line[strategy], line["text"])

    def test_a_strategy_of_the_conversion_is_in_the_file(self):
        expected = self.expected("bert")[:12]
        file = self.directory / "average.bantam"
        arguments = ("--weights", "f32", "--parity", "none", "--quiet", "--aggregation", "average")
        self.ok("convert", GOLDEN / "aggregation-bert", "-o", file, *arguments)
        texts = [line["text"] for line in expected]
        for strategy, options in (("average", ()), ("max", ("--aggregation", "max"))):
            for line, entities in zip(expected, self.entities(file, texts, *options), strict=True):
                self.compare(entities, line[strategy], line["text"])
        self.assertEqual(self.line("inspect", file, "--json")["label_sets"][0]["aggregation"], "average")

    def test_run_and_label_take_a_strategy_too(self):
        file, texts = model("aggregation-roberta"), [line["text"] for line in self.expected("roberta")[:8]]
        wanted = self.entities(file, texts, "--aggregation", "max")
        arguments = ("--file", self.texts(texts), "--offsets", "chars", "--json", "--aggregation", "max")
        self.assertEqual([line["entities"] for line in self.lines("run", file, *arguments)], wanted)
        out = self.directory / "labelled.jsonl"
        self.ok("label", file, self.texts(texts), "-o", out, "--aggregation", "max")
        said = [json.loads(line)["bantam"]["entities"] for line in out.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([[e["label"] for e in one] for one in said], [[e["label"] for e in one] for one in wanted])
        self.assertNotEqual(wanted, self.entities(file, texts))

    def test_windows_have_the_tokens_of_one_pass(self):
        for tagger, limit in (("bert", 20), ("xlm-roberta", 12)):
            with self.subTest(tagger=tagger):
                file = self.directory / f"{tagger}.bantam"
                source = GOLDEN / f"aggregation-{tagger}"
                options = ("--weights", "f32", "--parity", "none", "--quiet", "--max-tokens", limit)
                self.ok("convert", source, "-o", file, *options)
                text = " ".join(line["text"] for line in self.expected(tagger)[:10])
                arguments = ("--aggregation", "none", "--stride", "4", "--json")
                found = self.line("tag", file, text, *arguments)["entities"]
                starts = [entity["start"] for entity in found]
                self.assertEqual(starts, sorted(starts))
                self.assertGreater(starts[-1], len(text.encode()) * 3 // 4)

    def test_eval_scores_by_a_strategy(self):
        """A token of the data has the label of the first word that begins in it."""
        file = model("aggregation-bert")
        tokens = ["rain", "x:y", "(Paris)?", "don't", "unbelievable", "北京", "York,", "to"]
        text, at, starts = " ".join(tokens), 0, []
        for token in tokens:
            starts.append(at)
            at += len(token) + 1
        for strategy in ("simple", "max"):
            found = self.entities(file, [text], "--aggregation", "none" if strategy == "simple" else strategy)[0]
            labels = {entity["start"]: entity["label"] for entity in found}
            tags = [labels.get(start, "O") for start in starts]
            out = self.directory / f"{strategy}.jsonl"
            data = self.write("data.jsonl", json.dumps({"tokens": tokens, "tags": ["O"] * len(tokens)}) + "\n")
            self.ok("eval", file, data, "--aggregation", strategy, "--predictions", out)
            said = json.loads(out.read_text())["predicted"]["tags"]
            self.assertGreater(len(set(said)), 1)
            if strategy == "simple":
                self.assertEqual(said, tags)
            else:
                self.assertEqual([tag.split("-")[-1] for tag in said], tags)

    def test_own_decoding_is_over_words_of_the_splitter(self):
        voice = model("voice")
        for options in ((), ("--aggregation", "words")):
            slots = self.line("tag", voice, "what is the weather in (paris)?", "--json", *options)["entities"]
            self.assertIn("paris", [slot["text"] for slot in slots])
            self.assertFalse([slot for slot in slots if "paris" in slot["text"] and slot["text"] != "paris"])
        chinese = self.line("tag", voice, "find the movie 我们去北京", "--json")["entities"]
        self.assertIn("我们去北京", [slot["text"] for slot in chinese])
        self.assertEqual(self.line("inspect", voice, "--json")["label_sets"][1]["aggregation"], "words")
        self.assertEqual(self.line("inspect", model("bert-tag-crf"), "--json")["label_sets"][0]["aggregation"], "words")

    def test_labels_that_transformers_reads_otherwise_keep_their_scheme(self):
        source = self.directory / "bioes"
        shutil.copytree(GOLDEN / "aggregation-bert", source)
        config = json.loads((source / "config.json").read_text())
        config["id2label"] = {str(i): tag for i, tag in enumerate(["O", "B-PER", "I-PER", "E-PER", "S-PER"])}
        config["label2id"] = {tag: int(i) for i, tag in config["id2label"].items()}
        (source / "config.json").write_text(json.dumps(config))
        for directory, options, aggregation in (
            (source, (), "words"),
            (source, ("--aggregation", "simple"), "simple"),
            (GOLDEN / "aggregation-bert", ("--tag-scheme", "plain"), "words"),
            (GOLDEN / "aggregation-bert", ("--tag-scheme", "iob2"), "first"),
        ):
            file = self.directory / "file.bantam"
            self.ok("convert", directory, "-o", file, "--weights", "f32", "--parity", "none", "--quiet", *options)
            self.assertEqual(self.line("inspect", file, "--json")["label_sets"][0]["aggregation"], aggregation, options)

    def test_refused(self):
        tagger, classifier = model("aggregation-bert"), model("bert-classify")
        self.fails(2, "tag", tagger, "a", "--aggregation", "last", says=("--aggregation", "last", "simple"))
        self.fails(2, "run", classifier, "a", "--aggregation", "simple", says=("--aggregation", "labels of words"))
        self.fails(2, "run", tagger, "--ids", "1,2", "--aggregation", "simple", says=("--aggregation", "--ids"))
        out = self.directory / "none.bantam"
        source = SOURCE / "tests" / "golden" / "models" / "bert-classify"
        self.fails(2, "convert", source, "-o", out, "--aggregation", "first", says=("--aggregation", "labels of words"))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
