"""`bantam convert` of ONNX files: answers as ONNX Runtime has them, files beside the file, and what is refused."""

import json
import shutil
import unittest

from support import SOURCE, CommandTest

ONNX = SOURCE / "tests" / "golden" / "onnx"
FORMS = SOURCE / "tests" / "golden" / "onnx_forms"
# Floats are the file's own; of integers, whose activations ONNX Runtime rounds, too, only that much is the same.
FLOATS, INTEGERS = 2e-5, 0.1


def flat(data):
    """The numbers of nested lists."""
    return [number for part in data for number in flat(part)] if isinstance(data, list) else [data]


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

    def difference(self, name, folder=ONNX, options=()):
        expected = ("--weights", "f32", "--expect", folder / f"{name}.jsonl", "--max-label-flips", "1")
        outputs = self.converted(folder / f"{name}.onnx", *expected, *options)["expected"]["outputs"]
        return max(output["largest_difference"] for output in outputs)

    def test_answers_are_those_of_onnx_runtime(self):
        names = sorted(path.stem for path in ONNX.glob("*.onnx"))
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name):
                integers = name.endswith(("-dynamic", "-qdq", "-qoperator"))
                self.assertLess(self.difference(name), INTEGERS if integers else FLOATS)

    def test_forms_of_own_exports(self):
        """tests/golden/onnx_forms.py: what people export themselves; halves cost what f16 constants are rounded by."""
        options = json.loads((FORMS / "options.json").read_text())
        names = sorted(path.stem for path in FORMS.glob("*.onnx"))
        self.assertGreater(len(names), 29)
        self.assertLessEqual(set(options), set(names))
        for name in names:
            with self.subTest(name):
                difference = self.difference(name, FORMS, options.get(name, ()))
                self.assertLess(difference, 1e-3 if name == "gelu-of-halves" else FLOATS)

    def test_inputs_that_are_not_clear(self):
        out = self.directory / "none.bantam"
        command = ("convert", FORMS / "unclear-names.onnx", "-o", out, "--ids-only")
        self.fails(5, *command, says=['input "a" may be ids or something else', "--inputs ids=NAME,mask=NAME"])
        self.fails(2, *command, "--inputs", "ids=a,mask=c", says=['has no input "c"', '"a", "b"'])
        self.fails(2, *command, "--inputs", "words=a", says=['"words=a" is not understood', "positions=NAME"])
        self.fails(2, *command, "--inputs", "ids=a,ids=b", says=["each once"])
        # An input that --inputs does not name is taken as ids, if it can be; here the graph does not use the mask as a mask.
        self.fails(5, *command, "--inputs", "mask=a", says=["depends on masks or shapes"])
        # Other sources refuse --inputs.
        tiny = SOURCE / "tests" / "golden" / "models" / "bert-classify"
        self.fails(
            2, "convert", tiny, "-o", out, "--inputs", "ids=a", says=["--inputs", "ONNX and TensorFlow Lite files"]
        )
        self.assertFalse(out.exists())

    def test_answers_of_several_tasks(self):
        out = self.directory / "none.bantam"
        command = ("convert", FORMS / "two-answers.onnx", "-o", out, "--ids-only", "--parity", "none")
        self.fails(5, *command, says=['"tags", "topics"', "--graph-output NAME"])
        self.fails(2, *command, "--graph-output", "words", says=['has no output "words"', '"tags", "topics"'])
        self.assertFalse(out.exists())
        self.ok(*command, "--task", "encoder")
        outputs = self.line("run", out, "--ids", "7,8,9")["outputs"]
        self.assertEqual(sorted(outputs), ["tags", "topics"])

    def test_what_is_left_out_is_said(self):
        report = self.converted(FORMS / "softmax-last.onnx")
        self.assertEqual(report["task"], "classify")
        self.assertTrue(any("Softmax at the end is left out" in note for note in report["notes"]), report["notes"])
        command = ("convert", FORMS / "softmax-last.onnx", "-o", self.directory / "none.bantam", "--ids-only")
        self.fails(
            5, *command, "--task", "embed", says=['output "probabilities" is what Softmax gives', "--task classify"]
        )
        report = self.converted(FORMS / "sigmoid-last.onnx")
        self.assertEqual(report["task"], "multi_label")

    def test_texts_of_one_length(self):
        self.converted(FORMS / "fixed-length.onnx")
        out = self.directory / "out.bantam"
        self.ok("run", out, "--ids", "7,8,9,10,11,12")
        self.fails(4, "run", out, "--ids", "7,8,9,10,11,12,13")

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

    def around(self, name, settings, folder=ONNX):
        """A directory with this graph as model.onnx, and these settings as JSON files."""
        root = self.directory / f"around-{len(list(self.directory.iterdir()))}"
        root.mkdir()
        shutil.copy(folder / f"{name}.onnx", root / "model.onnx")
        for file, content in settings.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(json.dumps(content))
        return root

    def test_every_task(self):
        """Outputs, labels and settings are those of a directory's conversion (tests/golden/models has these heads)."""
        bert = {
            "config.json": {},
            "modules.json": [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}],
        }
        scores = {**bert, "config_sentence_transformers.json": {"model_type": "CrossEncoder"}}
        architecture = {"config.json": {"architectures": ["BertForNextSentencePrediction"]}}
        joint = {"config.json": {"intent_labels": ["a", "b", "c"], "slot_labels": ["O", "B-x", "I-x", "B-y", "I-y"]}}
        sparse = "sentence_transformers.sparse_encoder.models"
        words = {
            "config.json": {},
            "modules.json": [
                {"idx": 0, "name": "0", "path": "", "type": f"{sparse}.MLMTransformer"},
                {"idx": 1, "name": "1", "path": "1_SpladePooling", "type": f"{sparse}.SpladePooling"},
            ],
            "1_SpladePooling/config.json": {"pooling_strategy": "max"},
        }
        for name, settings, options, task, outputs in (
            ("bert-next-sentence-dynamo23", architecture, (), "next_sentence", {"logits": 2}),
            ("bert-next-sentence-dynamo23", {}, (), "classify", {"logits": 2}),
            (
                "bert-pretraining-dynamo23",
                {},
                (),
                "pretraining",
                {"prediction_logits": 40, "seq_relationship_logits": 2},
            ),
            ("bert-pretraining-dynamo23", {}, ("--task", "fill"), "fill", {"logits": 40}),
            ("bert-pretraining-dynamo23", words, (), "sparse_embed", {"sentence_embedding": 40}),
            ("bert-joint-dynamo23", joint, (), "joint", {"intent_logits": 3, "slot_logits": 5}),
            ("bert-score-dynamo23", {}, (), "regress", {"logits": 1}),
            ("bert-score-dynamo23", {}, ("--task", "choose"), "choose", {"logits": 1}),
            ("bert-score-dynamo23", scores, (), "regress", {"logits": 1}),
            ("bert-encoder-torchscript17", {}, ("--task", "token-vectors"), "token_vectors", {"token_embeddings": 16}),
        ):
            with self.subTest(name, task=task):
                report = self.converted(self.around(name, settings) / "model.onnx", *options)
                self.assertEqual(report["task"], task)
                made = self.line("run", self.directory / "out.bantam", "--raw", "--ids", "7,8,9")["outputs"]
                self.assertEqual({output: values["shape"][-1] for output, values in made.items()}, outputs)
        inspected = self.ok("inspect", self.directory / "out.bantam").decode()
        self.assertIn("token_embeddings", inspected)
        vectors = self.line("run", self.directory / "out.bantam", "--raw", "--ids", "7")["outputs"]["token_embeddings"]
        self.assertAlmostEqual(sum(x * x for x in flat(vectors["data"])), 1, places=5)

    def test_settings_of_texts_are_read(self):
        """What generating and classifying read beside a directory's weights, they read beside a graph."""
        root = self.around("llama-generate-dynamo23", {})
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"w{i}" for i in range(35)]
        (root / "vocab.txt").write_text("\n".join(words) + "\n")
        decoder = self.directory / "decoder.bantam"
        generate = ("generate", decoder, "w1 w2", "--max-new", "6", "--json")
        self.ok("convert", root, "-o", decoder, "--parity", "none")
        ids = self.line(*generate)["ids"]
        self.assertEqual(len(ids), 6)
        (root / "config.json").write_text(json.dumps({"eos_token_id": ids[0]}))
        (root / "generation_config.json").write_text(json.dumps({"eos_token_id": [ids[2], ids[4]]}))
        (root / "tokenizer_config.json").write_text(
            json.dumps({"chat_template": "{% for m in messages %}[CLS] {{ m['content'] }} [SEP]{% endfor %}"})
        )
        self.ok("convert", root, "-o", decoder, "--parity", "none")
        self.assertEqual(self.line(*generate)["finish"], "end")
        self.assertEqual(self.line(*generate)["ids"][:2], ids[:2])
        self.ok(*generate, "--chat")
        sets = {
            "label_sets": [
                {"name": "first", "labels": ["a", "b"]},
                {"name": "second", "labels": ["c"]},
            ]
        }
        self.converted(self.around("bert-classify-fused", {"config.json": sets}))
        made = self.line("run", self.directory / "out.bantam", "--raw", "--ids", "7,8,9")["outputs"]
        self.assertEqual(list(made), ["logits", "second_logits"])
        out = self.directory / "none.bantam"
        sets["label_sets"][1]["labels"] = ["c", "d"]
        root = self.around("bert-classify-fused", {"config.json": sets})
        self.fails(
            4, "convert", root, "-o", out, "--ids-only", says=["label_sets", 'output "logits" has 3 columns, not 4']
        )
        sets["label_sets"][1] = {"name": "second", "labels": ["c"], "tensor": "second"}
        root = self.around("bert-classify-fused", {"config.json": sets})
        self.fails(5, "convert", root, "-o", out, "--ids-only", says=['"second" names a tensor'])
        self.assertFalse(out.exists())

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
