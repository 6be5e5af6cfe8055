"""distill: training by the command, end to end, on the golden models; all but a few tests need bantam-train (libtorch)."""

import json
import pathlib
import random
import shlex
import signal
import subprocess
import time
import unittest

from support import COMMAND, GOLDEN, CommandTest

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


class Without(CommandTest):
    """What the command says before there is any training."""

    def test_help(self):
        text = self.ok("distill", "--help").decode()
        for words in (
            "--teacher",
            "--temperature",
            "--prune",
            "--freeze",
            "bantam distill --teacher",
        ):
            self.assertIn(words, text)

    def test_options_that_cannot_be(self):
        data = self.write("data.jsonl", jsonl(joint(4)))
        student = GOLDEN / "bert-joint"
        base = [
            "distill",
            "--student",
            student,
            "--data",
            data,
            "-o",
            self.directory / "out",
        ]
        cases = [
            (["--prune", "1"], "--prune 1"),
            (["--prune", "-0.1"], "--prune"),
            (
                ["--prune", "0.5", "--prune-begin", "0.7", "--prune-end", "0.2"],
                "--prune-begin 0.7",
            ),
            (["--soft", "1"], "add --teacher"),
            (["--hidden", "1"], "add --teacher"),
            (["--hard", "0"], "nothing to learn"),
            (["--patience", "2"], "--validation"),
            (["--teacher", student, "--layers", "0:1,2"], "--layers 0:1,2"),
            (["--epochs", "0"], "--epochs"),
            (["--freeze", "everything"], "--freeze"),
        ]
        for options, words in cases:
            self.fails(2, *base, *options, says=[words])
        self.assertFalse((self.directory / "out").exists())

    @unittest.skipIf(TRAINER.exists(), "this build can train")
    def test_says_how_to_get_it(self):
        data = self.write("data.jsonl", jsonl(joint(4)))
        message = self.fails(
            5,
            "distill",
            "--student",
            GOLDEN / "bert-joint",
            "--data",
            data,
            "-o",
            self.directory / "out",
        )
        self.assertIn("libtorch-dev", message)


@unittest.skipUnless(TRAINER.exists(), "this build has no bantam-train: libtorch-dev is not installed")
class Training(CommandTest):
    def train(self, student, data, *options, output="out"):
        return self.line(
            "distill",
            *("--student", GOLDEN / student),
            *("--data", self.write("train.jsonl", jsonl(data))),
            *("-o", self.directory / output),
            *("--batch", "8", "--dropout", "0.1", "--learning-rate", "0.003", "--json"),
            *options,
        )

    def weights(self, output="out"):
        return (self.directory / output / "model.safetensors").read_bytes()

    def test_labels_are_learned_and_the_result_converts(self):
        valid = self.write("valid.jsonl", jsonl(joint(30, seed=9)))
        answer = self.train(
            "bert-joint",
            joint(96),
            "--epochs",
            "8",
            "--validation",
            valid,
            "--ema",
            "0.9",
        )
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

    def test_resumed_is_uninterrupted(self):
        options = [
            "--epochs",
            "3",
            "--ema",
            "0.95",
            "--prune",
            "0.5",
            "--pattern",
            "1x4",
            "--quantize",
            "int8",
        ]
        options += [
            "--teacher",
            GOLDEN / "bert-joint",
            "--relation",
            "0.1",
            "--hidden",
            "0.1",
            "--augment",
            "1",
        ]
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
        arguments = [COMMAND, "distill", "--student", GOLDEN / "bert-joint", "--data"]
        arguments += [
            self.write("train.jsonl", jsonl(joint(40))),
            "-o",
            self.directory / "out",
            "--json",
        ]
        arguments += ["--epochs", "400", "--batch", "8", "--save-every", "0"]
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
                student,
                data,
                *(
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

    def test_frozen_parts_stay(self):
        self.train(
            "bert-joint",
            joint(16),
            "--epochs",
            "1",
            "--freeze",
            "encoder",
            "--save-as",
            "source",
        )
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

    def test_zeros_are_where_the_pattern_says(self):
        self.train(
            "bert-joint",
            joint(40),
            "--epochs",
            "4",
            "--prune",
            "0.75",
            "--pattern",
            "2:4",
            "--quantize",
            "int4",
        )
        for name, data in self.tensors(self.directory / "out").items():
            if name.endswith("intermediate.dense.weight"):
                groups = [data[i : i + 16] for i in range(0, len(data), 16)]
                for group in groups:
                    values = [group[i : i + 4] for i in range(0, 16, 4)]
                    self.assertGreaterEqual(sum(v in (b"\0\0\0\0", b"\0\0\0\x80") for v in values), 2, name)

    def test_data_that_does_not_fit(self):
        out = self.directory / "out"
        student = GOLDEN / "bert-joint"

        def fails(objects, *says, code=4, arguments=()):
            data = self.write("bad.jsonl", objects if isinstance(objects, str) else jsonl(objects))
            self.fails(
                code,
                "distill",
                "--student",
                student,
                "--data",
                data,
                "-o",
                out,
                *arguments,
                says=says,
            )
            self.assertFalse(out.exists())

        good = joint(3)
        fails([{"text": "ba di"}], "no known layout")
        fails([{**good[0], "intent": "fly"}, good[1]], "fly", "bad.jsonl")
        fails(
            [{**good[0], "slots": ["B-planet"] * len(good[0]["slots"])}],
            "B-planet",
            ":1:",
        )
        fails([{"text": "ba", "intent": "on"}], "no tokens and slots")
        fails(classified(3), "knows none of its labels")
        fails([{"text": "ba", "label": "on"}], "holds labels", "joint", "tokens and slots")
        fails("{not json\n", "not JSON", ":1:")
        fails("", "no example")
        fails(
            good,
            "bert-classify",
            "task",
            arguments=["--teacher", GOLDEN / "bert-classify"],
        )
        fails(
            good,
            "no such directory",
            code=3,
            arguments=["--teacher", self.directory / "absent"],
        )

    def test_layers_that_are_not_there(self):
        student = GOLDEN / "bert-joint"
        data = self.write("data.jsonl", jsonl(joint(3)))
        base = [
            "distill",
            "--student",
            student,
            "--teacher",
            student,
            "--data",
            data,
            "-o",
            self.directory / "out",
        ]
        self.fails(
            2,
            *base,
            "--hidden",
            "1",
            "--layers",
            "0:9,7:1",
            says=["0:9", "7:1", "0 to 2"],
        )
        self.fails(
            2,
            *base,
            "--relation",
            "1",
            "--relation-heads",
            "7",
            says=["--relation-heads 7"],
        )
        self.fails(2, *base, "--pattern", "heads", "--prune", "0.5", says=["heads", "1x4"])

    def test_a_recipe_makes_the_student(self):
        recipe = self.write("recipe.json", json.dumps({"layers": 1, "ffn": 0.5, "positions": 20}))
        data = self.write("data.jsonl", jsonl(joint(24)))
        arguments = ["distill", "--student", recipe, "--data", data, "-o", self.directory / "out", "--batch", "8"]
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
        broken = self.write("broken.json", json.dumps({"layers": [0, 7]}))
        arguments[2] = broken
        arguments[6] = self.directory / "other"
        self.fails(4, *arguments, says=["layer 7 is not there"])

    def test_tasks_without_labels_are_refused(self):
        data = self.write("data.jsonl", jsonl(classified(3)))
        self.fails(
            5,
            "distill",
            "--student",
            GOLDEN / "bert-fill",
            "--data",
            data,
            "-o",
            self.directory / "o",
            says=["fill"],
        )

    def test_nothing_is_written_over(self):
        data = self.write("data.jsonl", jsonl(joint(3)))
        student = self.directory / "student"
        student.mkdir()
        for path in (GOLDEN / "bert-joint").iterdir():
            (student / path.name).write_bytes(path.read_bytes())
        self.fails(
            2,
            "distill",
            "--student",
            student,
            "--data",
            data,
            "-o",
            student,
            says=["input"],
        )
        other = self.directory / "other"
        other.mkdir()
        (other / "config.json").write_text("{}")
        self.fails(
            2,
            "distill",
            "--student",
            student,
            "--data",
            data,
            "-o",
            other,
            says=["holds a model"],
        )
        self.fails(
            2,
            "distill",
            "--student",
            student,
            "--data",
            data,
            "-o",
            data,
            says=["not a directory"],
        )

    def test_full_disk_loses_nothing(self):
        data = self.write("data.jsonl", jsonl(joint(24)))
        arguments = [
            "distill",
            "--student",
            GOLDEN / "bert-joint",
            "--data",
            data,
            "-o",
            self.directory / "out",
        ]
        arguments += ["--epochs", "2", "--batch", "8", "--json"]
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
        arguments = [
            "distill",
            "--student",
            GOLDEN / "bert-joint",
            "--data",
            self.directory / "train.jsonl",
        ]
        arguments += [
            "-o",
            self.directory / "out",
            "--batch",
            "8",
            "--dropout",
            "0.1",
            "--learning-rate",
            "0.003",
        ]
        self.fails(4, *arguments, "--epochs", "2", says=[CHECKPOINT])


if __name__ == "__main__":
    unittest.main()
