"""Models of experts: what they answer and go on with, their files in all types, and what is refused."""

import itertools
import math
import shutil
import struct
import unittest

from support import GOLDEN, CommandTest, model

TOKENIZER = GOLDEN / "minilm-multilingual"
TEXTS = ["the cat sat", "a кот", "eine Katze at sea", "le chat 猫 sat at sea"]


def packed(values):
    """32 values as a block of four-bit floats (MXFP4): its bytes, its scale, and the values that these stand for."""
    sizes = [0, 0.5, 1, 1.5, 2, 3, 4, 6]  # of the codes 0 to 7; 8 to 15 are negative
    scale = 127 + math.frexp(max(map(abs, values)) / 6)[1]
    factor = 2.0 ** (scale - 127)
    codes = [min(range(8), key=lambda code: abs(sizes[code] * factor - abs(value))) for value in values]
    codes = [code + 8 if value < 0 else code for code, value in zip(codes, values, strict=True)]
    stand_for = [(-factor if code >= 8 else factor) * sizes[code % 8] for code in codes]
    return bytes(codes[i] | codes[i + 1] << 4 for i in range(0, 32, 2)), scale, stand_for


def pack(tensors, plain):
    """Replaces matrices of experts by blocks or, with `plain`, by the f32 values of the same blocks."""
    for name in [name for name in tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        dtype, shape, data = tensors.pop(name)
        assert dtype == "F16"
        experts, columns, rows = shape
        values = struct.unpack(f"<{experts * columns * rows}e", data)
        blocks, scales, stand_for = b"", [], list(values)
        for expert, row, first in itertools.product(range(experts), range(rows), range(0, columns, 32)):
            places = [(expert * columns + first + i) * rows + row for i in range(32)]
            block, scale, numbers = packed([values[place] for place in places])
            blocks += block
            scales.append(scale)
            for place, number in zip(places, numbers, strict=True):
                stand_for[place] = number
        if plain:
            tensors[name] = ("F32", shape, struct.pack(f"<{len(values)}f", *stand_for))
        else:
            tensors[f"{name}_blocks"] = ("U8", [experts, rows, columns // 32, 16], blocks)
            tensors[f"{name}_scales"] = ("U8", [experts, rows, columns // 32], bytes(scales))


class PackedExperts(CommandTest):
    """gpt-oss in the type of its published files."""

    def converted(self, plain, damage=None, method="mxfp4"):
        def change(tensors):
            pack(tensors, plain)
            if damage is not None:
                damage(tensors)

        settings = None if plain else {"quant_method": method, "modules_to_not_convert": ["lm_head"]}
        return self.changed("gpt-oss-generate", change, quantization_config=settings)

    def test_answers_are_those_of_the_values(self):
        for weights in ("f32", "i8"):
            answers = []
            for plain in (True, False):
                target = self.directory / "m.bantam"
                source = self.converted(plain)
                self.ok("convert", source, "-o", target, "--weights", weights, "--parity", "none", "--quiet")
                answers.append(self.ok("run", target, "--raw", "--ids", "5,9,30,7,44,18,2,33"))
            self.assertEqual(*answers)

    def test_damaged_and_other_blocks_are_refused_by_name(self):
        name = "model.layers.1.mlp.experts.down_proj"

        def without_number(tensors):
            dtype, shape, data = tensors[f"{name}_scales"]
            tensors[f"{name}_scales"] = (dtype, shape, data[:-1] + b"\xff")

        def of_fewer_rows(tensors):
            dtype, shape, data = tensors[f"{name}_scales"]
            tensors[f"{name}_scales"] = (dtype, [4, shape[1] // 2, 1], data[: len(data) // 2])

        target = self.directory / "m.bantam"
        for damage, words in (
            (without_number, (f'"{name}"', "expert 3", "not a finite number")),
            (of_fewer_rows, (f'"{name}_blocks"', "does not hold blocks of 16 bytes")),
        ):
            self.fails(4, "convert", self.converted(False, damage), "-o", target, says=words)
        other = self.converted(False, method="gptq")
        self.fails(5, "convert", other, "-o", target, says=("quantization_config",))


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
        for name in ("mixtral-generate", "qwen3-moe-classify", "olmoe-generate", "switch-encoder", "gpt-oss-tag"):
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
            ("qwen3-moe-generate", None, {"mlp_only_layers": [-1]}, 4, ["mlp_only_layers"]),
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
            ("nllb-moe-translate", None, {"second_expert_policy": "sampling"}, 5, ["second_expert_policy", "all"]),
            ("nllb-moe-translate", None, {"moe_eval_capacity_token_fraction": 0.5}, 5, ["fraction", "tokens out"]),
            ("nllb-moe-translate", None, {"num_experts": 1}, 4, ["num_experts", "2 experts"]),
            ("nllb-moe-translate", None, {"moe_token_dropout": 1.0}, 4, ["moe_token_dropout", "below 1"]),
            ("nllb-moe-translate", None, {"encoder_sparse_step": 1}, 4, ["encoder.layers.0", "router", "missing"]),
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
