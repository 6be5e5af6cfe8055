"""Sources that are small and would become large: memory stays in proportion to their bytes (SECURITY.md), and what is
refused is refused with a cause."""

import json
import os
import struct
import unittest
import zipfile

from support import CommandTest, bantam, measured
from torch_file import write_safetensors

SANITIZED = b"Sanitize" in bantam("version").stdout  # shadow memory is not the command's
MOST_TIMES, MOST_FREE = 8, 64 << 20


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A field of a protobuf message: a whole number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value % (1 << 64))
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(op, inputs, outputs, attributes=b"", domain=""):
    names = [field(1, name) for name in inputs] + [field(2, name) for name in outputs]
    return b"".join(names) + field(4, op) + (field(7, domain) if domain else b"") + attributes


def tensor(name, dims, kind, raw=None, more=b""):
    data = more if raw is None else field(9, raw)
    return b"".join(field(1, extent) for extent in dims) + field(2, kind) + field(8, name) + data


def port(name, kind, extents):
    dims = b"".join(field(1, field(2, extent)) for extent in extents)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def graph(nodes, tensors=(), inputs=(), outputs=()):
    lists = ((1, nodes), (5, tensors), (11, inputs), (12, outputs))
    return b"".join(field(number, one) for number, many in lists for one in many)


def function(name, inputs, outputs, nodes):
    lists = ((4, inputs), (5, outputs), (7, nodes))
    return field(1, name) + b"".join(field(n, one) for n, many in lists for one in many) + field(10, "d")


def onnx(body, functions=()):
    return field(1, 8) + field(8, field(2, 17)) + field(7, body) + b"".join(field(25, one) for one in functions)


IDS = [port("input_ids", 7, ["b", "s"])]
LOGITS = [port("logits", 1, ["b", "s"])]


class Bombs(CommandTest):
    def convert(self, source, code, *says):
        """The command's exit code and words; its memory is in proportion to the source."""
        size = sum(file.stat().st_size for file in source.rglob("*")) if source.is_dir() else source.stat().st_size
        out = self.directory / "out.bantam"
        found, message, peak = measured("convert", source, "-o", out, "-q", "--parity", "none")
        self.assertEqual(found, code, message[:2000])
        for words in says:
            self.assertIn(words, message)
        if not SANITIZED:
            self.assertLessEqual(peak, MOST_TIMES * self.counted(size) + MOST_FREE, message[:500])
        self.assertFalse([name for name in os.listdir(self.directory) if name.endswith(".part")])

    def counted(self, size):
        return size

    def onnx(self, data, code, *says):
        path = self.directory / "model.onnx"
        path.write_bytes(data)
        self.convert(path, code, *says)

    def bert(self, name="source"):
        """A directory without weights."""
        out = self.directory / name
        out.mkdir()
        config = {
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "vocab_size": 8,
            "max_position_embeddings": 16,
        }
        (out / "config.json").write_text(json.dumps(config))
        (out / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n")
        return out


class Graphs(Bombs):
    def test_a_function_with_a_long_list_is_called_many_times(self):
        ints = field(5, field(1, "v") + field(8, b"\x01" * 1_000_000) + field(20, 7))
        inner = function("F", ["x"], ["y"], [node("Foo", ["x"], ["y"], ints)])
        calls = [node("F", ["input_ids"], [f"o{i}"], domain="d") for i in range(400)]
        self.onnx(onnx(graph(calls, (), IDS, LOGITS), [inner]), 5, "more memory", "functions")

    def test_a_long_name_stands_before_many(self):
        names = ["x"] + [f"t{i}" for i in range(2999)] + ["y"]
        nodes = [node("Add", [a, "x"], [b]) for a, b in zip(names, names[1:])]
        calls = [node("F", ["input_ids"], ["n" * 500_000], domain="d")]
        self.onnx(onnx(graph(calls, (), IDS, LOGITS), [function("F", ["x"], ["y"], nodes)]), 5, "more memory")

    def test_an_operator_on_integers_with_a_long_name_stands_for_many_nodes(self):
        inputs = ["s", "z"] + ["input_ids", "s", "z"] * 3000
        joined = node("QLinearConcat", inputs, ["n" * 500_000], domain="com.microsoft")
        self.onnx(onnx(graph([joined], (), IDS, LOGITS)), 5, "more memory", "operators on integers")

    def test_constants_that_are_made_of_constants(self):
        shape = tensor("shape", [1], 7, struct.pack("<q", 2_000_000))
        nodes = [node("ConstantOfShape", ["shape"], [f"z{k}"]) for k in range(60)]
        nodes += [node("Add", [f"s{k - 1}" if k else "z0", f"z{k}"], [f"s{k}"]) for k in range(60)]
        self.onnx(onnx(graph(nodes, [shape], IDS, [port("s59", 1, ["b", "s"])])), 5, "more memory")

    def test_numbers_of_a_byte(self):
        zeros = tensor("w", [1 << 23], 7, more=field(7, b"\0" * (1 << 23)))
        self.onnx(onnx(graph([node("Identity", ["w"], ["logits"])], [zeros], IDS, LOGITS)), 5, "more memory")

    def test_nodes_of_two_bytes(self):
        self.onnx(onnx(b"\x0a\x00" * 1_000_000 + graph([], (), IDS, LOGITS)), 5, "more memory")
        self.onnx(onnx(graph([node("Add", [""] * 2_000_000, ["logits"])], (), IDS, LOGITS)), 5, "more memory")

    def test_functions_that_double(self):
        inner = [function("F0", ["x"], ["y"], [node("Identity", ["x"], ["y"])])]
        for k in range(1, 16):
            calls = [node(f"F{k - 1}", [a], [b], domain="d") for a, b in (("x", "t"), ("t", "y"))]
            inner.append(function(f"F{k}", ["x"], ["y"], calls))
        self.onnx(onnx(graph([node("F15", ["input_ids"], ["logits"], domain="d")], (), IDS, LOGITS), inner), 5)

    def test_branches_behind_many_nodes(self):
        true = tensor("c0", [], 9, b"\1")
        nodes = [node("Identity", [f"c{k}"], [f"c{k + 1}"]) for k in range(1500)]
        branch = graph([], (), (), [field(1, "input_ids")])
        names = ("then_branch", "else_branch")
        either = b"".join(field(5, field(1, name) + field(6, branch) + field(20, 5)) for name in names)
        nodes += [node("If", ["c1500"], [f"b{k}"], either) for k in range(1500)]
        self.onnx(onnx(graph(nodes, [true], IDS, [port("b0", 1, ["b", "s"])])), 5, "none of its outputs")

    def test_external_data_that_tensors_share(self):
        (self.directory / "data").write_bytes(b"\0" * (4 << 20))
        place = field(13, field(1, "location") + field(2, "data")) + field(14, 1)
        tensors = [tensor(f"w{k}", [1 << 20], 1, more=place) for k in range(200)]
        self.onnx(onnx(graph([node("Identity", ["w0"], ["logits"])], tensors, IDS, LOGITS)), 5, "external data")


class Weights(Bombs):
    def test_codes_of_fasttext_that_stand_for_long_rows(self):
        rows, width = 400_001, 512

        def ints(*values):
            return struct.pack(f"<{len(values)}i", *values)

        def longs(*values):
            return struct.pack(f"<{len(values)}q", *values)

        data = struct.pack("<I", 793712314) + ints(12, width, 5, 5, 1, 5, 1, 3, 3, rows - 1, 3, 6, 100)
        data += struct.pack("<d", 1e-4) + ints(3, 1, 2) + longs(10, -1) + b"a\0" + longs(5) + b"\0"
        for label in (b"__label__x", b"__label__y"):
            data += label + b"\0" + longs(3) + b"\1"
        data += b"\1\0" + longs(rows, width) + ints(rows) + bytes(rows) + ints(width, 1, width, width)
        data += struct.pack("<f", 0.01) * (width * 256)
        data += b"\0" + longs(2, width) + struct.pack("<f", 0.5) * (2 * width)
        path = self.directory / "model.ftz"
        path.write_bytes(data)
        self.convert(path, 5, "codes", "more memory")

    def pickle(self, program, code, *says, key="k"):
        out = self.bert()
        with zipfile.ZipFile(out / "pytorch_model.bin", "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("m/data.pkl", b"\x80\x02" + program)
            archive.writestr(f"m/data/{key}", b"\0" * (1 << 20))
        self.convert(out, code, *says)

    def tensors(self, key, elements, count):
        """A state dict of so many tensors of one storage."""
        text = key.encode()
        program = b"ctorch._utils\n_rebuild_tensor_v2\nq\x01(X\x07\0\0\0storagectorch\nFloatStorage\nX"
        program += struct.pack("<I", len(text)) + text + b"X\x03\0\0\0cpuJ" + struct.pack("<i", elements) + b"tQq\x02"
        program += b"(J" + struct.pack("<i", elements) + b"tq\x03(K\x01tq\x04(h\x02K\x00h\x03h\x04tq\x05}q\x06("
        return program + b"".join(b"X\x05\0\0\0%05xh\x01h\x05R" % i for i in range(count)) + b"u."

    def test_a_pickle_of_many_values(self):
        self.pickle(b"}(" + b"N" * 4_000_000 + b"0.", 5, "pickle", "more memory")

    def test_a_pickle_of_many_tensors_of_a_long_name(self):
        self.pickle(self.tensors("k" * 1000, 1, 240_000), 5, "more memory", key="k" * 1000)

    def test_a_pickle_of_many_tensors_of_one_storage(self):
        self.pickle(self.tensors("k", 1 << 18, 2000), 5, "share its storages")

    def test_lists_of_bytes_in_gguf(self):
        def text(value):
            return struct.pack("<Q", len(value)) + value.encode()

        count = 8_000_000
        data = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("l") + struct.pack("<IIQ", 9, 0, count) + bytes(count)
        path = self.directory / "model.gguf"
        path.write_bytes(data)
        self.convert(path, 5, "lists", "more memory")


class Numbers(Bombs):
    def test_layers_that_share_their_weights(self):
        self.convert(self.changed("albert-fill", num_hidden_layers=300), 0)
        for layers in (1025, 1_000_000_000):
            self.convert(self.changed("albert-fill", num_hidden_layers=layers), 4, "num_hidden_layers")

    def test_large_matrices_are_read_when_they_are_stored(self):
        """Memory beside the file that is written is less than the source's bytes, which are half of it."""
        words, width = 1 << 16, 256
        config = {
            "model_type": "llama",
            "architectures": ["LlamaForCausalLM"],
            "vocab_size": words,
            "hidden_size": width,
            "intermediate_size": width,
            "num_hidden_layers": 1,
            "num_attention_heads": 4,
            "max_position_embeddings": 64,
            "tie_word_embeddings": True,
        }
        shapes = {"model.embed_tokens": [words, width], "model.norm": [width]}
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"model.layers.0.{name}"] = [width]
        for name in ("self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o", "mlp.gate", "mlp.up", "mlp.down"):
            shapes[f"model.layers.0.{name}_proj"] = [width, width]
        row = b"".join(struct.pack("<H", 0x3C00 + i * 37 % 256) for i in range(width))  # bf16, near 0.01
        tensors = {}
        for name, shape in shapes.items():
            tensors[f"{name}.weight"] = ("BF16", shape, row * (shape[0] if len(shape) == 2 else 1))
        folder = self.directory / "large"
        folder.mkdir()
        write_safetensors(folder / "model.safetensors", tensors)
        (folder / "config.json").write_text(json.dumps(config))
        out = self.directory / "out.bantam"
        given = ("--weights", "f32", "--parity", "none", "--ids-only", "-q")
        found, message, peak = measured("convert", folder, "-o", out, *given)
        self.assertEqual(found, 0, message)
        if not SANITIZED:
            self.assertLessEqual(peak, out.stat().st_size + 2 * words * width)

    def test_places_that_no_table_holds(self):
        for golden in ("pegasus-summarise", "marian-text"):
            self.convert(self.changed(golden, max_position_embeddings=1 << 30), 4, "max_position_embeddings")


if __name__ == "__main__":
    unittest.main()
