"""distill: training by the command, end to end, on the golden models; all but a few tests need bantam-train (libtorch)."""

import json
import pathlib
import random
import shlex
import shutil
import signal
import struct
import subprocess
import time
import unittest

from support import COMMAND, GOLDEN, CommandTest
from torch_file import read_safetensors

# Absent in builds without libtorch, and behind an emulator.
TRAINER = pathlib.Path(COMMAND).parent / "bantam-train"
CHECKPOINT = "checkpoint.safetensors"

ROOMS = ["ban ber", "bin", "bon bing", "da di"]
LEVELS = ["ka", "ki ko"]


def jsonl(objects):
    return "".join(json.dumps(o) + "\n" for o in objects)


def tagged(name, words):
    return [("B-" if i == 0 else "I-") + name for i in range(len(words))]


def joint(count, seed=1):
    """Commands whose intent is their first word and whose slots are told by the word before."""
    chance = random.Random(seed)
    lines = []
    for _ in range(count):
        intent, first = chance.choice([("on", "la"), ("off", "li"), ("dim", "lo")])
        room, level = chance.choice(ROOMS).split(), chance.choice(LEVELS).split()
        tokens = [first, "men", *room]
        slots = ["O", "O", *tagged("room", room)]
        if intent == "dim":
            tokens += ["ren", *level]
            slots += ["O", *tagged("level", level)]
        lines.append(
            {
                "text": " ".join(tokens),
                "intent": intent,
                "tokens": tokens,
                "slots": slots,
            }
        )
    return lines


def classified(count):
    chance = random.Random(2)
    texts = {"LABEL_0": "ba", "LABEL_1": "ko", "LABEL_2": "men"}
    lines = []
    for _ in range(count):
        label = chance.choice(sorted(texts))
        lines.append(
            {
                "text": f"{texts[label]} {chance.choice(['la', 'li', 'lo'])}",
                "label": label,
            }
        )
    return lines


WORDS = {
    "the": "der",
    "cat": "Katze",
    "dog": "Hund",
    "sun": "Sonne",
    "runs": "l\u00e4uft",
    "sings": "singt",
    "old": "alt",
}


def translated(count, seed=3):
    """Texts whose words are translated one by one."""
    chance = random.Random(seed)
    lines = []
    for _ in range(count):
        words = chance.choices(sorted(WORDS), k=chance.randrange(2, 6))
        lines.append({"src": " ".join(words), "tgt": " ".join(WORDS[word] for word in words)})
    return lines


class Distill(CommandTest):
    def arguments(self, data, *options, student="bert-joint", output="out"):
        """A command for a golden model, or the path of another one; `data`: examples, text, or a path."""
        if isinstance(data, (str, list)):
            data = self.write("data.jsonl", data if isinstance(data, str) else jsonl(data))
        return [
            *("distill", "--student", GOLDEN / student, "--data", data),
            *("-o", self.directory / output, *options),
        ]

    def refuses(self, code, data, *options, says, **more):
        """`distill` ends with this code and leaves files and directories as they were."""
        arguments = self.arguments(data, *options, **more)
        before = sorted(self.directory.glob("**/*"))
        self.fails(code, *arguments, says=says)
        self.assertEqual(sorted(self.directory.glob("**/*")), before)


class Without(Distill):
    """Messages of the command before any training."""

    def test_help(self):
        text = self.ok("distill", "--help-all").decode()
        for words in (
            "--teacher",
            "--temperature",
            "--prune",
            "--freeze",
            "bantam distill --teacher",
        ):
            self.assertIn(words, text)

    def test_options_that_cannot_be(self):
        soft = ["--teacher", GOLDEN / "bert-joint"]
        cases = [
            (["--prune", "1"], "--prune 1"),
            (["--prune", "-0.1"], "--prune"),
            (["--prune", "0.5", "--prune-begin", "0.7", "--prune-end", "0.2"], "--prune-begin 0.7"),
            (["--soft", "1"], "add --teacher"),
            (["--hidden", "1"], "add --teacher"),
            (["--hard", "0"], "nothing to learn"),
            (["--patience", "2"], "--validation"),
            ([*soft, "--layers", "0:1,2"], "--layers 0:1,2"),
            (["--epochs", "0"], "--epochs"),
            (["--freeze", "everything"], "is not one of"),
            (["--prune-by", "luck"], "activations, gradients, magnitude"),
            (["--prune-scope", "some"], "global, uniform"),
            (["--precision", "f8"], "bf16, f32"),
            (["--texts", "more.txt"], "add --teacher"),
        ]
        for options, words in cases:
            self.refuses(2, joint(4), *options, says=[words])

    @unittest.skipIf(TRAINER.exists(), "this build can train")
    def test_says_how_to_get_it(self):
        self.refuses(5, joint(4), says=["libtorch-dev"])


@unittest.skipUnless(TRAINER.exists(), "this build has no bantam-train: libtorch-dev is not installed")
class Training(Distill):
    def train(self, student, data, *options, output="out"):
        more = ("--batch", "8", "--dropout", "0.1", "--learning-rate", "0.003", "--json")
        return self.line(*self.arguments(data, *more, *options, student=student, output=output))

    def weights(self, output="out"):
        return (self.directory / output / "model.safetensors").read_bytes()

    def test_labels_are_learned_and_the_result_converts(self):
        valid = self.write("valid.jsonl", jsonl(joint(30, seed=9)))
        answer = self.train("bert-joint", joint(96), "--epochs", "8", "--validation", valid, "--ema", "0.9")
        self.assertTrue(answer["complete"])
        self.assertLess(answer["losses"][-1], 0.3 * answer["losses"][0])
        self.assertGreater(answer["validation"]["intent_accuracy"], 0.9)
        out = self.directory / "out"
        self.assertFalse((out / CHECKPOINT).exists())
        self.assertTrue((out / "vocab.txt").exists())
        csv = (out / "curve.csv").read_text().splitlines()
        self.assertEqual(len(csv), 9)
        self.assertTrue(csv[0].startswith("epoch,step,learning_rate,sparsity,loss,hard,intent_accuracy"))
        self.assertIn("<svg", (out / "curve.html").read_text())
        # The runtime's f32 file scores what training said.
        file = self.directory / "model.bantam"
        self.ok("convert", out, "-o", file, "--weights", "f32", "--parity", "none")
        scores = self.line("eval", file, valid, "--json")["metrics"]
        for name, value in answer["validation"].items():
            self.assertAlmostEqual(scores[name], value, places=5, msg=name)

    def test_large_matrices_begin_with_their_values(self):
        """The importer leaves them in their file. After tiny steps they are nearly what they were."""
        layer, units = "bert.encoder.layer.{}.", 6600

        def grow(tensors):
            for i in range(3):
                inner, outer = (
                    layer.format(i) + "intermediate.dense",
                    layer.format(i) + "output.dense.weight",
                )
                for name in (inner + ".weight", inner + ".bias"):
                    dtype, shape, content = tensors[name]
                    row = content[: len(content) // shape[0]]
                    tensors[name] = (
                        dtype,
                        [units, *shape[1:]],
                        content + row * (units - shape[0]),
                    )
                dtype, (rows, columns), content = tensors[outer]
                row = len(content) // rows
                nothing = bytes(row // columns * (units - columns))
                whole = b"".join(content[at : at + row] + nothing for at in range(0, len(content), row))
                tensors[outer] = (dtype, [rows, units], whole)

        def last_unit(directory):
            name = layer.format(0) + "intermediate.dense.weight"
            dtype, shape, content = read_safetensors(directory / "model.safetensors")[name]
            return struct.unpack(f"<{shape[0] * shape[1]}{'e' if dtype == 'F16' else 'f'}", content)[-shape[1] :]

        large = self.changed("bert-classify", grow, intermediate_size=units)
        options = ("--epochs", "1", "--weight-decay", "0", "--learning-rate", "1e-9")
        self.ok(*self.arguments(classified(8), *options, student=large))
        for found, stored in zip(last_unit(self.directory / "out"), last_unit(large)):
            self.assertAlmostEqual(found, stored, places=5)

    def test_resumed_is_uninterrupted(self):
        options = ["--epochs", "3", "--ema", "0.95", "--prune", "0.5", "--pattern", "1x4", "--quantize", "int8"]
        options += ["--teacher", GOLDEN / "bert-joint", "--relation", "0.1", "--hidden", "0.1", "--augment", "1"]
        valid = self.write("valid.jsonl", jsonl(joint(10, seed=9)))
        options += ["--validation", valid]
        whole = self.train("bert-joint", joint(40), *options, output="whole")
        for stop in ("4", "13"):
            stopped = self.train("bert-joint", joint(40), *options, "--stop-after", stop, output="parts")
            self.assertFalse(stopped["complete"])
            self.assertTrue((self.directory / "parts" / CHECKPOINT).exists())
            self.assertFalse((self.directory / "parts" / "model.safetensors").exists())
        parts = self.train("bert-joint", joint(40), *options, output="parts")
        self.assertEqual(parts["resumed_from"], 13)
        self.assertEqual(self.weights("parts"), self.weights("whole"))
        self.assertEqual(parts["losses"], whole["losses"])
        self.assertEqual(parts["validation"], whole["validation"])
        for name in ("curve.csv", "config.json"):
            self.assertEqual(
                (self.directory / "parts" / name).read_bytes(),
                (self.directory / "whole" / name).read_bytes(),
            )
        self.assertAlmostEqual(parts["sparsity"], 0.5, places=2)

    def test_a_killed_run_goes_on(self):
        more = ("--json", "--epochs", "400", "--batch", "8", "--save-every", "0")
        arguments = [COMMAND, *self.arguments(joint(40), *more)]
        running = subprocess.Popen([*map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (self.directory / "out" / CHECKPOINT).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
        self.assertTrue((self.directory / "out" / CHECKPOINT).exists())
        arguments[arguments.index("400")] = "2"
        self.fails(2, *arguments[1:], says=["other settings", CHECKPOINT])
        arguments[arguments.index("2")] = "400"
        answer = self.line(*arguments[1:], "--stop-after", "1")
        self.assertGreater(answer["resumed_from"], 0)

    def test_the_seed_decides(self):
        first = self.train("bert-classify", classified(24), "--epochs", "1", "--seed", "5", output="a")
        self.train("bert-classify", classified(24), "--epochs", "1", "--seed", "5", output="b")
        self.train("bert-classify", classified(24), "--epochs", "1", "--seed", "6", output="c")
        self.assertEqual(self.weights("a"), self.weights("b"))
        self.assertNotEqual(self.weights("a"), self.weights("c"))
        self.assertEqual(first["steps"], 3)

    def test_every_task(self):
        tags = [{"tokens": o["tokens"], "tags": o["slots"]} for o in joint(32)]
        pairs = [{"text_a": f"ba {i}", "text_b": "ko", "score": i / 10} for i in range(10)]
        several = [
            {"text": "ba", "labels": ["joy", "calm"]},
            {"text": "ko li", "labels": []},
        ] * 8
        cases = [
            ("bert-tag", tags, "entity_f1"),
            ("distilbert-tag", tags, "entity_f1"),
            ("bert-regress", pairs, "pearson"),
            ("bert-classify", classified(32), "accuracy"),
            ("bert-multi-label", several, "micro_f1"),
        ]
        for student, data, metric in cases:
            answer = self.train(
                *(
                    student,
                    data,
                    "--epochs",
                    "3",
                    "--teacher",
                    GOLDEN / student,
                    "--attention",
                    "0.5",
                    "--hidden",
                    "0.5",
                ),
                *("--validation", self.write("valid.jsonl", jsonl(data))),
                output=student,
            )
            self.assertLess(answer["losses"][-1], answer["losses"][0], student)
            self.assertIn(metric, answer["validation"])

    def test_texts_out_of_scope_get_flat_scores(self):
        """Also with a teacher, who is as sure of them as of any text."""
        outside = [{**line, "intent": "out_of_scope", "slots": ["O"] * len(line["tokens"])} for line in joint(48, 4)]
        for line in outside:
            line["tokens"][0] = "ru"
            line["text"] = " ".join(line["tokens"])
        options = ("--epochs", "12", "--teacher", GOLDEN / "bert-joint", "--soft", "0.1")
        self.train("bert-joint", joint(64) + outside, *options)
        file = self.directory / "model.bantam"
        self.ok("convert", self.directory / "out", "-o", file, "--parity", "none")
        lines = [line["text"] for line in (*joint(8, 9), *outside[:8])]
        best = [answer["intent"]["score"] for answer in self.lines("run", file, *lines, "--json")]
        self.assertGreater(min(best[:8]), max(best[8:]))
        self.assertLess(max(best[8:]), 0.6)

    def test_frozen_parts_stay(self):
        self.train("bert-joint", joint(16), "--epochs", "1", "--freeze", "encoder", "--save-as", "source")
        before = self.tensors(GOLDEN / "bert-joint")
        after = self.tensors(self.directory / "out")
        self.assertEqual(before.keys(), after.keys())
        changed = sorted(name for name in before if before[name] != after[name])
        heads = ("intent_classifier.", "slot_classifier.")
        self.assertEqual(changed, sorted(n for n in before if n.startswith(heads)))

    def tensors(self, directory):
        raw = (pathlib.Path(directory) / "model.safetensors").read_bytes()
        size = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + size])
        header.pop("__metadata__", None)
        begin = 8 + size
        return {n: raw[begin + h["data_offsets"][0] : begin + h["data_offsets"][1]] for n, h in header.items()}

    def test_an_encoder_decoder_learns_pairs(self):
        valid = self.write("valid.jsonl", jsonl(translated(20, seed=5)))
        more = ("--validation", valid, "--epochs", "8", "--label-smoothing", "0.1")
        answer = self.train("marian-text", translated(64), *more)
        self.assertLess(answer["losses"][-1], 0.8 * answer["losses"][0])
        self.assertEqual(sorted(answer["validation"]), ["perplexity", "token_accuracy", "token_loss"])
        self.assertGreater(answer["validation"]["token_accuracy"], 0.3)
        out = self.directory / "out"
        for name in ("generation_config.json", "source.spm", "target.spm", "vocab.json"):
            self.assertEqual((out / name).read_bytes(), (GOLDEN / "marian-text" / name).read_bytes())
        file = self.directory / "model.bantam"
        self.ok("convert", out, "-o", file, "--parity", "none")
        self.assertIn("metrics", self.line("eval", file, valid, "--json"))

    def test_a_frozen_encoder_leaves_the_decoder(self):
        student = self.directory / "student"
        self.ok("student", GOLDEN / "marian-text", "--decoder-layers", "1", "-o", student)
        teacher = ("--teacher", GOLDEN / "marian-text", "--epochs", "6", "--temperature", "1")
        answer = self.train(student, translated(32), *teacher, "--freeze", "encoder", "--hard", "0")
        self.assertLess(answer["losses"][-1], answer["losses"][0])
        before, after = self.tensors(student), self.tensors(self.directory / "out")
        self.assertEqual(before.keys(), after.keys())
        changed = {name for name in before if before[name] != after[name]}
        self.assertTrue(all(".decoder." in name or name == "final_logits_bias" for name in changed), changed)
        self.assertIn("model.decoder.layers.0.encoder_attn.k_proj.weight", changed)
        self.assertIn("model.decoder.layers.0.fc1.weight", changed)

    def test_a_decoder_learns_texts_a_line_each(self):
        texts = ["the cat runs", "the dog sings", "the sun runs", "old cat sings"] * 8
        valid = self.write("valid.txt", "\n".join(texts[:4]) + "\n")
        data = pathlib.Path(self.write("data.txt", "\n".join(texts) + "\n"))
        answer = self.train("gpt2-text", data, "--validation", valid, "--epochs", "6")
        self.assertLess(answer["losses"][-1], 0.7 * answer["losses"][0])
        before, after = self.tensors(GOLDEN / "gpt2-text"), self.tensors(self.directory / "out")
        self.assertEqual(before.keys(), after.keys())
        files = [self.directory / f"{name}.bantam" for name in ("before", "after")]
        found = []
        for directory, file in zip((GOLDEN / "gpt2-text", self.directory / "out"), files, strict=True):
            self.ok("convert", directory, "-o", file, "--weights", "f32", "--parity", "none")
            found.append(self.line("perplexity", file, "--file", valid, "--json")["perplexity"])
        # The runtime counts no ends of texts, which are easy.
        self.assertLess(found[1], 0.5 * found[0])
        self.assertLess(answer["validation"]["perplexity"], 1.1 * found[1])

    def test_generating_runs_resume(self):
        options = ["--teacher", GOLDEN / "marian-text", "--epochs", "3", "--ema", "0.9", "--quantize", "int8"]
        options += ["--validation", self.write("valid.jsonl", jsonl(translated(6, seed=5)))]
        whole = self.train("marian-text", translated(40), *options, output="whole")
        self.assertFalse(self.train("marian-text", translated(40), *options, "--stop-after", "7")["complete"])
        parts = self.train("marian-text", translated(40), *options)
        self.assertEqual(parts["resumed_from"], 7)
        self.assertEqual(self.weights(), self.weights("whole"))
        self.assertEqual((parts["losses"], parts["validation"]), (whole["losses"], whole["validation"]))

    def test_generating_data_that_does_not_fit(self):
        pairs, marian = translated(3), {"student": "marian-text"}
        self.refuses(4, [{"src": "the cat"}], says=["no known layout", "tgt"], **marian)
        self.refuses(4, classified(3), says=["src and tgt", "labels"], **marian)
        self.refuses(
            4, [{"src": "cat " * 80, "tgt": "Hund " * 80}], says=["sources", "targets", "--max-tokens"], **marian
        )
        long = pathlib.Path(self.write("long.txt", "the " * 200 + "\n"))
        self.refuses(4, long, says=["96 positions", "--max-tokens 96"], student="gpt2-text")
        self.refuses(
            4, pathlib.Path(self.write("empty.txt", "\n")), says=["no text of two tokens"], student="gpt2-text"
        )
        teacher = ("--teacher", GOLDEN / "bart-text")
        self.refuses(4, pairs, *teacher, says=["one vocabulary"], **marian)
        self.refuses(
            4, pathlib.Path(self.write("cat.txt", "the cat\n")), *teacher, says=["encoder-decoder"], student="gpt2-text"
        )
        inside = ("--teacher", GOLDEN / "marian-text", "--hidden", "1")
        self.refuses(5, pairs, *inside, says=["--hard and --soft"], **marian)
        self.refuses(
            5, pairs, "--augment", "1", "--teacher", GOLDEN / "marian-text", says=["generates texts"], **marian
        )
        self.refuses(5, classified(3), says=["learn to generate"], student="bart-classify")
        long = [{"src": "cat " * 80, "tgt": "Hund " * 80}]
        self.train("marian-text", long, "--max-tokens", "20", "--epochs", "1")

    def test_zeros_are_where_the_pattern_says(self):
        more = ("--prune", "0.75", "--pattern", "2:4", "--quantize", "int4")
        self.train("bert-joint", joint(40), "--epochs", "4", *more)
        for name, data in self.tensors(self.directory / "out").items():
            if name.endswith("intermediate.dense.weight"):
                groups = [data[i : i + 16] for i in range(0, len(data), 16)]
                for group in groups:
                    values = [group[i : i + 4] for i in range(0, 16, 4)]
                    self.assertGreaterEqual(sum(v in (b"\0\0\0\0", b"\0\0\0\x80") for v in values), 2, name)

    def zeros(self, output):
        """Share of zeros in each of the encoder's linear layers (queries, keys and values are one, and not here)."""
        return {
            name: sum(data[i : i + 4] in (b"\0\0\0\0", b"\0\0\0\x80") for i in range(0, len(data), 4)) * 4 / len(data)
            for name, data in self.tensors(self.directory / output).items()
            if ".layer." in name and name.endswith("dense.weight")
        }

    def test_what_zeros_are_chosen_by(self):
        weights = set()
        for by in ("magnitude", "activations", "gradients"):
            for scope in ("uniform", "global"):
                output = f"{by}-{scope}"
                more = ("--prune", "0.5", "--prune-by", by, "--prune-scope", scope, "--epochs", "3")
                answer = self.train("bert-joint", joint(40), *more, output=output)
                self.assertAlmostEqual(answer["sparsity"], 0.5, delta=0.02)
                shares = self.zeros(output).values()
                self.assertEqual(len(shares), 6)
                if scope == "uniform":
                    self.assertLess(max(shares) - min(shares), 0.1)
                else:
                    self.assertGreater(max(shares) - min(shares), 0.02)
                weights.add(self.weights(output))
        self.assertEqual(len(weights), 6)

    def test_the_teacher_answers_for_texts_without_labels(self):
        texts = self.write("more.txt", "ba di\n\nko li ba\n  \nmu\n")
        same = {"classify": "bert-classify", "joint": "bert-joint"}
        for task, data in (("classify", classified(12)), ("joint", joint(12))):
            teacher = ("--teacher", GOLDEN / same[task], "--epochs", "2")
            plain = self.train(same[task], data, *teacher, output=f"{task}-plain")
            more = self.train(same[task], data, *teacher, "--texts", texts, output=f"{task}-texts")
            self.assertEqual(more["examples"], plain["examples"] + 3)
            varied = self.train(same[task], data, *teacher, "--augment", "2", output=f"{task}-varied")
            self.assertEqual(varied["examples"], 3 * plain["examples"])
            files = [self.weights(f"{task}-{name}") for name in ("plain", "texts", "varied")]
            self.assertEqual(len(set(files)), 3)
        self.refuses(2, classified(4), "--augment", "1", student="bert-classify", says=["add --teacher"])
        absent = ("--teacher", GOLDEN / "bert-classify", "--texts", self.directory / "absent.txt")
        self.refuses(3, classified(4), *absent, student="bert-classify", says=["absent.txt"])
        pairs = [{"text_a": f"ba {i}", "text_b": "ko", "score": i / 10} for i in range(10)]
        values = ("--teacher", GOLDEN / "bert-regress", "--texts", texts)
        self.refuses(5, pairs, *values, student="bert-regress", says=["gives values"])

    def test_bf16(self):
        valid = self.write("valid.jsonl", jsonl(joint(30, seed=9)))
        more = ("--epochs", "8", "--validation", valid, "--ema", "0.9")
        answer = self.train("bert-joint", joint(96), *more, "--precision", "bf16")
        self.assertGreater(answer["validation"]["intent_accuracy"], 0.9)

    def test_data_that_does_not_fit(self):
        good = joint(3)
        for data, *words in (
            ([{"text": "ba di"}], "no known layout"),
            ([{**good[0], "intent": "fly"}, good[1]], "fly", "data.jsonl"),
            ([{**good[0], "slots": ["B-planet"] * len(good[0]["slots"])}], "B-planet", "line 1"),
            ([{"text": "ba", "intent": "on"}], "no tokens and slots"),
            (classified(3), "holds labels", "joint"),
            ([{"text": "ba", "label": "on"}], "holds labels", "joint", "tokens and slots"),
            ("{not json\n", "not valid JSON", ":1:"),
            ("", "no example"),
        ):
            self.refuses(4, data, says=words)

    def test_models_and_options_that_do_not_fit(self):
        same = ("--teacher", GOLDEN / "bert-joint")
        for code, options, *words in (
            (4, ("--teacher", GOLDEN / "bert-classify"), "bert-classify", "task"),
            (3, ("--teacher", self.directory / "absent"), "no such directory"),
            (2, (*same, "--hidden", "1", "--layers", "0:9,7:1"), "0:9", "7:1", "0 to 2"),
            (2, (*same, "--relation", "1", "--relation-heads", "7"), "--relation-heads 7"),
            (2, (*same, "--pattern", "heads", "--prune", "0.5"), "heads", "1x4"),
        ):
            self.refuses(code, joint(3), *options, says=words)
        self.refuses(5, classified(3), student="bert-fill", says=["fill"])
        impossible = (*same, "--hidden", "1", "--layers", "0:9")
        (self.directory / "empty").mkdir()
        recipe = self.write("recipe.json", json.dumps({"layers": 1}))
        for output in ("empty", "not/there/yet", "slash/"):
            self.refuses(2, joint(3), *impossible, says=["0:9"], output=output)
            self.refuses(2, joint(3), *impossible, says=["0:9"], output=output, student=recipe)

    def test_a_recipe_makes_the_student(self):
        recipe = self.write("recipe.json", json.dumps({"layers": 1, "ffn": 0.5, "positions": 20}))
        arguments = self.arguments(joint(24), "--batch", "8", student=recipe)
        self.fails(2, *arguments, says=["--teacher"])
        arguments += ["--teacher", GOLDEN / "bert-joint", "--epochs", "2", "--json"]
        self.assertFalse(self.line(*arguments, "--stop-after", "2")["complete"])
        self.assertTrue((self.directory / "out" / "student" / "config.json").exists())
        self.assertEqual(self.line(*arguments)["resumed_from"], 2)
        self.assertFalse((self.directory / "out" / "student").exists())
        config = json.loads((self.directory / "out" / "config.json").read_text())
        self.assertEqual((config["num_hidden_layers"], config["max_position_embeddings"]), (1, 20))
        file = self.directory / "model.bantam"
        self.ok("convert", self.directory / "out", "-o", file, "--parity", "none")
        for code, layout, words in (
            (4, {"layers": [0, 7]}, "layer 7 is not there"),
            (5, {"ffn": {"keep": 0.5, "across": "model"}}, "convert TEACHER --student"),
        ):
            arguments[2] = self.write("broken.json", json.dumps(layout))
            arguments[6] = self.directory / f"other{code}"
            self.fails(code, *arguments, says=[words])
            self.assertFalse(arguments[6].exists())

    def test_nothing_is_written_over(self):
        student = self.directory / "student"
        shutil.copytree(GOLDEN / "bert-joint", student)
        (self.directory / "other").mkdir()
        (self.directory / "other" / "config.json").write_text("{}")
        for output, words in (("student", "input"), ("other", "holds a model"), ("data.jsonl", "not a directory")):
            self.refuses(2, joint(3), student=student, output=output, says=[words])

    def test_full_disk_loses_nothing(self):
        arguments = self.arguments(joint(24), "--epochs", "2", "--batch", "8", "--json")
        self.ok(*arguments, "--stop-after", "1")
        kept = (self.directory / "out" / CHECKPOINT).read_bytes()
        # A limit on the size of files stands in for the full disk.
        limited = "trap '' XFSZ; ulimit -f 40; exec " + shlex.join(map(str, [COMMAND, *arguments]))
        done = subprocess.run(["sh", "-c", limited], capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"free some space", done.stderr)
        self.assertEqual((self.directory / "out" / CHECKPOINT).read_bytes(), kept)
        self.assertEqual(self.line(*arguments)["resumed_from"], 1)

    def test_a_damaged_checkpoint_is_refused(self):
        data = joint(24)
        self.train("bert-joint", data, "--epochs", "2", "--stop-after", "2")
        file = self.directory / "out" / CHECKPOINT
        whole = file.read_bytes()
        file.write_bytes(whole[:-100])
        more = ("--batch", "8", "--dropout", "0.1", "--learning-rate", "0.003", "--epochs", "2")
        self.refuses(4, data, *more, says=[CHECKPOINT])


if __name__ == "__main__":
    unittest.main()
