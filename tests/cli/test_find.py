"""GLiNER: spans for labels that come with the text, as the library gliner found them."""

import json
import shutil
import unittest

from support import GOLDEN, CommandTest, model

MODELS = ("gliner-find", "gliner-bert")
KINDS = {
    "flat": (),
    "nested": ("--nested", "--threshold", "0.3"),
    "several": ("--several", "--threshold", "0.4"),
}


class Find(CommandTest):
    def cases(self, name):
        with open(GOLDEN / name / "expected.jsonl") as file:
            return [json.loads(line) for line in file]

    def found(self, name, text, labels, *options, command="tag"):
        return self.line(command, model(name), text, "--labels", ",".join(labels), *options, "--json")["entities"]

    def test_spans_are_the_librarys(self):
        for name in MODELS:
            for case in self.cases(name)[:3]:
                for kind, options in KINDS.items():
                    found = self.found(name, case["text"], case["labels"], *options, "--offsets", "chars")
                    expected = case["found"][kind]
                    self.assertEqual(
                        [[one["start"], one["end"], one["label"]] for one in found], [one[:3] for one in expected]
                    )
                    for one, wanted in zip(found, expected, strict=True):
                        self.assertAlmostEqual(one["score"], wanted[3], delta=2e-4)
                        self.assertEqual(one["text"], case["text"][one["start"] : one["end"]])

    def test_run_says_the_same_and_so_do_batches(self):
        case = self.cases("gliner-find")[2]
        alone = self.found("gliner-find", case["text"], case["labels"], "--threshold", "0.3", "--nested")
        self.assertTrue(alone)
        labels = ",".join(case["labels"])
        for batch in ("1", "2"):
            several = self.lines(
                *("run", model("gliner-find"), "--labels", labels, "--threshold", "0.3", "--nested"),
                *("--batch", batch, "--json"),
                stdin=(case["text"] + "\n\ntea\n").encode(),
            )
            self.assertEqual([one["text"] for one in several], [case["text"], "", "tea"])
            self.assertEqual(several[0]["entities"], alone)
            self.assertEqual(several[1]["entities"], [])

    def test_for_people(self):
        case = self.cases("gliner-find")[2]
        shown = self.ok(
            *("tag", model("gliner-find"), case["text"], "--labels", ",".join(case["labels"])),
            *("--threshold", "0.3", "--nested"),
        ).decode()
        self.assertTrue(any(label in shown for label in case["labels"]), shown)

    def test_long_texts_are_cut(self):
        text = "tea " * 40
        self.assertTrue(self.line("tag", model("gliner-find"), text, "--labels", "a", "--json")["truncated"])
        self.fails(4, "tag", model("gliner-find"), text, "--labels", "a", "--strict", says=["40 tokens do not fit (12"])

    def test_what_does_not_go_together_is_refused(self):
        gliner, tagger = model("gliner-find"), model("bert-tag")
        many = ",".join(f"label{i}" for i in range(101))
        for code, words, arguments in (
            (2, "--labels: missing", ("tag", gliner, "tea")),
            (2, "more than the 100", ("tag", gliner, "tea", "--labels", many)),
            (2, "labels of its own", ("tag", tagger, "tea", "--labels", "a")),
            (2, "gives no labels", ("run", model("sentence-mean"), "tea", "--labels", "a")),
            (2, "--labels: missing", ("tag", gliner, "tea", "--threshold", "0.3")),
            (2, "--threshold", ("tag", gliner, "tea", "--labels", "a", "--threshold", "1.5")),
            (2, "--stride", ("tag", gliner, "tea", "--labels", "a", "--stride", "4")),
            (2, "--pair", ("run", gliner, "tea", "--labels", "a", "--pair", "x")),
            (4, "more tokens than", ("tag", gliner, "tea", "--labels", "z" * 3000)),
            (5, "labels", ("firmware", gliner, "--target", "cortex-m4", "-o", self.directory / "x")),
        ):
            self.fails(code, *arguments, says=[words])

    def test_labels_of_data_are_asked_for(self):
        data = self.directory / "data.jsonl"
        lines = [
            {"tokens": ["Ada", "lived", "in", "London"], "tags": ["B-person", "O", "O", "B-city"]},
            {"tokens": ["tea", "is", "late"], "tags": ["O", "O", "O"]},
        ]
        data.write_text("".join(json.dumps(line) + "\n" for line in lines))
        scores = self.line("eval", model("gliner-find"), data, "--json")
        self.assertEqual(scores["examples"], 2)
        data.write_text(json.dumps(lines[1]) + "\n")
        self.fails(4, "eval", model("gliner-find"), data, says=["no tag"])

    def test_other_commands_know_it(self):
        bench = self.line("bench", model("gliner-find"), "--seq", "16", "--json", "--repetitions", "1")
        self.assertEqual(bench["tokens"], 16)
        self.ok("verify", model("gliner-find"))
        self.assertIn("find", self.ok("inspect", model("gliner-find")).decode())

    def convert(self, name, change):
        source = self.directory / "model"
        shutil.rmtree(source, True)
        shutil.copytree(GOLDEN / name, source)
        settings = json.loads((source / "gliner_config.json").read_text())
        change(settings, source)
        (source / "gliner_config.json").write_text(json.dumps(settings))
        return ("convert", source, "-o", self.directory / "out.bantam", "--weights", "f32", "--parity", "none")

    def test_the_librarys_tokens_are_added_where_they_lack(self):
        """First releases have the encoder's tokenizer as it is."""

        def change(settings, source):
            tokenizer = json.loads((source / "tokenizer.json").read_text())
            added = ("<<ENT>>", "<<SEP>>", "[FLERT]")
            self.assertTrue(any(token["content"] in added for token in tokenizer["added_tokens"]))
            tokenizer["added_tokens"] = [t for t in tokenizer["added_tokens"] if t["content"] not in added]
            (source / "tokenizer.json").write_text(json.dumps(tokenizer))

        self.ok(*self.convert("gliner-find", change))
        case = self.cases("gliner-find")[2]
        arguments = ("--labels", ",".join(case["labels"]), "--threshold", "0.3", "--nested", "--json")
        expected = self.line("tag", model("gliner-find"), case["text"], *arguments)
        self.assertEqual(self.line("tag", self.directory / "out.bantam", case["text"], *arguments), expected)

    def test_settings_that_do_not_fit_name_file_and_field(self):
        for code, says, settings in (
            (5, ["span_mode", "token_level"], {"span_mode": "token_level"}),
            (5, ["subtoken_pooling"], {"subtoken_pooling": "mean"}),
            (5, ["words_splitter_type"], {"words_splitter_type": "spacy"}),
            (5, ["labels_encoder"], {"labels_encoder": "org/name"}),
            (5, ["fuse_layers"], {"fuse_layers": True}),
            (4, ["max_width"], {"max_width": -1}),
            (4, ["hidden_size"], {"hidden_size": "wide"}),
            (4, ["max_len"], {"max_len": 1 << 40}),
            (4, ["token_rep_layer.projection", "belong together"], {"hidden_size": 20}),
            (4, ["<<WHAT>>"], {"ent_token": "<<WHAT>>", "class_token_index": 3}),
            # A name stands for its settings.
            (4, ["6 layers"], {"encoder_config": None, "model_name": "microsoft/deberta-v3-small"}),
            (4, ["encoder_config", "org/unknown"], {"encoder_config": None, "model_name": "org/unknown"}),
        ):
            with self.subTest(settings=settings):
                arguments = self.convert("gliner-find", lambda given, _, s=settings: given.update(s))
                self.fails(code, *arguments, says=says)


if __name__ == "__main__":
    unittest.main()
