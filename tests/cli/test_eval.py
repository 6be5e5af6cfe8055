"""eval: every data layout, the metrics against Python's own, flips, and bad data."""

import json
import unittest

from support import SHARED, CommandTest, model


def jsonl(objects):
    return "".join(json.dumps(o) + "\n" for o in objects)


class Layouts(CommandTest):
    def eval(self, name, objects, *arguments):
        return self.line("eval", model(name), self.write("data.jsonl", jsonl(objects)), "--json", *arguments)

    def predictions(self, name, texts):
        stdin = "\n".join(texts).encode() + b"\n"
        return [
            a["labels"][0]["label"]
            for a in self.lines("classify", model(name), "-", "--json", "--top", "1", stdin=stdin)
        ]

    def test_labels_by_name_and_number(self):
        texts = ["ba di", "ko", "lan men", "ren si", "bing"]
        found = self.predictions("bert-classify", texts)
        gold = ["LABEL_0", "LABEL_1", "LABEL_2", found[3], found[4]]
        right = sum(a == b for a, b in zip(gold, found, strict=True))
        by_name = self.eval("bert-classify", [{"text": t, "label": g} for t, g in zip(texts, gold, strict=True)])
        self.assertAlmostEqual(by_name["metrics"]["accuracy"], right / 5, places=6)
        by_number = self.eval(
            "bert-classify", [{"text": t, "label": int(g[-1])} for t, g in zip(texts, gold, strict=True)]
        )
        self.assertEqual(by_number["metrics"], by_name["metrics"])
        labels = sorted(set(gold) | set(found))
        f1 = [
            2
            * sum(g == f == label for g, f in zip(gold, found, strict=True))
            / (gold.count(label) + found.count(label))
            for label in labels
        ]
        self.assertAlmostEqual(by_name["metrics"]["macro_f1"], sum(f1) / len(f1), places=6)

    def test_matthews_of_two_labels(self):
        texts = ["ba", "be", "bi", "bo", "da", "de", "ki", "ko", "la", "men", "ser", "tin"]
        found = self.predictions("distilbert-classify", texts)
        gold = [f"LABEL_{i % 2}" for i in range(len(texts))]
        both = list(zip(gold, found, strict=True))
        tp, tn = both.count(("LABEL_1", "LABEL_1")), both.count(("LABEL_0", "LABEL_0"))
        fp, fn = both.count(("LABEL_0", "LABEL_1")), both.count(("LABEL_1", "LABEL_0"))
        spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        wanted = (tp * tn - fp * fn) / spread**0.5 if spread else 0
        answer = self.eval("distilbert-classify", [{"text": t, "label": g} for t, g in zip(texts, gold, strict=True)])
        self.assertAlmostEqual(answer["metrics"]["matthews"], wanted, places=5)

    def test_several_labels(self):
        texts = ["ba di", "ko", "lan men", "ren si", "bing"]
        found = []
        for text in texts:
            answer = self.line("classify", model("bert-multi-label"), text, "--json", "--top", "0")
            found.append({a["label"] for a in answer["labels"] if a["score"] > 0.5})
        gold = [found[0], found[1] ^ {"joy"}, set(), {"calm"}, {"fear", "joy"}]
        scores = self.eval(
            "bert-multi-label", [{"text": t, "labels": sorted(g)} for t, g in zip(texts, gold, strict=True)]
        )["metrics"]
        correct = sum(len(g & f) for g, f in zip(gold, found, strict=True))
        both = sum(len(g) + len(f) for g, f in zip(gold, found, strict=True))
        self.assertAlmostEqual(scores["micro_f1"], 2 * correct / both, places=6)
        exact = sum(g == f for g, f in zip(gold, found, strict=True)) / 5
        self.assertAlmostEqual(scores["exact_match"], exact, places=6)

    def test_scores(self):
        pairs = [("ba di", "ko", 1.0), ("lan", "lan", 5.0), ("men ra", "ra men", 4.0), ("si", "tin", 1.0)]
        answer = self.eval("sentence-mean", [{"text_a": a, "text_b": b, "score": s} for a, b, s in pairs])
        cosines = [self.line("similar", model("sentence-mean"), a, b, "--json")["score"] for a, b, _ in pairs]
        gold = [s for _, _, s in pairs]
        self.assertAlmostEqual(answer["metrics"]["pearson"], correlation(gold, cosines), places=5)
        self.assertAlmostEqual(answer["metrics"]["spearman"], correlation(ranks(gold), ranks(cosines)), places=5)

    def test_tags(self):
        tokens = ["ba", "di", "ko", "lan", "men"]
        stdin = " ".join(tokens).encode()
        entities = self.line("tag", model("bert-tag"), "-", "--json", stdin=stdin)["entities"]
        starts, at = [], 0
        for token in tokens:
            starts.append(at)
            at += len(token) + 1
        tags = ["O"] * len(tokens)
        for entity in entities:
            inside = [i for i, s in enumerate(starts) if entity["start"] <= s < entity["end"]]
            for i in inside:
                tags[i] = ("B-" if i == inside[0] else "I-") + entity["label"]
        perfect = self.eval("bert-tag", [{"tokens": tokens, "tags": tags}])
        self.assertEqual(perfect["metrics"]["entity_f1"], 1 if entities else 0)
        extra = self.eval(
            "bert-tag",
            [
                {"tokens": tokens, "tags": tags},
                {"tokens": [], "tags": []},
                {"tokens": ["x"] * 200, "tags": ["B-unheard-of"] * 200},
            ],
        )
        self.assertLess(extra["metrics"]["entity_recall"], 0.1)

    def test_joint(self):
        text = "play some jazz by miles davis"
        good = {
            "text": text,
            "intent": "PlayMusic",
            "tokens": text.split(),
            "slots": ["O", "O", "B-genre", "O", "B-artist", "I-artist"],
        }
        bad = {**good, "slots": ["O", "O", "B-genre", "O", "B-artist", "O"]}
        metrics = self.eval("voice", [good])["metrics"]
        self.assertEqual((metrics["intent_accuracy"], metrics["slot_f1"], metrics["sentence_accuracy"]), (1, 1, 1))
        metrics = self.eval("voice", [good, bad])["metrics"]
        self.assertEqual((metrics["intent_accuracy"], metrics["slot_f1"], metrics["sentence_accuracy"]), (1, 0.75, 0.5))
        self.assertEqual(
            list(self.eval("voice", [{"text": text, "intent": "PlayMusic"}])["metrics"])[0], "intent_accuracy"
        )

    def test_answers(self):
        context = "ba di ko lan men"
        found = self.line("answer", model("bert-answer"), context, "--question", "ko", "--json")["answer"]
        line = {"question": "ko", "context": context}
        metrics = self.eval("bert-answer", [{**line, "answers": ["zzz", f"The {found.upper()}."]}])["metrics"]
        self.assertEqual((metrics["exact_match"], metrics["f1"]), (1, 1))
        metrics = self.eval("bert-answer", [{**line, "answers": {"text": ["zzz"], "answer_start": [0]}}])["metrics"]
        self.assertEqual((metrics["exact_match"], metrics["f1"]), (0, 0))
        metrics = self.eval("bert-answer", [{**line, "answers": [found + " zzz"]}])["metrics"]
        words = len(found.split())
        self.assertAlmostEqual(metrics["f1"], 2 * words / (2 * words + 1), places=6)

    def test_choices(self):
        line = {"text": "ba", "choices": ["ko", "lan men"], "label": 0}
        right = self.eval("bert-choose", [line])["metrics"]["accuracy"]
        wrong = self.eval("bert-choose", [{**line, "label": 1}])["metrics"]["accuracy"]
        self.assertEqual({right, wrong}, {0, 1})

    def test_against(self):
        lines = [{"text": t, "intent": "PlayMusic"} for t in ("play jazz", "book a table", "weather")]
        path = self.write("data.jsonl", jsonl(lines))
        answer = self.line("eval", model("voice"), path, "--against", model("voice-f32"), "--json", "--batch", "2")
        self.assertEqual(answer["difference"]["label_flips"], 0)
        self.assertEqual(answer["against"]["metrics"]["intent_accuracy"], answer["metrics"]["intent_accuracy"])
        self.assertLess(answer["bytes"], answer["against"]["bytes"])
        self.assertGreater(answer["queries_per_second"], 0)
        self.assertIn("label_flips", self.ok("eval", model("voice"), path, "--against", model("voice-f32")).decode())

    def test_embeddings_against_themselves(self):
        path = self.write("data.jsonl", jsonl([{"text_a": "ba", "text_b": "di ko", "score": 1}]))
        answer = self.line("eval", model("sentence-mean"), path, "--against", model("sentence-mean"), "--json")
        self.assertAlmostEqual(answer["difference"]["cosine_min"], 1, places=6)


class BadData(CommandTest):
    def test_malformed_lines(self):
        path = self.write(
            "bad.jsonl",
            '{"text": "ba", "label": 0}\nnot json\n\n[1]\n{"text": 5, "label": 0}\n{"text": "a"}\n'
            '{"text": "a", "label": 1.5}\n',
        )
        self.fails(
            4,
            "eval",
            model("bert-classify"),
            path,
            says=[f"{path}:2:", f"{path}:4:", f"{path}:5:", f"{path}:6:", f"{path}:7:", "--skip-bad"],
        )
        answer = self.line("eval", model("bert-classify"), path, "--skip-bad", "--json")
        self.assertEqual((answer["examples"], answer["skipped_lines"]), (1, 5))

    def test_other_errors(self):
        tags = self.write("tags.jsonl", '{"tokens": ["a", "b"], "tags": ["O"]}\n')
        self.fails(4, "eval", model("bert-tag"), tags, says=["2 tokens but 1 tags"])
        labels = self.write("labels.jsonl", '{"text": "a", "label": "unheard of"}\n')
        self.fails(4, "eval", model("bert-classify"), labels, says=["unheard of", "line 1"])
        some = self.write("some.jsonl", '{"text": "a", "label": "unheard of"}\n{"text": "a", "label": 0}\n')
        self.assertEqual(self.line("eval", model("bert-classify"), some, "--json")["unknown_labels"], 1)
        self.fails(5, "eval", model("bert-tag"), some, says=["tag"])
        self.fails(4, "eval", model("bert-classify"), self.write("empty.jsonl", ""), says=["no example"])
        self.fails(3, "eval", model("bert-classify"), str(self.directory / "missing.jsonl"))
        self.fails(4, "eval", model("bert-classify"), self.write("odd.jsonl", '{"a": 1}\n'), says=["layout"])
        nested = self.write("nested.jsonl", "[" * 100000 + "\n")
        self.fails(4, "eval", model("bert-classify"), nested, says=["nested deeper than 64"])


class Shared(CommandTest):
    """Real data, where it lies beside the project."""

    def test_snips(self):
        path = SHARED / "data" / "snips" / "test.jsonl"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        answer = self.line("eval", model("voice-f32"), path, "--json")
        self.assertAlmostEqual(answer["metrics"]["intent_accuracy"], 0.9857, delta=0.0005)
        self.assertAlmostEqual(answer["metrics"]["slot_f1_strict"], 0.9412, delta=0.0005)


def ranks(values):
    return [sum(x < v for x in values) + (sum(x == v for x in values) - 1) / 2 for v in values]


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    ab = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return ab / (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5


if __name__ == "__main__":
    unittest.main()
