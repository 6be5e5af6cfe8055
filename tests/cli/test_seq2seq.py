"""Recurrent encoder-decoders (docs/recurrent.md): texts as transformers makes them of the plain model, the same on a device, and what is
refused."""

import json
import shutil
import unittest

from support import GOLDEN, SHARED, CommandTest, model

NAME = "seq2seq-gru"
NO_READOUT = {"state": "previous", "readout": "none"}
G2P = SHARED / "models" / "g2p-gru"


def cases(kind, name=NAME):
    lines = (GOLDEN / name / "generate.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == kind]


class Pairs(CommandTest):
    def test_texts_and_scores_are_those_of_transformers(self):
        for name in (NAME, "seq2seq-bahdanau", "seq2seq-feeding"):
            for kind, options in (("greedy", []), ("beams", ["--beams", "4"])):
                expected = cases(kind, name)
                self.assertGreaterEqual(len(expected), 12)
                self.assertGreater(len({case["generated"] for case in expected}), len(expected) // 3)
                texts = self.write("texts.txt", "\n".join(case["text"] for case in expected) + "\n")
                found = self.lines("generate", model(name), "--file", texts, "--json", *options)
                for case, made in zip(expected, found, strict=True):
                    self.assertEqual(made["ids"], case["ids"], (name, kind, case["text"]))
                    self.assertEqual(made["generated"], case["generated"], (name, kind, case["text"]))
                    self.assertEqual(made["prompt_tokens"], len(case["text"]) + 1)
                    self.assertEqual(made["finish"], "end" if case["ids"][-1] == 3 else "length")
                    if "score" in case:
                        self.assertAlmostEqual(made["score"], case["score"], delta=1e-5)

    def test_batches_and_images_make_the_same_texts(self):
        for name in (NAME, "seq2seq-bahdanau", "seq2seq-feeding"):
            expected = [case for case in cases("greedy", name) if case["generated"]]
            texts = self.write("texts.txt", "\n".join(case["text"] for case in expected) + "\n")
            for options in ([], ["--batch", "3"], ["--batch", "1", "--threads", "2"]):
                shown = self.ok("translate", model(name), "--file", texts, *options).decode()
                self.assertEqual(shown, "".join(case["generated"] + "\n" for case in expected))
            lines = ("\n".join(case["text"] for case in expected) + "\n").encode()
            answers = self.ok("run", model(name), "--uart", "--max-tokens", "16", stdin=lines).decode().splitlines()
            for case, answer in zip(expected, answers, strict=True):
                status, text, finish, _ = answer.split("\t")
                self.assertEqual((status, text), ("ok", case["generated"]))
                self.assertEqual(finish, "end" if case["ids"][-1] == 3 else "length")

    def test_unknown_letters_long_and_empty_texts(self):
        unknown = self.line("generate", model(NAME), "a!b", "--json")
        self.assertEqual(unknown["prompt_tokens"], 4)
        self.assertEqual(unknown["ids"], self.line("generate", model(NAME), "aXb", "--json")["ids"])
        self.fails(4, "generate", model(NAME), "", says=["empty"])
        self.fails(4, "generate", model(NAME), "a" * 600, says=["601", "512"])
        self.assertGreater(self.line("translate", model(NAME), "a" * 600, "--cut", "--json")["cut_tokens"], 0)
        long = self.ok("run", model(NAME), "--uart", "--max-tokens", "16", stdin=b"abcdefghijklmnopq\n\n").decode()
        self.assertEqual(
            long.splitlines(), ["error\t10 more tokens than the session or the model takes", "error\tempty line"]
        )

    def test_projects_keep_sources_and_contexts(self):
        out = self.directory / "project"
        answer = self.line(
            *("firmware", model(NAME), "--target", "cortex-m4", "--max-tokens", "16", "-o", out, "--json")
        )
        self.assertEqual(answer["max_tokens"], 16)
        for word in ("recurrent", "sources", "contexts", "decode"):
            self.assertIn(word, answer["linked"])
        config = (out / "bantam_config.h").read_text()
        for line in ("MAX_TOKENS 1", "MAX_CONTEXT 13", "MAX_SOURCE 16"):
            self.assertIn(f"BANTAM_{line}\n", config)
        self.fails(
            *(2, "firmware", model(NAME), "--target", "cortex-m4", "--max-tokens", "513", "-o", self.directory / "x"),
            says=["--max-tokens", "512"],
        )


class Refused(CommandTest):
    def test_settings_and_tensors_that_do_not_fit(self):
        out = self.directory / "x.bantam"
        vocabulary = json.loads((GOLDEN / NAME / "config.json").read_text())["source_vocab"]
        for name, settings, code, says in (
            (NAME, {"source_vocab": vocabulary[:-1]}, 4, ["source_vocab", "40 tokens", "41 rows"]),
            (NAME, {"source_vocab": [*vocabulary[:-1], "a"]}, 4, ["source_vocab", '"a"', "twice"]),
            (NAME, {"source_vocab": [*vocabulary[:-1], 7]}, 4, ["source_vocab", "number 40"]),
            (NAME, {"source_vocab": "abc"}, 4, ["source_vocab", "list"]),
            (NAME, {"source_vocab": None}, 4, ["source_vocab", "missing"]),
            (NAME, {"unk_token": "?"}, 4, ["source_vocab", "target_vocab", '"?"', "unk_token"]),
            (NAME, {"source_eos": "<end>"}, 4, ["source_eos", '"<end>"', "source_vocab"]),
            (NAME, {"decoder_start": None}, 4, ["decoder_start"]),
            (NAME, {"source_tokens": "pieces"}, 5, ["source_tokens", '"pieces"']),
            (NAME, {"max_length": 0}, 4, ["max_length"]),
            (NAME, {"hidden_size": 30, "embedding_size": 29}, 4, ["encoder.rnn.weight_hh_l0", "9 tensors"]),
            (NAME, {"num_layers": 2}, 4, ["encoder.rnn.weight_ih_l1", "decoder.rnn.weight_ih_l1"]),
            ("seq2seq-lstm", {"decoder_layers": 1}, 4, ["decoder_layers", "first_state"]),
            ("seq2seq-lstm", {"decoder_hidden_size": 9}, 4, ["decoder_hidden_size", "18", "bridge"]),
            ("seq2seq-lstm", {"state_join": "max"}, 5, ["state_join", '"max"', '"concat"']),
            ("seq2seq-lstm", {"cell_type": "rnn"}, 5, ['"rnn"']),
            ("seq2seq-lstm", {"proj_size": 3}, 5, ["proj_size"]),
            ("seq2seq-lstm", {"context": "state"}, 4, ["decoder.rnn.weight_ih_l0"]),
            ("seq2seq-lstm", {"decoder_start_token_id": 37}, 4, ["decoder_start_token_id", "37"]),
            ("seq2seq-bridge", {"first_state": "zeros"}, 4, ["first_state", "attention"]),
            ("seq2seq-bridge", {"attention": 3}, 4, ["attention", "object"]),
            ("seq2seq-bridge", {"attention": {}}, 4, ["attention.weight", "attention.combine.weight"]),
            ("seq2seq-general", {"attention": {"score": "dot"}}, 4, ["score", "13", "18", "general"]),
            ("seq2seq-general", {"attention": {"score": "additive"}}, 4, ["attention.key.weight", "attention.query"]),
            ("seq2seq-general", {"attention": {"state": "previous"}}, 4, ["decoder.rnn.weight_ih_l0"]),
            ("seq2seq-general", {"attention": {"input_feeding": True}}, 4, ["decoder.rnn.weight_ih_l0"]),
            ("seq2seq-general", {"attention": {"score": "cosine", "state": "next"}}, 5, ['"additive"', '"previous"']),
            ("seq2seq-general", {"attention": {"window": "local", "readout": "max"}}, 5, ['"local-m"', '"maxout"']),
            ("seq2seq-general", {"attention": {"scores": "dot", "D": 3}}, 4, ['"scores"', 'mean "score"', '"D"']),
            ("seq2seq-general", {"attention": {"window": "local-m", "window_size": 0}}, 4, ["window_size", "0"]),
            ("seq2seq-general", {"attention": {"window": "local-p"}}, 4, ["window_size"]),
            ("seq2seq-general", {"attention": {"window_size": 3}}, 4, ["window_size", "local-m"]),
            ("seq2seq-general", {"attention": {"readout": "maxout", "size": 7}}, 4, ["size", "7", "even"]),
            ("seq2seq-general", {"attention": {"readout": "maxout", "activation": "tanh"}}, 4, ["activation"]),
            ("seq2seq-general", {"attention": {"readout": "none"}}, 4, ["readout", "previous"]),
            ("seq2seq-general", {"attention": {"readout_state": "previous"}}, 5, ["readout_state", '"state"']),
            ("seq2seq-general", {"attention": {"score_size": 4, "position_size": 4}}, 4, ["additive", "local-p"]),
            ("seq2seq-tutorial", {"attention": {**NO_READOUT, "input_feeding": True, "size": 4}}, 4, ["feed", "size"]),
            ("seq2seq-bahdanau", {"attention": {"score": "additive"}}, 4, ["attention.combine.weight", "decoder.rnn"]),
            ("seq2seq-bridge", {"bridge": "none"}, 4, ["decoder_hidden_size", "bridge"]),
            ("seq2seq-lstm", {"bridge": "tanh"}, 4, ["bridge.weight", "bridge_cells.weight"]),
        ):
            with self.subTest(model=name, settings=str(settings)[:60]):
                source = self.directory / "source"
                shutil.rmtree(source, ignore_errors=True)
                shutil.copytree(GOLDEN / name, source)
                config = {**json.loads((source / "config.json").read_text()), **settings}
                (source / "config.json").write_text(json.dumps(config))
                self.fails(code, "convert", source, "-o", out, says=says)
                self.assertFalse(out.exists())

    def test_students_and_static_quantization(self):
        for arguments in (
            ["student", GOLDEN / NAME, "--layers", "1"],
            ["convert", GOLDEN / NAME, "--activations", "static"],
        ):
            with self.subTest(command=arguments[0]):
                out = ["-o", self.directory / "y"]
                more = ["--calibrate", self.write("texts.txt", "abc\n")] if arguments[0] == "convert" else []
                self.fails(5, *arguments, *out, *more)


@unittest.skipUnless(G2P.exists(), "needs ../shared/models/g2p-gru")
class Phonemes(CommandTest):
    def test_words_become_the_phonemes_of_the_model(self):
        expected = [json.loads(line) for line in (G2P / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
        words = self.write("words.txt", "\n".join(case["word"] for case in expected) + "\n")
        phonemes = [" ".join(case["phonemes"]) for case in expected]
        # In 3,000 words int8 differs from f32 in some 50, each by a sound that was nearly as likely.
        for weights, most in (("f32", 0), ("int8", 1)):
            made = self.directory / f"g2p-{weights}.bantam"
            self.ok("convert", G2P, "-o", made, "--weights", weights)
            shown = self.ok("translate", made, "--file", words).decode().splitlines()
            self.assertEqual(len(shown), len(phonemes), weights)
            others = [(got, want) for got, want in zip(shown, phonemes, strict=True) if got != want]
            self.assertLessEqual(len(others), most, (weights, others))
        config = json.loads((G2P / "config.json").read_text())
        start = config["target_vocab"].index("<s>")
        exact = self.directory / "g2p-f32.bantam"
        for case in expected:
            ids = [config["source_vocab"].index(token) for token in [*case["word"], "</s>"]]
            raw = self.line("run", exact, "--raw", "--ids", ",".join(map(str, ids)), "--decoder-ids", str(start))
            for found, wanted in zip(raw["outputs"]["logits"]["data"], case["first_logits"], strict=True):
                self.assertAlmostEqual(found, wanted, delta=2e-4)


if __name__ == "__main__":
    unittest.main()
