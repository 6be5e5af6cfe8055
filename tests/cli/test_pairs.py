"""rank and classify --labels: scores of pairs, against the logits that the graph gives."""

import json
import math
import shutil
import unittest

from support import GOLDEN, CommandTest, bantam, model, softmax

TEXTS = ["ko", "lu lu ba", "di", "ba di ko"]


class Pairs(CommandTest):
    def logits(self, name, first, second):
        """The graph's logits for a pair."""
        return self.line("classify", model(name), first, "--pair", second, "--raw")["outputs"]["logits"]["data"]

    def test_ranks_by_the_one_number(self):
        ranked = self.line("rank", model("bert-regress"), "ba di", *TEXTS, "--json")
        self.assertEqual(ranked["text"], "ba di")
        scores = [one["score"] for one in ranked["found"]]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(sorted(one["line"] for one in ranked["found"]), [1, 2, 3, 4])
        for one in ranked["found"]:
            self.assertEqual(one["text"], TEXTS[one["line"] - 1])
            logit = self.logits("bert-regress", "ba di", one["text"])[0]
            self.assertAlmostEqual(one["score"], 1 / (1 + math.exp(-logit)), places=5)

    def test_ranks_by_the_function_that_the_source_names(self):
        source = self.directory / "source"
        shutil.copytree(GOLDEN / "bert-regress", source)
        config = json.loads((source / "config.json").read_text())
        linear = "torch.nn.modules.linear.Identity"
        for stated in (
            {"sbert_ce_default_activation_function": linear},
            {"sentence_transformers": {"activation_fn": linear}},
        ):
            (source / "config.json").write_text(json.dumps({**config, **stated}))
            file = self.directory / "rank.bantam"
            self.ok("convert", source, "-o", file, "--parity", "none")
            for one in self.line("rank", file, "ba di", *TEXTS, "--json")["found"]:
                logit = self.line("classify", file, "ba di", "--pair", one["text"], "--raw")["outputs"]["logits"][
                    "data"
                ][0]
                self.assertAlmostEqual(one["score"], logit, places=5)

    def test_ranks_by_a_label(self):
        ranked = self.line(
            "rank",
            model("bert-classify"),
            "ba di",
            "--label",
            "label_1",
            "--top",
            "2",
            "--json",
            stdin="\n".join(TEXTS).encode(),
        )
        self.assertEqual(len(ranked["found"]), 2)
        for one in ranked["found"]:
            expected = softmax(self.logits("bert-classify", "ba di", one["text"]))[1]
            self.assertAlmostEqual(one["score"], expected, places=5)

    def test_zero_shot_is_the_softmax_of_entailment(self):
        labels = ["ko", "lu", "di"]
        options = ["--labels", ",".join(labels), "--entailment", "LABEL_2", "--hypothesis", "ba {} ba", "--json"]
        found = [self.logits("bert-classify", "ba di", f"ba {label} ba") for label in labels]
        answer = self.line("classify", model("bert-classify"), "ba di", *options)
        expected = dict(zip(labels, softmax([x[2] for x in found]), strict=True))
        for one in answer["labels"]:
            self.assertAlmostEqual(one["score"], expected[one["label"]], places=5)
        several = self.line("classify", model("bert-classify"), "ba di", *options, "--several")
        for one in several["labels"]:
            x = found[labels.index(one["label"])]
            self.assertAlmostEqual(one["score"], 1 / (1 + math.exp(x[0] - x[2])), places=5)
        x = found[0]  # a label by itself is judged against its contradiction
        alone = self.line("classify", model("bert-classify"), "ba di", *options[2:], "--labels", labels[0])["labels"]
        self.assertAlmostEqual(alone[0]["score"], 1 / (1 + math.exp(x[0] - x[2])), places=5)
        streamed = self.lines("classify", model("bert-classify"), *options, "--top", "1", stdin=b"ba di\nko\n")
        self.assertEqual([one["text"] for one in streamed], ["ba di", "ko"])
        self.assertEqual(streamed[0]["labels"], answer["labels"][:1])

    def test_refuses(self):
        for code, words, arguments in (
            (
                5,
                "none of its labels (LABEL_0, LABEL_1, LABEL_2)",
                ("classify", "bert-classify", "ko", "--labels", "a,b"),
            ),
            (2, "no such label", ("classify", "bert-classify", "ko", "--labels", "a", "--entailment", "x")),
            (2, "wanted {}", ("classify", "bert-classify", "ko", "--labels", "a", "--hypothesis", "x")),
            (2, "--labels: missing", ("classify", "bert-classify", "ko", "--several")),
            (2, "goes without --pair", ("classify", "bert-classify", "ko", "--labels", "a", "--pair", "x")),
            (5, "classifier of pairs", ("classify", "sentence-mean", "ko", "--labels", "a")),
            (2, "--label: the file has several labels", ("rank", "bert-classify", "ko", "lu")),
            (5, "bantam search compares vectors", ("rank", "sentence-mean", "ko", "lu")),
            (2, "QUERY: missing", ("rank", "bert-regress")),
        ):
            with self.subTest(arguments=arguments):
                done = bantam(arguments[0], model(arguments[1]), *arguments[2:])
                self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
                self.assertIn(words, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
