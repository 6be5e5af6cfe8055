"""Keys of a source's JSON files that nothing reads: convert lists them, the file keeps the list, --strict-source refuses."""

import json
import shutil
import sys
import unittest

from support import GOLDEN, SOURCE, CommandTest, bantam

sys.path.insert(0, str(SOURCE / "tests" / "style"))
import keys  # noqa: E402

ROWS = keys.rows_of(SOURCE)


def paths(kind, state):
    """Paths of the table's rows without objects around them."""
    return [row[1] for row in ROWS if row[0] == kind and row[2] == state and row[1].isidentifier()]


class Keys(CommandTest):
    def copy(self, name):
        self.source = self.directory / name
        shutil.copytree(GOLDEN / name, self.source)

    def change(self, file, **values):
        """Sets keys of a JSON file, which may not be there yet; None of "..." takes one out."""
        path = self.source / file
        content = json.loads(path.read_text()) if path.exists() else {}
        content.update(values)
        path.write_text(json.dumps({key: value for key, value in content.items() if value is not ...}))

    def convert(self, *options):
        """The report, and standard error."""
        done = bantam(
            "convert", self.source, "-o", self.directory / "out.bantam", "--parity", "none", *options, "--json"
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout), done.stderr.decode()

    def refuses(self, code, *says):
        self.fails(code, "convert", self.source, "-o", self.directory / "out.bantam", "--parity", "none", says=says)

    def listed(self, *options):
        report, lines = self.convert(*options)
        for key in report["source_keys"]:
            self.assertIn(f"{key['file']}: {key['key']}: {key['value']}: {key['effect']}\n", lines)
        stored = self.line("inspect", self.directory / "out.bantam", "--json")["properties"].get("source_keys")
        self.assertEqual(json.loads(stored) if stored else [], report["source_keys"])
        return [(key["file"], key["key"], key["value"]) for key in report["source_keys"]]

    def test_unsupported_keys_and_their_neutral_values(self):
        self.copy("sentence-mean")
        self.assertEqual(self.listed(), [])
        self.change("sentence_bert_config.json", model_args={"a": 1})
        self.change("config_sentence_transformers.json", module_kwargs={"b": 2})
        self.assertEqual(
            self.listed(),
            [
                ("config_sentence_transformers.json", "module_kwargs", '{"b":2}'),
                ("sentence_bert_config.json", "model_args", '{"a":1}'),
            ],
        )
        self.change("sentence_bert_config.json", model_args={})
        self.change("config_sentence_transformers.json", module_kwargs=None)
        self.assertEqual(self.listed(), [])

    def test_unknown_keys(self):
        self.copy("bert-classify")
        self.change("config.json", hidden_sise=20, odd={"a": list(range(99))})
        report, lines = self.convert()
        self.assertIn(
            "config.json: hidden_sise: 20: is unknown: it may change answers; did you mean hidden_size?", lines
        )
        self.assertEqual([key["key"] for key in report["source_keys"]], ["hidden_sise", "odd"])
        self.assertLess(len(report["source_keys"][1]["value"]), 61)
        self.assertEqual(self.ok("convert", self.source, "-o", self.directory / "out.bantam", "-q"), b"")
        self.assertNotIn("source_keys", (GOLDEN / "bert-classify" / "config.json").read_text())

    def test_many_keys_are_counted(self):
        self.copy("bert-classify")
        self.change("config.json", **{f"odd_{i}": i for i in range(100)})
        report = self.convert()[0]
        self.assertEqual(len(report["source_keys"]), 64)
        self.assertIn("37 further keys", report["source_keys"][-1]["effect"])

    def test_strict_source_refuses_all_at_once(self):
        self.copy("bert-classify")
        self.convert("--strict-source")
        (self.directory / "out.bantam").unlink()
        self.change("config.json", odd=1)
        self.change("tokenizer_config.json", split_special_tokens=True)
        says = ["config.json: odd: 1", "tokenizer_config.json: split_special_tokens: true", "leave --strict-source out"]
        self.fails(5, "convert", self.source, "-o", self.directory / "out.bantam", "--strict-source", says=says)
        self.assertFalse((self.directory / "out.bantam").exists())
        self.change("config.json", odd=...)
        self.convert("--strict-source", "--ids-only")  # the tokenizer's files are not read then

    def test_settings_of_generation(self):
        self.copy("bart-generate")
        self.change(
            "generation_config.json", max_length=9, stop_strings=["a"], sequence_bias=[[[3], 1.0]], temperature=0.5
        )
        found = [key for _, key, _ in self.listed()]
        self.assertEqual(found, ["sequence_bias", "stop_strings"])
        self.change("config.json", no_repeat_ngram_size=2)  # generation_config.json alone decides
        self.assertEqual([key for _, key, _ in self.listed()], found)
        self.copy("gpt2-generate")  # whose decoder reads fewer of them
        self.change("generation_config.json", max_length=9, num_beams=1)
        self.assertEqual(self.listed(), [("generation_config.json", "max_length", "9")])
        self.copy("bert-classify")  # makes no texts
        self.change("generation_config.json", stop_strings=["a"])
        self.change("config.json", stop_strings=["a"], do_sample=True)
        self.assertEqual(self.listed(), [])

    def test_tokenizer_files_that_contradict_each_other(self):
        self.copy("sentence-mean")
        tokenizer = json.loads((self.source / "tokenizer.json").read_text())
        lower = tokenizer["normalizer"]["lowercase"]
        file = "tokenizer_config.json"
        self.change(file, tokenizer_class="BertTokenizer", do_lower_case=not lower)
        self.assertEqual(self.listed(), [])  # the class decides
        tokenizer["post_processor"] = None
        self.change("tokenizer.json", **tokenizer)
        self.change(file, add_bos_token=True, bos_token="[CLS]")  # transformers 5 and 4 differ
        self.assertEqual(self.listed(), [(file, "add_bos_token", "true")])
        self.assertEqual(self.listed("--ids-only"), [])

    def test_added_tokens(self):
        self.copy("sentence-mean")
        tokenizer = json.loads((self.source / "tokenizer.json").read_text())
        word, number = next(iter(tokenizer["model"]["vocab"].items()))
        self.change("added_tokens.json", **{word: number, "[E1]": len(tokenizer["model"]["vocab"])})
        self.assertEqual(self.listed(), [])

    def test_adapter_beside_its_model(self):
        self.copy("bert-classify")
        self.change("adapter_config.json", peft_type="LORA", r=8)
        self.refuses(4, "adapter_model.safetensors")  # its weights are missing
        (self.source / "adapter_model.safetensors").write_bytes(b"")
        self.refuses(4, "adapter_model.safetensors")
        self.change("adapter_config.json", peft_type="IA3")
        (self.source / "adapter_model.safetensors").write_bytes((8).to_bytes(8, "little") + b"{}      ")
        self.refuses(5, "IA3")

    def test_an_onnx_file_states_its_layers(self):
        self.source = self.directory / "onnx"
        self.source.mkdir()
        models = sorted((SOURCE / "tests/golden/onnx").rglob("*.onnx"))
        for path in models:
            shutil.copy(path, self.source / "model.onnx")
            if bantam("convert", self.source, "-o", self.directory / "out.bantam", "--parity", "none").returncode == 0:
                break
        self.change("config.json", odd=1, sequence_bias=[[[1], 2.0]])
        self.assertEqual(self.listed(), [])

    # The tables themselves.

    def test_keys_without_effect_change_no_answer(self):
        read = {"type_vocab_size"}  # by this family
        self.copy("bert-classify")
        self.convert()
        wanted = self.line("run", self.directory / "out.bantam", "ba di ko", "--raw")["outputs"]
        self.change("config.json", **dict.fromkeys(set(paths("kConfig", "kWithoutEffect")) - read, 7))
        self.change("tokenizer_config.json", **dict.fromkeys(paths("kTokenizerConfig", "kWithoutEffect"), "odd"))
        self.assertEqual(self.listed(), [])
        again = self.line("run", self.directory / "out.bantam", "ba di ko", "--raw")["outputs"]
        self.assertEqual(again, wanted)

    def test_every_unsupported_key_of_a_file_is_listed(self):
        self.copy("bart-generate")
        unsupported = set(paths("kGeneration", "kUnsupported"))
        self.change("generation_config.json", **dict.fromkeys(unsupported, 5))
        for key in ("early_stopping", "num_beams", "length_penalty", "max_length", "min_length"):
            unsupported.remove(key)  # an encoder-decoder reads these
        self.change("generation_config.json", early_stopping=True, max_length=9)
        unsupported -= {"forced_bos_token_id", "forced_eos_token_id"}
        self.assertEqual({key for _, key, _ in self.listed()}, unsupported)

    def test_supported_keys_change_answers_or_are_refused(self):
        def answer(name, text):
            target = self.directory / "out.bantam"
            done = bantam("convert", self.source, "-o", target, "--parity", "none", "-q")
            if done.returncode != 0:
                return done.returncode
            embeds = name.startswith("sentence")  # run --raw leaves prompts out
            return self.ok("embed", target, text, "--json") if embeds else self.ok("run", target, text, "--raw")

        rows = {
            "bert-classify": [
                ("config.json", {"layer_norm_eps": 0.5}),
                ("config.json", {"hidden_act": "silu"}),
                ("config.json", {"num_attention_heads": 1}),
                ("config.json", {"position_embedding_type": "relative_key"}),
                ("config.json", {"is_decoder": True}),
                ("config.json", {"quantization_config": {}}),
                ("config.json", {"pruned_heads": {"0": [1]}}),
            ],
            "sentence-cls-dense": [
                ("1_Pooling/config.json", {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}),
                ("1_Pooling/config.json", {"pooling_mode_weightedmean_tokens": True}),
                ("2_Dense/config.json", {"activation_function": "torch.nn.modules.linear.Identity"}),
                ("2_Dense/config.json", {"use_residual": True}),
                ("2_Dense/config.json", {"out_features": 3}),
                ("1_Pooling/config.json", {"pooling_mode_cls_token": False, "pooling_mode_max_tokens": True}),
                ("config_sentence_transformers.json", {"prompts": {"q": "ba ko "}, "default_prompt_name": "q"}),
                ("config_sentence_transformers.json", {"similarity_fn_name": "other"}),
                ("config_sentence_transformers.json", {"truncate_dim": 3}),
                ("0_Transformer/sentence_bert_config.json", {"max_seq_length": 3}),
            ],
            "setfit-two": [("config_setfit.json", {"labels": ["a"]})],
        }
        for name, changes in rows.items():
            self.copy(name)
            whole = self.directory / "whole"
            shutil.copytree(self.source, whole)
            wanted = answer(name, "ba di ko")
            self.assertIsInstance(wanted, bytes)
            for file, values in changes:
                self.change(file, **values)
                self.assertNotEqual(answer(name, "ba di ko"), wanted, (name, values))
                shutil.rmtree(self.source)
                shutil.copytree(whole, self.source)
            shutil.rmtree(whole)


if __name__ == "__main__":
    unittest.main()
