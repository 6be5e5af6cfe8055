"""Answers are the command's, bit for bit, for every task."""

import struct
import unittest

import bantam
from support import TEXTS, PackageTest, command, load, of_task, path

SAID = [text for text in TEXTS if "\0" not in text]  # what an argument of a program can be


def label(one):
    return {"label": one["label"], "score": one["score"]}


def entity(one):
    return {
        "entity": one["label"],
        "score": one["score"],
        "word": one["text"],
        "start": one["start"],
        "end": one["end"],
    }


def without_bytes(found):
    return [{key: value for key, value in one.items() if not key.endswith("_byte")} for one in found]


def refusal(expected):
    return {"out_of_scope": True} if expected.get("out_of_scope") else {}


class Answers(PackageTest):
    def test_labels(self):
        for name in [*of_task("classify"), *of_task("multi_label"), *of_task("regress")]:
            model = load(name)
            for text, said in zip(SAID, model(SAID, top_k=0)):
                with self.subTest(model=name, text=text):
                    (expected,) = command("run", path(name), "--json", "--top", 0, text)
                    self.assertEqual(said, [label(one) for one in expected["labels"]])
                    self.assertEqual(model(text, top_k=0), said)
                    if model.task == "classify":
                        self.assertEqual(model(text), {**said[0], **refusal(expected)})
                    if model.task == "multi_label":
                        self.assertEqual(model(text), said[: expected["selected"]])

    def test_pairs(self):
        for name in [*of_task("classify")[:3], *of_task("next_sentence")]:
            model = load(name)
            for first, second in zip(SAID, SAID[1:]):
                with self.subTest(model=name, text=first):
                    (expected,) = command("run", path(name), "--json", "--top", 0, "--pair", second, first) if (
                        model.task == "classify"
                    ) else command("run", path(name), "--json", "--pair", second, first)  # fmt: skip
                    wanted = [label(one) for one in expected["labels"]]
                    self.assertEqual(model((first, second), top_k=0), wanted)
                    self.assertEqual(model(first, second, top_k=0), wanted)
                    self.assertEqual(model({"text": first, "text_pair": second}, top_k=0), wanted)

    def test_entities(self):
        found = 0
        for name in [*of_task("tag"), *of_task("joint")]:
            model = load(name)
            for text, said in zip(SAID, model(SAID)):
                with self.subTest(model=name, text=text):
                    (expected,) = command("run", path(name), "--json", "--offsets", "chars", text)
                    if model.task == "joint":
                        self.assertEqual(said["intent"], {**label(expected["intent"]), **refusal(expected)})
                        said = said["slots"]
                        self.assertEqual(without_bytes(said), [entity(one) for one in expected["slots"]])
                    else:
                        self.assertEqual(without_bytes(said), [entity(one) for one in expected["entities"]])
                    for one in said:
                        self.assertEqual(text[one["start"] : one["end"]], one["word"])
                        self.assertEqual(text.encode()[one["start_byte"] : one["end_byte"]].decode(), one["word"])
                    found += len(said)
        self.assertGreater(found, 20)

    def test_aggregation(self):
        text = "rain in (Paris)? Ann-Lee is unbelievable"
        for name in ("aggregation-bert", "aggregation-roberta", "voice"):
            model = load(name)
            for how in ("none", "simple", "first", "average", "max", "words"):
                with self.subTest(model=name, aggregation=how):
                    (expected,) = command("tag", path(name), "--json", "--offsets", "chars", "--aggregation", how, text)
                    said = model(text, aggregation=how)
                    said = said["slots"] if model.task == "joint" else said
                    self.assertEqual(without_bytes(said), [entity(one) for one in expected["entities"]])
            self.assertEqual(model([text], aggregation="max"), [model(text, aggregation="max")])
            self.raises(ValueError, lambda model=model: model(text, aggregation="last"), "last")
        self.raises(bantam.BantamError, lambda: load("bert-classify")(text, aggregation="max"), "aggregation")

    def test_questions(self):
        context = "The café in Zürich opened in 1987 and closes at 11 in the evening."
        for name in of_task("answer"):
            model = load(name)
            for question in SAID[:4]:
                with self.subTest(model=name, question=question):
                    (expected,) = command(
                        "run", path(name), "--json", "--offsets", "chars", "--question", question, "--context", context
                    )
                    said = model(question=question, context=context)
                    self.assertEqual(said, model({"question": question, "context": context}))
                    for key in ("answer", "score", "start", "end", "answerable"):
                        self.assertEqual(said[key], expected[key], key)

    def test_masks(self):
        for name in of_task("fill"):
            model = load(name)
            mask = model.tokenize("x").tokens  # how it is written tells the family
            mask = "<mask>" if "<s>" in mask else "[MASK]"
            for text in (f"play some {mask} please", f"{mask} is in zürich {mask}"):
                with self.subTest(model=name, text=text):
                    (expected,) = command("run", path(name), "--json", "--top", 4, text)
                    said = model(text, top_k=4)
                    masks = expected.get("masks") or [expected["candidates"]]
                    self.assertEqual(
                        [[(one["token"], one["score"], one["sequence"]) for one in every] for every in
                         (said if "masks" in expected else [said])],
                        [[(one["id"], one["score"], one["text"]) for one in every] for every in masks],
                    )  # fmt: skip
            self.raises(ValueError, lambda model=model: model("nothing is missing"), mask)
            many = [" ".join([mask] * (1 + i % 5)) + " is" for i in range(40)]  # more than there is room for at first
            self.assertEqual(model(many, top_k=2), [model(text, top_k=2) for text in many])
            rows = next(iter(model.outputs(many[4]).values()))  # of all tokens
            self.assertEqual(len(rows), len(model.tokenize(many[4]).ids))
        model = load("bert-pretraining")
        for arguments in (("ba [MASK]",), ("ba", "di")):
            pair = ("--pair", *arguments[1:]) if len(arguments) > 1 else ()
            (expected,) = command("run", path("bert-pretraining"), "--json", "--top", 2, arguments[0], *pair)
            scores = [one["score"] for one in expected.get("labels", expected.get("candidates"))]
            self.assertEqual([one["score"] for one in model(*arguments, top_k=2)], scores)

    def test_choices(self):
        for name in of_task("choose"):
            choices = ["play music", "book a table for two people", "none"]
            pairs = [argument for choice in choices for argument in ("--pair", choice)]
            (expected,) = command("run", path(name), "--json", *pairs, SAID[0])
            self.assertEqual(load(name)(SAID[0], choices=choices), expected["labels"])

    def test_embeddings(self):
        for name in of_task("embed"):
            model = load(name)
            for text, said in zip(SAID, model.encode(SAID, convert_to_numpy=False)):
                with self.subTest(model=name, text=text):
                    (expected,) = command("run", path(name), "--json", text)
                    wanted = struct.pack(f"{len(expected['embedding'])}f", *expected["embedding"])
                    self.assertEqual(said.tobytes(), wanted)
                    self.assertEqual(model.encode(text, convert_to_numpy=False).tobytes(), wanted)

    def test_spans_for_labels(self):
        (name,) = of_task("find")[:1]
        model = load(name)
        for text in SAID:
            (expected,) = command("run", path(name), "--json", "--labels", "person,place", "--offsets", "chars", text)
            said = model(text, labels=["person", "place"])
            self.assertEqual(without_bytes(said), [entity(one) for one in expected["entities"]])

    def test_outputs(self):
        for name in ("bert-classify", "voice"):
            for text in SAID[:3]:
                (expected,) = command("run", path(name), "--raw", text)
                said = load(name).outputs(text)
                self.assertEqual(set(said), set(expected["outputs"]))
                for output, rows in said.items():
                    flat = [float(value) for row in rows for value in row]
                    self.assertEqual(flat, expected["outputs"][output]["data"])


if __name__ == "__main__":
    unittest.main()
