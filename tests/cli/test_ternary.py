"""Weights of -1, 0 and 1: BitNet's directories in every form, what is refused, and that commands take such a file like any other."""

import json
import math
import shutil
import struct
import unittest

from support import GOLDEN, SOURCE, CommandTest
from torch_file import read_safetensors, write_safetensors

TERNARY = SOURCE / "tests" / "golden" / "ternary"
FORMS = ("online", "packed", "divided")
IDS = "5,17,42,9,33,21,8,60,11"


class Ternary(CommandTest):
    def convert(self, source, *options):
        target = self.directory / "out.bantam"
        self.ok("convert", source, "-o", target, "--parity", "none", *options)
        return target

    def refuses(self, code, source, *options, says):
        target = self.directory / "refused.bantam"
        self.fails(code, "convert", source, "-o", target, "--parity", "none", *options, says=says)
        self.assertFalse(target.exists())

    def constants(self, file):
        tensors = self.line("inspect", file, "--tensors", "--json")["tensors"]
        return {tensor["name"]: tensor["type"] for tensor in tensors}

    def logits(self, file, ids=IDS, **options):
        return self.line("run", file, "--raw", "--ids", ids, **options)["outputs"]["logits"]["data"]

    def copied(self, form, tensors=None, **settings):
        """A copy of a directory with other settings in quantization_config, and with what `tensors` makes of its tensors."""
        directory = self.directory / form
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(TERNARY / form, directory)
        config = json.loads((directory / "config.json").read_text())
        config["quantization_config"].update(settings)
        (directory / "config.json").write_text(json.dumps(config))
        if tensors:
            held = read_safetensors(directory / "model.safetensors")
            tensors(held)
            write_safetensors(directory / "model.safetensors", held)
        return directory

    def trained(self, golden):
        """A copy of a golden model, in which matrices of layers are their signs times a scale for each row."""
        directory = self.directory / golden
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(GOLDEN / golden, directory)
        held = read_safetensors(directory / "model.safetensors")
        for name, (kind, shape, content) in held.items():
            if ".layers." not in name or len(shape) < 2:
                continue
            self.assertEqual(kind, "F16")
            width, values = shape[-1], list(struct.unpack(f"<{len(content) // 2}e", content))
            for at in range(0, len(values), width):
                row = values[at : at + width]
                middle = sorted(map(abs, row))[width // 3]
                values[at : at + width] = [0.25 * ((value > middle) - (value < -middle)) for value in row]
            held[name] = (kind, shape, struct.pack(f"<{len(values)}e", *values))
        write_safetensors(directory / "model.safetensors", held)
        return directory

    def alike(self, found, wanted):
        """The cosine of two lists."""
        product = sum(a * b for a, b in zip(found, wanted, strict=True))
        return product / math.sqrt(sum(a * a for a in found) * sum(b * b for b in wanted))

    def test_bitnet_in_every_form_answers_as_transformers_does(self):
        """f32 files do not round activations ("exact"). Others round heads of queries and keys, too, which transformers does not."""
        for form in FORMS:
            exact = self.directory / "exact.bantam"
            self.ok("convert", TERNARY / form, "-o", exact, "--parity", "none", "--weights", "f32")
            file = self.convert(TERNARY / form)
            layers = [name for name, kind in self.constants(file).items() if kind == "ternary"]
            self.assertEqual(len(layers), 2 * 5, self.constants(file))
            for line in (TERNARY / form / "expected.jsonl").read_text().splitlines():
                expected = json.loads(line)
                ids = ",".join(map(str, expected["ids"]))
                for found, wanted in zip(self.logits(exact, ids), sum(expected["exact"], []), strict=True):
                    self.assertAlmostEqual(found, wanted, delta=5e-5)
                self.assertGreater(self.alike(self.logits(file, ids), sum(expected["logits"], [])), 0.9993)

    def test_bitnet_is_ternary_by_default(self):
        usual = self.convert(TERNARY / "packed")
        kinds = set(self.constants(usual).values())
        self.assertEqual(kinds, {"f32", "ternary"})
        content = usual.read_bytes()
        self.assertIn(b"weights=i8", content)
        answers = self.logits(usual)
        asked = self.convert(TERNARY / "packed", "--weights", "ternary")
        self.assertEqual(self.logits(asked), answers)
        self.assertEqual(set(self.constants(asked).values()), kinds)
        self.assertIn(b"weights=ternary", asked.read_bytes())
        dense = self.convert(TERNARY / "packed", "--keep", "layers=int8")
        self.assertNotIn("ternary", self.constants(dense).values())
        self.assertGreater(dense.stat().st_size, len(content))
        self.assertGreater(self.alike(self.logits(dense), answers), 0.999)

    def test_the_gate_passes(self):
        report = self.line("convert", TERNARY / "online", "-o", self.directory / "out.bantam", "--json")
        self.assertTrue(report["gate"]["passed"], report["gate"])

    def test_every_instruction_set_and_thread_gives_the_same_bits(self):
        for source in (TERNARY / "divided", self.trained("mixtral-generate"), self.trained("llama-generate")):
            file = self.convert(source, "--weights", "ternary")
            self.assertIn("ternary", self.constants(file).values())
            expected = self.logits(file, environment={"BANTAM_ISA": "reference"})
            for isa in self.line("version", "--json")["isa"]:
                if isa["available"]:
                    self.assertEqual(self.logits(file, environment={"BANTAM_ISA": isa["name"]}), expected, isa["name"])
            threads = self.line("run", file, "--raw", "--ids", IDS, "--threads", "3")["outputs"]["logits"]["data"]
            self.assertEqual(threads, expected)
            for count in (1, 2, 4, 5):  # as many rows
                some = ",".join(IDS.split(",")[:count])
                self.assertEqual(self.logits(file, some), expected[: count * 61])

    def test_other_weights_are_refused_by_name(self):
        message = "that are not -1, 0 and 1 times one number"
        self.refuses(4, GOLDEN / "llama-generate", "--weights", "ternary", says=[message, "--keep 'NAME=int8'"])
        source = self.trained("llama-generate")
        held = read_safetensors(source / "model.safetensors")
        name = "model.layers.1.mlp.down_proj.weight"
        kind, shape, content = held[name]
        held[name] = (kind, shape, struct.pack("<e", 0.125) + content[2:])
        write_safetensors(source / "model.safetensors", held)
        self.refuses(4, source, "--weights", "ternary", says=[f'tensor "{name}"', message])
        file = self.convert(source, "--weights", "ternary", "--keep", "layers.1.mlp.down_proj=int8")
        self.assertEqual(self.constants(file)[name], "i8")

    def test_options_that_do_not_go_with_it(self):
        source = TERNARY / "packed"
        self.refuses(2, source, "--weights", "ternary", "--prune", "0.5", says=["--prune", "int8 and int4"])
        self.refuses(2, source, "--weights", "ternary", "--rounding", "gptq", says=["--rounding gptq", "int8 and int4"])
        self.refuses(2, source, "--weights", "ternary", "--group", "16", says=["--group", "--weights int4"])
        texts = self.write("texts.txt", "a\nb\n")
        static = ("--activations", "static", "--calibrate", texts)
        self.refuses(2, source, "--weights", "ternary", *static, says=["leave out --weights"])

    def test_directories_that_do_not_fit(self):
        name = "model.layers.0.self_attn.q_proj.weight"

        def damaged(held):
            kind, shape, content = held[name]
            held[name] = (kind, shape, b"\x03" + content[1:])

        def unscaled(held):
            kind, shape, _ = held[name + "_scale"]
            held[name + "_scale"] = (kind, shape, struct.pack("<f", -1))

        self.refuses(4, self.copied("packed", damaged), says=[name, "byte 0", "none of -1, 0 and 1"])
        self.refuses(4, self.copied("packed", unscaled), says=[f"{name}_scale", "not one positive number"])
        self.refuses(4, self.copied("packed", quantization_mode="online"), says=["packed", "online"])
        self.refuses(4, self.copied("online", quantization_mode="offline"), says=["no tensor is packed"])
        self.refuses(5, self.copied("packed", use_rms_norm=True), says=["quantization_config: use_rms_norm"])
        self.refuses(5, self.copied("packed", linear_class="trilinear"), says=["linear_class", '"trilinear"'])
        self.refuses(5, self.copied("packed", quantization_mode="later"), says=["quantization_mode", '"later"'])
        self.refuses(4, self.copied("packed", modules_to_not_convert=3), says=["modules_to_not_convert"])
        self.refuses(5, self.copied("packed", quant_method="gptq"), says=["quantization_config"])

    def test_modules_that_are_not_converted(self):
        """In mode online names say which layers are rounded."""
        source = self.copied("online", modules_to_not_convert=["lm_head", "model.layers.1", "down_proj"])
        kinds = self.constants(self.convert(source))
        self.assertEqual(kinds["model.layers.0.mlp.down_proj.weight"], "i8")
        self.assertTrue(all(kind == "i8" for name, kind in kinds.items() if ".layers.1." in name and kind != "f32"))
        self.assertEqual(sum(kind == "ternary" for kind in kinds.values()), 4)

    def test_other_commands(self):
        file = self.convert(TERNARY / "packed")
        self.ok("verify", file)
        self.assertIn(b"ternary", self.ok("inspect", file, "--tensors"))
        self.ok("report", file, "-o", self.directory / "page.html")
        self.ok("bench", file, "--repetitions", "1", "--json")
        answer = self.line(
            *("firmware", file, "--target", "cortex-m4", "--max-tokens", "16", "-o", self.directory / "p"), "--json"
        )
        self.assertIn("ternary", answer["linked"])
        plain = self.convert(GOLDEN / "bitnet-generate")
        self.assertNotIn("ternary", self.constants(plain).values())


if __name__ == "__main__":
    unittest.main()
