"""Longformer, Big Bird and LED: texts of thousands of tokens, global tokens that the caller marks, settings that do not fit."""

import json
import shutil
import unittest

from support import GOLDEN, CommandTest

TOKENIZER = GOLDEN / "minilm-multilingual"
POSITIONS = 4608


class LongTexts(CommandTest):
    def directory_of(self, name, positions=None, **settings):
        """A golden model with the small tokenizer of XLM-R and as many positions, which repeat the model's own."""
        rows = (positions or 0) + (2 if name.startswith("longformer") else 0)

        def longer(tensors):
            for tensor, (kind, shape, data) in list(tensors.items()):
                if tensor.endswith("position_embeddings.weight"):
                    whole = data * (rows // shape[0] + 1)
                    tensors[tensor] = (kind, [rows, shape[1]], whole[: len(data) // shape[0] * rows])

        if positions:
            settings["max_position_embeddings"] = rows
        source = self.changed(name, longer if positions else None, **settings)
        shutil.copy(TOKENIZER / "tokenizer.json", source)
        (source / "tokenizer_config.json").write_text(json.dumps({"model_max_length": positions or 80}))
        return source

    def convert(self, name, *options, positions=None, **settings):
        target = self.directory / f"{name}{len(options)}{len(settings)}.bantam"
        source = self.directory_of(name, positions, **settings)
        self.ok("convert", source, "-o", target, "--weights", "f32", "--parity", "none", "--quiet", *options)
        return target

    def test_texts_of_thousands_of_tokens(self):
        text = "le chat at sea " * 480
        for name in ("longformer-classify", "big-bird-classify"):
            file = self.convert(name, positions=POSITIONS)
            tokens = self.line("tokenize", file, text, "--json")["ids"]
            self.assertGreater(len(tokens), 4096)
            self.assertLess(len(tokens), POSITIONS)
            by_ids = self.line("run", file, "--ids", ",".join(map(str, tokens)))["outputs"]["logits"]["data"]
            said = self.line("run", file, text, "--json")["labels"]
            self.assertEqual(len(said), 3)
            best = max(range(3), key=lambda i: by_ids[i])
            self.assertEqual(self.line("classify", file, text, "--json")["labels"][0]["label"], f"LABEL_{best}")
        for name in ("longformer-encoder", "big-bird-encoder"):
            file = self.convert(name, "--task", "embed", positions=POSITIONS)
            first = self.line("embed", file, text, "--json")["embedding"]
            self.assertEqual(len(first), 18)
            self.assertNotEqual(first, self.line("embed", file, text + "cat", "--json")["embedding"])

    def test_the_caller_marks_global_tokens(self):
        ids = [7 + i * 5 % 50 for i in range(60)]
        run = ("--ids", ",".join(map(str, ids)))
        marked = self.convert("longformer-encoder", "--globals", "marked")
        first = self.convert("longformer-encoder", "--globals", "first", "--ids-only")
        none = self.convert("longformer-encoder")

        def rows(file, marks=None):
            given = () if marks is None else ("--marks", ",".join(str(int(i in marks)) for i in range(len(ids))))
            return self.line("run", file, *run, *given)["outputs"]["last_hidden_state"]["data"]

        self.assertEqual(rows(marked, {0}), rows(first))
        self.assertEqual(rows(marked, set()), rows(none))
        self.assertEqual(rows(marked), rows(none))
        self.assertNotEqual(rows(marked, {30}), rows(none))
        self.fails(2, "run", marked, *run, "--marks", "1,0,0", says=["--marks", "3 numbers for 60 ids"])
        self.fails(4, "run", marked, *run, "--marks", ",".join(["2"] * 60), says=["--marks", "0 to 1"])
        self.fails(2, "run", none, *run, "--marks", ",".join(["1"] * 60), says=["--marks"])

    def test_the_first_token_of_a_source_may_be_global(self):
        led = GOLDEN / "led-generate"
        with open(led / "globals.jsonl") as lines:
            case = json.loads(lines.readlines()[-1])
        ids, own = (",".join(map(str, case[name])) for name in ("ids", "decoder_ids"))
        rows = {}
        for globals_ in ("none", "first"):
            out = self.directory / f"led-{globals_}.bantam"
            self.ok("convert", led, "-o", out, "--globals", globals_, "--weights", "f32", "--ids-only")
            rows[globals_] = self.line("run", out, "--ids", ids, "--decoder-ids", own)["outputs"]["logits"]["data"]
        expected = [score for row in case["logits"] for score in row]
        self.assertLess(max(abs(a - b) for a, b in zip(rows["first"], expected, strict=True)), 2e-4)
        self.assertNotEqual(rows["none"], rows["first"])
        wrong = ("convert", led, "-o", self.directory / "none.bantam", "--globals", "marked")
        self.fails(2, *wrong, says=["--globals marked", "none or first"])

    def test_random_blocks_are_drawn_by_a_seed(self):
        ids = ",".join(str(5 + i * 7 % 50) for i in range(61))
        rows = {}
        for seed in (None, 1, 2):
            options = () if seed is None else ("--random-blocks", seed)
            file = self.convert("big-bird-tag", *options, hidden_dropout_prob=0.1 * (seed or 0))
            rows[seed] = self.line("run", file, "--ids", ids)["outputs"]["logits"]["data"]
        self.assertEqual(len({json.dumps(row) for row in rows.values()}), 3)

    def test_what_does_not_fit_is_said(self):
        bert = GOLDEN / "bert-classify"
        target = self.directory / "none.bantam"
        self.fails(2, "convert", bert, "-o", target, "--globals", "first", says=["--globals", "no global tokens"])
        self.fails(2, "convert", bert, "-o", target, "--random-blocks", "3", says=["--random-blocks", "no blocks"])
        self.fails(2, "convert", bert, "-o", target, "--globals", "all", says=["--globals", "question"])
        wrong = {
            "longformer-classify": [
                ({"attention_window": 7}, "attention_window"),
                ({"attention_window": [8, 0]}, "attention_window"),
                ({"attention_window": [8, 8, 8]}, "2 layers"),
                ({"attention_window": "all"}, "attention_window"),
                ({"attention_dilation": [1, 0]}, "attention_dilation"),
                ({"sep_token_id": 61}, "sep_token_id"),
            ],
            "big-bird-classify": [
                ({"attention_type": "sliding"}, "original_full"),
                ({"block_size": 0}, "block_size"),
                ({"num_random_blocks": 16}, "num_random_blocks"),
                ({"num_random_blocks": 1.5}, "num_random_blocks"),
            ],
        }
        for name, cases in wrong.items():
            for settings, word in cases:
                source = self.directory_of(name, **settings)
                code = 5 if "attention_type" in settings else 4
                self.fails(code, "convert", source, "-o", target, says=["config.json", word])
        # ColBERT's queries, whose fillers are no keys.
        source = self.changed("colbert", model_type="big_bird", block_size=1, num_random_blocks=0)
        self.fails(5, "convert", source, "-o", target, says=["attention", "filled up"])
        self.assertFalse(target.exists())


if __name__ == "__main__":
    unittest.main()
