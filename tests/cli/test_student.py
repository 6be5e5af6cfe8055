"""Smaller layouts: bantam student and convert --student, as a user gives them."""

import json
import pathlib
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from support import COMMAND, GOLDEN, SOURCE, CommandTest, model

MODEL = GOLDEN / "bert-joint"
COMMANDS = SOURCE / "models" / "voice-commands" / "commands.txt"


class Student(CommandTest):
    def test_directory(self):
        target = self.directory / "student"
        report = self.line("student", MODEL, "--layers", "1", "--vocabulary", COMMANDS, "-o", target, "--json")
        self.assertEqual(report["schema"], "bantam.student/1")
        self.assertEqual(report["after"]["layers"], 1)
        self.assertLess(report["after"]["vocabulary"], report["before"]["vocabulary"])
        self.assertEqual(
            report["vocabulary"]["corpus"]["unknown_after"], report["vocabulary"]["corpus"]["unknown_before"]
        )
        self.ok("convert", target, "-o", self.directory / "out.bantam", "--parity", "none")
        answer = self.line("run", self.directory / "out.bantam", "play some jazz", "--json")
        self.assertIn("intent", answer)
        self.assertIn("student", self.ok("student", MODEL, "--layers", "1", "-o", self.directory / "again").decode())

    def test_encoder_decoders_lose_layers_of_each_side(self):
        for name, keys in (
            ("marian-text", ("encoder_layers", "decoder_layers")),
            ("bart-text", ("encoder_layers", "decoder_layers")),
            ("t5-generate", ("num_layers", "num_decoder_layers")),
        ):
            teacher = json.loads((GOLDEN / name / "config.json").read_text())
            target = self.directory / name
            report = self.line("student", GOLDEN / name, "--decoder-layers", "1", "-o", target, "--json")
            config = json.loads((target / "config.json").read_text())
            self.assertEqual([config[key] for key in keys], [teacher[keys[0]], 1])
            self.assertEqual([report["after"][key] for key in ("layers", "decoder_layers")], [teacher[keys[0]], 1])
            self.assertIn("the decoder's layers: 1 of", report["steps"][0])
            recipe = self.write("r.json", json.dumps({"layers": [1], "decoder_layers": {"keep": 1, "by": "last"}}))
            self.ok("student", GOLDEN / name, "--recipe", recipe, "-o", self.directory / f"{name}-both")
            for student in (name, f"{name}-both"):
                self.ok("convert", self.directory / student, "-o", self.directory / "out.bantam")
        for key in ("generation_config.json", "source.spm", "target.spm", "vocab.json"):
            self.assertEqual(
                (self.directory / "marian-text" / key).read_bytes(), (GOLDEN / "marian-text" / key).read_bytes()
            )
        self.ok("convert", self.directory / "marian-text", "-o", self.directory / "out.bantam")
        self.ok("translate", self.directory / "out.bantam", "the cat runs")

    def test_decoders_lose_layers(self):
        for name in (
            "gpt2-text",
            "gpt3-generate",
            "llama-generate",
            "gemma-generate",
            "qwen3-generate",
            "gpt-neox-generate",
        ):
            target = self.directory / name
            report = self.line("student", GOLDEN / name, "--layers", "first:1", "-o", target, "--json")
            self.assertEqual(report["after"]["layers"], 1)
            self.ok("convert", target, "-o", self.directory / "out.bantam")

    def test_what_encoder_decoders_keep(self):
        for options, code, *words in (
            (["--decoder-layers", "9"], 4, "decoder_layers", "more than the teacher's"),
            (["--decoder-layers", "0,7"], 4, "layer 7 is not there"),
            (["--layers", "importance:1"], 5, "not measured"),
            (["--hidden", "8"], 5, "encoder and decoder have one width"),
            (["--vocabulary", COMMANDS], 5, "keep their vocabulary"),
        ):
            self.fails(code, "student", GOLDEN / "marian-text", *options, "-o", self.directory / "none", says=words)
        for name, words in (("gpt2-text", "not an encoder-decoder"), ("bert-joint", "not an encoder-decoder")):
            self.fails(
                4, "student", GOLDEN / name, "--decoder-layers", "1", "-o", self.directory / "none", says=[words]
            )
        self.fails(
            5, "student", GOLDEN / "seq2seq-lstm", "--layers", "1", "-o", self.directory / "none", says=["recurrent"]
        )
        self.assertEqual([path.name for path in self.directory.iterdir()], [])

    def test_keeps_the_chain_of_tags(self):
        """All layers stay, and so do the answers: those of the best chain."""
        target = self.directory / "student"
        self.ok("student", GOLDEN / "bert-tag-crf", "--layers", "first:1", "-o", target)
        self.ok("convert", target, "-o", self.directory / "student.bantam", "--weights", "f32")
        teacher = model("bert-tag-crf")
        for text in ("ba di ko", "ko", "di di ba ko ba"):
            answers = [self.line("run", file, text, "--json") for file in (teacher, self.directory / "student.bantam")]
            self.assertEqual(answers[0], answers[1])

    def test_same_bytes_again(self):
        for name in ("a", "b"):
            self.ok(
                "student", MODEL, "--ffn", "0.5", "--hidden", "0.6", "--data", COMMANDS, "-o", self.directory / name
            )
        for file in sorted(path.name for path in (self.directory / "a").iterdir()):
            self.assertEqual(
                (self.directory / "a" / file).read_bytes(), (self.directory / "b" / file).read_bytes(), file
            )

    def test_refuses(self):
        target = self.directory / "student"
        recipe = self.write("r.json", json.dumps({"layer": 1, "heads": {"keeep": 2}}))
        says = ["r.json", 'did you mean "layers"?', 'did you mean "keep"?']
        self.fails(4, "student", MODEL, "--recipe", recipe, "-o", target, says=says)
        self.fails(2, "student", MODEL, "-o", target, says=["--recipe FILE"])
        self.fails(3, "student", self.directory / "none", "--layers", "1", "-o", target, says=["no such directory"])
        self.fails(3, "student", MODEL, "--recipe", self.directory / "none.json", "-o", target, says=["none.json"])
        self.fails(4, "student", MODEL, "--layers", "0,99", "-o", target, says=["layer 99 is not there"])
        self.fails(5, "student", MODEL, "--heads", "1", "-o", target, says=["convert TEACHER --student"])
        target.mkdir()
        (target / "mine").write_text("kept")
        self.fails(2, "student", MODEL, "--layers", "1", "-o", target, says=["not an empty directory"])
        self.assertEqual([path.name for path in self.directory.iterdir() if path.name != "r.json"], ["student"])

    def test_nothing_is_left_behind(self):
        target = self.directory / "student"
        command = [COMMAND, "student", MODEL, "--layers", "1", "-o", target]
        # A limit on the size of files stands in for the full disk.
        limited = "trap '' XFSZ; ulimit -f 20; exec " + shlex.join(map(str, command))
        done = subprocess.run(["sh", "-c", limited], capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(list(self.directory.iterdir()), [])
        for number in (signal.SIGINT, signal.SIGTERM):
            for attempt in range(12):
                with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL) as running:
                    time.sleep(0.004 * attempt)
                    running.send_signal(number)
                self.assertIn(running.returncode, (0, 128 + number, -number))
                self.assertEqual([p for p in self.directory.iterdir() if p != target], [])
                if target.exists():
                    self.assertTrue((target / "bantam_student.json").exists())
                    shutil.rmtree(target)


class Convert(CommandTest):
    def test_layers_of_different_widths(self):
        recipe = self.write("recipe.json", json.dumps({"ffn": {"keep": 0.5, "across": "model"}, "heads": 1}))
        target = self.directory / "out.bantam"
        report = self.line("convert", MODEL, "--student", recipe, "-o", target, "--json")
        self.assertTrue(report["gate"]["passed"])
        self.assertLess(
            report["student"]["after"]["encoder_parameters"], report["student"]["before"]["encoder_parameters"]
        )
        self.assertTrue(self.line("verify", target, "--json")["ok"])
        self.assertIn("feed-forward columns", self.line("inspect", target, "--json")["properties"]["student"])

    def test_factors_and_shared_layers(self):
        recipe = self.write("recipe.json", json.dumps({"embedding_rank": 8, "share": 1}))
        target = self.directory / "out.bantam"
        self.ok("convert", GOLDEN / "bert-classify", "--student", recipe, "-o", target, "--weights", "f32")
        self.assertTrue(self.line("classify", target, "good", "--json")["labels"])

    def test_fewer_positions(self):
        recipe = self.write("recipe.json", json.dumps({"positions": 12}))
        directory = self.directory / "short"
        self.ok("student", GOLDEN / "bert-joint", "--recipe", recipe, "-o", directory)
        self.assertEqual(json.loads((directory / "config.json").read_text())["max_position_embeddings"], 12)
        target = self.directory / "out.bantam"
        self.ok("convert", directory, "-o", target, "--weights", "f32", "--parity", "none")
        self.assertEqual(self.line("inspect", target, "--json")["max_tokens"], 12)
        recipe = self.write("recipe.json", json.dumps({"positions": 41}))
        self.fails(
            4,
            "student",
            GOLDEN / "bert-joint",
            "--recipe",
            recipe,
            "-o",
            self.directory / "o",
            says=["positions", "40"],
        )

    def test_recipe_paths_start_from_the_recipe(self):
        folder = pathlib.Path(self.directory / "folder")
        folder.mkdir()
        (folder / "texts.txt").write_text(COMMANDS.read_text())
        (folder / "recipe.json").write_text(json.dumps({"vocabulary": "texts.txt"}))
        self.ok(
            "convert", MODEL, "--student", folder / "recipe.json", "-o", self.directory / "o.bantam", "--parity", "none"
        )


if __name__ == "__main__":
    unittest.main()
