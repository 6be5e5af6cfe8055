"""ELMo (docs/elmo.md): words by their characters, commands that take other models, and what is refused."""

import json
import struct
import unittest

from support import GOLDEN, CommandTest, model

BYTES = {"embedding_size": 5, "filters": [[1, 4], [2, 7], [3, 9]], "max_word_length": 9}


def half(count):
    return struct.pack(f"<{count}e", *(0.25 for _ in range(count)))


def without(name):
    return lambda held: held.pop(name)


class Elmo(CommandTest):
    def test_answers_are_those_of_the_paper(self):
        for name in ("elmo-tag-crf", "elmo-tag-characters", "elmo-classify", "elmo-classify-mean", "elmo-joint"):
            with self.subTest(model=name):
                self.answers(name, model(name))

    def test_words_are_tagged_by_their_characters(self):
        path = model("elmo-tag-characters")
        text = "ba naïve nothing Ü ko interminable"
        answer = self.line("tag", path, text, "--json")
        for entity in answer["entities"]:
            self.assertEqual(text.encode()[entity["start"] : entity["end"]].decode(), entity["text"])
        words = text.split()
        data = self.write("data.jsonl", json.dumps({"tokens": words, "tags": ["O"] * len(words)}) + "\n")
        self.assertIn("f1", self.ok("eval", path, data, "--json").decode())
        shown = self.ok("inspect", path, "--ops").decode()
        for kind in ("Recurrent", "Join"):
            self.assertIn(kind, shown)
        # Nothing of the network is in the file: its words are rows of a table.
        self.assertNotIn("characters", shown)
        self.ok("report", path, "-o", self.directory / "page.html")
        self.ok("bench", path, "--seq", "8", "--repetitions", "1", "--per-op", "--json")

    def test_vectors_of_texts(self):
        out = self.directory / "embed.bantam"
        self.ok("convert", GOLDEN / "elmo-encoder", "-o", out, "--task", "embed", "--parity", "none")
        vector = self.line("embed", out, "ba ko", "--json")
        self.assertIn("34", json.dumps(vector.get("dimensions", len(vector["embedding"]))))

    def test_int8_passes_the_gate_and_students_have_the_table(self):
        out = self.directory / "small.bantam"
        self.ok("convert", GOLDEN / "elmo-classify", "-o", out)
        recipe = self.write("recipe.json", json.dumps({"positions": 12}))
        student = self.directory / "student"
        self.ok("student", GOLDEN / "elmo-tag-characters", "-o", student, "--recipe", recipe)
        self.assertNotIn("characters", json.loads((student / "config.json").read_text()))
        self.ok("convert", student, "-o", out, "--weights", "f32", "--parity", "none")
        ids = ("--raw", "--ids", "5,1,7,46")
        teacher = self.line("run", model("elmo-tag-characters"), *ids)
        self.assertEqual(self.line("run", out, *ids)["outputs"], teacher["outputs"])

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"

        def more(held):
            held["mix.weights"] = ("F16", [4], half(4))

        def deeper(held):
            for name in [name for name in held if name.startswith("forward_layers.1.")]:
                held[name.replace(".1.", ".2.")] = held[name]

        for name, tensors, settings, code, says in (
            ("tag", None, {"hidden_size": 20}, 4, ["forward_layers.0.weight_hh_l0", "[80, 9]", "17 more"]),
            ("tag", None, {"num_layers": 1}, 4, ["mix.weights", "[3]", "[2]"]),
            ("tag", None, {"num_layers": 1}, 4, ["backward_layers.1.weight_hh_l0", "no place"]),
            ("tag", None, {"num_layers": 3}, 4, ["mix.weights", "[4]", "forward_layers.2.weight_ih_l0"]),
            ("tag", None, {"proj_size": 8}, 4, ["embedding_size", "proj_size", "mix.weights"]),
            ("tag", None, {"bidirectional": False}, 5, ["bidirectional", "true"]),
            ("tag", None, {"cell_type": "qrnn"}, 5, ['"qrnn"', '"lstm" and "gru"']),
            ("tag", without("backward_layers.1.weight_hh_l0"), {}, 4, ["backward_layers.1.weight_hh_l0", "missing"]),
            ("tag", without("embedding.weight"), {}, 4, ["embedding.weight", "missing"]),
            ("tag", more, {}, 4, ["mix.weights", "[4]", "[3]"]),
            ("tag", deeper, {}, 5, ["forward_layers.2.weight_hh_l0", "no place"]),
            ("classify", None, {"pooling": "first"}, 5, ['"first"', '"max"']),
        ):
            with self.subTest(model=name, settings=settings):
                source = self.changed(f"elmo-{name}", tensors, **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
        student = ("student", GOLDEN / "elmo-joint", "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["they are recurrent"])
        self.assertFalse(out.exists())

    def test_characters_that_are_refused(self):
        out = self.directory / "x.bantam"

        def table(held):
            held["embedding.weight"] = ("F16", [47, 13], half(47 * 13))

        for tensors, characters, settings, code, says in (
            (None, {"filters": []}, {}, 4, ["filters", "[[1, 32], [2, 64]]"]),
            (None, {"filters": [[10, 4]]}, {}, 4, ["filters"]),
            (None, {"filters": [[1, 4], [2, 8], [3, 9]]}, {}, 4, ["characters.convs.1.weight", "[8, 5, 2]"]),
            (None, {"max_word_length": 2}, {}, 4, ["max_word_length"]),
            (None, {"activation": "gelu"}, {}, 5, ['"gelu"', '"relu" and "tanh"']),
            (None, {"highway_layers": 3}, {}, 4, ["characters.highway.2.weight"]),
            (None, {"highway_layers": 1}, {}, 5, ["characters.highway.1.weight", "no place"]),
            (None, {"alphabet": "words"}, {}, 4, ["alphabet", '"bytes"']),
            (None, {"alphabet": ["a", "b", "a"]}, {}, 4, ["alphabet", "entry 2"]),
            (None, {"alphabet": ["a", "b"]}, {}, 4, ["padding", '"<pad>"', "unknown"]),
            (None, {"alphabet": ["<pad>", "<unk>"], "begin": "<w>"}, {}, 4, ["begin", '"<w>"']),
            (None, {"kernel": 3}, {}, 4, ["characters", "kernel"]),
            (None, {}, {"vocab_size": 48}, 4, ["vocab_size", "none of number 47"]),
            (None, {}, {"embedding_size": 12}, 4, ["characters.projection.weight"]),
            (without("characters.projection.bias"), {}, {"characters": None}, 4, ["embedding.weight", "missing"]),
            (without("characters.convs.1.weight"), {}, {}, 4, ["characters.convs.1.weight", "missing"]),
            (table, {}, {}, 4, ["embedding.weight", "leave one out"]),
        ):
            with self.subTest(characters=characters, settings=settings):
                settings = {"characters": {**BYTES, **characters}, **settings}
                source = self.changed("elmo-tag-characters", tensors, **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
        source = self.changed("elmo-tag-characters")
        (source / "tokenizer.json").unlink()
        self.fails(5, "convert", source, "-o", out, says=["characters", "tokenizer.json", "WordLevel"])
        source = self.changed("elmo-tag-characters", characters=[1])
        self.fails(4, "convert", source, "-o", out, says=["characters", "not an object"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
