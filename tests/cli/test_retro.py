"""RETRO (docs/retro.md): what it makes of texts beside those that an index has for them, how likely texts are, and what is refused."""

import json
import shutil
import unittest

from support import GOLDEN, CommandTest, model

NAME = "retro-text"


def cases():
    return [json.loads(line) for line in (GOLDEN / NAME / "texts.jsonl").read_text().splitlines()]


class Retro(CommandTest):
    def setUp(self):
        super().setUp()
        self.index = self.directory / "database.index"
        self.ok("index", model("sentence-mean"), GOLDEN / NAME / "database.txt", "-o", self.index)
        self.found = ("--index", self.index, "--embedder", model("sentence-mean"))

    def test_answers_are_those_of_the_paper(self):
        for name in (NAME, "retro-generate", "retro-shared", "retro-wide"):
            with self.subTest(model=name):
                out = self.directory / "x.bantam"
                report = self.line(
                    *("convert", GOLDEN / name, "-o", out, "--weights", "f32", "--parity", "none", "--json"),
                    *("--expect", GOLDEN / name / "expected.jsonl"),
                )
                logits = next(one for one in report["expected"]["outputs"] if one["name"] == "logits")
                self.assertLess(logits["largest_difference"], 2e-4)

    def test_texts_go_on_and_are_as_likely_as_in_the_paper(self):
        for case in cases():
            for end, options in (("", self.found), ("_off", ())):
                with self.subTest(text=case["text"], options=options):
                    for threads in ("1", "2"):
                        made = self.line(
                            *("generate", model(NAME), case["text"], "--max-new", "9", "--json", *options),
                            *("--threads", threads),
                        )
                        self.assertEqual(made["generated"].split(), case["generated" + end].split())
                    found = self.line("perplexity", model(NAME), case["text"], "--json", *options)
                    expected = case["perplexity" + end]
                    self.assertAlmostEqual(found["perplexity"], expected, delta=1e-3 * expected)
        texts = self.write("texts.txt", "".join(case["text"] + "\n" for case in cases()))
        shown = self.ok("complete", model(NAME), "--file", texts, "--max-new", "9", "--only-new", *self.found).decode()
        self.assertEqual([line.split() for line in shown.splitlines()], [case["generated"].split() for case in cases()])

    def test_long_texts_begin_anew_in_each_window(self):
        text = " ".join(case["text"] for case in cases())
        whole = self.line("perplexity", model(NAME), text, "--json", *self.found)
        windows = self.line("perplexity", model(NAME), text, "--json", "--context", "12", *self.found)
        self.assertEqual(whole["tokens"], windows["tokens"])
        self.assertNotEqual(whole["perplexity"], windows["perplexity"])

    def test_neighbours_are_what_search_finds(self):
        """With one line that fills a neighbour: as with an index of that line alone."""
        lines = [
            "ba ba ba ba ba ba ba ba",
            "di di di di ko di di di",
            "ko ko ko ko ko ba ko ko",
            "ba di ko ba di ko ba di",
        ]
        index = self.directory / "lines.index"
        self.ok("index", model("sentence-mean"), self.write("lines.txt", "\n".join(lines) + "\n"), "-o", index)
        shutil.copy(model("sentence-mean"), self.directory / "sentence-mean.bantam")
        chosen = set()
        for text in ("ba ba ba ba ko di", "di di ko di ba ba", "ko ko ko ko ba ba"):
            chunk = " ".join(text.split()[:4])
            near = self.line("search", model("sentence-mean"), index, chunk, "--top", "1", "--json")["found"][0]["text"]
            alone = self.directory / "one.index"
            self.ok("index", model("sentence-mean"), self.write("one.txt", near + "\n"), "-o", alone)
            likely = [
                self.line("perplexity", model(NAME), text, "--json", "--index", one, "--neighbours", "1")["perplexity"]
                for one in (index, alone)
            ]
            self.assertEqual(*likely)
            chosen.add(near)
        self.assertGreater(len(chosen), 1)

    def test_int8_passes_the_gate_and_other_commands_know_it(self):
        out = self.directory / "small.bantam"
        self.line("convert", GOLDEN / NAME, "-o", out, "--json", "--expect", GOLDEN / NAME / "expected.jsonl")
        self.ok("inspect", out, "--ops")
        told = self.line("inspect", out, "--json")["chunks"]
        self.assertEqual(told, {"tokens": 4, "neighbours": 2, "neighbour_tokens": 8})
        self.ok("inspect", out, "--arena")
        self.ok("verify", out)
        self.ok("report", out, "-o", self.directory / "page.html")
        self.ok("bench", out, "--prompt", "4", "--generate", "4", "--repetitions", "1", "--json")
        for case in cases():
            found = self.line("perplexity", out, case["text"], "--json", *self.found)
            self.assertLess(abs(found["perplexity"] / case["perplexity"] - 1), 0.2)
        answer = self.line(
            *("firmware", out, "--target", "cortex-m4", "--max-tokens", "24", "-o", self.directory / "p", "--json")
        )
        for word in ("chunks", "sources", "segments mask", "first segment mask"):
            self.assertIn(word, answer["linked"])

    def test_what_is_refused(self):
        text = cases()[0]["text"]
        other = self.directory / "other.index"
        self.ok("index", model("sentence-cls-dense"), GOLDEN / NAME / "database.txt", "-o", other)
        for code, says, arguments in (
            (2, ["--index", "reads no texts"], ("nplm-generate-text", *self.found)),
            (2, ["--index", "missing"], (NAME, "--neighbours", "1")),
            (2, ["--neighbours 3", "2"], (NAME, *self.found, "--neighbours", "3")),
            (2, ["--neighbours"], (NAME, *self.found, "--neighbours", "0")),
            (3, ["--embedder", "not beside it"], (NAME, "--index", other)),
            (3, ["none.index"], (NAME, "--index", self.directory / "none.index")),
            (4, ["another model"], (NAME, "--index", other, "--embedder", model("sentence-mean"))),
            (4, ["index"], (NAME, "--index", model(NAME), "--embedder", model("sentence-mean"))),
        ):
            for command in ("generate", "perplexity"):
                with self.subTest(command=command, arguments=arguments):
                    self.fails(code, command, model(arguments[0]), text, *arguments[1:], says=says)
        for options in (("--beams", "2"), ("--best-of", "2", "--temperature", "1")):
            self.fails(2, "generate", model(NAME), text, *self.found, *options, says=["--index", "one text at a time"])
        self.fails(4, "perplexity", model("retro-generate"), text, *self.found, says=["tokenizer"])

    def test_directories_that_are_refused(self):
        out = self.directory / "x.bantam"

        def without(name):
            return lambda held: held.pop(name)

        def with_bias(held):
            held["model.decoder.layers.1.cross.out_proj.bias"] = held["model.decoder.norm.weight"]

        crossed = "model.decoder.layers.1.cross"
        for tensors, settings, code, says in (
            (None, {"retrieval_layers": [4]}, 4, ["retrieval_layers", "1 to 3"]),
            (None, {"retrieval_layers": []}, 4, ["retrieval_layers", "no layer"]),
            (None, {"retrieval_layers": "all"}, 4, ["retrieval_layers"]),
            (None, {"retrieval_layers": [0]}, 4, ["retrieval_layers"]),
            (None, {"encoder_retrieval_layers": [3]}, 4, ["encoder_retrieval_layers", "1 to 2"]),
            (None, {"retrieval_layers": [1, 2, 3]}, 4, ["decoder.layers.0.cross", "missing"]),
            (None, {"retrieval_layers": [3]}, 5, [crossed, "no place"]),
            (None, {"chunk_size": 0}, 4, ["chunk_size"]),
            (None, {"chunk_size": 5000}, 4, ["chunk_size", "4096"]),
            (None, {"num_neighbours": 65}, 4, ["num_neighbours", "64"]),
            (None, {"neighbour_size": 0}, 4, ["neighbour_size"]),
            (None, {"cross_positions": "rotary"}, 5, ['"rotary"', '"linear" and "none"']),
            (None, {"cross_positions": "none"}, 5, ["cross.positions.weight", "no place"]),
            (None, {"share_embeddings": True}, 4, ["share_embeddings", "12", "18"]),
            (None, {"encoder_hidden_size": 14}, 4, ["encoder.embeddings.weight", "[61, 12]", "[61, 14]"]),
            (None, {"encoder_hidden_size": 15, "encoder_num_attention_heads": 3}, 4, ["encoder_hidden_size", "odd"]),
            (None, {"encoder_num_attention_heads": 5}, 4, ["encoder_num_attention_heads", "12"]),
            (None, {"hidden_act": "maxout"}, 5, ['"maxout"']),
            (without("model.encoder.embeddings.weight"), {}, 4, ["encoder.embeddings.weight", "missing"]),
            (without(crossed + ".k_proj.weight"), {}, 4, [crossed + ".k_proj.weight", "missing"]),
            (without("model.decoder.layers.0.attn.content_bias"), {}, 4, ["content_bias", "missing"]),
            (without("model.decoder.norm.weight"), {}, 4, ["decoder.norm.weight", "missing"]),
            (without("lm_head.weight"), {}, 4, ["lm_head.weight", "missing"]),
            (with_bias, {}, 5, ["cross.out_proj.bias", "no place"]),
        ):
            with self.subTest(settings=settings, says=says):
                source = self.changed("retro-generate", tensors, **settings)
                self.fails(code, "convert", source, "-o", out, says=says)
        student = ("student", GOLDEN / "retro-generate", "-o", self.directory / "student")
        self.fails(5, *student, "--layers", "1", says=["some attend to what was retrieved"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
