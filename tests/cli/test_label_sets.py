"""Several label sets at once, and labels that stand above each other: from config.json to answers and scores."""

import json
import shutil
import struct
import unittest

from support import GOLDEN, CommandTest, model, softmax


def with_tensors(path, more):
    """Adds float tensors, {name: (shape, values)}, to a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    for name, (shape, values) in more.items():
        begin = len(body)
        body += struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


class LabelSets(CommandTest):
    def converted(self, golden, **settings):
        """A golden model's directory with other settings, converted."""
        directory = self.directory / golden
        shutil.copytree(GOLDEN / golden, directory)
        config = json.loads((directory / "config.json").read_text())
        config.update(settings)
        (directory / "config.json").write_text(json.dumps(config))
        target = self.directory / f"{golden}.bantam"
        self.ok("convert", directory, "-o", target, "--weights", "f32")
        return target

    def logits(self, golden, text):
        return self.line("run", model(golden), text, "--raw", "--json")["outputs"]["logits"]["data"]

    def test_two_sets(self):
        sets = [
            {"name": "topic", "labels": ["a", "b"]},
            {"name": "mood", "labels": ["sad"]},
        ]
        target = self.converted("bert-classify", label_sets=sets)
        logits = self.logits("bert-classify", "ba di")
        answer = self.line("run", target, "ba di", "--json")
        scores = {label["label"]: label["score"] for label in answer["labels"]}
        for name, score in zip("ab", softmax(logits[:2])):
            self.assertAlmostEqual(scores[name], score, places=5)
        self.assertEqual(answer["sets"], {"mood": {"labels": [{"label": "sad", "score": 1}]}})
        self.assertIn(b"mood:", self.ok("run", target, "ba di"))
        shown = self.line("inspect", target, "--json")["label_sets"]
        self.assertEqual([one["name"] for one in shown], ["topic", "mood"])
        best = answer["labels"][0]["label"]
        data = [
            {"text": "ba di", "topic": best, "mood": "sad"},
            {"text": "ba di", "topic": best},
        ]
        path = self.write("data.jsonl", "".join(json.dumps(line) + "\n" for line in data))
        said = self.directory / "said.jsonl"
        metrics = self.line("eval", target, path, "--json", "--predictions", said)["metrics"]
        self.assertEqual(metrics["accuracy"], 1)
        self.assertEqual(metrics["mood_accuracy"], 1)
        lines = [json.loads(line) for line in said.read_text().splitlines()]
        self.assertEqual(lines[0]["gold"]["sets"], {"mood": ["sad"]})
        self.assertNotIn("sets", lines[1]["gold"])
        bad = self.write(
            "bad.jsonl",
            json.dumps({"text": "ba", "label": "a", "mood": ["x", "y"]}) + "\n",
        )
        self.fails(4, "eval", target, bad, says=['field "mood" holds 2 labels instead of one'])

    def test_layer_of_its_own(self):
        """A student keeps the layer and narrows it with the others."""
        teacher = self.directory / "teacher"
        shutil.copytree(GOLDEN / "bert-classify", teacher)
        config = json.loads((teacher / "config.json").read_text())
        width = config["hidden_size"]
        moods = ["sad", "glad", "calm"]
        config["label_sets"] = [{"name": "mood", "labels": moods, "tensor": "mood_classifier"}]
        (teacher / "config.json").write_text(json.dumps(config))
        weight = [((i * 37) % 19 - 9) / 50 for i in range(3 * width)]
        bias = [0.5, 0, -0.5]
        tensors = {"mood_classifier.weight": ([3, width], weight), "mood_classifier.bias": ([3], bias)}
        with_tensors(teacher / "model.safetensors", tensors)
        target = self.directory / "teacher.bantam"
        self.ok("convert", teacher, "-o", target, "--weights", "f32")
        answer = self.line("run", target, "ba di", "--json")
        self.assertEqual(answer["labels"], self.line("run", model("bert-classify"), "ba di", "--json")["labels"])
        self.assertEqual({label["label"] for label in answer["sets"]["mood"]["labels"]}, set(moods))
        student = self.directory / "student"
        self.ok("student", teacher, "-o", student, "--hidden", 32)
        self.ok("convert", student, "-o", self.directory / "student.bantam", "--weights", "f32")
        self.assertIn("mood", self.line("run", self.directory / "student.bantam", "ba di", "--json")["sets"])

    def test_sets_of_words(self):
        config = json.loads((GOLDEN / "bert-tag" / "config.json").read_text())
        names = [config["id2label"][str(i)] for i in range(len(config["id2label"]))]
        sets = [
            {"name": "entities", "labels": names[:3]},
            {"name": "kinds", "labels": names[3:]},
        ]
        target = self.converted("bert-tag", label_sets=sets)
        answer = self.line("run", target, "ba di ko", "--json")
        self.assertEqual(list(answer["sets"]), ["kinds"])
        tokens = ["ba", "di", "ko"]
        data = {"tokens": tokens, "entities": ["O"] * 3, "kinds": [names[3]] * 3}
        path = self.write("data.jsonl", json.dumps(data) + "\n")
        self.assertIn("kinds_f1", self.line("eval", target, path, "--json")["metrics"])

    def test_levels(self):
        names = {"0": "football", "1": "sports", "2": "chess"}
        parents = {"football": "sports", "chess": "sports"}
        target = self.converted("bert-classify", id2label=names, label_parents=parents)
        football, _, chess = self.logits("bert-classify", "ba di")
        answer = self.line("run", target, "ba di", "--json")
        under = softmax([football, chess])
        best = "football" if football >= chess else "chess"
        self.assertEqual([label["label"] for label in answer["labels"]], ["sports", best])
        self.assertEqual(answer["labels"][0]["score"], 1)
        self.assertAlmostEqual(answer["labels"][1]["score"], max(under), places=5)
        self.assertEqual(answer["selected"], 2)
        self.assertEqual(
            self.line("inspect", target, "--json")["label_sets"][0]["label_parents"],
            parents,
        )
        path = self.write("data.jsonl", json.dumps({"text": "ba di", "label": best}) + "\n")
        self.assertEqual(self.line("eval", target, path, "--json")["metrics"]["accuracy"], 1)

    def test_several_labels_at_levels(self):
        config = json.loads((GOLDEN / "bert-multi-label" / "config.json").read_text())
        names = [config["id2label"][str(i)] for i in range(len(config["id2label"]))]
        target = self.converted("bert-multi-label", label_parents={names[1]: names[0]})
        answer = self.line("run", target, "ba di", "--json", "--top", 0)
        scores = {label["label"]: label["score"] for label in answer["labels"]}
        self.assertLessEqual(scores[names[1]], scores[names[0]])


if __name__ == "__main__":
    unittest.main()
