"""`bantam convert` of ONNX files: answers as ONNX Runtime has them, files beside the file, and what is refused."""

import json
import shutil
import unittest

from support import SOURCE, CommandTest

ONNX = SOURCE / "tests" / "golden" / "onnx"
# Floats are the file's own; of integers, whose activations ONNX Runtime rounds, too, only that much is the same.
FLOATS, INTEGERS = 2e-5, 0.1


class Onnx(CommandTest):
    def converted(self, source, *more):
        """The report of a conversion."""
        out = self.directory / "out.bantam"
        return self.line(
            "convert",
            source,
            "-o",
            out,
            "--ids-only",
            "--parity",
            "none",
            "--json",
            *more,
        )

    def difference(self, name):
        expected = (
            "--weights",
            "f32",
            "--expect",
            ONNX / f"{name}.jsonl",
            "--max-label-flips",
            "1",
        )
        outputs = self.converted(ONNX / f"{name}.onnx", *expected)["expected"]["outputs"]
        return max(output["largest_difference"] for output in outputs)

    def test_answers_are_those_of_onnx_runtime(self):
        names = sorted(path.stem for path in ONNX.glob("*.onnx"))
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name):
                integers = name.endswith(("-dynamic", "-qdq"))
                self.assertLess(self.difference(name), INTEGERS if integers else FLOATS)

    def test_a_relu_that_quantisation_stands_for(self):
        """ONNX Runtime's quantiser leaves it out in front of a QuantizeLinear whose smallest integer is 0; without it, 0.05."""
        self.assertLess(self.difference("bert-relu-classify-qdq"), 0.03)

    def test_integers_stay(self):
        report = self.converted(ONNX / "bert-classify-dynamic.onnx")
        note = next(note for note in report["notes"] if "matrices of integers" in note)
        self.assertRegex(note, r"of integers [1-9]\d* stay as they are")

    def test_files_beside(self):
        """In the file's directory, or above: labels, and which task it is."""
        config = {
            "architectures": ["DistilBertForTokenClassification"],
            "id2label": {str(i): f"B-{i}" for i in range(5)},
        }
        for below in ("", "onnx"):
            with self.subTest(below):
                root = self.directory / f"model{below}"
                (root / below).mkdir(parents=True)
                shutil.copy(
                    ONNX / "distilbert-tag-torchscript17.onnx",
                    root / below / "model.onnx",
                )
                (root / "config.json").write_text(json.dumps(config))
                self.assertEqual(self.converted(root)["task"], "tag")
                inspected = self.ok("inspect", self.directory / "out.bantam").decode()
                self.assertIn("B-4", inspected)

    def test_no_model_type_without_a_config(self):
        self.converted(ONNX / "bert-classify-fused.onnx")
        self.assertNotIn("model_type", self.ok("inspect", self.directory / "out.bantam").decode())

    def test_a_directory_with_other_weights_is_read_by_those(self):
        root = self.directory / "both"
        shutil.copytree(SOURCE / "tests" / "golden" / "models" / "distilbert-tag", root)
        shutil.copy(ONNX / "bert-answer-torchscript17.onnx", root / "model.onnx")
        self.assertEqual(self.converted(root)["task"], "tag")

    def test_what_is_no_onnx_file(self):
        whole = (ONNX / "bert-classify-fused.onnx").read_bytes()
        out = ("-o", self.directory / "out.bantam")
        for name, data in (
            ("text", b"not an ONNX file"),
            ("cut", whole[: len(whole) // 2]),
            ("empty", b""),
        ):
            with self.subTest(name):
                path = self.directory / f"{name}.onnx"
                path.write_bytes(data)
                self.fails(4, "convert", path, *out, says=[path.name])

    def test_a_tokenizer_of_another_model(self):
        """Has it more pieces than the table has rows, texts with the last ones could not be run."""
        root = self.directory / "model"
        root.mkdir()
        shutil.copy(ONNX / "bert-classify-torchscript17.onnx", root / "model.onnx")
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"w{i}" for i in range(36)]
        out = ("-o", self.directory / "out.bantam", "--parity", "none")
        (root / "vocab.txt").write_text("\n".join(words[:40]) + "\n")
        self.ok("convert", root, *out)
        (root / "vocab.txt").write_text("\n".join(words) + "\n")
        self.fails(
            4,
            "convert",
            root,
            *out,
            says=["vocab.txt: has 41 pieces", "model.onnx 40 rows"],
        )
        self.ok("convert", root, *out, "--ids-only")

    def test_options_for_directories(self):
        path = ONNX / "bert-classify-fused.onnx"
        out = ("-o", self.directory / "out.bantam", "--ids-only")
        self.fails(2, "convert", path, *out, "--tower", "text", says=["--tower"])
        self.fails(5, "convert", path, *out, "--task", "tag", says=["--task"])
        pruned = ("--prune", "0.5", "--pattern", "heads")
        self.fails(5, "convert", path, *out, *pruned, says=["config.json", "model.safetensors"])


if __name__ == "__main__":
    unittest.main()
