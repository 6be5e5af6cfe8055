"""Sources as people name them: torch checkpoints, incomplete downloads, other formats, names of the hub."""

import collections
import json
import os
import shutil
import struct
import unittest
import zipfile

from support import GOLDEN, SOURCE, CommandTest
from torch_file import Storage, Tensor, archive, pickled, read_safetensors, save


class Sources(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = self.directory / "model"
        shutil.copytree(GOLDEN / "bert-classify", self.source)
        self.tensors = read_safetensors(self.source / "model.safetensors")

    def outputs(self):
        target = self.directory / "out.bantam"
        self.ok(
            "convert",
            self.source,
            "-o",
            target,
            "--weights",
            "f32",
            "--parity",
            "none",
            "-q",
        )
        return self.line("run", target, "ba di ko", "--raw")["outputs"]

    def refused(self, code, says, source=None):
        return self.fails(
            code,
            "convert",
            source or self.source,
            "-o",
            self.directory / "no.bantam",
            says=says,
        )

    def put(self, content, name="pytorch_model.bin"):
        (self.source / name).write_bytes(content)


class Torch(Sources):
    def setUp(self):
        super().setUp()
        self.wanted = self.outputs()
        (self.source / "model.safetensors").unlink()

    def test_same_answers(self):
        for protocol in (2, 4):
            self.put(save(self.tensors, protocol=protocol))
            self.assertEqual(self.outputs(), self.wanted)

    def test_views_parameters_and_shared_storages(self):
        state, storages = collections.OrderedDict(), {}
        for number, (name, (dtype, shape, content)) in enumerate(self.tensors.items()):
            key = str(number)
            if len(shape) == 2 and dtype == "F32":  # transposed, behind three other numbers
                rows, columns = shape
                values = struct.unpack(f"<{rows * columns}f", content)
                turned = [values[r * columns + c] for c in range(columns) for r in range(rows)]
                storages[key] = struct.pack(f"<{rows * columns + 3}f", 7, 8, 9, *turned)
                state[name] = Tensor(
                    Storage(dtype, key, storages[key]),
                    shape,
                    3,
                    (1, rows),
                    parameter=True,
                )
            else:
                storages[key] = content
                state[name] = Tensor(Storage(dtype, key, content), shape)
        state["bert.embeddings.position_ids"] = Tensor(Storage("I64", "ids", bytes(8 * 4)), (1, 4))
        storages["ids"] = bytes(8 * 4)
        self.put(archive(pickled(state), storages, extra=(("byteorder", "little"),)))
        self.assertEqual(self.outputs(), self.wanted)

    def test_shards(self):
        names = sorted(self.tensors)
        halves = {"a.bin": names[::2], "b.bin": names[1::2]}
        for file, part in halves.items():
            self.put(save({name: self.tensors[name] for name in part}), file)
        index = {"weight_map": {name: file for file, part in halves.items() for name in part}}
        self.put(json.dumps(index).encode(), "pytorch_model.bin.index.json")
        self.assertEqual(self.outputs(), self.wanted)

    def test_nothing_is_executed(self):
        mark = self.directory / "executed"

        class Attack:
            def __reduce__(self):
                return (os.system, (f"touch {mark}",))

        for state in (Attack(), {"x": Attack()}):
            for protocol in (2, 4):
                self.put(archive(pickled(state, protocol), {}))
                self.refused(5, ["posix.system", "executes nothing"])
        self.assertFalse(mark.exists())
        for pickle_bytes, words in (
            (b"\x80\x02cbuiltins\neval\n.", "builtins.eval"),
            (b"\x80\x02}(X\x01\x00\x00\x00aK\x01u.", "which is not a tensor"),
            (b"\x80\x02]q\x00.", "something else than a state dict"),
            (b"\x80\x02ibuiltins\neval\n.", "instruction 0x69"),
            (b"\x80\x02\x82\x01.", "instruction 0x82"),
        ):
            self.put(archive(pickle_bytes, {}))
            self.refused(5, [words])

    def test_damaged(self):
        good = save(self.tensors)
        self.put(good[:-40])
        self.refused(4, ["pytorch_model.bin", "again"])
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        self.put(bytes(flipped))
        self.refused(4, ["checksum"])
        for pickle_bytes in (
            b"",
            b"\x80\x02",
            b"\x80\x02.",
            b"\x80\x02(t",
            b"\x80\x02X\xff\xff\xff\xffa",
            b"\x80\x02h\x07.",
        ):
            self.put(archive(pickle_bytes, {}))
            self.refused(4, ["pytorch_model.bin"])
        self.put(archive(pickled({}), {}, zipfile.ZIP_DEFLATED))
        self.refused(4, ["compressed"])
        for number, content in enumerate((b"", b"PK", b"PK\x05\x06" + bytes(18), bytes(100))):
            self.put(content)
            self.refused(4, ["pytorch_model.bin"])
        self.put(archive(pickled({}), {}).replace(b"data.pkl", b"datx.pkl"))
        self.refused(4, ["data.pkl"])

    def test_tensors_outside_of_their_storages(self):
        storage = Storage("F32", "0", bytes(16))
        for tensor, words in (
            (Tensor(storage, (5,)), "beyond its storage"),
            (Tensor(storage, (2, 2), 1), "beyond its storage"),
            (Tensor(storage, (2, 2), 0, (3, 1)), "beyond its storage"),
            (Tensor(storage, (1 << 40, 1 << 40)), "overflows"),
            (Tensor(storage, (2, 2), 0, (1 << 62, 1 << 62)), "beyond its storage"),
            (Tensor(storage, (1 << 40,), 0, (0,)), "overlap"),
            (Tensor(storage, (2, 2), 0, (1,)), "strides"),
            (Tensor(Storage("F32", "9", bytes(16)), (4,)), "storage 9 is missing"),
            (Tensor(Storage("F32", "0", bytes(64)), (4,)), "beyond its storage"),
        ):
            self.put(archive(pickled({"w": tensor}), {"0": bytes(16)}))
            self.refused(4, [words])

    def test_nested_deeply(self):
        for depth, words in ((100_000, "something else than a state dict"), (1_000_000, "more memory")):
            self.put(archive(b"\x80\x02" + b")" + b"\x85" * depth + b".", {}))
            self.refused(5, [words])

    def test_old_format(self):
        self.put(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
        self.refused(5, ["torch before 1.6", "torch.save(torch.load('pytorch_model.bin'"])

    def test_big_endian(self):
        self.put(archive(pickled({}), {}, extra=(("byteorder", "big"),)))
        self.refused(5, ["big-endian"])


class SlowTokenizers(CommandTest):
    """Files of tokenizers that transformers has in Python only; tests/text compares more texts."""

    def source(self, model_name, tokenizer):
        source = self.directory / "source"
        shutil.copytree(GOLDEN / model_name, source)
        for file in (SOURCE / "tests/text/golden" / tokenizer).iterdir():
            if file.name != "expected.jsonl":
                shutil.copy(file, source)
        lines = (SOURCE / "tests/text/golden" / tokenizer / "expected.jsonl").read_text().splitlines()
        return source, [case for case in map(json.loads, lines) if case["b"] is None and "\n" not in case["a"]]

    def convert(self, source):
        out = self.directory / "x.bantam"
        self.ok("convert", source, "-o", out, "--weights", "f32", "--parity", "none")
        return out

    def check_ids(self, file, cases):
        for case in [case for case in cases if "\r" not in case["a"] and case["a"].strip()][:20]:
            self.assertEqual(self.line("tokenize", file, case["a"], "--json")["ids"], case["ids"], case)

    def test_blenderbot_small(self):
        source, cases = self.source("blenderbot-small-generate", "blenderbot_small")
        file = self.convert(source)
        self.check_ids(file, cases)
        self.assertNotIn("languages", json.loads(self.ok("inspect", file, "--json")))
        self.assertTrue(self.line("generate", file, "low new the", "--json")["ids"])
        (source / "tokenizer_config.json").unlink()  # the model says whose it is
        self.check_ids(self.convert(source), cases)

    def test_m2m_100(self):
        source, cases = self.source("m2m-translate", "m2m_100")
        self.check_ids(self.convert(source), cases)
        settings = source / "tokenizer_config.json"
        settings.write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer", "src_lang": "xx"}))
        out = self.directory / "x.bantam"
        self.fails(4, "convert", source, "-o", out, says=["src_lang", '"xx"', "M2M100Tokenizer"])
        settings.write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer"}))
        numbers = json.loads((source / "vocab.json").read_text())
        (source / "vocab.json").unlink()
        self.fails(4, "convert", source, "-o", out, says=["vocab.json", "numbers its pieces"])
        (source / "vocab.json").write_text(json.dumps({token: i for token, i in numbers.items() if i != 7}))
        self.fails(4, "convert", source, "-o", out, says=["number 7 is missing"])


class Downloads(Sources):
    def test_pointer_of_git_lfs(self):
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 90868376\n"
        self.put(pointer, "model.safetensors")
        self.refused(4, ["model.safetensors", "Git LFS", "lfs pull"])
        (self.source / "model.safetensors").unlink()
        self.put(pointer)
        self.refused(4, ["pytorch_model.bin", "Git LFS"])

    def test_files_that_are_no_weights(self):
        for name in ("random.bin", "random.pt", "random.h5"):
            self.put(bytes(range(256)) * 40, name)
            message = self.refused(3, [f"{name}: is not a kind of model that bantam reads"], self.source / name)
            self.assertNotIn("weights alone", message)
        self.put(save(self.tensors))
        for name in ("pytorch_model.bin", "model.safetensors"):
            self.refused(3, ["is the weights alone"], self.source / name)

    def test_other_weights(self):
        (self.source / "model.safetensors").unlink()
        self.refused(4, ["hf download"])
        for name, words in (
            ("tf_model.h5", "load_tf2_checkpoint_in_pytorch_model"),
            ("flax_model.msgpack", "load_flax_checkpoint_in_pytorch_model"),
        ):
            self.put(b"x", name)
            self.refused(4, ["model.safetensors", words])
            (self.source / name).unlink()

    def test_adapter(self):
        for path in list(self.source.iterdir()):
            path.unlink()
        self.put(b'{"base_model_name_or_path": "org/base"}', "adapter_config.json")
        self.put(b"", "adapter_model.safetensors")
        self.refused(5, ["PEFT adapter of org/base", "put config.json, the weights and the tokenizer"])

    def test_folder_of_the_cache(self):
        cache = self.directory / "models--org--name"
        (cache / "refs").mkdir(parents=True)
        (cache / "blobs").mkdir()
        shutil.copytree(self.source, cache / "snapshots" / "0123abcd")
        self.refused(4, ["cache", str(cache / "snapshots" / "0123abcd")], cache)

    def test_names_of_the_hub(self):
        for name, local in (
            ("bert-base-uncased", "bert-base-uncased-model"),
            ("org-x/name-y", "name-y"),
        ):
            self.refused(3, [f"hf download {name} --local-dir {local}"], name)
        message = self.refused(3, ["no such directory", "check the path"], self.directory / "none")
        self.assertNotIn("hf download", message)

    def test_files_of_other_formats(self):
        for name, words in (
            ("m.safetensors", "directory"),
            ("m.bantam", "converted already"),
            ("m.txt", "is not a kind of model that bantam reads"),
        ):
            self.refused(3, [name, words], self.write(name, b"x"))

    def test_directory_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.source.chmod(0)
        self.addCleanup(self.source.chmod, 0o700)
        self.refused(3, ["permission denied"])

    def test_other_models(self):
        config = json.loads((self.source / "config.json").read_text())
        config["model_type"] = "flan-x"
        self.put(json.dumps(config).encode(), "config.json")
        self.refused(5, ['"flan-x" is not supported', "bantam version --families"])


if __name__ == "__main__":
    unittest.main()
