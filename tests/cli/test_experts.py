"""Models of experts: what they answer and go on with, their files in all types, and what is refused."""

import shutil
import unittest

from support import GOLDEN, CommandTest, model

TOKENIZER = GOLDEN / "minilm-multilingual"
TEXTS = ["the cat sat", "a кот", "eine Katze at sea", "le chat 猫 sat at sea"]


class Experts(CommandTest):
    def convert(self, name, *options):
        """A golden model with the small tokenizer of XLM-R, whose vocabulary fits every small model."""
        source, target = self.directory / name, self.directory / f"{name}.bantam"
        shutil.copytree(GOLDEN / name, source, dirs_exist_ok=True)
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(TOKENIZER / file, source)
        self.ok("convert", source, "-o", target, "--quiet", *options)
        return target

    def test_answers_are_those_of_transformers(self):
        for name in ("mixtral-generate", "qwen3-moe-classify", "olmoe-generate", "switch-encoder"):
            with self.subTest(model=name):
                self.answers(name, model(name))

    def test_decoders_go_on_as_whole_texts_say(self):
        """The token that is the likeliest behind a text and what it was continued by, run at once."""
        for name in ("mixtral-generate", "qwen3-moe-generate"):
            file = self.convert(name, "--weights", "f32", "--parity", "none")
            for text in TEXTS:
                made = self.line("generate", file, text, "--max-new", "6", "--json")["ids"]
                ids = self.line("tokenize", file, text, "--json")["ids"]
                for token in made:
                    raw = self.line("run", file, "--raw", "--ids", ",".join(map(str, ids)))["outputs"]["logits"]
                    scores = raw["data"][-61:]
                    self.assertEqual(token, scores.index(max(scores)), (name, text))
                    ids.append(token)

    def test_batches_threads_beams_and_images_make_the_same_texts(self):
        for name, command in (("mixtral-generate", "complete"), ("switch-generate", "translate")):
            for weights in ("f32", "int8", "int4"):
                file = self.convert(name, "--weights", weights, "--parity", "none")
                lines = self.write("texts.txt", "".join(text + "\n" for text in TEXTS))
                usual = self.ok(command, file, "--file", lines, "--max-new", "7")
                for options in (["--batch", "3"], ["--batch", "1", "--threads", "2"]):
                    self.assertEqual(self.ok(command, file, "--file", lines, "--max-new", "7", *options), usual)
                beams = self.line("generate", file, TEXTS[0], "--max-new", "5", "--beams", "3", "--json")
                self.assertLessEqual(len(beams["ids"]), 5)
        answer = self.line(
            *("firmware", file, "--target", "cortex-m4", "--max-tokens", "16", "-o", self.directory / "p"), "--json"
        )
        for word in ("experts", "sources", "contexts", "int4"):
            self.assertIn(word, answer["linked"])
        self.assertNotIn("gates", answer["linked"])

    def test_int8_passes_the_gate(self):
        for name in ("mixtral-classify", "switch-encoder"):
            file = self.convert(name, "--weights", "int8")
            shown = self.ok("inspect", file, "--ops").decode()
            self.assertIn("Experts", shown)
            tensors = self.ok("inspect", file, "--tensors").decode()
            rows = [row for row in tensors.splitlines() if "experts.up.weight" in row]
            self.assertTrue(rows and all("i8" in row for row in rows), tensors)
            self.ok("report", file, "-o", self.directory / "page.html")
        self.ok("bench", file, "--repetitions", "1", "--json")

    def test_types_of_experts_are_a_choice(self):
        file = self.convert("mixtral-classify", "--weights", "int8", "--keep", "experts=f16", "--parity", "none")
        tensors = self.ok("inspect", file, "--tensors").decode().splitlines()
        self.assertTrue(all("f16" in row for row in tensors if "experts." in row))

    def test_what_is_refused(self):
        out = self.directory / "x.bantam"

        def without(*parts):
            def remove(held):
                for name in [name for name in held if any(part in name for part in parts)]:
                    held.pop(name)

            return remove

        def widened(part):
            def widen(held):
                for name in [name for name in held if part in name]:
                    kind, shape, values = held[name]
                    held[name] = (kind, [shape[0] * 2, shape[1]], values * 2)

            return widen

        for name, tensors, settings, code, says in (
            ("mixtral-generate", None, {"num_local_experts": 0}, 4, ["num_local_experts", "0"]),
            ("mixtral-generate", None, {"num_local_experts": 5000}, 4, ["num_local_experts", "5000"]),
            ("mixtral-generate", None, {"num_experts_per_tok": 5}, 4, ["num_experts_per_tok", "5", "4"]),
            ("mixtral-generate", None, {"num_experts_per_tok": 0}, 4, ["num_experts_per_tok"]),
            ("mixtral-generate", None, {"num_experts_per_tok": "two"}, 4, ["num_experts_per_tok"]),
            ("mixtral-generate", None, {"num_local_experts": 3}, 4, ["block_sparse_moe.gate.weight", "[3, 24]"]),
            ("mixtral-generate", None, {"intermediate_size": 30}, 4, ["experts.0.w1.weight", "[30, 24]"]),
            ("mixtral-generate", without(".experts."), {}, 4, ["experts.0.w1.weight", "missing"]),
            ("mixtral-generate", without("layers.1.block_sparse_moe.experts.2.w3"), {}, 4, ["experts.2.w3", "missing"]),
            ("mixtral-generate", without("block_sparse_moe.gate"), {}, 4, ["block_sparse_moe.gate", "missing"]),
            ("mixtral-generate", widened("block_sparse_moe.gate"), {}, 4, ["block_sparse_moe.gate", "[4, 24]"]),
            ("qwen3-moe-generate", None, {"mlp_only_layers": [2]}, 4, ["mlp_only_layers"]),
            ("qwen3-moe-generate", None, {"mlp_only_layers": "none"}, 4, ["mlp_only_layers"]),
            ("qwen3-moe-generate", None, {"mlp_only_layers": [1]}, 4, ["mlp.gate_proj.weight", "missing"]),
            ("qwen3-moe-generate", None, {"use_sliding_window": True}, 5, ["use_sliding_window"]),
            ("olmoe-generate", None, {"clip_qkv": 8.0}, 5, ["clip_qkv"]),
            ("switch-generate", None, {"expert_capacity": 0}, 4, ["expert_capacity", "0"]),
            ("switch-generate", None, {"router_dtype": "bfloat16"}, 5, ["router_dtype", "float32"]),
            ("switch-generate", None, {"router_ignore_padding_tokens": True}, 5, ["router_ignore_padding_tokens"]),
            ("switch-generate", None, {"dense_act_fn": "gated-gelu"}, 5, ["dense_act_fn", "gated-gelu"]),
            ("switch-generate", None, {"num_sparse_encoder_layers": 2}, 4, ["encoder.block.0", "router", "missing"]),
            ("switch-generate", without("decoder.block.1.layer.2.mlp.experts"), {}, 4, ["expert_0.wi", "missing"]),
        ):
            with self.subTest(model=name, settings=settings, says=says):
                source = self.changed(name, tensors, **settings)
                self.fails(code, "convert", source, "-o", out, "--ids-only", says=says)
                self.assertFalse(out.exists())

    def test_students_and_static_quantization_are_refused(self):
        for name in ("mixtral-classify", "switch-generate"):
            student = ("student", GOLDEN / name, "--layers", "1", "-o", self.directory / "student")
            self.fails(5, *student, says=["models of experts"])
        source = self.directory / "mixtral-classify"
        self.convert("mixtral-classify", "--parity", "none")
        self.fails(
            *(5, "convert", source, "-o", self.directory / "y", "--activations", "static"),
            *("--calibrate", self.write("texts.txt", "\n".join(TEXTS))),
        )


if __name__ == "__main__":
    unittest.main()
